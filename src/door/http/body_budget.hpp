#pragma once

#include <atomic>
#include <cstddef>

namespace sluice::http {

// Bounds the memory that bodies larger than usual may take together, over all connections.
// Thread safety: all of it.
class BodyBudget {
public:
    static constexpr std::size_t kBytesMax = 128 * 1024 * 1024;

    bool take(std::size_t bytes) {
        // Relaxed: only the sum matters, nothing is published through it.
        if (taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= kBytesMax) {
            return true;
        }
        give_back(bytes);
        return false;
    }
    void give_back(std::size_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

private:
    std::atomic<std::size_t> taken_ = 0;
};

// A share of the budget, given back when its owner is done.
class BodyShare {
public:
    BodyShare(BodyBudget& budget, std::size_t bytes)
        : budget_{budget}, bytes_{budget.take(bytes) ? bytes : 0} {}
    ~BodyShare() { budget_.give_back(bytes_); }
    BodyShare(const BodyShare&) = delete;
    BodyShare& operator=(const BodyShare&) = delete;

    [[nodiscard]] bool granted() const { return bytes_ > 0; }

private:
    BodyBudget& budget_;
    std::size_t bytes_;
};

}  // namespace sluice::http
