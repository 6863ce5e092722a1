#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "app/gateway/outbox.hpp"
#include "app/store_state.hpp"
#include "base/result.hpp"
#include "core/gateway/message.hpp"

namespace sluice {

// What is kept of a message beside its text.
struct MessageRow {
    MessageStory story;
    Instant window_start{};        // Of the reservation that it has, or had last.
    std::uint32_t handed_out = 0;  // How often it was given to be published, under that reservation.
    bool acknowledged = false;     // Whoever sends it has it.
    std::optional<Instant> expires{};

    bool operator==(const MessageRow&) const = default;
};

struct RequestKey {
    UserId user;
    RequestId request;

    auto operator<=>(const RequestKey&) const = default;
};

// Which message a request is.
struct RequestRow {
    RequestKey key;
    MessageId message;
    Instant at{};  // When it was reserved last.

    bool operator==(const RequestRow&) const = default;
};

// Everything that one step changes. Rows replace those that were stored under their keys.
struct GatewayChanges {
    std::vector<std::pair<UserId, UserWindow>> users{};
    std::vector<MessageRow> messages{};
    std::vector<RequestRow> requests{};
    std::vector<WaitingMessage> waiting{};
    std::vector<std::uint64_t> gone{};  // These wait no more.

    [[nodiscard]] bool empty() const {
        return users.empty() && messages.empty() && requests.empty() && waiting.empty() && gone.empty();
    }
};

// The tables below a GatewayLedger: plain rows, found by key. Knows no rules. Requests that are older than
// kRequestMemory and messages older than kMessageMemory may be gone; what waits in the outbox never is.
// Thread safety: one call at a time; whoever owns the tables sees to that.
class GatewayTables {
public:
    virtual ~GatewayTables() = default;

    // One answer per key, in order.
    virtual Result<std::vector<std::optional<UserWindow>>, StoreError> users(
        std::span<const UserId> keys) = 0;
    virtual Result<std::vector<std::optional<RequestRow>>, StoreError> requests(
        std::span<const RequestKey> keys) = 0;
    virtual Result<std::vector<std::optional<MessageRow>>, StoreError> messages(
        std::span<const MessageId> keys) = 0;

    // At most so many with this number or a higher one, in their order.
    virtual Result<std::vector<WaitingMessage>, StoreError> waiting(std::uint64_t from, std::size_t most) = 0;
    // Above the number of all that wait.
    virtual Result<std::uint64_t, StoreError> next_number() = 0;

    // All or nothing, and durable when it returns. After an error the outcome is unknown until reopen().
    virtual Result<void, StoreError> commit(const GatewayChanges& changes) = 0;
    // Starts over from what is durable.
    virtual Result<void, StoreError> reopen() = 0;

    [[nodiscard]] virtual StoreRoom room() const = 0;
};

}  // namespace sluice
