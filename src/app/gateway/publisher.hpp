#pragma once

#include "app/gateway/gateway_store.hpp"
#include "base/unique_function.hpp"

namespace sluice {

// Hands granted messages over to whoever sends them, as Kafka does.
// Thread safety: all of it.
class Publisher {
public:
    virtual ~Publisher() = default;

    // Called once, by any thread, also within publish(). Must not block, nor call stop().
    using Done = UniqueFunction<void(Published)>;
    // Never blocks. What is published at the same time goes out together. The outcome comes within 8 seconds;
    // what is not known by then is Unknown. Too many under way: NotPublished, at once.
    virtual void publish(OutgoingMessage message, Done done) = 0;

    // Takes no more and returns when `done` was called for all.
    virtual void stop() = 0;
};

}  // namespace sluice
