#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "door/http/http_server.hpp"

namespace sluice::http {

// How long a body may still take: one that trickles must not hold a connection and what was read of it for as
// long as its sender likes. Pure. Thread safety: none.
class BodyPace {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    BodyPace(const ServerOptions& options, SteadyTime now) : options_{options}, started_{now} {}

    // Time that the body lost through no fault of its sender.
    void excuse(std::chrono::steady_clock::duration lost) { started_ += lost; }

    // The longest wait for the next piece, when `received` bytes are there. Zero: the time is over.
    [[nodiscard]] std::chrono::milliseconds patience(std::size_t received, SteadyTime now) const {
        using std::chrono::milliseconds;
        const milliseconds earned{received * 1000 / options_.body_rate_min};
        const milliseconds allowed = std::min<milliseconds>(
            std::max<milliseconds>(options_.receive_timeout, earned), options_.body_timeout);
        const auto left = std::chrono::ceil<milliseconds>(started_ + allowed - now);
        return std::clamp<milliseconds>(left, milliseconds{0}, options_.receive_timeout);
    }

private:
    const ServerOptions& options_;
    SteadyTime started_;
};

}  // namespace sluice::http
