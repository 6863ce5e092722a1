#include "base/json_text.hpp"

#include "base/hex.hpp"
#include "base/utf8_walk.hpp"

namespace sluice {

void append_json_string(std::string& json, std::string_view text) {
    json += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            json += '\\';
            json += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            json += "\\u";
            append_hex(json, static_cast<unsigned char>(c), 4);
        } else {
            json += c;
        }
    }
    json += '"';
}

std::string json_string(std::string_view text) {
    std::string quoted = "\"";
    while (!text.empty()) {
        const Utf8Step step = next_character(text);
        if (!step.valid) {
            quoted += "\\ufffd";
        } else if (step.character == '"' || step.character == '\\') {
            quoted += '\\';
            quoted += step.bytes;
        } else if (step.character == '\n') {
            quoted += "\\n";
        } else if (step.control()) {
            quoted += "\\u";
            append_hex(quoted, static_cast<unsigned>(step.character), 4);
        } else {
            quoted += step.bytes;
        }
        text.remove_prefix(step.bytes.size());
    }
    return quoted + "\"";
}

std::string json_list(std::string_view words) {
    std::string list = "[";
    for (bool more = true; more;) {
        const std::size_t comma = words.find(',');
        list += (list.size() > 1 ? "," : "") + json_string(words.substr(0, comma));
        more = comma != std::string_view::npos;
        words = more ? words.substr(comma + 1) : std::string_view{};
    }
    return list + "]";
}

}  // namespace sluice
