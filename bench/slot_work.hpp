#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/slots/slot.hpp"

namespace sluice::bench {

// The work that all engines of the benchmark do: batches of this many events, all for one time, a hundred to
// a window of four seconds.
inline constexpr std::size_t kBatch = 256;
inline constexpr Places kCap = 100;
inline constexpr Duration kWindow = std::chrono::seconds{4};
inline constexpr Instant kRequested{std::chrono::sys_days{std::chrono::year{2035} / 1 / 1}};

// Makes event ids that look like random UUIDs: 36 characters, in no order.
class EventIds {
public:
    explicit EventIds(std::uint64_t seed) : random_{seed} {}

    EventId next() {
        constexpr char kDigits[] = "0123456789abcdef";
        std::string text(36, '-');
        std::uint64_t bits = 0;
        int left = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (i == 8 || i == 13 || i == 18 || i == 23) {
                continue;
            }
            if (left == 0) {
                bits = random_.next();
                left = 16;
            }
            text[i] = kDigits[bits & 15U];
            bits >>= 4U;
            --left;
        }
        return *EventId::make(text);
    }

private:
    Random random_;
};

// Times batches one by one, and what the whole process computes meanwhile, its background threads included.
// What happens between two batches counts for neither.
class Meter {
public:
    template <class Batch>
    void time(Batch batch) {
        const double cpu_before = cpu_seconds();
        const auto start = std::chrono::steady_clock::now();
        batch();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        cpu_ += cpu_seconds() - cpu_before;
        wall_ += took.count();
        batches_us_.push_back(took.count() * 1e6);
    }

    // One line a figure, as bench_report reads them.
    void print(std::size_t slots) {
        std::sort(batches_us_.begin(), batches_us_.end());
        const auto count = static_cast<double>(slots);
        std::printf("rate %.1f\ncpu_us %.3f\n", count / wall_, cpu_ * 1e6 / count);
        std::printf("p50_us %.1f\np99_us %.1f\n", at(0.50), at(0.99));
    }

private:
    static double cpu_seconds() {
        timespec now{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
    }

    [[nodiscard]] double at(double share) const {
        return batches_us_[static_cast<std::size_t>(share * static_cast<double>(batches_us_.size() - 1))];
    }

    double wall_ = 0;
    double cpu_ = 0;
    std::vector<double> batches_us_;
};

}  // namespace sluice::bench
