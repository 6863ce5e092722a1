#!/usr/bin/env bash
# What the worker does on a real server, in intervals of one second: each defect of the public description
# that ours does not have, and what goes beyond it. One function per case, run in order on one server.
source "$(dirname "${BASH_SOURCE[0]}")/../support/walrus_server.sh"

history_count() { value "count(*) FROM walrus.history WHERE $1"; }
has_row() { is "count(*) > 0 FROM walrus.history WHERE $1"; }

# A state to start from: nothing remembered, the smallest size, all limits out of the way.
start_over() {
    say "$1"
    # Disabled meanwhile, so that what the case before has left behind is not answered in this one.
    sql -c "ALTER SYSTEM RESET ALL"
    set_parameter walrus.enable off
    wait_for 10 "the smallest size" is "current_setting('max_wal_size') = '2MB'"
    next_cycle
    sql -c "CHECKPOINT" -c "SELECT walrus.reset()" >/dev/null
    sql -c "ALTER SYSTEM RESET walrus.enable" -c "SELECT pg_reload_conf()" >/dev/null
    wait_for 10 "walrus.enable" is "current_setting('walrus.enable')::bool"
    next_cycle
}

reset_takes_a_new_baseline() {
    start_over "after reset() the server's lifetime counter is not read as one interval"
    value "walrus.reset()" >/dev/null
    next_cycle
    next_cycle
    expect "checkpoints that came before" "$(value "pg_stat_get_bgwriter_requested_checkpoints() > 10")" t
    expect "rows" "$(history_count true)" 0
    expect "size" "$(status current_max_wal_size_mb)" 2
}

reload_is_no_interval() {
    start_over "a reload neither starts a cycle nor counts as a quiet interval"
    local seen quiet reloads
    reloads=$(($(grep -cF 'pg_walrus: configuration reloaded' "$folder/log") + 1))
    set_parameter walrus.check_interval_sec 600
    wait_for 10 "the worker's reload" reloaded "$reloads"
    seen=$(cycles_seen) quiet=$(status quiet_intervals)
    for _ in 1 2 3 4 5; do
        value "pg_reload_conf()" >/dev/null
        reloads=$((reloads + 1))
        wait_for 10 "the worker's reload" reloaded "$reloads"
    done
    expect "last look" "$(cycles_seen)" "$seen"
    expect "quiet intervals" "$(status quiet_intervals)" "$quiet"
}
reloaded() { (($(grep -cF 'pg_walrus: configuration reloaded' "$folder/log") >= $1)); }

enabling_is_no_interval() {
    start_over "what happened while disabled is not read as one interval"
    set_parameter walrus.enable off
    expect "analyze() while disabled" "$(value "walrus.analyze()")" \
        '{"reason": "extension is disabled", "analyzed": false}'
    expect "recommendation() while disabled" "$(value "walrus.recommendation() ->> 'action'")" error
    write_wal 20
    set_parameter walrus.enable on
    next_cycle
    next_cycle
    expect "rows" "$(history_count true)" 0
}

manual_checkpoints_do_not_count() {
    start_over "checkpoints by hand are not forced by WAL"
    set_parameter walrus.threshold 1
    for _ in 1 2 3 4; do sql -c CHECKPOINT; done
    next_cycle
    next_cycle
    expect "rows" "$(history_count true)" 0
    # Without the log their cause is unknown: then all count, as documented.
    set_parameter log_checkpoints off
    expect "counted" "$(status counted_checkpoints)" requested
    next_cycle
    sql -c CHECKPOINT
    wait_for 20 "growth by a requested checkpoint" has_row "action = 'increase' AND metadata ->> 'counted' = 'requested'"
}

statistics_reset_is_not_quiet() {
    start_over "a reset of statistics is neither forced nor quiet"
    set_parameter log_checkpoints off
    sql -c CHECKPOINT
    next_cycle
    set_parameter walrus.check_interval_sec 3
    local quiet
    next_cycle
    quiet=$(status quiet_intervals)
    value "pg_stat_reset_shared('bgwriter')" >/dev/null
    next_cycle
    expect "quiet intervals" "$(status quiet_intervals)" "$quiet"
}

