#pragma once

#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/time.hpp"

namespace sluice {

struct LogEntry {
    Instant time;
    LogLevel level;
    std::string_view component;
    std::string_view message;  // Of a longer one only the first kLogMessageMax bytes are kept.
};

inline constexpr std::size_t kLogMessageMax = 16 * 1024;

// `2025-06-01T12:00:02.371Z INFO  SlotAssignmentService - message`, without the line's end. Control
// characters and bytes that are not UTF-8 are written as escapes, so that one message is one line whatever a
// caller put into it.
std::string text_line(const LogEntry& entry);

// The same as a JSON object: time, level, component, message.
std::string json_line(const LogEntry& entry);

}  // namespace sluice
