# shellcheck shell=bash disable=SC2154,SC2317  # Sourced by tools/bench, which says what it may use and defines.
# tools/bench slots: the engine alone, on PostgreSQL, over HTTP, and how much memory it takes.

# shellcheck disable=SC2034  # For tools/bench.
parts_known=(engine postgres http stream memory) peers_own=(seed) targets=(sluice bench_slots)
readonly seed_clients=(1 4 16)
slots_engine=200000 slots_postgres=100000 seconds_http=5 seconds_seed=4 slots_stream=1000000
if [[ $quick == true ]]; then
    slots_engine=100000 slots_postgres=50000 seconds_http=3 seconds_seed=2
fi

wants_seed() { { wants engine || wants postgres; } && wants_peer seed; }
wants_server() { wants postgres || wants_seed; }

# --- What is running ----------------------------------------------------------------------------

declare -A servers=() # By name: the pid.
port=''               # Of the server started last.

stop_server() {
    local pid=${servers[$1]:-}
    unset "servers[$1]"
    [[ -n $pid ]] || return 0
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

slots_clean_up() {
    local name
    for name in "${!servers[@]}"; do stop_server "$name"; done
    if [[ -f $work/services/postgres ]]; then
        SLUICE_SERVICES=$work/services "$root/tools/services" down postgres || true
    fi
}

# wait_for_port FILE PATTERN NAME: until the server has written where it listens.
wait_for_port() {
    local deadline=$((SECONDS + 30))
    until port=$(sed -nE "s/$2/\\1/p" "$1" 2>/dev/null | head -n 1) && [[ -n $port ]]; do
        kill -0 "${servers[$3]}" 2>/dev/null || { tail -n 20 "$1" >&2 && die "$3 did not start"; }
        ((SECONDS < deadline)) || die "$3 did not start within 30 s"
        sleep 0.05
    done
}

start_beast() {
    rm -f "$work/beast.log" # What the one before wrote must not be read.
    "$bin/bare_beast_server" >"$work/beast.log" 2>&1 &
    servers[beast]=$!
    wait_for_port "$work/beast.log" '^([0-9]+)$' beast
}

# Starts Sluice on the data that are there.
restart_sluice() {
    rm -f "$work/sluice.log"
    "$tree/sluice" serve --listen 127.0.0.1:0 --data "$work/data" --store embedded \
        >"$work/sluice.out" 2>"$work/sluice.log" &
    servers[sluice]=$!
    wait_for_port "$work/sluice.log" '.*http:\/\/127\.0\.0\.1:([0-9]+).*' sluice
}

# Starts Sluice on an empty data folder, with the config of the benchmark.
start_sluice() {
    rm -rf "$work/data"
    restart_sluice
    local body='{"configName":"default","maxPerWindow":100,"windowSize":"PT4S"}' status
    exec {connection}<>"/dev/tcp/127.0.0.1/$port" || die "Sluice does not listen on port $port"
    printf '%s\r\n' 'POST /admin/rate-limit/config HTTP/1.1' 'Host: localhost' 'Connection: close' \
        'Content-Type: application/json' "Content-Length: ${#body}" '' >&"$connection"
    printf '%s' "$body" >&"$connection"
    read -r status <&"$connection"
    exec {connection}>&-
    [[ $status == *' 200 '* ]] || die "Sluice refused the config: $status"
}

# --- Measuring ----------------------------------------------------------------------------------

ticks_per_second=$(getconf CLK_TCK)

# cpu_of PID: the CPU time of a process in ticks; with `family`, also of its children, gone or not.
cpu_of() {
    local stat child sum
    read -r stat <"/proc/$1/stat" || return
    read -r -a stat <<<"${stat##*) }"
    sum=$((stat[11] + stat[12]))
    if [[ ${2:-} == family ]]; then
        sum=$((sum + stat[13] + stat[14]))
        for child in $(<"/proc/$1/task/$1/children"); do
            # One that ends meanwhile is counted with those that are gone, next time.
            sum=$((sum + $({ cpu_of "$child" || printf 0; } 2>/dev/null)))
        done
    fi
    printf '%s' "$sum"
}

# cpu_line BEFORE AFTER OPERATIONS: the figure `cpu_us`.
cpu_line() {
    awk -v ticks=$(($2 - $1)) -v hertz="$ticks_per_second" -v operations="$3" \
        'BEGIN { if (operations > 0) printf "cpu_us %.3f\n", ticks / hertz * 1e6 / operations }'
}

# memory_of PID FIELD: in MB, for example of VmHWM.
memory_of() { awk -v field="$2:" '$1 == field { printf "%.1f", $2 / 1000 }' "/proc/$1/status"; }

run_engine() { "$bin/slot_engine_bench" "$1" "$work/$2" "$slots_engine"; }

# A new folder for each of these.
measure_new() {
    rm -rf "$work/new"
    measure "$1" run_engine "$2" new
}

engine_round() {
    local mode
    measure_new rocksdb.bare bare
    measure_new engine.empty empty
    for mode in behind beside lower-cap weight; do measure "engine.$mode" run_engine "$mode" backlog; done
}

# sql DATABASE ARGUMENTS...
sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "${postgres%/*}/$1" "${@:2}"; }

