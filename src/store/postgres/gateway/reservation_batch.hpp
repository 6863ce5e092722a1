#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/gateway/gateway_store.hpp"
#include "store/postgres/client/key_turns.hpp"
#include "store/postgres/client/parameters.hpp"
#include "store/postgres/client/rows.hpp"

namespace sluice::postgres {

// The key of a user among those that take turns.
inline std::size_t turn_of(UserId user) { return static_cast<std::size_t>(user.number); }

// Any bytes from the text form of bytea; bytes_text() goes the other way.
std::string bytes_of(std::string_view text);

// Milliseconds since 1970.
Instant instant_of(std::int64_t ms);

// The requests of one call of sluice.reserve_messages.
// Thread safety: none. REQUIRES: the requests outlive it.
class ReservationBatch {
public:
    explicit ReservationBatch(std::span<const SendRequest> requests);

    // Each once.
    [[nodiscard]] KeyTurns::Keys users() const;

    // Patient: waits for rows that others hold; see sql/gateway.sql.
    [[nodiscard]] Parameters parameters(Handover handover, bool patient) const;

private:
    std::span<const SendRequest> requests_;
    std::map<UserId, std::int64_t> users_;  // And their places among them, from 1.
    std::vector<UserId> owners_;            // Of each request that is known by another name than the others.
    std::vector<std::int64_t> places_;      // Which of these each message is, from 1.
};

// The reply in a row that sluice.reserve_messages gave.
ReserveReply read_reply(const Rows& rows, std::size_t row, UserId user);
// Whether it says that another transaction holds what it needs.
bool is_held(const Rows& rows, std::size_t row);

}  // namespace sluice::postgres
