#include "store/postgres/work/lane_starts.hpp"

#include <algorithm>

namespace sluice::postgres {
namespace {

constexpr std::size_t kLanesMax = 10'000;

}  // namespace

Instant LaneStarts::of(const Lane& lane, Steady::time_point now) {
    const std::lock_guard lock{mutex_};
    if (known_.size() >= kLanesMax && !known_.contains(lane)) {
        known_.clear();  // They are found again, each with one longer look.
    }
    Known& known = known_[lane];
    if (now - known.looked >= kBelieved) {
        known.looked = now;
        known.start = Instant{};
    }
    return known.start;
}

void LaneStarts::nothing_before(const Lane& lane, Instant start) {
    const std::lock_guard lock{mutex_};
    if (const auto found = known_.find(lane); found != known_.end()) {
        found->second.start = std::min(start, std::exchange(found->second.came_in, Instant::max()));
    }
}

void LaneStarts::came_in(const Lane& lane, Instant due) {
    const std::lock_guard lock{mutex_};
    if (const auto found = known_.find(lane); found != known_.end()) {
        found->second.start = std::min(found->second.start, due);
        found->second.came_in = std::min(found->second.came_in, due);
    }
}

void LaneStarts::forget(const Lane& lane) { came_in(lane, Instant{}); }

void LaneStarts::forget_all() {
    const std::lock_guard lock{mutex_};
    known_.clear();
}

}  // namespace sluice::postgres
