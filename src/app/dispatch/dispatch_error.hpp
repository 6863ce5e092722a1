#pragma once

#include <cstdint>

namespace sluice {

// Why a use case of dispatch was not done.
enum class DispatchError : std::uint8_t {
    Overloaded,   // Too much is waiting; nothing was changed.
    Unavailable,  // The store could not do it now; part of it may be done, and doing it again is safe.
};

}  // namespace sluice
