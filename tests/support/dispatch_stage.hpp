#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/dispatch/dispatcher.hpp"
#include "support/naive_work_store.hpp"
#include "support/recording_log.hpp"
#include "support/scripted_carrier.hpp"
#include "support/virtual_runtime.hpp"

namespace sluice::test {

class CountingDispatchMetrics final : public DispatchMetrics {
public:
    void began(TargetKind /*target*/, Duration lateness) override { latenesses.push_back(lateness); }
    void sent(TargetKind /*target*/) override { ++sent_count; }
    void retried(TargetKind /*target*/) override { ++retried_count; }
    void died(TargetKind /*target*/) override { ++died_count; }
    void lost(TargetKind /*target*/) override { ++lost_count; }
    void store_failed() override { ++failures; }
    void became_keeper() override { ++became_count; }
    void lost_keeper() override { ++lost_keeper_count; }

    std::vector<Duration> latenesses;
    int sent_count = 0;
    int retried_count = 0;
    int died_count = 0;
    int lost_count = 0;
    int failures = 0;
    int became_count = 0;
    int lost_keeper_count = 0;
};

// The time of day of a clock that tests move.
class DayOf final : public Clock {
public:
    explicit DayOf(const MomentClock& clock) : clock_{clock} {}
    [[nodiscard]] Instant now() const override { return std::chrono::floor<Duration>(clock_.now()); }

private:
    const MomentClock& clock_;
};

// A dispatcher with all that surrounds it, on virtual time.
class DispatchStage {
public:
    struct Setting {
        std::uint64_t seed = 1;
        NaiveWorkStore::Window window{};
        std::chrono::nanoseconds commit{};
        CallTerms call{};
        DispatcherOptions options{.node = "node", .patience = std::chrono::milliseconds{0}, .seed = 1};
    };

    DispatchStage() : DispatchStage{Setting{}} {}
    explicit DispatchStage(const Setting& setting)
        : setting_{setting},
          clock_{Moment{std::chrono::hours{480'000}}},
          day_{clock_},
          runtime_{setting.seed, clock_},
          store_{day_, setting.window, [this] { pause_for_commit(); }} {
        carriers_.add(TargetKind::Webhook, std::make_unique<ScriptedCarrier>(runtime_, setting.call));
        start();
    }

    void start() {
        DispatcherOptions options = setting_.options;
        options.seed = setting_.seed;
        dispatcher_ = std::make_unique<Dispatcher>(
            options, DispatcherWorld{store_, day_, carriers_, metrics_, log_, runtime_});
    }
    void stop() { dispatcher_.reset(); }
    // As if the process ended in this moment: nothing more is stored.
    void kill() {
        store_.fail_at(1, NaiveWorkStore::Fails::Before, true);
        stop();
        store_.heal();
    }

    void pass(std::chrono::nanoseconds length) { runtime_.sleep(length); }

    [[nodiscard]] Instant now() const { return day_.now(); }
    [[nodiscard]] SteadyTime steady() const { return runtime_.now(); }
    VirtualRuntime& runtime() { return runtime_; }
    NaiveWorkStore& store() { return store_; }
    ScriptedCarrier& carrier() { return static_cast<ScriptedCarrier&>(*carriers_.find(TargetKind::Webhook)); }
    Dispatcher& dispatcher() { return *dispatcher_; }
    CountingDispatchMetrics& metrics() { return metrics_; }
    RecordingLog& log() { return log_; }

    [[nodiscard]] std::vector<SteadyTime> arrival_times() {
        std::vector<SteadyTime> times;
        for (const Arrival& arrival : carrier().arrivals()) {
            times.push_back(arrival.arrived);
        }
        std::sort(times.begin(), times.end());
        return times;
    }

private:
    void pause_for_commit() {
        if (setting_.commit > std::chrono::nanoseconds::zero()) {
            runtime_.sleep(setting_.commit);
        }
    }

    const Setting setting_;
    HandMomentClock clock_;
    const DayOf day_;
    VirtualRuntime runtime_;
    NaiveWorkStore store_;
    Carriers carriers_;
    CountingDispatchMetrics metrics_;
    RecordingLog log_;
    std::unique_ptr<Dispatcher> dispatcher_;
};

// The most that lie in any second. REQUIRES: in order.
inline std::size_t fullest_second(const std::vector<SteadyTime>& times) {
    std::size_t most = 0;
    auto last = times.begin();
    for (auto first = times.begin(); first != times.end(); ++first) {
        while (last != times.end() && *last < *first + std::chrono::seconds{1}) {
            ++last;
        }
        most = std::max(most, static_cast<std::size_t>(last - first));
    }
    return most;
}

}  // namespace sluice::test
