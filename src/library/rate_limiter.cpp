#include "library/fallback.hpp"
#include "library/translation.hpp"

namespace sluice {
namespace {

// What no repository could take. More tokens than a plan allows are for it to refuse: the key may have an
// override.
bool is_malformed(std::string_view key, std::span<const RatePlan> plans, std::int64_t tokens) {
    return key.empty() || key.size() > kLimitKeyBytesMax || tokens < 0 || plans.empty() ||
           plans.size() > kPlansPerCheckMax;
}

RateLimitError error_of(RepositoryError error) {
    switch (error) {
        case RepositoryError::Invalid:
            return {RateLimitErrorKind::Invalid, "The key, the plans or the tokens are none that could be."};
        case RepositoryError::Full: return {RateLimitErrorKind::Full, "The repository has no room for more."};
        case RepositoryError::Contended:
            return {RateLimitErrorKind::Unavailable, "Others held the key for too long; try again."};
        case RepositoryError::Unsupported:
            return {RateLimitErrorKind::Unsupported, "The repository cannot do that."};
        case RepositoryError::Unavailable: break;
    }
    return {RateLimitErrorKind::Unavailable, "The repository does not answer."};
}

template <class T>
Result<T, RateLimitError> told(Result<T, RepositoryError> done) {
    if (!done) {
        return Unexpected{error_of(done.error())};
    }
    if constexpr (std::is_void_v<T>) {
        return {};
    } else {
        return std::move(done).value();
    }
}

// Calls what a program brought. Whatever it throws, it did not answer.
template <class Call>
auto answer_of(Call call) -> decltype(call()) {
    try {
        return call();
    } catch (...) {
        return Unexpected{RepositoryError::Unavailable};
    }
}

class DefaultRateLimiter final : public RateLimiter {
public:
    DefaultRateLimiter(const PlanRegistry& plans, RateLimiterRepository& repository, MissingPlan missing)
        : plans_{plans}, repository_{repository}, missing_{missing} {}

    RateLimitResult allow(std::string_view key, PlanNames names, std::int64_t tokens) override {
        return allow(key, names, tokens, true);
    }

    RateLimitResult unanswered(PlanNames names, std::int64_t tokens) override {
        return allow(kNoKey, names, tokens, false);
    }

    Result<void, RateLimitError> refund(std::string_view key, PlanNames names, std::int64_t tokens) override {
        const auto plans = find_all(names);
        if (!plans) {
            return Unexpected{plans.error()};
        }
        // What this limiter allowed while the repository failed comes back here.
        if (!is_malformed(key, *plans, tokens) && fallback_.refund(key, *plans, tokens)) {
            return {};
        }
        return told(answer_of([&] { return repository_.refund(key, *plans, tokens); }));
    }

    Result<bool, RateLimitError> release(std::string_view key, std::string_view name,
                                         std::uint64_t lease) override {
        const auto plan = find_all({&name, 1});
        if (!plan) {
            return Unexpected{plan.error()};
        }
        // What this limiter gave while the repository failed comes back here.
        return fallback_.release(key, plan->front(), lease)
                   ? Result<bool, RateLimitError>{true}
                   : told(answer_of([&] { return repository_.release(key, plan->front(), lease); }));
    }

    Result<void, RateLimitError> reset(std::string_view key, PlanNames names) override {
        const auto plans = find_all(names);
        return plans ? told(answer_of([&] { return repository_.reset(key, *plans); }))
                     : Unexpected{plans.error()};
    }

    Result<std::vector<RateLimitStanding>, RateLimitError> inspect(std::string_view key,
                                                                   PlanNames names) override {
        const auto plans = find_all(names);
        return plans ? told(answer_of([&] { return repository_.inspect(key, *plans); }))
                     : Unexpected{plans.error()};
    }

