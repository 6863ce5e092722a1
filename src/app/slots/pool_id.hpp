#pragma once

#include <cstdint>

namespace sluice {

// The number of a pool's counters. A pool whose window size changes gets a new one.
enum class PoolId : std::uint32_t {};

}  // namespace sluice
