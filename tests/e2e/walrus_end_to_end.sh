#!/usr/bin/env bash
# The whole story on a real server under pgbench, in real checkpoint intervals of 30 seconds, the shortest that
# PostgreSQL has: it grows, is blocked by the cooldown, by the hourly cap, and shrinks when all is quiet.
source "$(dirname "${BASH_SOURCE[0]}")/../support/walrus_server.sh"

has_row() { is "count(*) > 0 FROM walrus.history WHERE $1"; }

make_server 'walrus.max = 1GB' 'walrus.cooldown_sec = 3000' 'walrus.max_changes_per_hour = 1' \
    'walrus.shrink_intervals = 1'
start_server
create_extension
"$pg_bin/pgbench" -h "$folder" -p "$port" -U postgres -i -s 5 -q postgres >"$folder/pgbench" 2>&1
"$pg_bin/pgbench" -h "$folder" -p "$port" -U postgres -c 2 -T 600 postgres >"$folder/pgbench" 2>&1 &
load=$! # Ended below, or with the server.

# How many checkpoints a machine forces in an interval is its own affair: many of them reach the cap.
wait_for 120 "growth" has_row "(action, reason) IN (('increase', 'Forced checkpoints exceeded threshold'),
        ('capped', 'Calculated size exceeded walrus.max'))
    AND old_size_mb = 2 AND new_size_mb > 2 AND checkpoint_timeout_sec = 30
    AND (metadata ->> 'delta')::int >= 2
    AND (metadata ->> 'calculated_size_mb')::int = 2 * (metadata ->> 'multiplier')::int"
expect "status" "$(value "s ->> 'total_adjustments', s ->> 'changes_this_hour', s ->> 'cooldown_active',
    (s ->> 'cooldown_remaining_sec')::int > 2500, s ->> 'hourly_limit_reached',
    s ->> 'last_change_time' = s ->> 'hourly_window_start' FROM walrus.status() s")" "1|1|true|t|true|t"
wait_for 10 "the new size in force" is "walrus.status() ->> 'current_max_wal_size_mb' =
    (SELECT new_size_mb::text FROM walrus.history WHERE action IN ('increase', 'capped'))"

# Small again, so that the load forces checkpoints: now the cooldown blocks.
set_parameter max_wal_size 2
wait_for 120 "a block by the cooldown" has_row "action = 'skipped' AND reason = 'cooldown active'
    AND metadata ->> 'blocked_by' = 'cooldown' AND (metadata ->> 'cooldown_sec')::int = 3000
    AND (metadata ->> 'cooldown_remaining_sec')::int BETWEEN 2500 AND 2999"
log_has "pg_walrus: adjustment blocked - cooldown active (" || fail "no line of the block"
expect "size" "$(value "current_setting('max_wal_size')")" 2MB

# Looking more often from here on: the rest of the story does not need the load of half a minute.
set_parameter walrus.cooldown_sec 0
set_parameter walrus.threshold 1
set_parameter walrus.check_interval_sec 2
wait_for 120 "a block by the hourly cap" has_row "action = 'skipped' AND reason = 'hourly limit reached'
    AND metadata ->> 'blocked_by' = 'hourly_limit' AND (metadata ->> 'changes_this_hour')::int = 1
    AND (metadata ->> 'max_changes_per_hour')::int = 1"
log_has "pg_walrus: adjustment blocked - hourly limit reached (1 of 1)" || fail "no line of the block"

kill "$load"
wait "$load" || true
sql -c CHECKPOINT # What the load has forced is over.
next_cycle
set_parameter max_wal_size 64
wait_for 60 "a blocked shrink" log_has "pg_walrus: shrink blocked - hourly limit reached (1 of 1)"
set_parameter walrus.max_changes_per_hour 1000
wait_for 60 "shrinking" has_row "action = 'decrease' AND old_size_mb = 64 AND new_size_mb = 48
    AND reason = 'Sustained low checkpoint activity'"
wait_for 10 "the smaller size in force" is "(walrus.status() ->> 'current_max_wal_size_mb')::int <= 48"
log_has "pg_walrus: shrinking max_wal_size from 64 MB to 48 MB" || fail "no line of the shrinking"

sql -c "SELECT timestamp::time(0), action, old_size_mb, new_size_mb, reason FROM walrus.history()" >&2
sql -c "DROP EXTENSION walrus"
expect "left behind" "$(value "(SELECT count(*) FROM pg_namespace WHERE nspname = 'walrus') +
    (SELECT count(*) FROM pg_proc WHERE prosrc LIKE 'walrus%')")" 0
stop_server