    Result<void, RateLimitError> put_override(std::string_view key,
                                              const RateLimitOverride& instead) override {
        const std::string_view name = instead.plan;
        const auto plan = find_all({&name, 1});
        if (!plan) {
            return Unexpected{plan.error()};
        }
        const auto replacement = plan->front().overridden(instead);
        if (!replacement) {
            return Unexpected{
                RateLimitError{RateLimitErrorKind::Invalid, "The override of " + replacement.error() + "."}};
        }
        const auto put =
            answer_of([&] { return repository_.put_override(key, *replacement, instead.until); });
        if (put) {
            fallback_.heed(key, *replacement, instead.until);
        }
        return told(put);
    }

private:
    RateLimitResult allow(std::string_view key, PlanNames names, std::int64_t tokens, bool asks) {
        const Found found = find(names);
        if (found.unknown && (missing_ == MissingPlan::Deny || found.plans.empty())) {
            return missing_result(*found.unknown, missing_);
        }
        if (is_malformed(key, found.plans, tokens)) {
            return invalid_result();
        }
        if (!asks) {
            return fallback_.answer(key, found.plans, tokens);
        }
        const auto acquired = answer_of([&] { return repository_.try_acquire(key, found.plans, tokens); });
        if (acquired) {
            return decided(*acquired, found.plans);
        }
        switch (acquired.error()) {
            case RepositoryError::Invalid: return invalid_result();
            case RepositoryError::Contended: return fallback_.contended(key, found.plans, tokens);
            default: return fallback_.answer(key, found.plans, tokens);
        }
    }

    struct Found {
        std::vector<RatePlan> plans;
        std::optional<std::string_view> unknown;  // The first of them.
    };

    [[nodiscard]] Found find(PlanNames names) const {
        Found found;
        found.plans.reserve(names.size());
        for (const std::string_view name : names) {
            if (auto plan = plans_.find(name)) {
                found.plans.push_back(std::move(*plan));
            } else if (!found.unknown) {
                found.unknown = name;
            }
        }
        return found;
    }

    // At least one plan, and all of them known.
    [[nodiscard]] Result<std::vector<RatePlan>, RateLimitError> find_all(PlanNames names) const {
        Found found = find(names);
        if (found.unknown) {
            return Unexpected{missing_error(*found.unknown)};
        }
        if (found.plans.empty()) {
            return Unexpected{error_of(RepositoryError::Invalid)};
        }
        return std::move(found.plans);
    }

    static RateLimitResult decided(const Acquisition& acquired, std::span<const RatePlan> plans) {
        const RateLimitReason reason = acquired.shadowed  ? RateLimitReason::Shadow
                                       : acquired.allowed ? RateLimitReason::Ok
                                                          : RateLimitReason::Denied;
        const auto wait = acquired.allowed ? std::chrono::microseconds{} : acquired.wait;
        // A repository may be anybody's: what it says is checked.
        const RatePlan& speaker = plans[acquired.plan < plans.size() ? acquired.plan : 0];
        return {acquired.allowed, acquired.remaining,          wait,
                reason,           std::string{speaker.name()}, acquired.lease};
    }

    const PlanRegistry& plans_;
    RateLimiterRepository& repository_;
    const MissingPlan missing_;
    Fallback fallback_;
};

}  // namespace

RateLimitResult RateLimiter::allow(const KeyResolver& keys, const RequestSource& source, Names plans,
                                   std::int64_t tokens) {
    const PlanNames names{plans.begin(), plans.size()};
    std::optional<std::string> key;
    try {
        key = keys.resolve(source);
    } catch (...) {
        return unanswered(names, tokens);
    }
    return key ? allow(*key, names, tokens) : invalid_result();
}

std::unique_ptr<RateLimiter> make_rate_limiter(const PlanRegistry& plans, RateLimiterRepository& repository,
                                               MissingPlan missing) {
    return std::make_unique<DefaultRateLimiter>(plans, repository, missing);
}

}  // namespace sluice
