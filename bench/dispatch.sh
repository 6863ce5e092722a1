# shellcheck shell=bash disable=SC2154,SC2317  # Sourced by tools/bench, which says what it may use and defines.
# tools/bench dispatch: webhooks to a bare server on this machine, from the embedded store, beside a client
# without a store.

# shellcheck disable=SC2034  # For tools/bench.
parts_known=(embedded pending lateness) peers_own=() targets=(bench_dispatch)
calls=60000 pending_many=1000000
if [[ $quick == true ]]; then calls=20000 pending_many=100000; fi

run_dispatch() { "$bin/dispatch_bench" embedded "$work/data" "$receiver_port" "$calls" "$1"; }

# At half of the rate that was measured last.
run_paced() {
    local rate
    rate=$(awk '$1 == "dispatch.embedded" && $2 == "rate" { rate = $3 } END { printf "%d", rate / 2 }' "$samples")
    "$bin/dispatch_bench" paced "$work/data" "$receiver_port" $((rate * 5)) "$rate"
}

dispatch_prepare() {
    coproc receiver { exec "$bin/bare_beast_server"; }
    read -r receiver_port <&"${receiver[0]}"
}

dispatch_round() {
    measure client.bare "$bin/dispatch_bench" bare "$receiver_port" "$calls"
    measure dispatch.embedded run_dispatch 0
    if wants pending; then
        measure dispatch.pending-few run_dispatch 1000
        measure dispatch.pending-many run_dispatch "$pending_many"
    fi
    if wants lateness; then measure dispatch.lateness run_paced; fi
}

dispatch_finish() { :; }

dispatch_clean_up() {
    if [[ -n ${receiver_PID:-} ]]; then kill "$receiver_PID" 2>/dev/null || true; fi
}
