#include "core/limits/token_bucket.hpp"

#include <numeric>

namespace sluice {

Result<TokenBucket, PlanError> TokenBucket::make(Tokens capacity, Refill refill) {
    if (capacity < 1 || refill.tokens < 1 || refill.period < Wait{1}) {
        return Unexpected{PlanError{"capacity and refill must be positive"}};
    }
    const std::int64_t common = std::gcd(refill.tokens, refill.period.count());
    const std::int64_t unit = refill.period.count() / common;
    const std::int64_t speed = refill.tokens / common;
    // The product may not fit, hence the quotient.
    if (capacity > (kExactMax - 1) / unit || speed >= kExactMax) {
        return Unexpected{PlanError{"capacity times refill period is too large to count exactly"}};
    }
    return TokenBucket{capacity, unit, speed};
}

}  // namespace sluice
