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

// A path in a comment may hold anything.
std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x20; }, '?');
    return text;
}

}  // namespace

std::string shown_value(const SettingInForce& entry) {
    switch (entry.spec->secrecy) {
        case Secrecy::InUrl: return mask_secret(entry.value);
        case Secrecy::InHeaders: return entry.is_set ? mask_endpoints(entry.value) : entry.value;
        case Secrecy::Open: break;
    }
    return entry.value;
}

std::string print_settings(const SettingsInForce& in_force) {
    std::string text = "# The settings in force. A flag beats a variable, which beats the settings file.\n";
    for (const SettingInForce& entry : in_force.entries) {
        // The whole key in each line: `redis` has a value, and `redis.timeout` another.
        std::string line = (entry.is_set ? "" : "# ") + std::string{entry.spec->key} + ":";
        if (entry.is_set) {
            const bool is_list = entry.value.starts_with('[') && entry.spec->form == Form::List;
            line += " " + (is_list ? shown_value(entry) : yaml_scalar(shown_value(entry)));
        }
        line.resize(std::max<std::size_t>(line.size(), 34), ' ');
        text += line + "  # " + (entry.is_set ? one_line(entry.origin) : "not set") + "\n";
    }
    return text;
}

}  // namespace sluice
