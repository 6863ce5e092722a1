# shellcheck shell=bash disable=SC2154,SC2317  # Sourced by tools/bench, which says what it may use and defines.
# tools/bench limits: the memory store beside limiters of other languages.

# shellcheck disable=SC2034  # For tools/bench.
parts_known=(hot tight zipf uniform) peers_own=(throttlecrab governor) targets=(bench_limits)
checks_hot=20000000 checks_many=8000000
if [[ $quick == true ]]; then checks_hot=8000000 checks_many=4000000; fi
peers_tree=$root/build/bench-peers # Kept: building them takes longer than a round.

# The plan `tight` allows 1,000 at once and 1,000 a second. The warm-up took one of the first.
with_accuracy() {
    awk '{ print } $1 == "admitted" { admitted = $2 } $1 == "seconds" { seconds = $2 }
        END { if (plan == "tight") printf "accuracy %.4f\n", admitted / (999 + 1000 * seconds) }' plan="$1"
}

# run_limits PLAN KEYS THREADS
run_limits() { "$bin/limit_store_bench" run "$1" "$work/$2" "$3" | with_accuracy "$1"; }
# run_limit_peer PEER PLAN KEYS THREADS
run_limit_peer() { "$peers_tree/release/limit-peers" "$1" "$2" "$work/$3" "$4" | with_accuracy "$2"; }

# limits_part PART PLAN KEYS: one thread of ours, then of each peer.
limits_part() {
    local peer
    wants "$1" || return 0
    measure "limits.$1" run_limits "$2" "$3" 1
    for peer in "${peers_own[@]}"; do
        wants_peer "$peer" || continue
        measure "$peer.$1" run_limit_peer "$peer" "$2" "$3" 1
    done
    if wants_peer governor; then measure "governor-wall.$1" run_limit_peer governor-wall "$2" "$3" 1; fi
}

limits_round() {
    limits_part hot open hot
    limits_part tight tight hot
    limits_part zipf open zipf
    limits_part uniform open uniform
    wants uniform || return 0
    measure limits.uniform-2 run_limits open uniform 2
    if wants_peer governor; then measure governor.uniform-2 run_limit_peer governor open uniform 2; fi
}

limits_prepare() {
    local kind
    "$bin/limit_store_bench" keys hot "$checks_hot" "$work/hot"
    for kind in zipf uniform; do "$bin/limit_store_bench" keys "$kind" "$checks_many" "$work/$kind"; done
    if wants_peer throttlecrab || wants_peer governor; then
        command -v cargo >/dev/null || die "cargo is missing: the peers cannot be built"
        quietly "building the peers" env CARGO_TARGET_DIR="$peers_tree" \
            cargo build --release --quiet --manifest-path "$root/bench/peers/limits/Cargo.toml" ||
            die "the peers cannot be built"
    fi
}

limits_finish() { :; }
limits_clean_up() { :; }
