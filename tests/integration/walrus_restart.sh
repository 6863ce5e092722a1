#!/usr/bin/env bash
# Whatever walrus writes, the server starts with it: PostgreSQL refuses a max_wal_size of less than two segments,
# but only at its start. A restart after each kind of change, with large segments.
source "$(dirname "${BASH_SOURCE[0]}")/../support/walrus_server.sh"

has_row() { is "count(*) > 0 FROM walrus.history WHERE $1"; }
size() { value "setting FROM pg_settings WHERE name = 'max_wal_size'"; }

restart() {
    stop_server
    start_server
    wait_for 30 "the worker" worker_runs
}

# shrinks_to MB: waits until nothing is left to shrink, restarts, and expects that size.
shrinks_to() {
    wait_for 60 "$1 MB" is "setting = '$1' FROM pg_settings WHERE name = 'max_wal_size'"
    next_cycle
    next_cycle
    restart
    expect "size after a restart" "$(size)" "$1"
}

quick=('walrus.check_interval_sec = 1' 'walrus.shrink_intervals = 1' 'walrus.cooldown_sec = 0'
    'walrus.max_changes_per_hour = 1000')

defaults_with_the_largest_segments() {
    say "segments of 1 GB and the default sizes: it stops at min_wal_size, not at walrus.min_size"
    make_plain_server 1024 "${quick[@]}" 'walrus.shrink_factor = 0.1'
    start_server
    create_extension
    expect "smallest, configured minimum and maximum" \
        "$(status smallest_size_mb) $(status min_size_mb) $(status configured_maximum_mb)" "5120 1024 4096"
    shrinks_to 5120
    set_parameter min_wal_size 2048
    shrinks_to 2048
    stop_server
    rm -rf "$folder"
}

changes_with_large_segments() {
    say "segments of 64 MB and walrus.min_size = 2MB"
    make_plain_server 64 "${quick[@]}" 'walrus.min_size = 2MB' 'min_wal_size = 128MB' 'max_wal_size = 256MB'
    start_server
    create_extension
    shrinks_to 128

    say "a maximum that the server could not start with"
    sql -c "ALTER SYSTEM SET max_wal_size = '192MB'"
    set_parameter walrus.max 16
    shrinks_to 128

    say "a size that somebody else has set too small: it grows to what the server needs"
    sql -c "ALTER SYSTEM RESET walrus.max" -c "ALTER SYSTEM SET walrus.shrink_enable = off" \
        -c "ALTER SYSTEM SET walrus.threshold = 1"
    set_parameter max_wal_size 2
    wait_for 60 "growth" grow
    wait_for 10 "a size in force" is "setting::int >= 128 FROM pg_settings WHERE name = 'max_wal_size'"
    restart

    say "a change by hand"
    sql -c "ALTER SYSTEM SET max_wal_size = '150MB'" -c "ALTER SYSTEM RESET walrus.shrink_enable"
    set_parameter walrus.max_changes_per_hour 0
    wait_for 30 "a quiet interval" is "(walrus.status() ->> 'quiet_intervals')::int > 0"
    expect "applied" "$(value "walrus.analyze(apply := true) ->> 'applied'")" true
    shrinks_to 128
    stop_server
}
grow() {
    write_wal 80
    has_row "action = 'increase' AND old_size_mb = 2 AND new_size_mb >= 128"
}

defaults_with_the_largest_segments
changes_with_large_segments
