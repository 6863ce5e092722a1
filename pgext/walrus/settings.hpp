#pragma once

#include "core/governor/governor.hpp"
#include "core/governor/wal_sizing.hpp"
#include "core/governor/wal_watch.hpp"

namespace sluice::walrus {

// The parameters walrus.*, as PostgreSQL holds them in this process.
struct Settings {
    bool enable;
    int max_mb;
    int threshold;
    bool shrink_enable;
    double shrink_factor;
    int shrink_intervals;
    int min_size_mb;
    int history_retention_days;
    bool dry_run;
    int cooldown_sec;
    int max_changes_per_hour;
    int check_interval_sec;
    bool proactive;
    char* notify_channel;
    char* database;
};

// Tells PostgreSQL about the parameters. REQUIRES: called while shared_preload_libraries are loaded; at any
// other time PostgreSQL ends the process over walrus.database, which only a start can set.
void define_settings();

const Settings& settings();

GovernorPolicy governor_policy();
WalSizingPolicy sizing_policy();
WalWatchPolicy watch_policy();

// How long the worker waits between two looks: checkpoint_timeout, unless walrus.check_interval_sec is set.
int interval_seconds();

}  // namespace sluice::walrus
