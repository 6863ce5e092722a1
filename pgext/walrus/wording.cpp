#include "wording.hpp"

#include "core/governor/wal_rates.hpp"
#include "postgres_api.hpp"
#include "settings.hpp"

namespace sluice::walrus {

const char* action_word(WalAction action) {
    switch (action) {
        case WalAction::Increase: return "increase";
        case WalAction::Capped: return "capped";
        case WalAction::Decrease: return "decrease";
        case WalAction::None: break;
    }
    return "none";
}

const char* reason_text(const WalProposal& proposal) {
    if (proposal.action == WalAction::Capped) {
        return "Calculated size exceeded walrus.max";
    }
    switch (proposal.reason) {
        case WalReason::ForcedCheckpoints: return "Forced checkpoints exceeded threshold";
        case WalReason::MeasuredRate: return "Measured WAL rate needs more";
        case WalReason::SustainedLowActivity: return "Sustained low checkpoint activity";
        case WalReason::AtMaximum: return "Already at maximum";
        case WalReason::ShrinkDisabled: return "Shrinking is disabled";
        case WalReason::NotQuietLongEnough: return "Not quiet for long enough";
        case WalReason::AtMinimum: return "Already at minimum";
        case WalReason::NothingToGain: break;
    }
    return "Shrinking would gain nothing";
}

const char* dry_run_text(const WalProposal& proposal) {
    if (proposal.action == WalAction::Capped) {
        return "capped at walrus.max";
    }
    if (proposal.action == WalAction::Decrease) {
        return "sustained low activity";
    }
    return proposal.reason == WalReason::MeasuredRate ? "measured WAL rate" : "threshold exceeded";
}

const char* block_text(GovernorVerdict verdict) {
    switch (verdict) {
        case GovernorVerdict::Cooldown: return "cooldown active";
        case GovernorVerdict::WindowFull: return "hourly limit reached";
        case GovernorVerdict::Disabled: return "automatic adjustments disabled (max_changes_per_hour = 0)";
        case GovernorVerdict::Allowed: break;
    }
    return "";
}

WalObservation observation(const WalReading& reading, const WalInterval& interval, std::int64_t p95_bytes) {
    WalObservation observed{.current = reading.size, .forced = interval.forced, .quiet = interval.quiet};
    if (settings().proactive && p95_bytes > 0) {
        observed.needed = size_needed(p95_bytes, CheckPointCompletionTarget);
    }
    return observed;
}

}  // namespace sluice::walrus
