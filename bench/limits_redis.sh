#!/usr/bin/env bash
# Usage: bench/limits_redis.sh [TURNS [SECONDS]]
#
# The Redis store of limits beside redis-benchmark, on a server of its own: the same script with the same
# pipelining, and the smallest script that keeps a token bucket at all. By turns; prints checks a second and
# the ratios of the medians. Build first: cmake --build build/release --target redis_limit_bench
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

case ${1:-} in
-h | --help) help_of "$0" && exit ;;
esac
readonly turns=${1:-5} seconds=${2:-3} clients=2 batch=64 keys=100000
readonly bench=$root/build/release/bench/redis_limit_bench

# What a token bucket in Redis cannot do without: state, time, charge, expiry. No whole numbers, no waits.
readonly smallest="local b = redis.call('HMGET', KEYS[1], 't', 'ts')
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local t = math.min(ARGV[1], (tonumber(b[1]) or ARGV[1]) + (now - (tonumber(b[2]) or now)) * ARGV[2])
local allowed = t >= 1
if allowed then t = t - 1 end
redis.call('HSET', KEYS[1], 't', t, 'ts', now)
redis.call('EXPIRE', KEYS[1], 10)
return allowed and 1 or 0"

SLUICE_SERVICES=$(mktemp -d)
export SLUICE_SERVICES
trap '"$root/tools/services" down; rm -rf "$SLUICE_SERVICES"' EXIT
"$root/tools/services" up redis
address=$("$root/tools/services" env redis)
address=${address#*=}
port=${address##*:}
redis-cli -p "$port" config set appendonly no >/dev/null
ours_sha=$(redis-cli -p "$port" -x script load < <("$bench" --script))
smallest_sha=$(redis-cli -p "$port" script load "$smallest")

# driven WORDS...: how many of these commands redis-benchmark gets answered in a second.
driven() {
    local rate=$1
    shift
    redis-benchmark -p "$port" -c "$clients" -P "$batch" -n $((rate * seconds)) -r "$keys" --csv "$@" |
        tail -n 1 | awk -F'","' '{ printf "%d\n", $2 }'
}
by_script() {
    driven "$1" evalsha "$ours_sha" 1 'rate_limiter:gold:{__rand_int__}' take b 1 100 100000 1
}
by_smallest() { driven "$1" evalsha "$smallest_sha" 1 'smallest:{__rand_int__}' 100 10; }
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

store=() script=() small=()
guess=50000
for ((turn = 1; turn <= turns; ++turn)); do
    redis-cli -p "$port" flushall >/dev/null
    store+=("$("$bench" "$address" "$clients" "$batch" "$seconds" "$keys")")
    guess=${store[0]}
    redis-cli -p "$port" flushall >/dev/null
    script+=("$(by_script "$guess")")
    redis-cli -p "$port" flushall >/dev/null
    small+=("$(by_smallest "$guess")")
    say "turn $turn: store ${store[-1]}, script ${script[-1]}, smallest ${small[-1]} checks a second"
done
store_median=$(printf '%s\n' "${store[@]}" | median)
script_median=$(printf '%s\n' "${script[@]}" | median)
small_median=$(printf '%s\n' "${small[@]}" | median)
awk -v store="$store_median" -v script="$script_median" -v small="$small_median" 'BEGIN {
    printf "store %d, script by redis-benchmark %d, smallest script %d checks a second\n", store, script, small
    printf "store / script %.2f (bar 0.85), script / smallest %.2f (bar 0.70)\n", store / script, script / small
}'
