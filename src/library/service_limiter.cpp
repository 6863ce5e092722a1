#include "library/service_limiter.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <tuple>

#include "library/fallback.hpp"
#include "library/home_process.hpp"
#include "library/translation.hpp"

namespace sluice {
namespace {

// Calls `start` with a completion, and waits for it.
template <class T, class Start>
Result<T, LimitError> awaited(Start start) {
    std::promise<Result<T, LimitError>> promise;
    auto reply = promise.get_future();
    // The completion owns the promise: whoever keeps it may still be at work on it when the waiter has left.
    start([promise = std::move(promise)](Result<T, LimitError> done) mutable {
        promise.set_value(std::move(done));
    });
    return reply.get();
}

// What the service could not do, as the public headers say it.
template <class T>
Result<T, RateLimitError> told(Result<T, LimitError> done) {
    return done ? Result<T, RateLimitError>{std::move(done).value()} : Unexpected{error_of(done.error())};
}

Result<void, RateLimitError> told_done(const Result<std::monostate, LimitError>& done) {
    return done ? Result<void, RateLimitError>{} : Unexpected{error_of(done.error())};
}

// What answers, with all that it needs.
struct Engine {
    Engine(std::unique_ptr<PlanBook> book, OwnedStore owned, const LimitServiceOptions& options)
        : plans{std::move(book)},
          store{std::move(owned)},
          service{options,
                  {*store.store, *local.store, *plans, silent.limits, silent.servers, *silent.runtime}} {}

    const std::unique_ptr<PlanBook> plans;
    const OwnedStore store;
    const OwnedStore local = make_memory_store(kLocalKeysMax);
    SilentWorld silent;
    LimitService service;  // Last: it uses all the rest.
};

// What answers checks in a child of fork(): the plans' policies alone, with budgets and local keys of its
// own.
struct Orphan {
    explicit Orphan(const FailPolicyOptions& options) : policy{options, *local.store} {}

    const HomeProcess home{};
    const OwnedStore local = make_memory_store(kLocalKeysMax);
    FailPolicy policy;
};

class ServiceLimiter final : public RateLimiter {
public:
    ServiceLimiter(std::unique_ptr<PlanBook> plans, OwnedStore store, const LimitServiceOptions& options,
                   MissingPlan missing)
        : plans_{plans->current()},
          missing_{missing},
          has_threads_{options.calls == StoreCalls::Blocking},
          policy_{options.policy},
          engine_{std::make_unique<Engine>(std::move(plans), std::move(store), options)} {}

    // What belongs to another process stays as it is: its threads cannot be ended here, nor waited for.
    ~ServiceLimiter() override {
        if (is_left()) {
            std::ignore = engine_.release();
        }
        Orphan* const orphan = orphan_.load();
        if (orphan != nullptr && !orphan->home.is_left()) {
            delete orphan;
        }
    }
    ServiceLimiter(const ServiceLimiter&) = delete;
    ServiceLimiter& operator=(const ServiceLimiter&) = delete;

    RateLimitResult allow(std::string_view key, PlanNames names, std::int64_t tokens) override {
        return decide(names, [&](PlanNames known) { return ask({key, known, tokens}); });
    }

    RateLimitResult unanswered(PlanNames names, std::int64_t tokens) override {
        return decide(names, [&](PlanNames known) {
            const LimitQuestion question{kNoKey, known, tokens};
            return result_or_invalid(is_left() ? ask_orphan(question)
                                               : service().answer_without_store(question));
        });
    }

    Result<void, RateLimitError> refund(std::string_view key, PlanNames plans, std::int64_t tokens) override {
        if (is_left()) {
            return Unexpected{another_process()};
        }
        return told_done(awaited<std::monostate>([&](auto done) {
            service().refund({key, plans, tokens}, std::move(done));
        }));
    }

    Result<bool, RateLimitError> release(std::string_view key, std::string_view plan,
                                         std::uint64_t lease) override {
        if (is_left()) {
            return Unexpected{another_process()};
        }
        return told(
            awaited<bool>([&](auto done) { service().release(key, plan, LeaseId{lease}, std::move(done)); }));
    }

    Result<void, RateLimitError> reset(std::string_view key, PlanNames plans) override {
        if (is_left()) {
            return Unexpected{another_process()};
        }
        if (plans.empty()) {
            return Unexpected{no_plan()};
        }
        return told_done(
            awaited<std::monostate>([&](auto done) { service().reset(key, plans, std::move(done)); }));
    }

