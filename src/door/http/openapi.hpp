#pragma once

#include <string_view>

namespace sluice::http {

// The description of every route, as kept in openapi.json beside this file.
std::string_view openapi_json();

}  // namespace sluice::http