run_seed() { run_pgbench "$1" "$2" "$root/bench/seed/call.sql"; }

# run_pgbench DATABASE CLIENTS CALL: one call per event, over connections that stay open.
run_pgbench() {
    local before after output
    before=$(cpu_of "$postmaster" family)
    output=$(pgbench -n -M prepared -f "$3" -c "$2" -j "$(($2 < 2 ? 1 : 2))" \
        -T "$seconds_seed" "${postgres%/*}/$1" 2>"$work/pgbench.log") ||
        { tail "$work/pgbench.log" >&2 && return 1; }
    sleep 0.3 # Until its sessions are gone, whose time the server then knows.
    after=$(cpu_of "$postmaster" family)
    awk '/^tps/ { print "rate", $3 }' <<<"$output"
    cpu_line "$before" "$after" \
        "$(sed -nE 's/^number of transactions actually processed: ([0-9]+).*/\1/p' <<<"$output")"
}

# empty_tables DATABASE: of Sluice or of the peer.
empty_tables() { sql "$1" -c 'truncate rl_wndw_ct, rl_event_slot_dtl, rl_wndw_frontier_trk'; }

# run_batches DATABASE OPTION...: by the engine, without HTTP.
run_batches() {
    local before after
    before=$(cpu_of "$postmaster" family)
    "$bin/postgres_slot_bench" assign "${postgres%/*}/$1" "$slots_postgres" "${@:2}" || return
    sleep 0.3 # Until its sessions are gone, whose time the server then knows.
    after=$(cpu_of "$postmaster" family)
    cpu_line "$before" "$after" "$slots_postgres"
}

# The same while a transaction elsewhere keeps every dead row alive.
run_batches_behind_snapshot() {
    local status=0
    coproc OLD { psql -X -q -A -t "${postgres%/*}/sluice_behind"; }
    local from=${OLD[0]} to=${OLD[1]} pid=$OLD_PID taken
    printf 'begin isolation level repeatable read;\nselect count(*) from sluice.pool;\n' >&"$to"
    read -r -t 10 taken <&"$from" && [[ -n $taken ]] || return
    run_batches sluice_behind depth=10000 || status=$?
    exec {to}>&-
    wait "$pid" || true
    return "$status"
}

# run_function DATABASE CLIENTS: one call per event, over connections that stay open.
run_function() { run_pgbench "$1" "$2" "$root/bench/sluice/call.sql"; }

postgres_round() {
    local day=$(($1 * 10)) # On other days than before, because what is filled once is not empty.
    empty_tables sluice_empty
    measure pg.batch.empty run_batches sluice_empty
    empty_tables sluice_empty
    measure pg.batch.two-nodes run_batches sluice_empty nodes=2
    measure pg.batch.beside run_batches sluice_behind day="$day"
    measure pg.batch.behind run_batches sluice_behind depth=10000
    measure pg.batch.lower-cap-beside run_batches sluice_behind config=narrow day=$((day + 1))
    measure pg.batch.lower-cap run_batches sluice_behind config=narrow depth=10000
    measure pg.batch.weight-beside run_batches sluice_behind config=weighted weight=3 day=$((day + 2))
    measure pg.batch.weight run_batches sluice_behind config=weighted weight=3 depth=10000
    measure pg.batch.snapshot run_batches_behind_snapshot
}

