#pragma once

#include "store/redis/routes.hpp"
#include "store/redis/script.hpp"

namespace sluice::redis {

// An error that sends the caller somewhere else, or to try again: the server is at work.
bool redirects(const ReplyView& reply);

// An error that is no matter of a single key: the server does not do what it is asked at all.
bool refuses_work(const ReplyView& reply);

// Loads the script and runs it, once to charge and once to forget, on a key of our own: no plan has an empty
// name. `script` must outlive the trial.
Trial make_trial(const Script& script, const MomentClock* clock, std::chrono::milliseconds timeout);

}  // namespace sluice::redis
