#pragma once

#include <string_view>

namespace sluice {

enum class LogLevel { Debug, Info, Warn, Error };

// Where the daemon's own story goes. Writing never blocks the caller.
// Thread safety: any thread.
class Log {
public:
    virtual ~Log() = default;

    // False when a line of this level would be thrown away, so that the caller need not build it.
    [[nodiscard]] virtual bool enabled(LogLevel level) const = 0;

    // `component` is who speaks, for example "SlotAssignmentService".
    virtual void write(LogLevel level, std::string_view component, std::string_view message) = 0;
};

}  // namespace sluice
