#include "app/limits/plan_book.hpp"

#include <algorithm>

#include "base/iso8601.hpp"

namespace sluice {
namespace {

constexpr auto kByName = [](const std::shared_ptr<const BookedPlan>& left,
                            const std::shared_ptr<const BookedPlan>& right) {
    return left->plan.name() < right->plan.name();
};

Unexpected<PlanError> refused(std::string what) { return Unexpected{PlanError{std::move(what)}}; }

std::optional<Wait> window_of(const Plan& plan, const PlanDraft& draft) {
    if (const auto* bucket = std::get_if<TokenBucket>(&plan.rule())) {
        return bucket->idle_at({0, 0}).time_since_epoch();
    }
    if (std::holds_alternative<Cooldown>(plan.rule())) {
        return std::chrono::hours{1};
    }
    if (std::holds_alternative<Concurrency>(plan.rule())) {
        return std::nullopt;
    }
    if (draft.window == "day") {
        return std::chrono::days{1};
    }
    if (draft.window == "week") {
        return std::chrono::weeks{1};
    }
    const auto length = parse_duration(draft.window);
    return length ? std::optional<Wait>{*length} : std::nullopt;
}

}  // namespace

const BookedPlan* PlanSet::find(std::string_view name) const {
    const auto found = std::lower_bound(
        plans_.begin(), plans_.end(), name,
        [](const auto& booked, std::string_view wanted) { return booked->plan.name() < wanted; });
    return found != plans_.end() && (*found)->plan.name() == name ? found->get() : nullptr;
}

std::shared_ptr<const PlanSet> PlanBook::current() const {
    const std::lock_guard lock{mutex_};
    return current_;
}

Result<PlanBook::Booked, PlanError> PlanBook::book(const PlanDraft& draft, PlanOrigin origin) {
    auto plan = make_plan(draft);
    if (!plan) {
        return Unexpected{plan.error()};
    }
    auto known = numbers_.find(draft.name);
    if (known == numbers_.end()) {
        if (numbers_.size() == kNamesMax) {
            return refused("plan '" + draft.name + "': " + std::to_string(kNamesMax) +
                           " names have been used; a restart forgets those that are gone");
        }
        known = numbers_.emplace(draft.name, static_cast<std::uint32_t>(numbers_.size())).first;
    }
    const auto window = window_of(*plan, draft);
    return std::make_shared<const BookedPlan>(
        BookedPlan{*std::move(plan), draft, origin, known->second, window});
}

void PlanBook::swap_in(std::vector<Booked> plans, std::string file_error) {
    auto next = std::make_shared<PlanSet>();
    std::sort(plans.begin(), plans.end(), kByName);
    next->plans_ = std::move(plans);
    next->file_error_ = std::move(file_error);
    next->version_ = current()->version() + 1;
    const std::lock_guard lock{mutex_};
    current_ = std::move(next);
}

Result<void, PlanError> PlanBook::load(const std::vector<PlanDraft>& drafts) {
    const std::lock_guard lock{changes_};
    std::vector<Booked> plans;
    for (const PlanDraft& draft : drafts) {
        auto booked = book(draft, PlanOrigin::File);
        if (!booked) {
            return Unexpected{booked.error()};
        }
        plans.push_back(*std::move(booked));
    }
    std::sort(plans.begin(), plans.end(), kByName);
    const auto twice = std::adjacent_find(
        plans.begin(), plans.end(),
        [](const Booked& left, const Booked& right) { return left->plan.name() == right->plan.name(); });
    if (twice != plans.end()) {
        return refused("plan '" + (*twice)->plan.name() + "' stands there twice");
    }
    const auto before = current();
    const std::size_t from_file = plans.size();
    for (const Booked& booked : before->all()) {
        const bool stays =
            booked->origin == PlanOrigin::Admin &&
            !std::binary_search(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(from_file), booked,
                                kByName);
        if (stays) {
            plans.push_back(booked);
        }
    }
    if (plans.size() > kPlansMax) {
        return refused("there would be more than " + std::to_string(kPlansMax) + " plans");
    }
    swap_in(std::move(plans), {});
    return {};
}

void PlanBook::refuse_file(std::string why) {
    const std::lock_guard lock{changes_};
    auto next = std::make_shared<PlanSet>(*current());
    next->file_error_ = std::move(why);
    const std::lock_guard swap{mutex_};
    current_ = std::move(next);
}

Result<std::shared_ptr<const BookedPlan>, PlanError> PlanBook::put(const PlanDraft& draft) {
    const std::lock_guard lock{changes_};
    const auto before = current();
    std::vector<Booked> plans = before->all();
    std::erase_if(plans, [&](const Booked& booked) { return booked->plan.name() == draft.name; });
    if (plans.size() == kPlansMax) {
        return refused("there are " + std::to_string(kPlansMax) + " plans already");
    }
    auto booked = book(draft, PlanOrigin::Admin);
    if (!booked) {
        return Unexpected{booked.error()};
    }
    plans.push_back(*booked);
    swap_in(std::move(plans), before->file_error());
    return booked;
}

std::vector<PlanError> PlanBook::adopt(const std::vector<PlanDraft>& drafts) {
    const std::lock_guard lock{changes_};
    const auto before = current();
    std::vector<Booked> plans;
    for (const Booked& booked : before->all()) {
        if (booked->origin == PlanOrigin::File) {
            plans.push_back(booked);
        }
    }
    std::vector<PlanError> wrong;
    for (const PlanDraft& draft : drafts) {
        const auto& all = before->all();
        const auto known = std::find_if(
            all.begin(), all.end(), [&](const Booked& booked) { return booked->plan.name() == draft.name; });
        if (known != all.end() && ((*known)->origin == PlanOrigin::File || (*known)->draft == draft)) {
            if ((*known)->origin == PlanOrigin::Admin) {
                plans.push_back(*known);
            }
            continue;
        }
        auto booked = plans.size() < kPlansMax
                          ? book(draft, PlanOrigin::Admin)
                          : Result<Booked, PlanError>{refused("plan '" + draft.name + "' is one too many")};
        if (booked) {
            plans.push_back(*booked);
        } else {
            wrong.push_back(booked.error());
        }
    }
    std::sort(plans.begin(), plans.end(), kByName);
    if (plans != before->all()) {
        swap_in(std::move(plans), before->file_error());
    }
    return wrong;
}

bool PlanBook::remove(std::string_view name) {
    const std::lock_guard lock{changes_};
    const auto before = current();
    std::vector<Booked> plans = before->all();
    if (std::erase_if(plans, [&](const Booked& booked) { return booked->plan.name() == name; }) == 0) {
        return false;
    }
    swap_in(std::move(plans), before->file_error());
    return true;
}

}  // namespace sluice
