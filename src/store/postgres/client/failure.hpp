#pragma once

#include <string>

#include "store/postgres/client/sqlstate.hpp"

namespace sluice::postgres {

// Why a call on PostgreSQL failed.
struct Failure {
    // Five characters. What never reached a server, or lost it, has one of class 08 (kNotReached, kLost),
    // unless the server said why it closed the connection.
    std::string sqlstate;
    // One line for people; never the password.
    std::string message;
    // The connection is of no further use.
    bool connection_lost = false;
    // What was under way may have been committed, or not: read before answering or trying again. Set when the
    // connection was lost while a COMMIT, or statements that commit by themselves, were with the server, and
    // when the server committed without its synchronous standby (a WARNING 01000).
    bool outcome_unknown = false;

    // Whether trying again, from the beginning of the transaction, may help: serialization failures,
    // deadlocks, lock and statement time-outs, lost connections, a server that is full, starting, stopping or
    // a standby.
    [[nodiscard]] bool retryable() const;

    // Others hold what is needed: a lock was not given in time or taken away, or the store's own functions
    // said so.
    [[nodiscard]] bool contended() const { return means(Meaning::Held) || means(Meaning::Contended); }

    [[nodiscard]] Meaning meaning() const { return meaning_of(sqlstate); }
    [[nodiscard]] bool means(Meaning one) const { return meaning() == one; }

    // For the log.
    [[nodiscard]] std::string described() const { return message + " (" + sqlstate + ")"; }
};

inline constexpr const char* kNeedsSessionMode =
    "PostgreSQL is reached through a pooler that hands its sessions around, as PgBouncer does in transaction "
    "and statement mode: Sluice needs one in session mode (pool_mode = session), or none";

// One sentence for those who could not connect.
std::string cannot_connect(const Failure& failure);

}  // namespace sluice::postgres
