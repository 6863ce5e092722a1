#include "core/governor/wal_sizing.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace sluice {
namespace {

constexpr Billionths kBillion = 1'000'000'000;

static_assert(std::is_trivially_destructible_v<WalObservation> &&
              std::is_trivially_destructible_v<WalProposal>);

WalProposal stay(const WalObservation& observation, WalReason reason) {
    return {WalAction::None, reason, observation.current, observation.current};
}

Megabytes saturating_product(Megabytes size, std::int64_t times) {
    return size > kMegabytesMax / times ? kMegabytesMax : size * times;  // The product may not fit.
}

WalProposal grow_to(Megabytes wanted, WalReason reason, const WalSizingPolicy& policy,
                    const WalObservation& observation) {
    const Megabytes calculated = std::max(wanted, policy.size_floor);
    const bool capped = calculated > policy.size_max;
    const Megabytes target = capped ? policy.size_max : calculated;
    if (observation.current >= target || target < policy.size_floor) {
        return stay(observation, WalReason::AtMaximum);
    }
    return {capped ? WalAction::Capped : WalAction::Increase, reason, target, calculated};
}

WalProposal shrink(const WalSizingPolicy& policy, const WalObservation& observation) {
    const Megabytes wanted = std::max(policy.size_min, observation.needed.value_or(0));
    const Megabytes size_min = std::max(std::min(wanted, policy.size_max), policy.size_floor);
    if (!policy.shrink_enabled) {
        return stay(observation, WalReason::ShrinkDisabled);
    }
    if (observation.quiet < policy.shrink_intervals) {
        return stay(observation, WalReason::NotQuietLongEnough);
    }
    if (observation.current <= size_min) {
        return stay(observation, WalReason::AtMinimum);
    }
    // 31 bits of size times 30 bits of factor fit.
    const Megabytes calculated = (observation.current * policy.shrink_factor + kBillion - 1) / kBillion;
    const Megabytes target = std::max(calculated, size_min);
    if (target >= observation.current) {
        return stay(observation, WalReason::NothingToGain);
    }
    return {WalAction::Decrease, WalReason::SustainedLowActivity, target, calculated};
}

}  // namespace

Billionths to_billionths(double factor) { return std::llround(factor * static_cast<double>(kBillion)); }

WalProposal propose(const WalSizingPolicy& policy, const WalObservation& observation) {
    if (observation.needed.value_or(0) > observation.current) {
        return grow_to(*observation.needed, WalReason::MeasuredRate, policy, observation);
    }
    if (observation.forced >= policy.threshold) {
        const Megabytes calculated = saturating_product(observation.current, observation.forced + 1);
        return grow_to(calculated, WalReason::ForcedCheckpoints, policy, observation);
    }
    return shrink(policy, observation);
}

int confidence(const WalEvidence& evidence) {
    return 50 + (evidence.requested > 10 ? 20 : 0) + (evidence.quiet > 0 ? 15 : 0) +
           (evidence.baseline ? 15 : 0);
}

}  // namespace sluice
