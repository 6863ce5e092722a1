#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

namespace sluice::postgres {

// Lets those calls of one process that charge the same key, or count for the same user, go one after the
// other. In PostgreSQL each would wait for the other's commit, and a slow disk would make them believe that
// somebody else holds the row. Also remembers for a moment which keys others were found to hold, so not every
// call waits for them anew.
// Thread safety: all of it.
class KeyTurns {
public:
    using Clock = std::chrono::steady_clock;
    // Keys are told apart by a hash: two that share one only wait for each other.
    using Keys = std::vector<std::size_t>;

    static constexpr std::size_t kHeldMax = 4'096;  // Keys that are remembered as held.

    explicit KeyTurns(std::chrono::milliseconds memory) : memory_{memory} {}

    static std::size_t key_of(std::string_view key) { return std::hash<std::string_view>{}(key); }

    // The keys belong to the call while this lives.
    class Turn {
    public:
        Turn(KeyTurns& turns, Keys keys) : turns_{turns}, keys_{std::move(keys)} {}
        ~Turn() { turns_.leave(keys_); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

        [[nodiscard]] const Keys& keys() const { return keys_; }

    private:
        KeyTurns& turns_;
        const Keys keys_;
    };

    // Waits until no other call has one of the keys, at most until `by`: then PostgreSQL may sort it out.
    [[nodiscard]] Turn enter(Keys keys, Clock::time_point by);

    // Whether others were found to hold one of the keys just now.
    [[nodiscard]] bool are_held(const Keys& keys);
    void found_held(const Keys& keys);

private:
    [[nodiscard]] bool is_busy(const Keys& keys) const;
    void leave(const Keys& keys);

    const std::chrono::milliseconds memory_;
    std::mutex mutex_;
    std::condition_variable left_;
    std::multiset<std::size_t> busy_;                // Guarded by mutex_.
    std::map<std::size_t, Clock::time_point> held_;  // Guarded by mutex_. Until when that is believed.
};

}  // namespace sluice::postgres
