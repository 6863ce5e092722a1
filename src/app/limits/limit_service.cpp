#include "app/limits/limit_service.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "app/limits/errand.hpp"

namespace sluice {
namespace {

using Pass = CircuitBreaker::Pass;
using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kComponent = "LimitService";

// How a fault is counted; none for what is wrong with the question.
std::optional<StoreFailure> failure_of(LimitFault fault) {
    switch (fault) {
        case LimitFault::Full: return StoreFailure::Full;
        case LimitFault::Contended: return StoreFailure::Contended;
        case LimitFault::Unavailable: return StoreFailure::Unavailable;
        case LimitFault::InvalidKey:
        case LimitFault::InvalidPlans:
        case LimitFault::InvalidCost:
        case LimitFault::Apart: break;
    }
    return std::nullopt;
}

// A store that is full or has a key contended does answer.
bool is_down(const CheckOutcome& outcome) { return !outcome && outcome.error() == LimitFault::Unavailable; }

LimitReason reason_of(const Verdict& verdict) {
    if (!verdict.allowed) {
        return LimitReason::Denied;
    }
    return verdict.shadowed ? LimitReason::Shadow : LimitReason::Ok;
}

bool exceeds_a_limit(const ResolvedCheck& check) {
    const auto all = check.all();
    return std::any_of(all.begin(), all.end(),
                       [&](const BookedPlan* booked) { return check.cost > booked->plan.limit(); });
}

// The one of several that a refusal is about.
const ResolvedCheck& culprit(std::span<const ResolvedCheck> checks) {
    const auto found = std::find_if(checks.begin(), checks.end(), exceeds_a_limit);
    return found == checks.end() ? checks.front() : *found;
}

}  // namespace

LimitService::LimitService(LimitServiceOptions options, LimitServiceWorld world)
    : options_{options},
      world_{world},
      breaker_{options.breaker, [this](BreakerState state) { log_change(state); }},
      policy_{options.policy, world.local} {
    if (is_direct()) {
        return;
    }
    deadlines_ = std::make_unique<DeadlineQueue>(options_.deadline);
    checks_ = std::make_unique<Combiner<ErrandPtr, Outcomes>>(
        options_.batches, [this](std::span<ErrandPtr> errands) { return run(errands); });
    queries_ = std::make_unique<Combiner<Query, std::monostate>>(
        CombinerLimits{1, options_.queries_max, 1}, [this](std::span<Query> queries) {
            for (Query& query : queries) {
                query(world_.store);
            }
            return std::vector<std::monostate>(queries.size());
        });
}

void LimitService::stop() {
    if (is_direct()) {
        return;
    }
    checks_->stop();
    queries_->stop();
    deadlines_->stop();
}

void LimitService::log_change(BreakerState state) {
    world_.metrics.breaker_changed(state);
    switch (state) {
        case BreakerState::Open:
            world_.log.write(LogLevel::Warn, kComponent,
                             "The store of limits does not answer; plans answer by their on_store_failure");
            return;
        case BreakerState::HalfOpen:
            world_.log.write(LogLevel::Info, kComponent, "Probing the store of limits");
            return;
        case BreakerState::Closed:
            world_.log.write(LogLevel::Info, kComponent, "The store of limits answers again");
            return;
    }
}

CircuitBreaker::Pass LimitService::admission() {
    return breaker_.calm() ? Pass::Normal : breaker_.admit(SteadyClock::now());
}

void LimitService::report(CircuitBreaker::Pass pass, const StoreReply& reply) {
    const bool down = !reply || std::any_of(reply->begin(), reply->end(), is_down);
    if (down) {
        breaker_.failed(pass, SteadyClock::now());
    } else {
        breaker_.succeeded(pass);
    }
}

LimitReply LimitService::counted(Checks checks, LimitReply reply) {
    if (reply && checks.front().cost > 0) {
        world_.metrics.decided(*reply);
    }
    return reply;
}

LimitReply LimitService::fall_back(Checks checks, StoreFailure failure, const PlansInForce& plans) {
    world_.metrics.store_failed(failure);
    return counted(checks, policy_.answer(checks, plans, SteadyClock::now()));
}

LimitReply LimitService::settle(Checks checks, const CheckOutcome& outcome, const PlansInForce& plans) {
    if (!outcome) {
        const auto failure = failure_of(outcome.error());
        return failure ? fall_back(checks, *failure, plans)
                       : LimitReply{Unexpected{refusal_of(outcome.error(), culprit(checks))}};
    }
    std::size_t speaker = 0;
    std::size_t plan = outcome->plan;
    while (plan >= checks[speaker].count) {
        plan -= checks[speaker].count;
        ++speaker;
    }
    return counted(checks, LimitAnswer{outcome->allowed, reason_of(*outcome), speaker,
                                       checks[speaker].booked[plan], outcome->limit, outcome->remaining,
                                       outcome->retry_after, outcome->reset_after, outcome->lease, plans});
}

CheckOutcome LimitService::take_direct(std::span<const Check> checks, bool together) {
    if (together) {
        return world_.store.take_together(checks);
    }
    CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
    world_.store.take(checks, {&outcome, 1});
    return outcome;
}

void LimitService::report_direct(CircuitBreaker::Pass pass, const CheckOutcome& outcome) {
    if (is_down(outcome)) {
        breaker_.failed(pass, SteadyClock::now());
    } else if (!breaker_.calm()) {
        breaker_.succeeded(pass);
    }
}

LimitReply LimitService::check_direct(const LimitQuestion& question, const PlansInForce& plans) {
    const auto resolved = resolve(question, *plans);
    if (!resolved) {
        return Unexpected{resolved.error()};
    }
    const Checks checks{&*resolved, 1};
    const Pass pass = admission();
    if (pass == Pass::Refused) {
        return fall_back(checks, StoreFailure::Skipped, plans);
    }
    const Check check = resolved->to_check();
    const CheckOutcome outcome = take_direct({&check, 1}, false);
    report_direct(pass, outcome);
    return settle(checks, outcome, plans);
}

LimitReply LimitService::check_now(const LimitQuestion& question) {
    assert(is_direct());
    return check_direct(question, world_.plans.current());
}

void LimitService::check(const LimitQuestion& question, Done<LimitAnswer> done) {
    check_each({&question, 1}, [done = std::move(done)](std::vector<LimitReply> replies) mutable {
        done(std::move(replies.front()));
    });
}

void LimitService::check_each(std::span<const LimitQuestion> questions, EachDone done) {
    const PlansInForce plans = world_.plans.current();
    std::vector<LimitReply> replies;
    replies.reserve(questions.size());
    if (is_direct()) {
        for (const LimitQuestion& question : questions) {
            replies.push_back(check_direct(question, plans));
        }
        done(std::move(replies));
        return;
    }
    auto errand = std::make_shared<Errand>(*this, plans);
    std::vector<std::size_t> places;  // Where each of the errand's checks is answered.
    for (const LimitQuestion& question : questions) {
        auto resolved = resolve(question, *plans);
        if (resolved) {
            errand->add(*resolved);
            places.push_back(replies.size());
            replies.emplace_back(LimitAnswer{});
        } else {
            replies.emplace_back(Unexpected{std::move(resolved).error()});
        }
    }
    errand->finish = [this, places = std::move(places), replies = std::move(replies), done = std::move(done)](
                         Errand& finished, const StoreReply& reply) mutable {
        for (std::size_t i = 0; i < places.size(); ++i) {
            const Checks one{&finished.checks[i], 1};
            replies[places[i]] = reply ? settle(one, (*reply)[i], finished.plans)
                                       : fall_back(one, reply.error(), finished.plans);
        }
        done(std::move(replies));
    };
    submit(errand);
}

void LimitService::check_together(std::span<const LimitQuestion> questions, Done<LimitAnswer> done) {
    const PlansInForce plans = world_.plans.current();
    auto errand = std::make_shared<Errand>(*this, plans);
    errand->together = true;
    for (const LimitQuestion& question : questions) {
        auto resolved = resolve(question, *plans);
        if (!resolved) {
            done(Unexpected{std::move(resolved).error()});
            return;
        }
        errand->add(*resolved);
    }
    errand->finish = [this, done = std::move(done)](Errand& finished, const StoreReply& reply) mutable {
        done(reply ? settle(finished.checks, reply->front(), finished.plans)
                   : fall_back(finished.checks, reply.error(), finished.plans));
    };
    submit(errand);
}

void LimitService::submit(const ErrandPtr& errand) {
    if (errand->checks.empty()) {
        errand->finish(*errand, Outcomes{});
        return;
    }
    errand->pass = admission();
    if (errand->pass == Pass::Refused) {
        errand->finish(*errand, Unexpected{StoreFailure::Skipped});
        return;
    }
    if (is_direct()) {
        std::array<ErrandPtr, 1> alone{errand};
        conclude(*errand, std::move(run(alone).front()));
        return;
    }
    deadlines_->add(errand);
    const auto completion = [this, errand](Result<Outcomes, Refusal> ran) {
        if (errand->claim()) {
            conclude(*errand, ran ? StoreReply{*std::move(ran)} : StoreReply{Unexpected{StoreFailure::Late}});
        }
    };
    checks_->submit({errand, completion, SteadyClock::now() + options_.deadline, errand->checks.size(),
                     WhenFull::Refuse});
}

void LimitService::conclude(Errand& errand, const StoreReply& reply) {
    report(errand.pass, reply);
    // Whoever still watches the errand must not keep alive what its caller waits with.
    auto finish = std::move(errand.finish);
    finish(errand, reply);
}

std::vector<LimitService::Outcomes> LimitService::run(std::span<ErrandPtr> errands) {
    const auto began = SteadyClock::now();
    std::vector<Check> singles;
    for (const ErrandPtr& errand : errands) {
        // Whom a deadline has answered already is not charged any more.
        for (const ResolvedCheck& check :
             errand->together || errand->is_over() ? Checks{} : Checks{errand->checks}) {
            singles.push_back(check.to_check());
        }
    }
    Outcomes outcomes(singles.size(), Unexpected{LimitFault::Unavailable});
    if (!singles.empty()) {
        world_.store.take(singles, outcomes);
    }
    std::vector<Outcomes> replies;
    auto next = outcomes.begin();
    std::size_t count = singles.size();
    auto left = singles.begin();
    for (const ErrandPtr& errand : errands) {
        Outcomes& reply = replies.emplace_back();
        if (errand->together && errand->is_over()) {
            reply.emplace_back(Unexpected{LimitFault::Unavailable});
            continue;
        }
        if (errand->together) {
            std::vector<Check> all;
            for (const ResolvedCheck& check : errand->checks) {
                all.push_back(check.to_check());
            }
            reply.push_back(world_.store.take_together(all));
            count += all.size();
            continue;
        }
        // It was taken if the next single check is its own; what was over by then is answered by nobody.
        const bool taken = left != singles.end() && left->key.data() == errand->checks.front().key.data();
        for (std::size_t i = 0; i < errand->checks.size(); ++i) {
            reply.push_back(taken ? *next++ : CheckOutcome{Unexpected{LimitFault::Unavailable}});
        }
        left += taken ? static_cast<std::ptrdiff_t>(errand->checks.size()) : 0;
    }
    world_.metrics.store_called(count, SteadyClock::now() - began);
    return replies;
}

}  // namespace sluice
