#pragma once

#include <chrono>
#include <cstdint>

#include "core/gateway/message.hpp"

namespace sluice {

// How a send was answered.
enum class SendOutcome : std::uint8_t {
    Accepted,  // It will be sent; or it is a retry of one that will be.
    UnknownUser,
    Limited,  // The user's window is full.
    StoreDown,
    PublisherDown,  // It was not published, or nobody knows.
    Overloaded,     // Too many waited, or it for too long.
};
inline constexpr std::size_t kSendOutcomes = 6;

// What operators measure of the gateway.
// Thread safety: any thread; never blocks for long.
class GatewayMetrics {
public:
    virtual ~GatewayMetrics() = default;
    virtual void answered(SendOutcome outcome) = 0;
    // One call of the store, for so many messages.
    virtual void reserved(std::size_t messages) = 0;
    // One that was accepted, from send() until it was in the outbox or acknowledged.
    virtual void handed_over(std::chrono::nanoseconds duration) = 0;
    // A message has left the outbox: Sent or Expired.
    virtual void left_outbox(MessageState state) = 0;
    // The sender could not read or close messages, or they did not leave the process.
    virtual void sender_failed() = 0;
};

}  // namespace sluice
