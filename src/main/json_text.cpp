#include "main/json_text.hpp"

#include "main/utf8_walk.hpp"

namespace sluice {

std::string json_string(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
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
            for (int shift = 12; shift >= 0; shift -= 4) {
                quoted += kHex[(static_cast<unsigned>(step.character) >> static_cast<unsigned>(shift)) & 15U];
            }
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
