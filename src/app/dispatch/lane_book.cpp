#include "app/dispatch/lane_book.hpp"

namespace sluice {

std::optional<Awaits> LaneBook::awaits(const Lane& lane) const {
    const auto found = lanes_.find(lane);
    return found == lanes_.end() ? std::nullopt : std::optional{found->second.awaits};
}

void LaneBook::put(const Lane& lane, Awaits awaits, SteadyTime wake) {
    auto found = lanes_.find(lane);
    if (found == lanes_.end()) {
        if (lanes_.size() >= kLanesMax) {
            missing_ = true;
            return;
        }
        found = lanes_.emplace(lane, Entry{}).first;
    } else {
        order_.erase({found->second.wake, found->second.turn, lane});
    }
    found->second = {awaits, wake, ++turns_};
    order_.insert({wake, turns_, lane});
}

void LaneBook::wake_by(const Lane& lane, SteadyTime wake) {
    const auto found = lanes_.find(lane);
    if (found == lanes_.end()) {
        put(lane, Awaits::Time, wake);
    } else if (wake < found->second.wake) {
        put(lane, found->second.awaits, wake);
    }
}

void LaneBook::erase(const Lane& lane) {
    if (const auto found = lanes_.find(lane); found != lanes_.end()) {
        order_.erase({found->second.wake, found->second.turn, lane});
        lanes_.erase(found);
    }
}

void LaneBook::wake_all(SteadyTime now) {
    order_.clear();
    for (auto& [lane, entry] : lanes_) {
        if (now < entry.wake) {
            entry.wake = now;
        }
        order_.insert({entry.wake, entry.turn, lane});
    }
}

std::optional<Lane> LaneBook::ready(SteadyTime now) const {
    return order_.empty() || order_.begin()->wake > now ? std::nullopt : std::optional{order_.begin()->lane};
}

SteadyTime LaneBook::next_wake() const { return order_.empty() ? SteadyTime::max() : order_.begin()->wake; }

}  // namespace sluice
