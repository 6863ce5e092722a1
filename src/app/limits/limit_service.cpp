#include "app/limits/limit_service.hpp"

#include <algorithm>

#include "app/limits/errand.hpp"

namespace sluice {
namespace {

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

// How often ended blocks are looked for: often enough to cut little from their time. What would end before
// the next look goes back now: a little earlier, never later, unless the store is slow.
Wait looks_every(const TokenBlockOptions& blocks) {
    return std::max(blocks.lease_time / 8, Wait{std::chrono::milliseconds{1}});
}

}  // namespace

LimitService::LimitService(const LimitServiceOptions& options, LimitServiceWorld world)
    : options_{options}, world_{world}, policy_{options_.policy, world.local} {
    if (is_direct()) {
        return;
    }
    node_ = std::make_unique<NodeStore>(
        options_.node, NodeStoreWorld{world_.store, world_.plans, world_.metrics, world_.runtime});
    const Wait every = looks_every(options_.node.blocks);
    returns_ = std::make_unique<Repeating>(world_.runtime, every, [this, every](const auto& /*stop*/) {
        node_->give_back_ended(every);
        return every;
    });
    deadlines_ = std::make_unique<DeadlineQueue>(world_.runtime, options_.deadline);
    for (std::size_t lane = 0; lane < world_.store.lanes(); ++lane) {
        lanes_.push_back(std::make_unique<Combiner<ErrandPtr, Outcomes>>(
            world_.runtime, options_.batches, [this](std::span<ErrandPtr> errands) { return run(errands); }));
    }
    queries_ = std::make_unique<Combiner<Query, std::monostate>>(
        world_.runtime, CombinerLimits{1, options_.queries_max, 1}, [this](std::span<Query> queries) {
            for (Query& query : queries) {
                query(store());
            }
            return std::vector<std::monostate>(queries.size());
        });
}

void LimitService::stop() {
    if (is_direct()) {
        return;
    }
    for (const auto& lane : lanes_) {
        lane->stop();
    }
    queries_->stop();
    deadlines_->stop();
    returns_->stop();
    node_->give_back_all();
}

LimitReply LimitService::counted(Checks checks, LimitReply reply) {
    if (reply && checks.front().cost > 0) {
        world_.metrics.decided(*reply);
    }
    return reply;
}

LimitReply LimitService::fall_back(Checks checks, StoreFailure failure, const PlansInForce& plans) {
    world_.metrics.store_failed(failure);
    return counted(checks, policy_.answer(checks, plans, world_.runtime.now()));
}

LimitReply LimitService::settle(Checks checks, const CheckOutcome& outcome, const PlansInForce& plans) {
    if (!outcome && outcome.error() == LimitFault::Contended) {
        world_.metrics.store_failed(StoreFailure::Contended);
        return counted(checks, contended_answer(checks, plans, key_wait(options_.deadline)));
    }
    if (!outcome) {
        const auto failure = failure_of(outcome.error());
        return failure ? fall_back(checks, *failure, plans)
                       : LimitReply{Unexpected{refusal_of(outcome.error(), culprit(checks))}};
    }
    return answer_of(checks, *outcome, plans);
}

LimitReply LimitService::answer_of(Checks checks, const Verdict& verdict, const PlansInForce& plans) {
    std::size_t speaker = 0;
    std::size_t plan = verdict.plan;
    while (plan >= checks[speaker].count) {
        plan -= checks[speaker].count;
        ++speaker;
    }
    const BookedPlan& spoke = *checks[speaker].booked[plan];
    if (verdict.limit != spoke.plan.limit() && !is_direct()) {
        policy_.saw_limit(checks[speaker].key, spoke.plan, verdict.limit);
    }
    LimitReply reply{LimitAnswer{verdict.allowed, reason_of(verdict), speaker, &spoke, verdict.limit,
                                 verdict.remaining, verdict.retry_after, verdict.reset_after, verdict.lease,
                                 plans}};
    if (checks.front().cost > 0) {
        world_.metrics.decided(*reply);
    }
    return reply;
}

CheckOutcome LimitService::take_direct(std::span<const Check> checks, bool together) {
    if (together) {
        return world_.store.take_together(checks);
    }
    CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
    world_.store.take(checks, {&outcome, 1});
    return outcome;
}

LimitReply LimitService::check_direct(const LimitQuestion& question, const PlansInForce& plans) {
    const auto resolved = resolve(question, *plans);
    if (!resolved) {
        return Unexpected{resolved.error()};
    }
    const Checks checks{&*resolved, 1};
    const Check check = resolved->to_check();
    return settle(checks, take_direct({&check, 1}, false), plans);
}

std::optional<LimitReply> LimitService::check_at_once(const LimitQuestion& question) {
    if (!is_direct()) {
        return std::nullopt;
    }
    return check_direct(question, world_.plans.current());
}

LimitReply LimitService::answer_without_store(const LimitQuestion& question) {
    const auto plans = world_.plans.current();
    const auto resolved = resolve(question, *plans);
    return resolved ? fall_back({&*resolved, 1}, StoreFailure::Unavailable, plans)
                    : LimitReply{Unexpected{resolved.error()}};
}

void LimitService::check(const LimitQuestion& question, Done<LimitAnswer> done) {
    check_each({&question, 1}, [done = std::move(done)](std::vector<LimitReply> replies) mutable {
        done(std::move(replies.front()));
    });
}

std::optional<LimitReply> LimitService::answer_here(const ResolvedCheck& check, const PlansInForce& plans) {
    const auto known = node_->known(check.to_check());
    return known ? std::optional{settle({&check, 1}, *known, plans)} : std::nullopt;
}

// The answers to checks that one call asked for, and several errands bring.
struct LimitService::Gathering {
    EachDone done;
    std::vector<LimitReply> replies;
    // Errands, and one for the call itself. Acquire and release: the last sees what the others wrote.
    std::atomic<std::size_t> left = 1;

