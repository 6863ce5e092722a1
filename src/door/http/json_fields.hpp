#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.hpp"
#include "base/time.hpp"
#include "door/http/problem.hpp"

// How fields of JSON bodies are read. A problem names the field and what is wrong with it.
namespace sluice::http {

inline std::string_view view(const boost::json::string& text) { return {text.data(), text.size()}; }

inline Problem bad(std::string_view code, std::string detail) { return {400, code, std::move(detail)}; }

inline Problem bad_field(std::string_view code, std::string_view field, std::string_view why) {
    return bad(code, std::string{field} + " " + std::string{why});
}

// The fields that one kind of body has. Each reader names them once, and refuses all others before it looks
// at any value.
struct BodyFields {
    std::string_view of;  // "an event"
    std::span<const std::string_view> known;
    std::span<const std::string_view> later{};  // Of capabilities that are not built: known, and refused.
};

// Names the first field that the body should not have (unknown_field), with the nearest that it may.
std::optional<Problem> check_known(const boost::json::object& body, const BodyFields& fields);

// Refuses fields whose capability is not built (not_supported): ignoring them would be a lie.
std::optional<Problem> check_supported(const boost::json::object& body, const BodyFields& fields);

// The text of a field, or nothing when it is absent. A field of another type is `code`.
inline Result<std::optional<std::string_view>, Problem> read_text(const boost::json::object& body,
                                                                  std::string_view field,
                                                                  std::string_view code) {
    const boost::json::value* value = body.if_contains(field);
    if (value == nullptr) {
        return std::optional<std::string_view>{};
    }
    if (!value->is_string()) {
        return Unexpected{bad_field(code, field, "must be a string.")};
    }
    return std::optional{view(value->get_string())};
}

struct IntegerRange {
    std::int64_t min;
    std::int64_t max;
};

// A whole number, or nothing when the field is absent. Neither 1.0, 1e2, "5" nor null is one.
inline Result<std::optional<std::int64_t>, Problem> read_integer(const boost::json::object& body,
                                                                 std::string_view field, IntegerRange range) {
    const boost::json::value* value = body.if_contains(field);
    if (value == nullptr) {
        return std::optional<std::int64_t>{};
    }
    const bool fits = value->is_int64() && value->get_int64() >= range.min && value->get_int64() <= range.max;
    if (!fits) {
        return Unexpected{bad_field("invalid_number", field,
                                    "must be a whole number from " + std::to_string(range.min) + " to " +
                                        std::to_string(range.max) + ".")};
    }
    return std::optional{value->get_int64()};
}

// A positive duration as ISO-8601 has it, or nothing when the field is absent.
Result<std::optional<Duration>, Problem> read_duration(const boost::json::object& body,
                                                       std::string_view field);

}  // namespace sluice::http
