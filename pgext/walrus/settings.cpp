#include "settings.hpp"

#include <climits>
#include <cstring>

#include "max_wal_size.hpp"
#include "postgres_api.hpp"

namespace sluice::walrus {
namespace {

constexpr Ticks kSecondsPerHour = 3600;

// PostgreSQL writes the values here, from every reload on.
Settings current{};

bool fits_a_channel(char** value, void** /*extra*/, GucSource /*source*/) {
    if (std::strlen(*value) < NAMEDATALEN) {
        return true;
    }
    GUC_check_errdetail("A channel's name has at most %d bytes.", NAMEDATALEN - 1);
    return false;
}

void define_switch(const char* name, const char* text, bool* value, bool initial) {
    DefineCustomBoolVariable(name, text, nullptr, value, initial, PGC_SIGHUP, 0, nullptr, nullptr, nullptr);
}

struct Range {
    int initial;
    int least;
    int most;
    int flags = 0;
};

void define_number(const char* name, const char* text, int* value, const Range& range) {
    DefineCustomIntVariable(name, text, nullptr, value, range.initial, range.least, range.most, PGC_SIGHUP,
                            range.flags, nullptr, nullptr, nullptr);
}

void define_sizing() {
    define_switch("walrus.enable", "Whether max_wal_size is watched and changed.", &current.enable, true);
    define_number("walrus.max", "max_wal_size never grows beyond this.", &current.max_mb,
                  {4096, 2, INT_MAX, GUC_UNIT_MB});
    define_number("walrus.threshold", "Forced checkpoints in one interval from which on it grows.",
                  &current.threshold, {2, 1, 1000});
    define_switch("walrus.shrink_enable", "Whether it shrinks when little is written.",
                  &current.shrink_enable, true);
    DefineCustomRealVariable("walrus.shrink_factor", "What it is multiplied with when it shrinks.", nullptr,
                             &current.shrink_factor, 0.75, 0.01, 0.99, PGC_SIGHUP, 0, nullptr, nullptr,
                             nullptr);
    define_number("walrus.shrink_intervals", "Quiet intervals in a row before it shrinks.",
                  &current.shrink_intervals, {5, 1, 1000});
    define_number("walrus.min_size", "max_wal_size never shrinks below this.", &current.min_size_mb,
                  {1024, 2, INT_MAX, GUC_UNIT_MB});
    define_switch("walrus.proactive", "Whether it also grows by the measured rate of WAL.",
                  &current.proactive, false);
}

void define_pace() {
    define_number("walrus.cooldown_sec", "Pause after a change; 0: none.", &current.cooldown_sec,
                  {300, 0, 86'400, GUC_UNIT_S});
    define_number("walrus.max_changes_per_hour", "Automatic changes in an hour; 0: none is made.",
                  &current.max_changes_per_hour, {4, 0, 1000});
    define_number("walrus.check_interval_sec", "Time between two looks; 0: checkpoint_timeout.",
                  &current.check_interval_sec, {0, 0, 86'400, GUC_UNIT_S});
    define_switch("walrus.dry_run", "Whether changes are only logged and recorded.", &current.dry_run, false);
}

void define_records() {
    define_number("walrus.history_retention_days", "Age in days at which rows of walrus.history go.",
                  &current.history_retention_days, {7, 0, 3650});
    DefineCustomStringVariable("walrus.notify_channel", "Channel that hears of every change; empty: none.",
                               nullptr, &current.notify_channel, "", PGC_SIGHUP, 0, fits_a_channel, nullptr,
                               nullptr);
    DefineCustomStringVariable("walrus.database", "Database with the history that the worker writes.",
                               nullptr, &current.database, "postgres", PGC_POSTMASTER, GUC_SUPERUSER_ONLY,
                               nullptr, nullptr, nullptr);
}

}  // namespace

void define_settings() {
    define_sizing();
    define_pace();
    define_records();
    MarkGUCPrefixReserved("walrus");
}

const Settings& settings() { return current; }

GovernorPolicy governor_policy() {
    return {.cooldown = current.cooldown_sec,
            .changes_max = current.max_changes_per_hour,
            .window = kSecondsPerHour};
}

WalSizingPolicy sizing_policy() {
    return {.threshold = current.threshold,
            .size_max = current.max_mb,
            .size_min = current.min_size_mb,
            .size_floor = smallest_size(),
            .shrink_enabled = current.shrink_enable,
            .shrink_factor = to_billionths(current.shrink_factor),
            .shrink_intervals = current.shrink_intervals};
}

WalWatchPolicy watch_policy() {
    return {.threshold = current.threshold, .checkpoint_ms = std::int64_t{CheckPointTimeout} * 1000};
}

int interval_seconds() {
    return current.check_interval_sec > 0 ? current.check_interval_sec : CheckPointTimeout;
}

}  // namespace sluice::walrus
