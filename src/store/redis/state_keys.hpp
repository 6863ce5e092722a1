#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::redis {

inline constexpr std::size_t kSlots = 16'384;

// Where Redis keeps what `plan` holds against `key`: `rate_limiter:<plan>:{<key>}`, with `{`, `}` and `%` in
// the key percent-encoded. So all plans of a key share a slot of a Cluster.
std::string state_key(std::string_view plan, std::string_view key);

// The Cluster's slot of a key, by its hash tag if it has one.
std::uint16_t slot_of(std::string_view redis_key);

}  // namespace sluice::redis
