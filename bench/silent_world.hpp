#pragma once

#include <cstdio>

#include "app/slots/slot_observer.hpp"
#include "base/log.hpp"

// What surrounds a store whose speed is measured: nothing that costs time.
namespace sluice::bench {

class NoMetrics final : public SlotMetrics {
public:
    void assigned(std::chrono::nanoseconds, std::int64_t) override {}
    void repeated(std::chrono::nanoseconds) override {}
    void exhausted() override {}
    void contended() override {}
    void refused() override {}
    void batch_run(std::size_t) override {}
    void config_cache_hit() override {}
    void config_cache_miss() override {}
};

class TroubleLog final : public Log {
public:
    [[nodiscard]] bool enabled(LogLevel level) const override { return level >= LogLevel::Warn; }
    void write(LogLevel level, std::string_view component, std::string_view message) override {
        if (enabled(level)) {
            std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(component.size()), component.data(),
                         static_cast<int>(message.size()), message.data());
        }
    }
};

}  // namespace sluice::bench
