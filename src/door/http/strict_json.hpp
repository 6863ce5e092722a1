#pragma once

#include <string_view>

#include <boost/json/value.hpp>

#include "base/result.hpp"

namespace sluice::http {

enum class JsonFault {
    Malformed,
    NotANumber,  // NaN or Infinity, which JSON has no words for.
};

// Reads one JSON text. Refused are what RFC 8259 does not allow, repeated keys in an object, nesting deeper
// than 16, and bytes behind the value: whoever wrote that cannot know what is read. So are more than
// kJsonValuesMax values: small ones take far more memory than text. Numbers of any size pass, with some
// value. The value lives in `memory`.
Result<boost::json::value, JsonFault> parse_strict_json(std::string_view text,
                                                        const boost::json::storage_ptr& memory);

inline constexpr std::size_t kJsonValuesMax = 200'000;

}  // namespace sluice::http
