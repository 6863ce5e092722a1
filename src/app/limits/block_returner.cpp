#include "app/limits/block_returner.hpp"

namespace sluice {

BlockReturner::BlockReturner(NodeStore& node, Wait every)
    : node_{node}, every_{every}, thread_{[this](const std::stop_token& stop) { work(stop); }} {}

void BlockReturner::stop() {
    const std::lock_guard lock{join_mutex_};
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
    }
}

void BlockReturner::work(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
        stopped_.wait_for(lock, stop, every_, [] { return false; });
        if (!stop.stop_requested()) {
            node_.give_back_ended(every_);  // What would end before the next look goes now.
        }
    }
}

}  // namespace sluice
