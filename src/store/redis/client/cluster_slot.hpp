#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::redis {

inline constexpr std::size_t kSlots = 16'384;

// The Cluster's slot of a key, by its hash tag if it has one.
std::uint16_t slot_of(std::string_view redis_key);

}  // namespace sluice::redis
