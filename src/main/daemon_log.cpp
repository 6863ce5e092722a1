#include "main/daemon_log.hpp"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "main/log_line.hpp"

namespace sluice {
namespace {

class SpdlogLog final : public DaemonLog {
public:
    SpdlogLog(LogLevel level, LogFormat format, const Clock& clock)
        : level_{level},
          format_{format},
          clock_{clock},
          writer_{std::make_shared<spdlog::details::thread_pool>(kLogLinesWaitingMax, 1)} {
        auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
        sink->set_pattern("%v");
        lines_ = std::make_shared<spdlog::async_logger>("sluice", std::move(sink), writer_,
                                                        spdlog::async_overflow_policy::overrun_oldest);
        lines_->set_level(spdlog::level::trace);
    }

    [[nodiscard]] bool enabled(LogLevel level) const override { return level >= level_; }

    void write(LogLevel level, std::string_view component, std::string_view message) override {
        if (enabled(level)) {
            post({clock_.now(), level, component, message});
        }
    }

    void announce(std::string_view component, std::string_view message) override {
        post({clock_.now(), LogLevel::Info, component, message});
    }

    [[nodiscard]] std::uint64_t lines_dropped() const override { return writer_->overrun_counter(); }

private:
    // The line is made here, not by the writer: the level and the component are parts of it, and the caller's
    // text need not live on.
    void post(const LogEntry& entry) {
        const std::string line = format_ == LogFormat::Json ? json_line(entry) : text_line(entry);
        lines_->log(spdlog::level::info, spdlog::string_view_t{line.data(), line.size()});
    }

    const LogLevel level_;
    const LogFormat format_;
    const Clock& clock_;
    // Destroyed after lines_; its end waits for the queue.
    std::shared_ptr<spdlog::details::thread_pool> writer_;
    std::shared_ptr<spdlog::async_logger> lines_;
};

}  // namespace

std::unique_ptr<DaemonLog> make_daemon_log(LogLevel level, LogFormat format, const Clock& clock) {
    return std::make_unique<SpdlogLog>(level, format, clock);
}

}  // namespace sluice