# One call per event, by Sluice's function and by the peer: side by side, each first every other time, since
# the disk is not equally fast all the time.
calls_round() {
    local place clients caller callers=()
    if wants postgres; then callers+=(function); fi
    if wants_seed; then callers+=(seed); fi
    if (($1 % 2 == 0 && ${#callers[@]} == 2)); then callers=(seed function); fi
    for place in empty behind; do
        for clients in "${seed_clients[@]}"; do
            for caller in "${callers[@]}"; do "measure_$caller" "$place" "$clients"; done
        done
    done
}

measure_function() {
    if [[ $1 == empty ]]; then empty_tables sluice_empty; fi
    measure "pg.function.$1.$2" run_function "sluice_$1" "$2"
}

measure_seed() {
    if [[ $1 == empty ]]; then empty_tables seed_empty; fi
    measure "seed.$1.$2" run_seed "seed_$1" "$2"
}

# How much the number of stored windows matters.
measure_scale() {
    local windows
    for windows in 1000 10000 100000 1000000; do
        quietly "filling $windows windows" sql sluice_scale -v windows="$windows" \
            -f "$root/bench/sluice/scale.sql" || die "the store cannot be filled"
        measure "pg.scale.$windows" run_batches sluice_scale config="scale-$windows" depth="$windows"
    done
}

# run_wrk PID CONNECTIONS RUN: RUN makes the event ids new.
run_wrk() {
    local before after output requests errors
    before=$(cpu_of "$1")
    output=$(wrk -t2 -c"$2" -d"${seconds_http}s" -s "$root/bench/assign.lua" "http://127.0.0.1:$port" \
        -- "$3") || return
    after=$(cpu_of "$1")
    requests=$(sed -n 's/^requests //p' <<<"$output")
    errors=$(sed -n 's/^errors //p' <<<"$output")
    if ((errors > 0)); then say "  $errors of $requests requests failed"; fi
    ((errors * 1000 <= requests)) || return
    printf '%s\n' "$output"
    cpu_line "$before" "$after" "$requests"
}

http_round() {
    local beast_port sluice_port connections
    start_beast && beast_port=$port
    start_sluice && sluice_port=$port
    for connections in 64 256 health; do
        local count=${connections/health/64} run=${connections/#[0-9]/r$1-$connections}
        port=$beast_port && measure "beast.$connections" run_wrk "${servers[beast]}" "$count" "$run"
        port=$sluice_port && measure "http.$connections" run_wrk "${servers[sluice]}" "$count" "$run"
    done
    stop_server sluice
    stop_server beast
}

# run_stream SLOTS RUN
run_stream() {
    local before after pid=${servers[sluice]}
    before=$(cpu_of "$pid")
    "$bin/stream_client" "$port" "$1" "$2" || return
    after=$(cpu_of "$pid")
    cpu_line "$before" "$after" "$1"
    printf 'peak_mb %s\nrss_mb %s\n' "$(memory_of "$pid" VmHWM)" "$(memory_of "$pid" VmRSS)"
}

stream_round() {
    wants engine || measure_new engine.empty empty
    start_sluice
    measure stream run_stream "$slots_stream" "round$1"
    stop_server sluice
}

# With this many connections open and idle.
run_idle() {
    local opened alive memory
    coproc IDLE { "$bin/idle_connections" "$port" "$1"; }
    local from=${IDLE[0]} to=${IDLE[1]}
    read -r -t 60 opened <&"$from" && [[ $opened == "open $1" ]] || return
    sleep 1
    memory=$(memory_of "${servers[sluice]}" VmRSS)
    exec {to}>&-
    read -r -t 60 alive <&"$from" && [[ $alive == "alive $1" ]] || return
    printf 'rss_mb %s\n' "$memory"
}

# Fills up to a number of slots and says what the server then holds.
run_fill() { run_stream "$1" "$2" | sed -n '/^rss_mb/p'; }

measure_memory() {
    say "memory"
    start_sluice
    measure memory.idle-10k run_idle 10000
    stop_server sluice
    if [[ $quick == true ]]; then return; fi
    start_sluice
    measure memory.1M run_fill 1000000 first
    measure memory.5M run_fill 4000000 more
    measure memory.10M run_fill 5000000 most
    stop_server sluice
    local started
    started=$(now_ms)
    restart_sluice
    measure start.10M awk -v ms="$(($(now_ms) - started))" 'BEGIN { printf "start_s %.3f\n", ms / 1000 }'
    stop_server sluice
}

# --- The run ------------------------------------------------------------------------------------

# Sized as docs/operations.md says, for all that are measured on it: the index of event ids fits, and no
# checkpoint comes in the middle, after which whoever is measured first writes every page whole.
readonly server_options='-c shared_buffers=1GB -c max_wal_size=16GB -c checkpoint_timeout=1h'

start_server() {
    SLUICE_SERVICES=$work/services SLUICE_SERVICES_POSTGRES=$server_options "$root/tools/services" up postgres
    printf 'meta postgres %s\n' "$server_options" >>"$samples"
    postgres=$(SLUICE_SERVICES=$work/services "$root/tools/services" env postgres)
    postgres=${postgres#*=}
    [[ $(sql postgres -c 'show fsync' -c 'show synchronous_commit') == $'on\non' ]] ||
        die "PostgreSQL does not sync its writes: no comparison"
    postmaster=$(sql postgres -c "select split_part(pg_read_file('postmaster.pid'), E'\n', 1)")
}

prepare_postgres() {
    local database
    for database in sluice_empty sluice_behind sluice_scale; do
        sql postgres -c "create database $database"
        "$bin/postgres_slot_bench" configure "${postgres%/*}/$database"
    done
    quietly "filling 10,000 windows on PostgreSQL" sql sluice_behind -f "$root/bench/sluice/backlog.sql" ||
        die "the store cannot be filled"
    sql sluice_behind -c checkpoint
    # After a checkpoint every page is logged whole once: that is not what the first measurement is about.
    run_batches sluice_behind depth=10000 >/dev/null || die "the filled store assigns nothing"
}

prepare_seed() {
    local database
    for database in seed_empty seed_behind; do
        sql postgres -c "create database $database"
        sql "$database" -f "$root/bench/seed/schema.sql" -f "$root/bench/seed/assign.sql"
    done
    quietly "filling 10,000 windows of the peer" sql seed_behind -f "$root/bench/seed/backlog.sql" ||
        die "the peer cannot be filled"
    sql seed_behind -c checkpoint
    run_seed seed_behind 4 >/dev/null || die "the filled peer assigns nothing"
}

# check_counters QUERY DATABASE...: what counts wrongly is not worth measuring.
check_counters() {
    local database
    for database in "${@:2}"; do
        [[ $(sql "$database" -f "$1") == 0 ]] || die "$database: its counters are wrong"
    done
}

slots_prepare() {
    # shellcheck disable=SC2034  # For tools/bench.
    if [[ ${parts[*]} == memory ]]; then rounds=0; fi # It is no part of the rounds.
    if wants engine; then
        say "filling 10,000 windows"
        "$bin/slot_engine_bench" prefill "$work/backlog" || die "the store cannot be filled"
    fi
    if wants_server; then start_server; fi
    if wants postgres; then prepare_postgres; fi
    if wants_seed; then prepare_seed; fi
}

slots_round() {
    if wants engine; then engine_round; fi
    if wants postgres; then postgres_round "$1"; fi
    calls_round "$1"
    if wants http; then http_round "$1"; fi
    if wants stream; then stream_round "$1"; fi
}

slots_finish() {
    if wants_seed; then check_counters "$root/bench/seed/recount.sql" seed_empty seed_behind; fi
    if wants postgres; then check_counters "$root/bench/sluice/recount.sql" sluice_empty sluice_behind; fi
    if wants postgres && [[ $quick == false ]]; then measure_scale; fi
    if wants memory; then measure_memory; fi
}
