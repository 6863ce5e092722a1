#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace sluice {

// Appends the text as a JSON string, with its quotes. REQUIRES: valid UTF-8.
void append_json_string(std::string& json, std::string_view text);

// The same for any bytes, and for terminals: what is not UTF-8 becomes U+FFFD, and whatever could end a line
// or steer a terminal is escaped.
std::string json_string(std::string_view text);

// Words separated by commas as a JSON array of strings.
std::string json_list(std::string_view words);

// Builds an object field by field: JsonObject{}.text("eventId", id).number("weight", 2).done().
class JsonObject {
public:
    JsonObject& text(std::string_view name, std::string_view value) { return raw(name, json_string(value)); }

    template <std::integral Number>
    JsonObject& number(std::string_view name, Number value) {
        return raw(name, std::to_string(value));
    }

    // `json` is JSON already.
    JsonObject& raw(std::string_view name, std::string_view json) {
        fields_ += fields_.empty() ? "" : ",";
        fields_ += json_string(name);
        fields_ += ':';
        fields_ += json;
        return *this;
    }

    [[nodiscard]] std::string done() const { return "{" + fields_ + "}"; }

private:
    std::string fields_;
};

}  // namespace sluice
