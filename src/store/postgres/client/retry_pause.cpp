#include "store/postgres/client/retry_pause.hpp"

#include <thread>

namespace sluice::postgres {

void pause_before_retry(std::chrono::milliseconds pause) {
    // The lowest digits of the clock are good enough to keep callers apart.
    const std::chrono::microseconds least{pause};
    const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
    std::this_thread::sleep_for(least + std::chrono::microseconds{ticks / 7 % (least.count() + 1)});
}

}  // namespace sluice::postgres
