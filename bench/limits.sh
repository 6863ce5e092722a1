# shellcheck shell=bash disable=SC2154,SC2317  # Sourced by tools/bench, which says what it may use and defines.
# tools/bench limits: the memory store beside limiters of other languages, the Redis store beside
# redis-benchmark.

# shellcheck disable=SC2034  # For tools/bench.
parts_known=(hot tight zipf uniform redis) peers_own=(throttlecrab governor redis) targets=(bench_limits)
checks_hot=20000000 checks_many=8000000 checks_redis=240000
if [[ $quick == true ]]; then checks_hot=8000000 checks_many=4000000 checks_redis=80000; fi
peers_tree=$root/build/bench-peers # Kept: building them takes longer than a round.

# with_accuracy PLAN CHECKS FIRST: adds to the figures what was admitted by what was allowed. `tight` allows
# FIRST at once and 1,000 a second, `open` everything.
with_accuracy() {
    awk -v plan="$1" -v checks="$2" -v first="$3" '{ print }
        $1 == "admitted" { admitted = $2 }
        $1 == "seconds" { seconds = $2 }
        END {
            allowed = plan == "tight" ? first + 1000 * seconds : checks
            printf "accuracy %.4f\n", admitted / (allowed < checks ? allowed : checks)
        }'
}

# --- In memory ----------------------------------------------------------------------------------

# run_limits PLAN KEYS; the warm-up takes one of the tokens that are there at once.
run_limits() {
    "$bin/limit_store_bench" run "$1" "$work/$2" | with_accuracy "$1" "$(checks_of "$2")" 999
}
# run_limit_peer PEER PLAN KEYS
run_limit_peer() {
    "$peers_tree/release/limit-peers" "$1" "$2" "$work/$3" | with_accuracy "$2" "$(checks_of "$3")" 999
}
checks_of() { if [[ $1 == hot ]]; then echo "$checks_hot"; else echo "$checks_many"; fi; }

# limits_part PART PLAN KEYS: ours, then each peer; one thread.
limits_part() {
    local peer
    wants "$1" || return 0
    measure "limits.$1" run_limits "$2" "$3"
    for peer in throttlecrab governor; do
        wants_peer "$peer" || continue
        measure "$peer.$1" run_limit_peer "$peer" "$2" "$3"
    done
    if wants_peer governor; then measure "governor-wall.$1" run_limit_peer governor-wall "$2" "$3"; fi
}

prepare_memory() {
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

# --- On Redis -----------------------------------------------------------------------------------

readonly redis_clients=2 redis_batch=64
# By plan: keys, capacity, and what a token is in units of which each microsecond adds one.
readonly -A redis_plans=([open]='100000 100 100000' [tight]='1 1000 1000')

# What a token bucket in Redis cannot do without: state, time, charge, expiry. No whole numbers, no waits.
readonly smallest_script="local b = redis.call('HMGET', KEYS[1], 't', 'ts')
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local t = math.min(ARGV[1], (tonumber(b[1]) or ARGV[1]) + (now - (tonumber(b[2]) or now)) * ARGV[2])
if t < 1 then return 0 end
redis.call('HSET', KEYS[1], 't', t - 1, 'ts', now)
redis.call('EXPIRE', KEYS[1], 10)
return 1"

bench_services() { SLUICE_SERVICES=$work/services "$root/tools/services" "$@"; }
ask_redis() { redis-cli -p "$redis_port" "$@"; }

# run_redis_store PLAN
run_redis_store() {
    local keys
    read -r keys _ <<<"${redis_plans[$1]}"
    ask_redis flushall >/dev/null
    "$bin/redis_limit_bench" "$redis" "$1" "$redis_clients" "$redis_batch" "$checks_redis" "$keys" |
        with_accuracy "$1" "$checks_redis" 1000
}

# run_redis_script PLAN WORDS...: by redis-benchmark. It does not look at replies, but either script writes when
# it admits, and only then.
run_redis_script() {
    local plan=$1 keys rate
    read -r keys _ <<<"${redis_plans[$plan]}"
    ask_redis flushall >/dev/null
    ask_redis config resetstat >/dev/null
    rate=$(redis-benchmark -p "$redis_port" -c "$redis_clients" -P "$redis_batch" -n "$checks_redis" \
        -r "$keys" --csv evalsha "${@:2}" | tail -n 1 | cut -d '"' -f 4)
    ask_redis info commandstats | awk -F '[=,:]' -v rate="$rate" -v checks="$checks_redis" '
        $1 == "cmdstat_hset" { printf "admitted %d\n", $3 }
        END { printf "rate %.1f\nseconds %.4f\n", rate, checks / rate }' |
        with_accuracy "$plan" "$checks_redis" 1000
}
run_limit_script() {
    local capacity unit
    read -r _ capacity unit <<<"${redis_plans[$1]}"
    run_redis_script "$1" "$limits_sha" 1 'rate_limiter:gold:{__rand_int__}' take b 1 "$capacity" "$unit" 1
}
run_smallest_script() {
    local capacity unit
    read -r _ capacity unit <<<"${redis_plans[$1]}"
    run_redis_script "$1" "$smallest_sha" 1 'smallest:{__rand_int__}' "$capacity" $((1000000 / unit))
}

redis_part() {
    local plan
    wants redis || return 0
    for plan in open tight; do
        measure "limits.redis-$plan" run_redis_store "$plan"
        wants_peer redis || continue
        measure "script.redis-$plan" run_limit_script "$plan"
        measure "smallest.redis-$plan" run_smallest_script "$plan"
    done
}

prepare_redis() {
    bench_services up redis
    redis=$(bench_services env redis) redis=${redis#*=} redis_port=${redis##*:}
    ask_redis config set appendonly no >/dev/null
    limits_sha=$(ask_redis -x script load < <("$bin/redis_limit_bench" --script))
    smallest_sha=$(ask_redis script load "$smallest_script")
}

# --- What tools/bench calls ---------------------------------------------------------------------

limits_round() {
    limits_part hot open hot
    limits_part tight tight hot
    limits_part zipf open zipf
    limits_part uniform open uniform
    if wants uniform; then measure limits.uniform-2 "$bin/limit_store_bench" scale "$work/uniform" 2; fi
    redis_part
}

limits_prepare() {
    if [[ ${parts[*]} != redis ]]; then prepare_memory; fi
    if wants redis; then prepare_redis; fi
}

limits_finish() { :; }

limits_clean_up() {
    if [[ -f $work/services/redis ]]; then bench_services down redis || true; fi
}