manual_decrease_ends_the_quiet() {
    start_over "analyze(apply) is never blocked, counts, starts the cooldown and ends the quiet"
    sql -c "ALTER SYSTEM SET max_wal_size = '8MB'"
    set_parameter walrus.max_changes_per_hour 0
    set_parameter walrus.cooldown_sec 600
    set_parameter walrus.shrink_intervals 1
    wait_for 10 "a quiet interval" is "(walrus.status() ->> 'quiet_intervals')::int > 0"
    expect "limit of 0 reached" "$(status hourly_limit_reached)" true
    wait_for 10 "a block" has_row "reason = 'automatic adjustments disabled (max_changes_per_hour = 0)'"
    set_parameter walrus.check_interval_sec 600 # No look of the worker between the two answers.
    expect "analyze, quiet after it" "$(sql -c "SELECT walrus.analyze(apply := true) ->> 'applied'" \
        -c "SELECT walrus.status() ->> 'quiet_intervals'")" $'true\n0'
    expect "changes, cooldown" "$(value "s ->> 'changes_this_hour', s ->> 'cooldown_active',
        s ->> 'last_change_time' = s ->> 'last_adjustment_time', s ->> 'hourly_window_start' IS NOT NULL,
        (s ->> 'cooldown_remaining_sec')::int BETWEEN 590 AND 600 FROM walrus.status() s")" "1|true|t|t|t"
    expect "row" "$(value "old_size_mb, new_size_mb, metadata ->> 'source' FROM walrus.history
        WHERE action = 'decrease'")" "8|6|walrus.analyze"
    wait_for 10 "6 MB in force" is "current_setting('max_wal_size') = '6MB'"
}

a_change_by_hand_is_part_of_its_transaction() {
    start_over "analyze(apply) and reset() stand or go with the transaction that asked"
    sql -c "ALTER SYSTEM SET max_wal_size = '8MB'"
    set_parameter walrus.max_changes_per_hour 0
    set_parameter walrus.shrink_intervals 1
    wait_for 10 "a quiet interval" is "(walrus.status() ->> 'quiet_intervals')::int > 0"
    local apply="SELECT walrus.analyze(apply := true) ->> 'applied'"
    expect "rolled back" "$(sql -c "BEGIN; $apply; ROLLBACK")" true
    nothing_has_changed
    if sql -c "$apply, 1 / (random() < 0)::int" 2>/dev/null; then fail "dividing by zero"; fi
    nothing_has_changed
    expect "rolled back to a savepoint" "$(sql -c "BEGIN; SAVEPOINT a; $apply; ROLLBACK TO a; COMMIT")" true
    nothing_has_changed
    refuses "SERIALIZABLE" "BEGIN ISOLATION LEVEL SERIALIZABLE; $apply; COMMIT"
    nothing_has_changed
    as_postgres mkdir "$folder/data/postgresql.auto.conf.tmp" # Where PostgreSQL wants to write its new file.
    refuses "postgresql.auto.conf.tmp" "$apply"
    rmdir "$folder/data/postgresql.auto.conf.tmp"
    nothing_has_changed
    expect "committed" "$(sql -c "BEGIN; SAVEPOINT a; $apply; RELEASE a; $apply; COMMIT")" $'true\ntrue'
    wait_for 10 "6 MB in force" is "current_setting('max_wal_size') = '6MB'"
    sql -c "BEGIN; SELECT walrus.reset(); ROLLBACK" >/dev/null
    expect "rows, changes" "$(history_count "action = 'decrease'")|$(status changes_this_hour)" "1|1"
    refuses "cannot PREPARE" "BEGIN; SELECT walrus.reset(); PREPARE TRANSACTION 'x'"
    expect "rows, changes" "$(history_count "action = 'decrease'")|$(status changes_this_hour)" "1|1"
}
nothing_has_changed() {
    expect "size, rows, changes" "$(grep -o '^max_wal_size.*' "$folder/data/postgresql.auto.conf")|$(
        history_count "action = 'decrease'")|$(status total_adjustments)" "max_wal_size = '8MB'|0|0"
}

an_admin_may_apply() {
    start_over "a member of walrus_admin changes the size without being a superuser"
    sql -c "CREATE ROLE walrus_admin" -c "GRANT USAGE ON SCHEMA walrus TO walrus_admin" \
        -c "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA walrus TO walrus_admin" \
        -c "ALTER SYSTEM SET max_wal_size = '8MB'"
    set_parameter walrus.max_changes_per_hour 0
    set_parameter walrus.shrink_intervals 1
    wait_for 10 "a quiet interval" is "(walrus.status() ->> 'quiet_intervals')::int > 0"
    expect "applied by a member" "$(sql -c "SET ROLE walrus_admin" \
        -c "SELECT walrus.analyze(apply := true) ->> 'applied', current_user")" "true|walrus_admin"
    sql -c "DROP OWNED BY walrus_admin" -c "DROP ROLE walrus_admin"
}

