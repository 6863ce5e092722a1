#include "main/log_line.hpp"

#include "base/escaped_text.hpp"
#include "base/iso8601.hpp"
#include "base/json_text.hpp"

namespace sluice {
namespace {

// Cut between two characters.
std::string_view shortened(std::string_view message) {
    if (message.size() <= kLogMessageMax) {
        return message;
    }
    std::size_t size = kLogMessageMax;
    while (size > kLogMessageMax - 4 && (static_cast<unsigned char>(message[size]) & 0xC0U) == 0x80) {
        --size;
    }
    return message.substr(0, size);
}

std::string_view level_name(LogLevel level) {
    switch (level) {
        case LogLevel::Debug: return "DEBUG";
        case LogLevel::Info: return "INFO";
        case LogLevel::Warn: return "WARN";
        case LogLevel::Error: break;
    }
    return "ERROR";
}

}  // namespace

std::string text_line(const LogEntry& entry) {
    constexpr std::size_t kLevelWidth = 5;
    std::string line = format_instant(entry.time);
    line += ' ';
    line += level_name(entry.level);
    line.append(kLevelWidth - level_name(entry.level).size() + 1, ' ');
    append_escaped(line, entry.component);
    line += " - ";
    append_escaped(line, shortened(entry.message));
    return line;
}

std::string json_line(const LogEntry& entry) {
    return JsonObject{}
        .text("time", format_instant(entry.time))
        .text("level", level_name(entry.level))
        .text("component", entry.component)
        .text("message", shortened(entry.message))
        .done();
}

}  // namespace sluice
