#pragma once

#include <optional>
#include <string_view>

#include <boost/json/value.hpp>

namespace sluice::http {

// Reads one JSON text. Nothing is returned for what RFC 8259 does not allow, for repeated keys in an object,
// for nesting deeper than 16, and for bytes behind the value: whoever wrote that cannot know what is read.
// The value lives in `memory`.
std::optional<boost::json::value> parse_strict_json(std::string_view text, boost::json::storage_ptr memory);

}  // namespace sluice::http
