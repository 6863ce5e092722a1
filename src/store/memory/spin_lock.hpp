#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace sluice {

// A lock of one word, for stretches of some tens of nanoseconds. Who waits long gives the processor away,
// because the holder may have lost it.
class SpinLock {
public:
    void lock() {
        if (!try_lock()) [[unlikely]] {
            lock_when_free();
        }
    }
    // Acquire pairs with the release of unlock(): what the holder before wrote is seen.
    bool try_lock() { return locked_.exchange(1, std::memory_order_acquire) == 0; }
    void unlock() { locked_.store(0, std::memory_order_release); }

private:
    // Not inline: those who need not wait would save its registers.
    [[gnu::noinline]] void lock_when_free() {
        do {
            wait();
        } while (!try_lock());
    }

    void wait() const {
        for (int spins = 0; locked_.load(std::memory_order_relaxed) != 0; ++spins) {
            if (spins < kSpinsMax) {
                relax();
            } else {
                std::this_thread::yield();
            }
        }
    }

    static void relax() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    static constexpr int kSpinsMax = 64;
    std::atomic<std::uint32_t> locked_{0};
};

}  // namespace sluice
