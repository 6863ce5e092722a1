#pragma once

#include <string_view>

namespace sluice::http {

// The header as W3C Trace Context, version 00, writes it: 00-TRACE-PARENT-FLAGS in lower case. Empty for
// anything else, as the standard wants: what is not well-formed is as if it was not sent.
std::string_view well_formed_traceparent(std::string_view header);

}  // namespace sluice::http
