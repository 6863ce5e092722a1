#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/limits/node_store.hpp"

namespace sluice {

// Gives a node's blocks back to the store when they end: a little earlier, never later, unless the store is
// slow.
// Thread safety: stands alone; the node outlives it.
class BlockReturner {
public:
    // `every`: how often it looks.
    BlockReturner(NodeStore& node, Wait every);
    ~BlockReturner() { stop(); }
    BlockReturner(const BlockReturner&) = delete;
    BlockReturner& operator=(const BlockReturner&) = delete;

    // Looks no more. Any thread.
    void stop();

private:
    void work(const std::stop_token& stop);

    NodeStore& node_;
    const Wait every_;
    std::mutex mutex_;
    std::condition_variable_any stopped_;
    std::mutex join_mutex_;
    std::jthread thread_;  // Guarded by join_mutex_ once constructed. Last: it uses all the rest.
};

}  // namespace sluice
