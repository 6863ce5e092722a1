#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.hpp"

namespace sluice::test {

// Keeps every line as "LEVEL Component - message".
// Thread safety: all of it.
class RecordingLog final : public Log {
public:
    explicit RecordingLog(LogLevel least = LogLevel::Info) : least_{least} {}

    [[nodiscard]] bool enabled(LogLevel level) const override { return level >= least_.load(); }

    void write(LogLevel level, std::string_view component, std::string_view message) override {
        if (!enabled(level)) {
            return;
        }
        const std::lock_guard lock{mutex_};
        lines_.push_back(std::string{name_of(level)} + " " + std::string{component} + " - " +
                         std::string{message});
    }

    void show_from(LogLevel least) { least_.store(least); }

    [[nodiscard]] std::vector<std::string> lines() const {
        const std::lock_guard lock{mutex_};
        return lines_;
    }

    [[nodiscard]] bool has(std::string_view line) const {
        const auto all = lines();
        return std::find(all.begin(), all.end(), line) != all.end();
    }

    [[nodiscard]] std::size_t count_starting(std::string_view prefix) const {
        const auto all = lines();
        return static_cast<std::size_t>(std::count_if(
            all.begin(), all.end(), [prefix](const std::string& line) { return line.starts_with(prefix); }));
    }

private:
    static std::string_view name_of(LogLevel level) {
        switch (level) {
            case LogLevel::Debug: return "DEBUG";
            case LogLevel::Info: return "INFO";
            case LogLevel::Warn: return "WARN";
            case LogLevel::Error: return "ERROR";
        }
        return "?";
    }

    std::atomic<LogLevel> least_;
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;  // Guarded by mutex_.
};

}  // namespace sluice::test
