#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/gateway/outbox.hpp"
#include "app/store_state.hpp"
#include "base/result.hpp"
#include "core/gateway/message.hpp"

namespace sluice {

// How long a store knows a message by what its client calls it, and how long it tells of a message.
inline constexpr Duration kRequestMemory = std::chrono::hours{24};
inline constexpr Duration kMessageMemory = std::chrono::days{7};

// Who takes over a message that was granted.
enum class Handover : std::uint8_t {
    Outbox,     // The store keeps it for the sender, in the same commit: it is acknowledged then.
    Publisher,  // The caller publishes it, and settles.
};

// One message that asks for a place.
struct SendRequest {
    const MessageDraft& draft;
    MessageId id;  // Its name, unless the store knows the request under another.
};

struct Reserved {
    enum class Verdict : std::uint8_t {
        Granted,      // It is counted.
        Standing,     // A request that is known: counted before, in a window that lasts, and not acknowledged
                      // yet. To be published again under the same id.
        Accepted,     // A request that is known and acknowledged: nothing is left to do.
        Denied,       // The window is full.
        UnknownUser,  // Nobody has set the user's terms.
    };
    Verdict verdict;
    std::optional<MessageId> id{};     // Granted, Standing and Accepted have it.
    Instant window_start{};            // Of its reservation: Granted and Standing have it, for settle().
    std::optional<Instant> expires{};  // After it the message must not be sent.
    Duration retry_after{};            // Denied: until the window ends.
};

// Why a store did not decide.
struct GatewayFault {
    enum class Kind : std::uint8_t {
        Unavailable,  // Nothing was stored.
        Unknown,      // It may have been stored, and a message may be sent.
        Full,         // No room on the disk: nothing was stored.
    };
    Kind kind;
    std::string what{};             // For the log.
    std::optional<MessageId> id{};  // Unknown: the message that may be sent.
};
using ReserveReply = Result<Reserved, GatewayFault>;

// How the publication of a granted message ended.
enum class Published : std::uint8_t {
    Acknowledged,
    NotPublished,  // For certain.
    Unknown,       // Nobody knows.
};

struct MessageSettlement {
    MessageId id;
    UserId user;
    Instant window_start;  // As it was reserved.
    Published outcome;
};

// Users, what they have sent in their windows, and their messages. The rules are reserve() and refund() of
// core/gateway, and what follows; the clock is the store's own. Each call decides for a batch, as one step.
//
// A message with a request id is known by its user and that id for kRequestMemory, over restarts; whatever
// else a retry says, the first one counts. While it is known it is counted once: it is not counted again if
// it was acknowledged, nor as long as the window of its reservation lasts; otherwise it is reserved anew,
// under the id that it has.
//
// A place is given back when the message was not published for certain, in the window in which it was
// granted, and was handed out once: of one that was handed out again (Standing), another publication may be
// under way. So a crash or a fault at any point may leave more counted than was sent, never less.
//
// Thread safety: all of it.
class GatewayStore {
public:
    virtual ~GatewayStore() = default;

    // One reply for each, in order. Those of one user are decided in their order.
    virtual std::vector<ReserveReply> reserve(std::span<const SendRequest> requests, Handover handover) = 0;

    // Acknowledged: the message is known as such. NotPublished: failed, and given back as above. Unknown: as
    // it is. What is settled already, or reserved anew since, is left alone. To be tried once: after an error
    // nobody knows what was settled.
    virtual Result<void, StoreError> settle(std::span<const MessageSettlement> settlements) = 0;

    // Sets the terms, and begins a window that has counted nothing.
    virtual Result<UserWindow, GatewayFault> put_user(UserId user, const UserTerms& terms) = 0;
    // As it was stored last, elapsed or not. Nothing: nobody has set the terms.
    virtual Result<std::optional<UserWindow>, GatewayFault> find_user(UserId user) = 0;
    // Nothing: there is no such message, or not any more (kMessageMemory).
    virtual Result<std::optional<MessageStory>, GatewayFault> find_message(const MessageId& id) = 0;

    // Where the sender finds what was reserved with Handover::Outbox.
    virtual Outbox& outbox() = 0;

    // Whether it can reserve now; tries to recover if it failed.
    virtual bool available() = 0;
};

}  // namespace sluice
