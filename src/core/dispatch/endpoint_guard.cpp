#include "core/dispatch/endpoint_guard.hpp"

#include <algorithm>
#include <cassert>

namespace sluice {

EndpointGuard::EndpointGuard(std::size_t most) : most_{most}, limit_{std::min(most, kFirst)} {
    assert(most >= 1);
}

SteadyTime EndpointGuard::next() const {
    const std::size_t limit = is_failing() ? 1 : limit_;
    return under_way_ < limit ? resumes_ : SteadyTime::max();
}

void EndpointGuard::begin() {
    ++under_way_;
    on_trial_ = is_failing();
}

void EndpointGuard::succeeded() {
    --under_way_;
    failures_ = 0;
    on_trial_ = false;
    pause_ = kPauseFirst;
    limit_ = std::min(limit_ + 1, most_);
}

// Calls that hang together fail together, after the pause has begun: only the trial after it tells anything
// new about the endpoint, so only that makes the pause longer.
void EndpointGuard::failed(SteadyTime now) {
    --under_way_;
    limit_ = std::max<std::size_t>(limit_ / 2, 1);
    const bool was_failing = is_failing();
    ++failures_;
    if (on_trial_) {
        pause_ = std::min(pause_ * 2, kPauseMax);
    }
    if (is_failing() && (!was_failing || on_trial_)) {
        resumes_ = std::max(resumes_, now + pause_);
    }
    on_trial_ = false;
}

void EndpointGuard::asked_to_wait(SteadyTime until) {
    --under_way_;
    on_trial_ = false;
    resumes_ = std::max(resumes_, until);
}

}  // namespace sluice
