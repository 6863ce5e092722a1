#pragma once

#include <string_view>

namespace sluice::http {

// The description of every route, as assemble_openapi has made it while Sluice was built.
std::string_view openapi_json();

}  // namespace sluice::http
