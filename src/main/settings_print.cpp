#include <algorithm>

#include "main/settings.hpp"

namespace sluice {
namespace {

bool is_plain_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           std::string_view{"._/:-+@"}.find(byte) != std::string_view::npos;
}

// A scalar that YAML reads back as the same text.
std::string yaml_scalar(const std::string& text) {
    const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), is_plain_byte) &&
                       std::string_view{":-@"}.find(text.front()) == std::string_view::npos &&
                       text.back() != ':' && text != "null" && text != "Null" && text != "NULL";
    if (plain) {
        return text;
    }
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char byte : text) {
        const auto code = static_cast<unsigned char>(byte);
        if (code < 0x20 || code == 0x7F) {
            quoted += "\\x";
            quoted += kHex[code >> 4U];
            quoted += kHex[code & 15U];
            continue;
        }
        if (byte == '"' || byte == '\\') {
            quoted += '\\';
        }
        quoted += byte;
    }
    return quoted + "\"";
}

}  // namespace

std::string print_settings(const SettingsInForce& in_force) {
    std::string text = "# The settings in force. A flag beats a variable, which beats the settings file.\n";
    std::string_view group;
    for (const SettingInForce& entry : in_force.entries) {
        const std::string_view key = entry.spec->key;
        const std::size_t dot = key.find('.');
        // Under a key that has a value itself, like `store`, nothing can be nested: the whole key then stands
        // in the line.
        const bool nested = dot != std::string_view::npos && find_setting(key.substr(0, dot)) == nullptr;
        const std::string_view parent = nested ? key.substr(0, dot) : "";
        if (parent != group && !parent.empty()) {
            text += std::string{parent} + ":\n";
        }
        group = parent;
        std::string line = parent.empty() ? "" : "  ";
        if (!entry.is_set) {
            line += "# ";
        }
        line += std::string{parent.empty() ? key : key.substr(dot + 1)} + ":";
        if (entry.is_set) {
            line += " " + yaml_scalar(entry.spec->secrecy == Secrecy::Open ? entry.value
                                                                           : mask_secret(entry.value));
        }
        line.resize(std::max<std::size_t>(line.size(), 34), ' ');
        text += line + "  # " + (entry.is_set ? entry.origin : "not set") + "\n";
    }
    return text;
}

}  // namespace sluice
