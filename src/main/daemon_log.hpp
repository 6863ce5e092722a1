#pragma once

#include <cstdint>
#include <memory>

#include "base/log.hpp"
#include "main/settings.hpp"

namespace sluice {

// The daemon's log on stderr. Lines wait in a bounded queue for one writing thread; when it is full, the
// oldest waiting line is dropped and counted. Destruction writes what still waits.
// Thread safety: all of it.
class DaemonLog : public Log {
public:
    // Written whatever the level is: what an operator must see, for example that the server is ready.
    virtual void announce(std::string_view component, std::string_view message) = 0;

    [[nodiscard]] virtual std::uint64_t lines_dropped() const = 0;
};

inline constexpr std::size_t kLogLinesWaitingMax = 8192;

std::unique_ptr<DaemonLog> make_daemon_log(LogLevel level, LogFormat format, const Clock& clock);

}  // namespace sluice
