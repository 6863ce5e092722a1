#!/usr/bin/env bash
# The worker and the server when something goes wrong: errors inside a cycle, a locked history, a killed worker,
# a restart. With WALRUS_LIBRARY, a walrus.so built with sanitizers, they must find nothing all the while.
source "$(dirname "${BASH_SOURCE[0]}")/../support/walrus_server.sh"

worker_pid() { value "pid FROM pg_stat_activity WHERE backend_type = 'pg_walrus'"; }
size() { value "current_setting('max_wal_size')"; }
server_start() { value "pg_postmaster_start_time()"; }
grown_beyond() { [[ $(size) != "$1" ]]; }

errors_while_recording_do_not_matter() {
    say "an ERROR while the history is written"
    local pid
    pid=$(worker_pid)
    sql -c "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN RAISE 'no row today'; END \$\$" \
        -c "CREATE TRIGGER refuse BEFORE INSERT ON walrus.history EXECUTE FUNCTION refuse()"
    write_wal 10
    wait_for 20 "growth without a row" grown_beyond 2MB
    wait_for 20 "a warning" log_has "WARNING:  pg_walrus: writing history failed: no row today"
    expect "adjustments" "$(status total_adjustments)" 1
    expect "rows" "$(value "count(*) FROM walrus.history")" 0
    expect "worker" "$(worker_pid)" "$pid"
    sql -c "DROP FUNCTION refuse() CASCADE"
}

errors_while_changing_are_retried() {
    say "an ERROR in ALTER SYSTEM"
    local pid
    set_parameter max_wal_size 2
    pid=$(worker_pid)
    as_postgres mkdir "$folder/data/postgresql.auto.conf.tmp" # Where PostgreSQL wants to write its new file.
    write_wal 10
    wait_for 20 "a warning" log_has "WARNING:  pg_walrus: ALTER SYSTEM failed, will retry"
    expect "size" "$(size)" 2MB
    expect "adjustments" "$(status total_adjustments)" 1
    expect "failures" "$(value "substring(walrus.metrics() FROM 'walrus_failures_total (\d+)')::int > 0")" t
    rmdir "$folder/data/postgresql.auto.conf.tmp"
    write_wal 10
    wait_for 20 "growth after all" grown_beyond 2MB
    wait_for 20 "a row" is "count(*) > 0 FROM walrus.history WHERE action = 'increase'"
    expect "worker" "$(worker_pid)" "$pid"
}

a_locked_history_does_not_stop_it() {
    say "a history that somebody has locked"
    local pid
    pid=$(worker_pid)
    sql -c "BEGIN; LOCK TABLE walrus.history; SELECT pg_sleep(7); COMMIT" >/dev/null &
    wait_for 10 "the lock" is "count(*) > 0 FROM pg_locks
        WHERE relation = 'walrus.history'::regclass AND mode = 'AccessExclusiveLock' AND granted"
    wait_for 20 "a warning" log_has "failed: canceling statement due to lock timeout"
    wait
    expect "worker" "$(worker_pid)" "$pid"
}

a_killed_worker_comes_back() {
    say "kill -9 of the worker"
    local pid rows started
    pid=$(worker_pid) rows=$(value "count(*) FROM walrus.history") started=$(server_start)
    kill -9 "$pid"
    wait_for 60 "recovery and another worker" another_worker_than "$pid"
    wait_for 30 "its first look" worker_runs
    expect "history" "$(value "count(*) FROM walrus.history")" "$rows"
    expect "the server was never restarted by hand" "$(server_start)" "$started"
    expect "counters" "$(status total_adjustments)" 0
}
another_worker_than() {
    local pid
    pid=$(worker_pid 2>/dev/null) && [[ -n $pid && $pid != "$1" ]]
}

a_restart_keeps_only_the_history() {
    say "a restart"
    local before rows
    set_parameter max_wal_size 2
    next_cycle
    write_wal 10
    wait_for 20 "a change" is "(walrus.status() ->> 'total_adjustments')::int > 0"
    wait_for 20 "the change in force" grown_beyond 2MB
    next_cycle
    before=$(size) rows=$(value "count(*) FROM walrus.history")
    stop_server
    start_server
    wait_for 30 "the worker" worker_runs
    expect "counters" "$(value "s ->> 'total_adjustments', s ->> 'changes_this_hour', s ->> 'last_change_time',
        s ->> 'hourly_window_start', s ->> 'cooldown_remaining_sec' FROM walrus.status() s")" "0|0|||"
    expect "history" "$(value "count(*) FROM walrus.history")" "$rows"
    expect "size" "$(size)" "$before"
}

sanitizers_are_silent() {
    if [[ -z ${WALRUS_LIBRARY:-} ]]; then return; fi
    grep -q libasan "/proc/$(worker_pid)/maps" || fail "the worker runs without the sanitizers"
    if grep -E 'Sanitizer|runtime error:' "$folder/log"; then fail "the sanitizers found something"; fi
    say "the sanitizers found nothing"
}

# The runtime comes with the library: preloaded, GCC's hangs in PostgreSQL's first look for translations. Leaks
# are not looked for, because PostgreSQL frees by ending; fake stacks are off, because it measures its own.
server_variables=("ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:detect_stack_use_after_return=0"
    "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1")
make_server 'walrus.check_interval_sec = 1' 'walrus.max = 100GB' 'walrus.shrink_enable = off'
start_server
create_extension
errors_while_recording_do_not_matter
errors_while_changing_are_retried
a_locked_history_does_not_stop_it
a_killed_worker_comes_back
a_restart_keeps_only_the_history
sanitizers_are_silent
stop_server
