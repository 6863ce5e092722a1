#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/store_state.hpp"
#include "base/result.hpp"
#include "core/gateway/message.hpp"

namespace sluice {

// A message on its way out.
struct OutgoingMessage {
    MessageId id;  // The same on every try.
    UserId user;
    std::string text;
    std::optional<Party> to{};
    std::optional<Party> from{};
    std::optional<Instant> expires{};       // It is not sent at this time or later.
    std::optional<RequestId> request{};     // For whoever reads it elsewhere, like the next.
    std::optional<Instant> window_start{};  // Of its reservation.
};

// A message that waits for the sender.
struct WaitingMessage {
    std::uint64_t number;  // Its place in the outbox.
    OutgoingMessage message;
};

// How a message left the outbox.
struct OutboxClosing {
    std::uint64_t number;
    MessageId id;
    MessageState state;  // Sent or Expired.
};

// Messages that were accepted and not sent yet. One sender at a time reads it.
// Thread safety: all of it.
class Outbox {
public:
    virtual ~Outbox() = default;

    // At most so many, the oldest first; the same ones again until they are closed.
    virtual Result<std::vector<WaitingMessage>, StoreError> waiting(std::size_t most) = 0;
    // They wait no more, and their stories say what became of them. After an error nobody knows: doing it
    // again does no harm.
    virtual Result<void, StoreError> close(std::span<const OutboxClosing> closings) = 0;
    // The time by which messages expire.
    virtual Instant time() = 0;
};

// Where messages go: whoever really sends them. Any thread may call, one at a time.
class MessageOutlet {
public:
    virtual ~MessageOutlet() = default;
    // True once the message has left this process. False: it has not, and may be tried again.
    virtual bool send(const OutgoingMessage& message) = 0;
};

}  // namespace sluice
