#pragma once

#include <string>
#include <unordered_map>

#include "core/dispatch/endpoint_guard.hpp"

namespace sluice {

// The guards of the endpoints that were called lately. The endpoint without a name has none: it is always
// free, and nothing is known of it.
// Pure: reads no clock. Thread safety: none.
class EndpointBook {
public:
    // More than that are forgotten: first those of which nothing is known, then those without calls.
    static constexpr std::size_t kGuardsMax = 10'000;

    [[nodiscard]] SteadyTime next(const std::string& endpoint) const;
    // `most` counts for an endpoint that is new.
    void begin(const std::string& endpoint, std::size_t most, SteadyTime now);

    // What a call's end says of the endpoint's health.
    enum class Change { None, BeganToFail, IsBack };
    Change succeeded(const std::string& endpoint);
    Change failed(const std::string& endpoint, SteadyTime now);
    void asked_to_wait(const std::string& endpoint, SteadyTime until);
    void withdrawn(const std::string& endpoint);

    [[nodiscard]] std::size_t failing() const;

private:
    EndpointGuard* find(const std::string& endpoint);
    void forget_some(SteadyTime now);

    std::unordered_map<std::string, EndpointGuard> guards_;
};

}  // namespace sluice