    Gathering(EachDone then, std::vector<LimitReply> known)
        : done{std::move(then)}, replies{std::move(known)} {}

    void arrive() {
        if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            done(std::move(replies));
        }
    }
};

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
    std::vector<ErrandPtr> errands(lanes_.size());
    for (const LimitQuestion& question : questions) {
        auto resolved = resolve(question, *plans);
        if (!resolved) {
            replies.emplace_back(Unexpected{std::move(resolved).error()});
        } else if (auto known = answer_here(*resolved, plans)) {
            replies.push_back(*std::move(known));
        } else {
            const std::size_t lane = lane_of(*resolved);
            if (!errands[lane]) {
                errands[lane] = std::make_shared<Errand>(*this, plans, lane);
            }
            errands[lane]->add(*resolved);
            errands[lane]->places.push_back(replies.size());
            replies.emplace_back(LimitAnswer{});
        }
    }
    send(errands, std::make_shared<Gathering>(std::move(done), std::move(replies)));
}

void LimitService::send(std::span<const ErrandPtr> errands, const std::shared_ptr<Gathering>& gathering) {
    for (const ErrandPtr& errand : errands) {
        if (!errand) {
            continue;
        }
        errand->finish = [this, gathering](Errand& finished, const StoreReply& reply) {
            for (std::size_t i = 0; i < finished.places.size(); ++i) {
                const Checks one{&finished.checks[i], 1};
                gathering->replies[finished.places[i]] = reply
                                                             ? settle(one, (*reply)[i], finished.plans)
                                                             : fall_back(one, reply.error(), finished.plans);
            }
            gathering->arrive();
        };
        ++gathering->left;
        submit(errand);
    }
    gathering->arrive();
}

void LimitService::check_together(std::span<const LimitQuestion> questions, Done<LimitAnswer> done) {
    const PlansInForce plans = world_.plans.current();
    ErrandPtr errand;
    for (const LimitQuestion& question : questions) {
        auto resolved = resolve(question, *plans);
        if (!resolved) {
            done(Unexpected{std::move(resolved).error()});
            return;
        }
        if (!errand) {
            errand = std::make_shared<Errand>(*this, plans, lane_of(*resolved));
            errand->together = true;
        }
        errand->add(*resolved);
    }
    errand->finish = [this, done = std::move(done)](Errand& finished, const StoreReply& reply) mutable {
        done(reply ? settle(finished.checks, reply->front(), finished.plans)
                   : fall_back(finished.checks, reply.error(), finished.plans));
    };
    submit(errand);
}

}  // namespace sluice
