#include "app/limits/shared_plans.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Plans";

LimitError unavailable() {
    return {LimitErrorKind::Unavailable,
            "The store of limits does not answer; the plan may be changed or not."};
}

}  // namespace

SharedPlans::SharedPlans(PlanBook& plans, PlanShelf& shelf, Log& log, Runtime& runtime)
    : plans_{plans},
      shelf_{shelf},
      log_{log},
      looks_{runtime, kTurn, [this](const std::stop_token& /*stop*/) {
                 refresh();
                 return kTurn;
             }} {
    refresh();
}

bool SharedPlans::refresh() {
    const std::lock_guard lock{changes_};
    const auto entries = shelf_.all_plans();
    if (!entries) {
        if (!failing_) {
            log_.write(LogLevel::Warn, kComponent,
                       "The store does not tell the administrators' plans; those known stay in force");
        }
        failing_ = true;
        return false;
    }
    failing_ = false;
    std::vector<PlanDraft> drafts;
    for (const PlanShelf::Entry& entry : *entries) {
        if (auto draft = draft_of_words(entry.name, entry.words)) {
            drafts.push_back(*std::move(draft));
        }
    }
    std::string wrong;
    for (const PlanError& refused : plans_.adopt(drafts)) {
        wrong += " The " + refused.what + ".";
    }
    if (wrong != refused_ && !wrong.empty()) {
        log_.write(LogLevel::Warn, kComponent, "Not all of the administrators' plans are in force:" + wrong);
    }
    refused_ = std::move(wrong);
    return true;
}

Result<std::shared_ptr<const BookedPlan>, LimitError> SharedPlans::put(const PlanDraft& draft) {
    const std::lock_guard lock{changes_};
    const auto refused = [](const std::string& what) {
        return Unexpected{LimitError{LimitErrorKind::InvalidRule, "The " + what + "."}};
    };
    if (const auto made = make_plan(draft); !made) {
        return refused(made.error().what);
    }
    const BookedPlan* const known = plans_.current()->find(draft.name);
    if (known != nullptr && known->origin == PlanOrigin::File) {
        return refused("plan '" + draft.name + "' stands in the plans file, which wins; change it there");
    }
    if (!shelf_.put_plan(draft.name, words_of(draft))) {
        return Unexpected{unavailable()};
    }
    auto booked = plans_.put(draft);
    if (!booked) {
        (void)shelf_.remove_plan(draft.name);  // There are too many already.
        return refused(booked.error().what);
    }
    return *booked;
}

Result<bool, LimitError> SharedPlans::remove(std::string_view name) {
    const std::lock_guard lock{changes_};
    if (is_plan_name(name) && !shelf_.remove_plan(name)) {
        return Unexpected{unavailable()};
    }
    return plans_.remove(name);
}

}  // namespace sluice
