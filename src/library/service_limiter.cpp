#include "library/service_limiter.hpp"

#include <algorithm>
#include <future>

#include "library/fallback.hpp"
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

class ServiceLimiter final : public RateLimiter {
public:
    ServiceLimiter(std::unique_ptr<PlanBook> plans, OwnedStore store, const LimitServiceOptions& options,
                   MissingPlan missing)
        : plans_{std::move(plans)},
          store_{std::move(store)},
          local_{make_memory_store(kLocalKeysMax)},
          missing_{missing},
          service_{options, {*store_.store, *local_.store, *plans_, silent_.limits, silent_.servers}} {}

    RateLimitResult allow(std::string_view key, PlanNames names, std::int64_t tokens) override {
        const auto plans = plans_->current();
        const auto is_unknown = [&](std::string_view name) { return plans->find(name) == nullptr; };
        const auto unknown = std::find_if(names.begin(), names.end(), is_unknown);
        if (unknown == names.end()) {
            return ask({key, names, tokens});
        }
        std::vector<std::string_view> known{names.begin(), names.end()};
        std::erase_if(known, is_unknown);
        return missing_ == MissingPlan::Deny || known.empty() ? missing_result(*unknown, missing_)
                                                              : ask({key, known, tokens});
    }

    Result<void, RateLimitError> refund(std::string_view key, PlanNames plans, std::int64_t tokens) override {
        return told_done(awaited<std::monostate>([&](auto done) {
            service_.refund({key, plans, tokens}, std::move(done));
        }));
    }

    Result<bool, RateLimitError> release(std::string_view key, std::string_view plan,
                                         std::uint64_t lease) override {
        return told(
            awaited<bool>([&](auto done) { service_.release(key, plan, LeaseId{lease}, std::move(done)); }));
    }

    Result<void, RateLimitError> reset(std::string_view key, PlanNames plans) override {
        if (plans.empty()) {
            return Unexpected{no_plan()};
        }
        return told_done(
            awaited<std::monostate>([&](auto done) { service_.reset(key, plans, std::move(done)); }));
    }

    Result<std::vector<RateLimitStanding>, RateLimitError> inspect(std::string_view key,
                                                                   PlanNames plans) override {
        if (plans.empty()) {
            return Unexpected{no_plan()};
        }
        const auto seen = awaited<std::vector<KeyStanding>>(
            [&](auto done) { service_.inspect(key, plans, std::move(done)); });
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
        return told_done(awaited<std::monostate>([&](auto done) {
            service_.put_override({key, instead.plan, draft_of(instead), moment_at(instead.until)},
                                  std::move(done));
        }));
    }

private:
    // The service takes no plan for all of them, which a program seldom means.
    static RateLimitError no_plan() { return {RateLimitErrorKind::Invalid, "At least one plan is needed."}; }

    // REQUIRES: the plans are known.
    RateLimitResult ask(const LimitQuestion& question) {
        const LimitReply reply =
            service_.is_direct()
                ? service_.check_now(question)
                : awaited<LimitAnswer>([&](auto done) { service_.check(question, std::move(done)); });
        return reply ? result_of(*reply) : invalid_result();
    }

    const std::unique_ptr<PlanBook> plans_;
    const OwnedStore store_;
    const OwnedStore local_;
    const MissingPlan missing_;
    SilentWorld silent_;
    LimitService service_;  // Last: it uses all the rest.
};

}  // namespace

std::unique_ptr<RateLimiter> make_service_limiter(std::unique_ptr<PlanBook> plans, OwnedStore store,
                                                  const LimitServiceOptions& options, MissingPlan missing) {
    return std::make_unique<ServiceLimiter>(std::move(plans), std::move(store), options, missing);
}

}  // namespace sluice
