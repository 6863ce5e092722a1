#include "store/postgres/client/key_turns.hpp"

#include <algorithm>

namespace sluice::postgres {

bool KeyTurns::is_busy(const Keys& keys) const {
    return std::ranges::any_of(keys, [this](std::size_t key) { return busy_.contains(key); });
}

KeyTurns::Turn KeyTurns::enter(Keys keys, Clock::time_point by) {
    std::unique_lock lock{mutex_};
    left_.wait_until(lock, by, [&] { return !is_busy(keys); });
    busy_.insert(keys.begin(), keys.end());
    return Turn{*this, std::move(keys)};
}

void KeyTurns::leave(const Keys& keys) {
    const std::lock_guard lock{mutex_};
    for (const std::size_t key : keys) {
        busy_.erase(busy_.find(key));
    }
    left_.notify_all();
}

bool KeyTurns::are_held(const Keys& keys) {
    const std::lock_guard lock{mutex_};
    const auto now = Clock::now();
    return std::ranges::any_of(keys, [&](std::size_t key) {
        const auto found = held_.find(key);
        return found != held_.end() && now < found->second;
    });
}

void KeyTurns::found_held(const Keys& keys) {
    const std::lock_guard lock{mutex_};
    const auto now = Clock::now();
    std::erase_if(held_, [now](const auto& each) { return each.second <= now; });
    for (const std::size_t key : keys) {
        if (held_.size() < kHeldMax) {
            held_.try_emplace(key, now + memory_);
        }
    }
}

}  // namespace sluice::postgres
