#pragma once

#include <optional>

#include "base/repeating.hpp"
#include "store/postgres/client/connection.hpp"

namespace sluice::postgres {

// Meets every host of an address that names several from time to time. A node whose connections to an old
// primary never broke would otherwise not hear of the new one.
class HostSurvey {
public:
    // Does nothing for an address with one host.
    HostSurvey(const ConnectSettings& settings, Runtime& runtime);

private:
    std::optional<Repeating> rounds_;
};

}  // namespace sluice::postgres