dry_runs_keep_their_own_pace() {
    start_over "a dry run is held back like a real one, and never holds back a real one"
    set_parameter walrus.dry_run on
    set_parameter walrus.cooldown_sec 3600
    write_wal 10
    wait_for 10 "a dry run" has_row "action = 'dry_run' AND (metadata ->> 'dry_run')::bool
        AND metadata ->> 'would_apply' = 'increase'"
    write_wal 10
    wait_for 10 "a blocked dry run" has_row "action = 'skipped' AND reason = 'cooldown active'"
    expect "real changes" "$(status total_adjustments)" 0
    expect "real cooldown" "$(status cooldown_active)" false
    expect "size" "$(status current_max_wal_size_mb)" 2
    log_has 'pg_walrus [DRY-RUN]: would change max_wal_size from 2 MB to' || fail "no line of the dry run"
    set_parameter walrus.dry_run off
    write_wal 10
    wait_for 10 "a real change" has_row "action = 'increase'"
}

the_cap_of_size_holds() {
    start_over "walrus.max caps, with a warning"
    set_parameter walrus.max 3
    write_wal 10
    wait_for 10 "a capped change" has_row "action = 'capped' AND new_size_mb = 3
        AND reason = 'Calculated size exceeded walrus.max' AND metadata ->> 'walrus_max_mb' = '3'"
    log_has "exceeds maximum 3 MB, using maximum" || fail "no warning of the cap"
    wait_for 10 "the ceiling" is "(walrus.status() ->> 'at_ceiling')::bool"
}

listeners_hear_of_changes() {
    start_over "listeners hear of a change"
    set_parameter walrus.notify_channel walrus_events
    {
        echo 'LISTEN walrus_events;'
        for _ in {1..50}; do echo 'SELECT pg_sleep(0.1);'; done
    } | sql >"$folder/heard" 2>&1 &
    wait_for 10 "a listener" is "count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'"
    write_wal 10
    wait_for 10 "a notification" grep -q '"walrus_events" with payload "{"action": "increase", "old_size_mb": 2' \
        "$folder/heard"
    wait
}

the_measured_rate_suffices() {
    start_over "in proactive mode the measured rate alone makes it grow"
    set_parameter walrus.threshold 1000
    set_parameter walrus.proactive on
    for _ in 1 2 3; do
        write_wal 4
        next_cycle
    done
    wait_for 10 "a change by the rate" has_row "action IN ('increase', 'capped')
        AND (metadata ->> 'wal_p95_bytes')::bigint > 0 AND NOT metadata ? 'multiplier'"
}

without_a_table_it_goes_on() {
    start_over "a missing history table is a warning"
    sql -c "DROP EXTENSION walrus"
    write_wal 10
    wait_for 10 "growth" is "current_setting('max_wal_size') <> '2MB'"
    log_has 'WARNING:  pg_walrus: history table does not exist in database "postgres"' || fail "no warning"
    create_extension
}

the_command_line_wins() {
    say "a size from the command line is left alone"
    stop_server
    server_options='-c max_wal_size=2MB'
    start_server
    server_options=''
    wait_for 30 "the worker" worker_runs
    value "walrus.reset()" >/dev/null
    next_cycle
    expect "status says so" "$(status fixed_by_command_line)" true
    write_wal 10
    wait_for 10 "a warning" log_has "WARNING:  pg_walrus: max_wal_size is set on the server's command line"
    write_wal 10
    next_cycle
    next_cycle
    expect "warnings" "$(grep -cF "max_wal_size is set on the server's command line" "$folder/log")" 1
    expect "adjustments, rows" "$(status total_adjustments)|$(history_count true)" "0|0"
}

without_preload_it_says_so() {
    say "without shared_preload_libraries nothing breaks"
    stop_server
    sed -i "s/^shared_preload_libraries.*//; s/^walrus\..*//" "$folder/data/postgresql.conf"
    : >"$folder/data/postgresql.auto.conf"
    start_server
    sql -c "DROP EXTENSION walrus" -c "LOAD 'walrus'" -c "CREATE EXTENSION walrus"
    refuses "walrus must be loaded via shared_preload_libraries" "SELECT walrus.status()"
    refuses "walrus must be loaded via shared_preload_libraries" "SELECT walrus.analyze(apply := true)"
    refuses "walrus must be loaded via shared_preload_libraries" "SELECT walrus.reset()"
    expect "rows" "$(value "count(*) FROM walrus.history()")" 0
}

make_server 'walrus.check_interval_sec = 1' 'log_min_messages = debug1'
start_server
create_extension
write_wal 40 # Far more checkpoints in the server's life than any threshold.
reset_takes_a_new_baseline
reload_is_no_interval
enabling_is_no_interval
manual_checkpoints_do_not_count
statistics_reset_is_not_quiet
manual_decrease_ends_the_quiet
a_change_by_hand_is_part_of_its_transaction
an_admin_may_apply
dry_runs_keep_their_own_pace
the_cap_of_size_holds
listeners_hear_of_changes
the_measured_rate_suffices
without_a_table_it_goes_on
the_command_line_wins
without_preload_it_says_so
stop_server
