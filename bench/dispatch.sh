# shellcheck shell=bash disable=SC2154,SC2317  # Sourced by tools/bench, which says what it may use and defines.
# tools/bench dispatch: webhooks to a bare server on this machine, from the embedded store, beside a client
# without a store; and from PostgreSQL, beside workers that claim one event in a transaction.

# shellcheck disable=SC2034  # For tools/bench.
parts_known=(embedded pending lateness postgres) peers_own=(locked) targets=(bench_dispatch)
calls=60000 pending_many=1000000 calls_one_by_one=20000
if [[ $quick == true ]]; then calls=20000 pending_many=100000 calls_one_by_one=5000; fi

run_dispatch() { "$bin/dispatch_bench" embedded "$work/data" "$receiver_port" "$calls" "$1"; }

# At half of the rate that was measured last.
run_paced() {
    local rate
    rate=$(awk '$1 == "dispatch.embedded" && $2 == "rate" { rate = $3 } END { printf "%d", rate / 2 }' "$samples")
    "$bin/dispatch_bench" paced "$work/data" "$receiver_port" $((rate * 5)) "$rate"
}

# on_server COMMAND...: on a database of its own, made anew: `{}` in the command is its address.
on_server() {
    psql -q "$postgres" -c 'drop database if exists sluice_dispatch' -c 'create database sluice_dispatch'
    "${@//\{\}/${postgres%/*}/sluice_dispatch}"
}

dispatch_prepare() {
    coproc receiver { exec "$bin/bare_beast_server"; }
    read -r receiver_port <&"${receiver[0]}"
    wants postgres || return 0
    SLUICE_SERVICES=$work/services SLUICE_SERVICES_POSTGRES='-c shared_buffers=1GB -c max_wal_size=16GB' \
        "$root/tools/services" up postgres
    postgres=$(SLUICE_SERVICES=$work/services "$root/tools/services" env postgres)
    postgres=${postgres#*=}
    [[ $(psql -AtX "$postgres" -c 'show fsync') == on ]] ||
        die "PostgreSQL does not sync its writes: no comparison"
}

postgres_round() {
    local workers
    for workers in 1 16; do
        if wants_peer locked; then
            measure "one-by-one.$workers" on_server \
                "$bin/claim_one_by_one" '{}' "$receiver_port" $((calls_one_by_one / (workers == 1 ? 4 : 1))) "$workers"
        fi
    done
    measure dispatch.postgres on_server "$bin/dispatch_bench" postgres '{}' "$receiver_port" "$calls" 0
}

dispatch_round() {
    measure client.bare "$bin/dispatch_bench" bare "$receiver_port" "$calls"
    measure dispatch.embedded run_dispatch 0
    if wants pending; then
        measure dispatch.pending-few run_dispatch 1000
        measure dispatch.pending-many run_dispatch "$pending_many"
    fi
    if wants lateness; then measure dispatch.lateness run_paced; fi
    if wants postgres; then postgres_round; fi
}

dispatch_finish() { :; }

dispatch_clean_up() {
    if [[ -n ${receiver_PID:-} ]]; then kill "$receiver_PID" 2>/dev/null || true; fi
    if [[ -f $work/services/postgres ]]; then
        SLUICE_SERVICES=$work/services "$root/tools/services" down postgres || true
    fi
}
