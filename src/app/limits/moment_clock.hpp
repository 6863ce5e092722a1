#pragma once

#include "core/limits/limit_terms.hpp"

namespace sluice {

// Where "now" comes from for limits: to the microsecond, and often.
// Thread safety: now() may be called from any thread.
class MomentClock {
public:
    virtual ~MomentClock() = default;
    [[nodiscard]] virtual Moment now() const = 0;
};

}  // namespace sluice
