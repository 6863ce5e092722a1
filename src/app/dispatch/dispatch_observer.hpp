#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "core/dispatch/work.hpp"

namespace sluice {

// What operators measure of dispatch.
// Thread safety: any thread; never blocks for long.
class DispatchMetrics {
public:
    virtual ~DispatchMetrics() = default;
    // The first attempt of a work began, so long after its scheduled time.
    virtual void began(TargetKind target, Duration lateness) = 0;
    virtual void sent(TargetKind target) = 0;
    virtual void retried(TargetKind target) = 0;
    virtual void died(TargetKind target) = 0;  // Dead or expired.
    virtual void lost(TargetKind target) = 0;  // A claim ended without an outcome.
    virtual void store_failed() = 0;           // A take or a settle did.
    virtual void became_keeper() = 0;          // Of gates.
    virtual void lost_keeper() = 0;
};

}  // namespace sluice
