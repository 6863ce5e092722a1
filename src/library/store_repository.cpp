#include "library/store_repository.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "app/limits/plan_book.hpp"
#include "library/home_process.hpp"
#include "library/translation.hpp"

namespace sluice {
namespace {

RepositoryError error_of(LimitFault fault) {
    switch (fault) {
        case LimitFault::InvalidKey:
        case LimitFault::InvalidPlans:
        case LimitFault::InvalidCost:
        case LimitFault::Apart: return RepositoryError::Invalid;
        case LimitFault::Full: return RepositoryError::Full;
        case LimitFault::Contended: return RepositoryError::Contended;
        case LimitFault::Unavailable: break;
    }
    return RepositoryError::Unavailable;
}

// As the port answers what a store said.
template <class T>
Result<T, RepositoryError> told(const Result<T, LimitFault>& outcome) {
    if (!outcome) {
        return Unexpected{error_of(outcome.error())};
    }
    if constexpr (std::is_void_v<T>) {
        return {};
    } else {
        return *outcome;
    }
}

// The rules of plans, as a store takes them.
class Rules {
public:
    // One too many are kept back, for the store to refuse.
    explicit Rules(std::span<const RatePlan> plans) : count_{std::min(plans.size(), rules_.size())} {
        for (std::size_t i = 0; i < count_; ++i) {
            rules_[i] = &plans[i].booked().plan;
        }
    }
    [[nodiscard]] std::span<const Plan* const> all() const { return {rules_.data(), count_}; }

private:
    std::array<const Plan*, kPlansPerCheckMax + 1> rules_{};
    std::size_t count_;
};

class StoreRepository final : public RateLimiterRepository {
public:
    explicit StoreRepository(OwnedStore owned) : owned_{std::make_unique<OwnedStore>(std::move(owned))} {}
    // What belongs to another process stays as it is: its threads cannot be ended here, nor waited for.
    ~StoreRepository() override {
        if (is_left()) {
            std::ignore = owned_.release();
        }
    }
    StoreRepository(const StoreRepository&) = delete;
    StoreRepository& operator=(const StoreRepository&) = delete;

    Result<Acquisition, RepositoryError> try_acquire(std::string_view key, std::span<const RatePlan> plans,
                                                     std::int64_t tokens) override {
        if (is_left()) {
            return Unexpected{RepositoryError::Unavailable};
        }
        const Rules rules{plans};
        const Check check{key, rules.all(), tokens};
        CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
        store().take({&check, 1}, {&outcome, 1});
        if (!outcome) {
            return Unexpected{error_of(outcome.error())};
        }
        return Acquisition{outcome->allowed,   outcome->shadowed,    outcome->plan,
                           outcome->remaining, outcome->retry_after, number_of(outcome->lease)};
    }

    Result<void, RepositoryError> refund(std::string_view key, std::span<const RatePlan> plans,
                                         std::int64_t tokens) override {
        if (is_left()) {
            return Unexpected{RepositoryError::Unavailable};
        }
        const Rules rules{plans};
        return told(store().refund({key, rules.all(), tokens}));
    }

    Result<bool, RepositoryError> release(std::string_view key, const RatePlan& plan,
                                          std::uint64_t lease) override {
        if (is_left()) {
            return Unexpected{RepositoryError::Unavailable};
        }
        const Plan& rule = plan.booked().plan;
        if (!std::holds_alternative<Concurrency>(rule.rule())) {
            return Unexpected{RepositoryError::Invalid};
        }
        return told(store().release(key, rule, LeaseId{lease}));
    }

    Result<void, RepositoryError> reset(std::string_view key, std::span<const RatePlan> plans) override {
        if (is_left()) {
            return Unexpected{RepositoryError::Unavailable};
        }
        const Rules rules{plans};
        return told(store().reset(key, rules.all()));
    }

    Result<std::vector<RateLimitStanding>, RepositoryError> inspect(
        std::string_view key, std::span<const RatePlan> plans) override {
        if (is_left()) {
            return Unexpected{RepositoryError::Unavailable};
        }
        const Rules rules{plans};
        const auto seen = store().inspect(key, rules.all());
        if (!seen) {
            return Unexpected{error_of(seen.error())};
        }
        std::vector<RateLimitStanding> standings;
        for (std::size_t i = 0; i < seen->size(); ++i) {
            standings.push_back(standing_of(plans[i].booked(), (*seen)[i]));
        }
        return standings;
    }

    Result<void, RepositoryError> put_override(std::string_view key, const RatePlan& plan,
                                               const RateLimitOverrideEnd& until) override {
        if (is_left()) {
            return Unexpected{RepositoryError::Unavailable};
        }
        const Plan& rule = plan.booked().plan;
        const auto put = store().put_override(key, rule, {rule.rule(), end_at(until)});
        return put ? Result<void, RepositoryError>{} : Unexpected{error_of(put.error())};
    }

private:
    [[nodiscard]] LimitStore& store() const { return *owned_->store; }
    // A store in memory, which has a clock, has neither threads nor connections.
    [[nodiscard]] bool is_left() const { return !owned_->clock && home_.is_left(); }

    const HomeProcess home_{};
    std::unique_ptr<OwnedStore> owned_;
};

}  // namespace

std::unique_ptr<RateLimiterRepository> repository_over(OwnedStore owned) {
    return std::make_unique<StoreRepository>(std::move(owned));
}

Result<std::unique_ptr<RateLimiterRepository>, std::string> repository_over(
    Result<OwnedStore, std::string> opened) {
    if (!opened) {
        return Unexpected{std::move(opened).error()};
    }
    return repository_over(std::move(opened).value());
}

}  // namespace sluice
