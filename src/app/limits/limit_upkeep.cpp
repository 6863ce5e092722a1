// What is done to keys and their plans beside checks: giving back, looking at, resetting, overriding.
#include <algorithm>
#include <array>

#include "app/limits/limit_service.hpp"
#include "core/limits/override_draft.hpp"

namespace sluice {
namespace {

using Kind = LimitErrorKind;

}  // namespace

// Calls the store by this thread if it is direct, by one of the service's otherwise.
template <class T, class Call>
void LimitService::ask(Call call, Done<T> done) {
    if (is_direct()) {
        done(call(store()));
        return;
    }
    struct Asked {
        Call call;
        Done<T> done;
        std::optional<Result<T, LimitError>> result;
    };
    auto asked = std::make_shared<Asked>(Asked{std::move(call), std::move(done), std::nullopt});
    Query query = [asked](LimitStore& store) { asked->result = asked->call(store); };
    const auto completion = [asked](Result<std::monostate, Refusal> ran) {
        if (ran) {
            asked->done(std::move(*asked->result));
        } else {
            asked->done(Unexpected{LimitError{Kind::Unavailable, "Too much waits for the store of limits."}});
        }
    };
    queries_->submit({std::move(query), completion, world_.runtime.now() + options_.patience});
}

void LimitService::refund(const LimitQuestion& question, Done<std::monostate> done) {
    const auto plans = world_.plans.current();
    auto resolved = resolve(question, *plans);
    if (!resolved) {
        done(Unexpected{std::move(resolved).error()});
        return;
    }
    // As a lease below. The plans that are not local were charged nowhere then.
    if (policy_.refund(*resolved)) {
        done(std::monostate{});
        return;
    }
    const auto give_back = [check = *resolved, key = std::string{question.key},
                            plans](LimitStore& store) -> Result<std::monostate, LimitError> {
        const Check asked{key, {check.plans.data(), check.count}, check.cost};
        const auto given = store.refund(asked);
        if (!given && given.error() == LimitFault::InvalidCost) {
            return Unexpected{refusal_of(given.error(), check)};
        }
        return given ? Result<std::monostate, LimitError>{std::monostate{}}
                     : Unexpected{refusal_of(given.error())};
    };
    ask<std::monostate>(give_back, std::move(done));
}

void LimitService::release(std::string_view key, std::string_view plan, LeaseId lease, Done<bool> done) {
    const std::array<std::string_view, 1> name{plan};
    auto chosen = choose(key, name);
    if (!chosen) {
        done(Unexpected{std::move(chosen).error()});
        return;
    }
    if (!std::holds_alternative<Concurrency>(chosen->front()->plan.rule())) {
        done(Unexpected{
            LimitError{Kind::InvalidPlans, "The plan '" + std::string{plan} + "' gives no leases."}});
        return;
    }
    // What was taken here while the store failed goes back here, whether the store answers now or not.
    if (const auto here = world_.local.release(key, chosen->front()->plan, lease); here && *here) {
        done(true);
        return;
    }
    const auto give_back = [key = std::string{key}, booked = chosen->front(),
                            lease](LimitStore& store) -> Result<bool, LimitError> {
        const auto held = store.release(key, booked->plan, lease);
        return held ? Result<bool, LimitError>{*held} : Unexpected{refusal_of(held.error())};
    };
    ask<bool>(give_back, std::move(done));
}

Result<LimitService::Chosen, LimitError> LimitService::choose(std::string_view key,
                                                              std::span<const std::string_view> names) const {
    if (key.empty() || key.size() > kLimitKeyBytesMax) {
        return Unexpected{refusal_of(LimitFault::InvalidKey)};
    }
    const auto plans = world_.plans.current();
    if (names.empty()) {
        return plans->all();
    }
    Chosen chosen;
    for (const std::string_view name : names) {
        const BookedPlan* booked = plans->find(name);
        if (booked == nullptr) {
            return Unexpected{unknown_plan(name)};
        }
        const auto same = [booked](const auto& other) { return other.get() == booked; };
        if (std::none_of(chosen.begin(), chosen.end(), same)) {
            chosen.emplace_back(plans, booked);
        }
    }
    return chosen;
}

namespace {

// Calls the store for a few plans at a time, as many as one call takes. Stops at the first fault.
template <class Call>
std::optional<LimitError> in_parts(const std::vector<std::shared_ptr<const BookedPlan>>& chosen, Call call) {
    for (std::size_t first = 0; first < chosen.size(); first += kPlansPerCheckMax) {
        std::vector<const Plan*> part;
        for (std::size_t i = first; i < std::min(chosen.size(), first + kPlansPerCheckMax); ++i) {
            part.push_back(&chosen[i]->plan);
        }
        if (const std::optional<LimitFault> fault = call(std::span<const Plan* const>{part}, first)) {
            return refusal_of(*fault);
        }
    }
    return std::nullopt;
}

}  // namespace

void LimitService::reset(std::string_view key, std::span<const std::string_view> plans,
                         Done<std::monostate> done) {
    auto chosen = choose(key, plans);
    if (!chosen) {
        done(Unexpected{std::move(chosen).error()});
        return;
    }
    const auto forget = [key = std::string{key},
                         chosen = *chosen](LimitStore& store) -> Result<std::monostate, LimitError> {
        const auto error = in_parts(chosen, [&](std::span<const Plan* const> part, std::size_t) {
            const auto forgotten = store.reset(key, part);
            return forgotten ? std::nullopt : std::optional{forgotten.error()};
        });
        return error ? Result<std::monostate, LimitError>{Unexpected{*error}} : std::monostate{};
    };
    ask<std::monostate>(forget, std::move(done));
}

void LimitService::inspect(std::string_view key, std::span<const std::string_view> plans,
                           Done<std::vector<KeyStanding>> done) {
    auto chosen = choose(key, plans);
    if (!chosen) {
        done(Unexpected{std::move(chosen).error()});
        return;
    }
    const auto look = [key = std::string{key},
                       chosen = *chosen](LimitStore& store) -> Result<std::vector<KeyStanding>, LimitError> {
        std::vector<KeyStanding> standings;
        const auto error = in_parts(
            chosen, [&](std::span<const Plan* const> part, std::size_t first) -> std::optional<LimitFault> {
                const auto seen = store.inspect(key, part);
                if (!seen) {
                    return seen.error();
                }
                for (std::size_t i = 0; i < seen->size(); ++i) {
                    standings.push_back({chosen[first + i], (*seen)[i]});
                }
                return std::nullopt;
            });
        return error ? Result<std::vector<KeyStanding>, LimitError>{Unexpected{*error}} : standings;
    };
    ask<std::vector<KeyStanding>>(look, std::move(done));
}

void LimitService::put_plan(const PlanDraft& draft, Done<std::shared_ptr<const BookedPlan>> done) {
    using Booked = std::shared_ptr<const BookedPlan>;
    if (world_.shared == nullptr) {
        auto booked = world_.plans.put(draft);
        done(booked ? Result<Booked, LimitError>{*booked}
                    : Unexpected{LimitError{Kind::InvalidRule, "The " + booked.error().what + "."}});
        return;
    }
    ask<Booked>([this, draft](LimitStore& /*store*/) { return world_.shared->put(draft); }, std::move(done));
}

void LimitService::remove_plan(std::string_view name, Done<bool> done) {
    if (world_.shared == nullptr) {
        done(world_.plans.remove(name));
        return;
    }
    ask<bool>([this, name = std::string{name}](LimitStore& /*store*/) { return world_.shared->remove(name); },
              std::move(done));
}

void LimitService::put_override(const OverrideQuestion& question, Done<Moment> done) {
    const std::array<std::string_view, 1> name{question.plan};
    auto chosen = choose(question.key, name);
    if (!chosen) {
        done(Unexpected{std::move(chosen).error()});
        return;
    }
    auto replacement = make_plan(completed(question.draft, chosen->front()->draft));
    if (!replacement) {
        done(Unexpected{LimitError{Kind::InvalidRule, "The override of " + replacement.error().what + "."}});
        return;
    }
    const auto put = [this, key = std::string{question.key}, booked = chosen->front(),
                      replaced = LimitOverride{replacement->rule(), question.end}](
                         LimitStore& store) -> Result<Moment, LimitError> {
        const auto ends = store.put_override(key, booked->plan, replaced);
        if (!ends) {
            return Unexpected{refusal_of(ends.error())};
        }
        policy_.heed(key, booked->plan, replaced);
        return *ends;
    };
    ask<Moment>(put, std::move(done));
}

}  // namespace sluice
