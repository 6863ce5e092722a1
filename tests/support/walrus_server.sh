# shellcheck shell=bash
# A PostgreSQL 15 of its own with the extension walrus, for the tests of it. Sourced, never run.
#
# PostgreSQL finds its files relative to its binary, so a copy of the binary in a tree of links is a whole
# installation: `cmake --install` puts the extension there (DESTDIR), and the machine's stays as it is.
#
# Needs WALRUS_BUILD, the build folder. WALRUS_LIBRARY, if set, replaces the installed walrus.so.

set -euo pipefail

readonly pg_bin=/usr/lib/postgresql/15/bin
readonly pg_share=/usr/share/postgresql/15
readonly pg_lib=/usr/lib/postgresql/15/lib

folder='' port='' server_options='' server_variables=()

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

say() { printf -- '-- %s\n' "$*" >&2; }

as_postgres() {
    local user=()
    # PostgreSQL refuses to run as root.
    if ((EUID == 0)); then user=(setpriv --reuid=postgres --regid=postgres --init-groups); fi
    (cd "$folder" && exec "${user[@]}" "$@")
}

# wait_for SECONDS WHAT COMMAND...: polls until it succeeds; the test fails by it otherwise.
wait_for() {
    local deadline=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        if ((SECONDS >= deadline)); then fail "no sign after a while of: $what"; fi
        sleep 0.1
    done
}

sql() { "$pg_bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 -h "$folder" -p "$port" -U postgres -d postgres "$@"; }

# value EXPRESSION: what SELECT gives for it.
value() { sql -c "SELECT $1"; }

# status KEY: one member of walrus.status() as text.
status() { value "walrus.status() ->> '$1'"; }

# is EXPRESSION: whether it is true.
is() { [[ $(value "$1" 2>/dev/null) == t ]]; }

# expect WHAT ACTUAL WANTED
expect() {
    if [[ $2 != "$3" ]]; then fail "$1: got '$2', not '$3'"; fi
    say "$1: $2"
}

# refuses TEXT STATEMENT: PostgreSQL refuses it with this text.
refuses() {
    local answer
    if answer=$(sql -c "$2" 2>&1); then fail "was not refused: $2"; fi
    [[ $answer == *"$1"* ]] || fail "'$2' was refused with: $answer"
    say "refused: $2"
}

log_has() { grep -qF -- "$1" "$folder/log"; }

# set_parameter NAME VALUE: for the whole server, at once.
set_parameter() {
    sql -c "ALTER SYSTEM SET $1 = '$2'" -c "SELECT pg_reload_conf()" >/dev/null
    wait_for 10 "$1 = $2" is "setting = '$2' FROM pg_settings WHERE name = '$1'"
}

cycles_seen() { value "walrus.status() ->> 'last_check_time'"; }

# next_cycle: waits for the end of an interval that begins after this call has begun.
next_cycle() {
    local seen
    seen=$(cycles_seen)
    wait_for 60 "the worker's next look" is "walrus.status() ->> 'last_check_time' > '$seen'"
}

make_installation() {
    mkdir -p "$folder/tree$pg_bin" "$folder/tree$pg_share" "$folder/tree$pg_lib"
    cp "$pg_bin/postgres" "$folder/tree$pg_bin/"
    cp -rs "$pg_share/." "$folder/tree$pg_share/"
    cp -rs "$pg_lib/." "$folder/tree$pg_lib/"
    # A walrus that the machine itself has must not be written through its links.
    rm -f "$folder/tree$pg_lib/walrus.so" "$folder/tree$pg_share/extension/walrus"*
    DESTDIR="$folder/tree" cmake --install "$WALRUS_BUILD" --component walrus >/dev/null
    if [[ -n ${WALRUS_LIBRARY:-} ]]; then cp "$WALRUS_LIBRARY" "$folder/tree$pg_lib/walrus.so"; fi
}

# make_server [LINE...]: a cluster with the smallest possible WAL; each line goes into its configuration.
make_server() {
    make_plain_server 1 'checkpoint_timeout = 30s' 'min_wal_size = 2MB' 'max_wal_size = 2MB' \
        'walrus.min_size = 2MB' 'walrus.cooldown_sec = 0' 'walrus.max_changes_per_hour = 1000' "$@"
}

# make_plain_server SEGMENT_MB [LINE...]: a cluster with the defaults of PostgreSQL and of walrus.
make_plain_server() {
    local segment=$1
    shift
    folder=$(mktemp -d /tmp/sluice-walrus.XXXXXX)
    trap remove_server EXIT
    make_installation
    if ((EUID == 0)); then chown -R postgres: "$folder"; fi
    as_postgres "$pg_bin/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
        --wal-segsize="$segment" >/dev/null
    printf '%s\n' "shared_preload_libraries = 'walrus'" 'fsync = off' "$@" >>"$folder/data/postgresql.conf"
}

ready() { "$pg_bin/pg_isready" -q -h "$folder" -p "$port" -U postgres -t 1; }
server_pid() { head -n 1 "$folder/data/postmaster.pid" 2>/dev/null; }

# server_options go onto the server's command line.
start_server() {
    local attempt
    for attempt in 1 2 3 4 5; do
        port=$((10240 + (RANDOM * 32768 + RANDOM) % 20000))
        if as_postgres env "${server_variables[@]}" "$pg_bin/pg_ctl" -s -w -t 30 -D "$folder/data" \
            -l "$folder/log" -p "$folder/tree$pg_bin/postgres" \
            -o "-p $port -k $folder -c listen_addresses=127.0.0.1 $server_options" start; then
            return
        fi
        say "the server did not start on port $port (attempt $attempt of 5)"
    done
    tail -n 20 "$folder/log" >&2
    fail "the server did not start"
}

stop_server() { as_postgres "$pg_bin/pg_ctl" -s -w -D "$folder/data" -m "${1:-fast}" stop; }

remove_server() {
    local code=$?
    if ((code != 0)) && [[ -f $folder/log ]]; then tail -n 40 "$folder/log" >&2; fi
    if [[ -f $folder/data/postmaster.pid ]]; then stop_server immediate || true; fi
    rm -rf "$folder"
    exit "$code"
}

worker_runs() { is "(walrus.status() ->> 'worker_running')::bool AND walrus.status() ->> 'last_check_time' IS NOT NULL"; }

create_extension() {
    sql -c "CREATE EXTENSION walrus"
    wait_for 30 "the worker" worker_runs
}

# write_wal MEGABYTES: at least so much WAL, which forces checkpoints.
write_wal() {
    sql -c "CREATE TABLE IF NOT EXISTS filler (text text)" 2>/dev/null
    sql -c "INSERT INTO filler SELECT repeat(md5(i::text), 32) FROM generate_series(1, $1 * 1024) i" \
        -c "TRUNCATE filler"
}
