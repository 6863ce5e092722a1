#pragma once

#include <sluice/rate_limiter.hpp>

namespace sluice {

// A limiter as one YAML file describes it:
//
//     plans:                             # As in the plans file of `sluice serve`.
//       - {name: gold, algorithm: token_bucket, capacity: 100, refill: 10/s}
//     store: redis://cache:6379          # Or memory, which is the default, or postgres://user@host/database.
//     limits: {deadline: 20ms}           # And keysMax, failOpenTime, failOpenTokens, denyCache, leaseTime.
//     redis: {timeout: 20ms}             # And allowEviction, tlsCa.
//     postgres: {migrateAtStart: false}
//
// Settings mean what they mean in `sluice serve`, and have the same defaults. No call of allow() waits for a
// shared store longer than limits.deadline. A server of the store that does not answer is left alone until it
// does. Meanwhile the plans' on_store_failure answers for its keys.
//
// fork(): a limiter over a shared store stays its parent's, whose threads and connections a child does not
// have. In a child allow() does not wait: it answers as if the store did not, by the plans' on_store_failure,
// with budgets and local keys of the child's own; all else is Unavailable; destroying it is safe, and leaves
// the parent's connections alone. A child that wants limits of the shared store opens a limiter of its own.
// One in memory is copied as it stands; it may be used in the child if no other thread was in a call of it.
//
// Fails with one sentence: on a file that is wrong, and on a store that cannot be reached now. An unknown key
// is wrong; the nearest known one is named. Throws std::bad_alloc if the memory cannot be had.
Result<std::unique_ptr<RateLimiter>, std::string> open_limiter(const std::string& path,
                                                               MissingPlan missing = MissingPlan::Deny);

}  // namespace sluice
