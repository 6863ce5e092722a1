#pragma once

#include <cstdint>

#include "core/governor/wal_sizing.hpp"

namespace sluice::walrus {

// One row of walrus.history, but for its id and time.
struct HistoryRow {
    const char* action = "";
    Megabytes old_size = 0;
    Megabytes new_size = 0;
    std::int64_t requested = 0;  // The server's cumulative counter.
    const char* reason = "";
    const char* metadata = "{}";  // A JSON object.
};

// All of these need an open transaction, and raise PostgreSQL's errors. Where the table does not exist (the
// extension was not created in this database), a WARNING says so and nothing happens.

void write_history(const HistoryRow& row);

// Tells the listeners of walrus.notify_channel of a change; nothing if there is no channel.
void notify_change(const HistoryRow& row);

// Removes what is older than walrus.history_retention_days, or everything. How many rows went.
std::int64_t remove_old_history();
std::int64_t remove_all_history();

}  // namespace sluice::walrus
