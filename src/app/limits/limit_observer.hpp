#pragma once

#include <chrono>

#include "app/limits/limit_answer.hpp"

namespace sluice {

// How a call of the store failed.
enum class StoreFailure : std::uint8_t {
    Late,         // No answer before the deadline.
    Unavailable,  // It said so.
    Contended,    // Others held the key.
    Full,         // No room for the key.
};

// What answered a check in the store's place while the store was well.
enum class StoreSpared : std::uint8_t {
    Denial,  // One that still holds.
    Block,   // Tokens that this node had taken before.
};

// How a server of the store is, as its ServerWatch sees it.
enum class ServerState : std::uint8_t { Answers, Down };

// What operators measure of limits.
// Thread safety: any thread; never blocks for long.
class LimitMetrics {
public:
    virtual ~LimitMetrics() = default;
    // A check that was answered and is no peek. The plan is the one that spoke.
    virtual void decided(const LimitAnswer& answer) = 0;
    virtual void store_failed(StoreFailure failure) = 0;
    // A store that is asked for many checks at once.
    virtual void store_called(std::size_t checks, std::chrono::nanoseconds duration) = 0;
    // A check that a store which blocks was not asked for.
    virtual void store_spared(StoreSpared by) = 0;
    // One of the store's servers went down, or came back.
    virtual void server_changed(ServerState state) = 0;
};

}  // namespace sluice
