#pragma once

#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

// How the assembly of openapi.json reads and writes JSON.
namespace sluice::http {

// Boost's own view is another type.
inline boost::json::string_view in_json(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view from_json(boost::json::string_view text) { return {text.data(), text.size()}; }

inline boost::json::object reference(std::string_view kind, std::string_view name) {
    return {{"$ref", "#/components/" + std::string{kind} + "/" + std::string{name}}};
}

// A text, which may be an array of its lines.
inline std::string text_of(const boost::json::value& value) {
    if (!value.is_array()) {
        return std::string{from_json(value.as_string())};
    }
    std::string all;
    for (const boost::json::value& line : value.get_array()) {
        all += all.empty() || all.ends_with('\n') ? "" : " ";
        all += from_json(line.as_string());
    }
    return all;
}

}  // namespace sluice::http
