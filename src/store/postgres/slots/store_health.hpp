#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/time.hpp"
#include "store/postgres/client/connection.hpp"

namespace sluice::postgres {

struct HealthFigures {
    bool writable = false;
    Duration clock_difference{0};  // How far this node's clock is ahead of the server's.
};

// Whether slots can be stored, found out by storing something small from time to time, and what should
// trouble the operator beside that: a clock that differs from the server's, commits that are not durable when
// they are answered. The log is told of each change.
// Thread safety: all of it.
class StoreHealth {
public:
    // How long a write counts as proof that the next will succeed too.
    static constexpr std::chrono::milliseconds kLately{5000};
    // Clocks that differ by more deserve a word.
    static constexpr Duration kClockMax = std::chrono::seconds{5};

    // What one small write told.
    struct Proof {
        Duration clock_difference{0};
        bool durable = true;
    };
    static Result<Proof, Failure> prove(Connection& connection, const Clock& clock);

    StoreHealth(const Clock& clock, Log& log) : clock_{clock}, log_{log} {}

    // Tries a small write. False when the connection was lost by it.
    bool examine(Connection& connection);

    [[nodiscard]] bool writable() const;
    // "clock_differs", "not_durable", or empty.
    [[nodiscard]] std::string_view concern() const;
    [[nodiscard]] HealthFigures figures() const;

private:
    void note(const Proof& proof);      // With mutex_ held.
    void note(const Failure& failure);  // With mutex_ held.

    const Clock& clock_;
    Log& log_;
    mutable std::mutex mutex_;
    std::optional<std::chrono::steady_clock::time_point> proven_at_;  // Guarded by mutex_, like all below.
    Proof proof_;                                                     // The last that succeeded.
    bool failing_ = false;
};

// "This node's clock is 30 s ahead of PostgreSQL's", or behind. Nothing when they are near enough.
std::optional<std::string> clock_sentence(Duration ahead);

inline constexpr const char* kNotDurable =
    "PostgreSQL answers commits before they are durable (synchronous_commit is off, or local although "
    "standbys "
    "are to be waited for): acknowledged slots can be lost; set it to on for the database and the role";

}  // namespace sluice::postgres
