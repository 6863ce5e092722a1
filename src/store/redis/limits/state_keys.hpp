#pragma once

#include <string>
#include <string_view>

namespace sluice::redis {

// Where Redis keeps what `plan` holds against `key`: `rate_limiter:<plan>:{<key>}`, with `{`, `}` and `%` in
// the key percent-encoded. So all plans of a key share a slot of a Cluster.
std::string state_key(std::string_view plan, std::string_view key);

}  // namespace sluice::redis
