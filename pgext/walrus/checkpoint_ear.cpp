#include "checkpoint_ear.hpp"

#include <cstring>

#include "postgres_api.hpp"
#include "standing.hpp"

namespace sluice::walrus {
namespace {

emit_log_hook_type previous_hook = nullptr;

bool is_checkpoint_start(const ErrorData* error) {
    constexpr const char* kStart = "checkpoint starting:";  // Before it is translated.
    return error->elevel == LOG && error->message_id != nullptr && error->message != nullptr &&
           std::strncmp(error->message_id, kStart, std::strlen(kStart)) == 0;
}

// The flags follow the colon and are never translated.
bool names_wal(const char* message) {
    const char* flags = std::strrchr(message, ':');
    return std::strstr(flags != nullptr ? flags : message, " wal") != nullptr;
}

void hear(ErrorData* error) {
    if (MyBackendType == B_CHECKPOINTER && is_preloaded() && is_checkpoint_start(error) &&
        names_wal(error->message)) {
        pg_atomic_fetch_add_u64(wal_checkpoints(), 1);
    }
    if (previous_hook != nullptr) {
        previous_hook(error);
    }
}

std::int64_t requested_of(const PgStat_CheckpointerStats* statistics) {
#if PG_VERSION_NUM >= 170000
    return statistics->num_requested;
#else
    return statistics->requested_checkpoints;
#endif
}

}  // namespace

void listen_to_checkpoints() {
    previous_hook = emit_log_hook;
    emit_log_hook = hear;
}

bool hears_checkpoints() {
    // What is not written to the log does not reach the hook either; LOG ranks between ERROR and FATAL there.
    return log_checkpoints && (log_min_messages <= ERROR || log_min_messages == LOG);
}

bool count_checkpoints(CheckpointCount* count) {
    pgstat_clear_snapshot();
    const PgStat_CheckpointerStats* statistics = pgstat_fetch_stat_checkpointer();
    if (statistics == nullptr) {
        ereport(WARNING,
                (errmsg("pg_walrus: checkpoint statistics are unavailable, skipping this interval")));
        return false;
    }
    count->requested = requested_of(statistics);
    count->wal_driven = static_cast<std::int64_t>(pg_atomic_read_u64(wal_checkpoints()));
    count->wal_heard = hears_checkpoints();
    return true;
}

}  // namespace sluice::walrus
