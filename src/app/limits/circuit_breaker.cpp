#include "app/limits/circuit_breaker.hpp"

namespace sluice {

BreakerState CircuitBreaker::enter(BreakerState next) {
    state_ = next;
    failures_ = 0;
    probing_ = 0;
    proven_ = 0;
    calm_.store(next == BreakerState::Closed, std::memory_order_relaxed);
    return next;
}

CircuitBreaker::Pass CircuitBreaker::admit(SteadyTime now) {
    std::optional<BreakerState> entered;
    Pass pass = Pass::Refused;
    {
        const std::lock_guard lock{mutex_};
        if (state_ == BreakerState::Closed) {
            return Pass::Normal;
        }
        if (state_ == BreakerState::Open && now >= reopens_) {
            entered = enter(BreakerState::HalfOpen);
        }
        if (state_ == BreakerState::HalfOpen && probing_ < options_.probes) {
            ++probing_;
            pass = Pass::Probe;
        }
    }
    if (entered) {
        changed_(*entered);
    }
    return pass;
}

void CircuitBreaker::succeeded(Pass pass) {
    if (calm()) {
        return;
    }
    std::optional<BreakerState> entered;
    {
        const std::lock_guard lock{mutex_};
        if (state_ == BreakerState::Closed) {
            failures_ = 0;
            calm_.store(true, std::memory_order_relaxed);
        } else if (state_ == BreakerState::HalfOpen && pass == Pass::Probe && ++proven_ >= options_.probes) {
            entered = enter(BreakerState::Closed);
        }
    }
    if (entered) {
        changed_(*entered);
    }
}

void CircuitBreaker::failed(Pass pass, SteadyTime now) {
    std::optional<BreakerState> entered;
    {
        const std::lock_guard lock{mutex_};
        calm_.store(false, std::memory_order_relaxed);
        const bool enough = state_ == BreakerState::Closed && ++failures_ >= options_.failures_to_open;
        const bool relapse = state_ == BreakerState::HalfOpen && pass == Pass::Probe;
        if (enough || relapse) {
            entered = enter(BreakerState::Open);
            reopens_ = now + options_.open_for;
        }
    }
    if (entered) {
        changed_(*entered);
    }
}

BreakerState CircuitBreaker::state() const {
    const std::lock_guard lock{mutex_};
    return state_;
}

}  // namespace sluice
