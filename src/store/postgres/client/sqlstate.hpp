#pragma once

#include <string_view>

namespace sluice::postgres {

// What a failure means to those who act on it. The one table of codes is in sqlstate.cpp.
enum class Meaning {
    Other,             // Nobody expected it.
    Passing,           // The server is full, starting, stopping or away, or was in the way of itself.
    DiskFull,          // Passes too, when somebody has made room.
    ReadOnly,          // A standby, after a failover. Passes too.
    Held,              // A lock was not given in time, or had to be taken away. Passes too.
    Contended,         // The store's own functions waited for others in vain.
    NoRights,          // The role may not do this.
    NotThere,          // No such table or schema.
    NotPrepared,       // No such prepared statement.
    PreparedByOthers,  // There is one by that name already.
    CheckFailed,       // A check of a table was violated.
    BadArgument,
    UnknownConfig,
    UnknownEvent,
    Cancelled,
    Exhausted,
    OtherWindowSize,  // The pool has another.
    WindowSizeInUse,
    Fenced,  // Another node is the keeper of gates by now.
    AlreadyDispatched,
    StrayServer,
    UnfitServer,
};

Meaning meaning_of(std::string_view sqlstate);

// Whether the store's own functions, or we, chose the code: an answer rather than trouble.
bool is_own(std::string_view sqlstate);

// Codes for what the server did not say itself.
inline constexpr const char* kNotReached = "08001";
inline constexpr const char* kLost = "08006";
inline constexpr const char* kInDoubt = "01000";  // The server's, for a commit that its standby may not have.
inline constexpr const char* kNoneFree = "53300";
inline constexpr const char* kZeroByte = "22021";
inline constexpr const char* kNotSupported = "0A000";
inline constexpr const char* kDamagedRow = "XX001";
// A server that is there and must not be used: one on an older timeline or of another system, and one that is
// set up in a way that we cannot work with. Their messages are whole sentences.
inline constexpr const char* kStrayServer = "SLOLD";
inline constexpr const char* kUnfitServer = "SLFIT";

}  // namespace sluice::postgres
