#pragma once

#include <string_view>

#include "door/http/problem.hpp"

namespace sluice::http {

// The exact words of the gateway for a problem. They are the same for every store and for whatever hands
// messages over, because clients compare them.
std::string_view gateway_words(const Problem& problem);

}  // namespace sluice::http
