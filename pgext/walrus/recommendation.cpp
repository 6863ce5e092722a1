#include "recommendation.hpp"

#include <algorithm>
#include <type_traits>

#include "max_wal_size.hpp"
#include "settings.hpp"
#include "standing.hpp"
#include "wording.hpp"

namespace sluice::walrus {
namespace {

static_assert(std::is_trivially_destructible_v<Recommendation>);

Recommendation unable(Recommendation recommendation, const char* reason) {
    recommendation.action = "error";
    recommendation.reason = reason;
    recommendation.confidence = 0;
    return recommendation;
}

}  // namespace

Recommendation recommend() {
    Recommendation result{.current = current_size(), .recommended = current_size()};
    WalReading reading;
    if (!settings().enable) {
        return unable(result, "extension is disabled");
    }
    if (!read_server(&reading)) {
        return unable(result, "checkpoint statistics are unavailable");
    }
    const Standing standing = read_standing();
    result.requested = reading.count.requested;
    result.confidence = confidence({.requested = reading.count.requested,
                                    .quiet = standing.watch.quiet(),
                                    .baseline = standing.watch.has_baseline()});
    const auto interval = standing.watch.peek(reading);
    if (!interval) {
        result.reason = "awaiting baseline";
        result.confidence = std::min(result.confidence, 50);
        return result;
    }
    const std::int64_t p95 = standing.watch.rates().p95().value_or(0);
    const WalProposal proposal = propose(sizing_policy(), observation(reading, *interval, p95));
    result.reason = reason_text(proposal);
    result.recommended = proposal.target;
    // To the reader it makes no difference whether walrus.max cut an increase; the reason tells.
    result.action = proposal.action == WalAction::Capped ? "increase" : action_word(proposal.action);
    return result;
}

void describe(const Recommendation& recommendation, JsonText& json) {
    json.number("current_size_mb", recommendation.current);
    json.number("recommended_size_mb", recommendation.recommended);
    json.text("action", recommendation.action);
    json.text("reason", recommendation.reason);
    json.number("confidence", recommendation.confidence);
}

}  // namespace sluice::walrus
