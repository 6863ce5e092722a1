#pragma once

#include "store/redis/client/routes.hpp"
#include "store/redis/limits/limit_script.hpp"

namespace sluice::redis {

// Loads the script and runs it, once to charge and once to forget, on a key of our own: no plan has an empty
// name. `script` must outlive the trial.
Trial make_trial(const Script& script, const MomentClock* clock, std::chrono::milliseconds timeout);

}  // namespace sluice::redis