    Result<std::vector<RateLimitStanding>, RateLimitError> inspect(std::string_view key,
                                                                   PlanNames plans) override {
        if (is_left()) {
            return Unexpected{another_process()};
        }
        if (plans.empty()) {
            return Unexpected{no_plan()};
        }
        const auto seen = awaited<std::vector<KeyStanding>>(
            [&](auto done) { service().inspect(key, plans, std::move(done)); });
        if (!seen) {
            return Unexpected{error_of(seen.error())};
        }
        std::vector<RateLimitStanding> standings;
        for (const KeyStanding& each : *seen) {
            standings.push_back(standing_of(*each.plan, each.standing));
        }
        return standings;
    }

    Result<void, RateLimitError> put_override(std::string_view key,
                                              const RateLimitOverride& instead) override {
        if (is_left()) {
            return Unexpected{another_process()};
        }
        const auto put = awaited<Moment>([&](auto done) {
            service().put_override({key, instead.plan, draft_of(instead), end_at(instead.until)},
                                   std::move(done));
        });
        return put ? Result<void, RateLimitError>{} : Unexpected{error_of(put.error())};
    }

private:
    static RateLimitResult result_or_invalid(const LimitReply& reply) {
        return reply ? result_of(*reply) : invalid_result();
    }

    // The service takes no plan for all of them, which a program seldom means.
    static RateLimitError no_plan() { return {RateLimitErrorKind::Invalid, "At least one plan is needed."}; }

    static RateLimitError another_process() {
        return {RateLimitErrorKind::Unavailable, "The limiter belongs to the parent of this process."};
    }

    // A limiter in memory has neither threads nor connections: the child has its own copy of all.
    [[nodiscard]] bool is_left() const { return has_threads_ && home_.is_left(); }
    [[nodiscard]] LimitService& service() { return engine_->service; }

    // Decides by the plans that are known, if that is enough.
    template <class Ask>
    RateLimitResult decide(PlanNames names, Ask by) {
        const auto is_unknown = [&](std::string_view name) { return plans_->find(name) == nullptr; };
        const auto unknown = std::find_if(names.begin(), names.end(), is_unknown);
        if (unknown == names.end()) {
            return by(names);
        }
        std::vector<std::string_view> known{names.begin(), names.end()};
        std::erase_if(known, is_unknown);
        return missing_ == MissingPlan::Deny || known.empty() ? missing_result(*unknown, missing_)
                                                              : by(known);
    }

    // REQUIRES: the plans are known.
    RateLimitResult ask(const LimitQuestion& question) {
        if (is_left()) {
            return result_or_invalid(ask_orphan(question));
        }
        if (const auto reply = service().check_at_once(question)) {
            return result_or_invalid(*reply);
        }
        return result_or_invalid(
            awaited<LimitAnswer>([&](auto done) { service().check(question, std::move(done)); }));
    }

    LimitReply ask_orphan(const LimitQuestion& question) {
        const auto resolved = resolve(question, *plans_);
        if (!resolved) {
            return Unexpected{resolved.error()};
        }
        return orphan().policy.answer({&*resolved, 1}, plans_, std::chrono::steady_clock::now());
    }

    // That of this process. One of its parent is left alone, as all of the parent's.
    Orphan& orphan() {
        Orphan* found = orphan_.load(std::memory_order_acquire);
        if (found == nullptr || found->home.is_left()) {
            auto made = std::make_unique<Orphan>(policy_);
            if (orphan_.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel)) {
                found = made.release();
            }
        }
        return *found;
    }

    const HomeProcess home_{};
    const std::shared_ptr<const PlanSet> plans_;  // Here they never change.
    const MissingPlan missing_;
    const bool has_threads_;
    const FailPolicyOptions policy_;
    std::unique_ptr<Engine> engine_;
    std::atomic<Orphan*> orphan_ = nullptr;  // Owned. Acquire and release: who finds it sees it whole.
};

}  // namespace

std::unique_ptr<RateLimiter> make_service_limiter(std::unique_ptr<PlanBook> plans, OwnedStore store,
                                                  const LimitServiceOptions& options, MissingPlan missing) {
    return std::make_unique<ServiceLimiter>(std::move(plans), std::move(store), options, missing);
}

}  // namespace sluice
