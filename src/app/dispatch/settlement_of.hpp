#pragma once

#include "app/dispatch/carrier.hpp"
#include "app/dispatch/work_store.hpp"
#include "base/random.hpp"

namespace sluice {

// What else counts for it.
struct AttemptFacts {
    const std::string& node;  // Who tried.
    Duration latency;
    const RetrySchedule& schedule;  // Of its config.
};

// What becomes of a claimed work whose call ended so.
Settlement settlement_of(const Work& work, Delivery delivery, const AttemptFacts& facts, Random& random);

}  // namespace sluice
