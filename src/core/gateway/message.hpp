#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/name.hpp"
#include "base/time.hpp"
#include "core/gateway/user_window.hpp"

namespace sluice {

// What the gateway calls a message, over retries, restarts and whoever sends it.
using MessageId = Name<struct MessageTag, 64>;
// What a client calls a message of a user, so that a retry is known as one.
using RequestId = Name<struct RequestTag, 255>;
// Whom a message is for, or from.
using Party = Name<struct PartyTag, 255>;

inline constexpr std::size_t kMessageBytesMax = std::size_t{10} * 1024;

// At most kMessageBytesMax bytes, of which at least one is neither a space nor a control character of ASCII.
[[nodiscard]] bool is_sendable(std::string_view text);

// A message as a client gives it.
struct MessageDraft {
    UserId user;
    std::string text;  // is_sendable().
    std::optional<Party> to{};
    std::optional<Party> from{};
    std::optional<RequestId> request{};
    std::optional<Duration> validity{};  // Older, it is never sent.
};

enum class MessageState : std::uint8_t {
    Queued,     // It may be sent yet; whether it was handed over may be unknown.
    Sent,       // The sender has sent it.
    Failed,     // It was not handed over, and is not counted.
    Deferred,   // It waits for a time of its own.
    Cancelled,  // Its owner took it back before it was sent.
    Expired,    // It was older than its validity before it could be sent.
};

// As the answers and tables call it.
[[nodiscard]] std::string_view name_of(MessageState state);

// What is told of a message.
struct MessageStory {
    MessageId id;
    UserId user;
    MessageState state = MessageState::Queued;
    Instant queued{};   // When it was accepted, by the store's clock.
    Instant changed{};  // When it got its state.

    bool operator==(const MessageStory&) const = default;
};

}  // namespace sluice
