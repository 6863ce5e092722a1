#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/slots/slot.hpp"

namespace sluice::postgres {

// How long an insert waits for an event that another transaction is at. Sluice's own transactions need less;
// whoever is among many others must not keep them.
inline constexpr std::chrono::milliseconds kHeldWait{50};
// The same where so many events are inserted one after the other: most of them may be held.
constexpr std::chrono::milliseconds wait_for_each_of(std::size_t events) {
    using std::chrono::milliseconds;
    constexpr milliseconds kAll{1000};
    return std::clamp(kAll / static_cast<milliseconds::rep>(std::max<std::size_t>(1, events)),
                      milliseconds{2}, kHeldWait);
}
// How long one look at so many events that may be held waits for each of them: all of a batch are looked at
// in a part of its patience.
constexpr std::chrono::milliseconds look_at_each_of(std::size_t events) {
    using std::chrono::milliseconds;
    return std::max(milliseconds{2},
                    kHeldWait / static_cast<milliseconds::rep>(std::max<std::size_t>(1, events)));
}

// Events that a transaction of somebody else was lately seen to hold. They are tried alone, and waited for
// once: whoever repeats such a request must not cost others their time again and again.
// Thread safety: all of it.
class HeldEvents {
public:
    bool contains(const EventId& event_id) {
        const std::lock_guard lock{mutex_};
        const auto found = until_.find(event_id.text());
        return found != until_.end() && found->second > Clock::now();
    }

    // False when it was known to be.
    bool note(const EventId& event_id) {
        const std::lock_guard lock{mutex_};
        const auto now = Clock::now();
        if (until_.size() >= kMax) {
            std::erase_if(until_, [&](const auto& one) { return one.second <= now; });
        }
        const auto found = until_.find(event_id.text());
        if (found == until_.end() && until_.size() >= kMax) {
            return true;  // It costs others some time again.
        }
        auto& until = until_[event_id.text()];
        return std::exchange(until, now + kRemembered) <= now;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMax = 10'000;
    static constexpr std::chrono::seconds kRemembered{5};

    std::mutex mutex_;
    std::unordered_map<std::string, Clock::time_point> until_;  // Guarded by mutex_.
};

}  // namespace sluice::postgres
