#!/usr/bin/env bash
# Usage: tests/e2e/installed_library.sh SOURCE BUILD
#
# Installs the library of a build tree into a new prefix, then builds the examples from there, once found by
# CMake and once by pkg-config, runs them on the servers that tools/services started, and compares what they
# print. Exit 77: a server is missing.
set -euo pipefail

source=$1 build=$2
for variable in SLUICE_TEST_{REDIS,REDIS_CLUSTER,REDIS_SENTINEL,POSTGRES}; do
    if [[ -z ${!variable:-} ]]; then
        echo "$variable is not set; tools/services starts what it stands for" >&2
        exit 77
    fi
done
work=$(mktemp -d)
# Servers are shared with other tests: nobody else has this database, nor keys that begin like this.
own=example_$(basename "$work" | tr -dc 'a-zA-Z0-9' | tr '[:upper:]' '[:lower:]')
postgres_address=${SLUICE_TEST_POSTGRES%/*}/$own

sql() { psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 "$SLUICE_TEST_POSTGRES" --command "$1"; }

clean_up() {
    sql "drop database if exists $own with (force)"
    rm -rf "$work"
}
trap clean_up EXIT
sql "create database $own"

install_and_build() {
    cmake --install "$build" --prefix "$work/prefix" --component library
    cmake -G Ninja -S "$source/examples" -B "$work/by_cmake" -DCMAKE_PREFIX_PATH="$work/prefix" \
        -DCMAKE_BUILD_TYPE=Release
    cmake --build "$work/by_cmake"

    local config flags static example
    config=$(find "$work/prefix" -name sluice.pc)
    mkdir "$work/by_pkg_config"
    export PKG_CONFIG_PATH=${config%/*}
    for example in "$source"/examples/*.cpp; do
        read -r -a flags < <(pkg-config --cflags --libs sluice)
        c++ "$example" -o "$work/by_pkg_config/$(basename "$example" .cpp)" "${flags[@]}"
    done
    read -r -a static < <(pkg-config --static --cflags --libs sluice)
    c++ "$source/examples/limiter_from_file.cpp" -o "$work/by_pkg_config/static" "${static[@]}"
    # What keeps its state in memory needs no client library.
    c++ -std=c++20 "$source/examples/guard_a_call.cpp" -o "$work/by_pkg_config/alone" \
        -I "$work/prefix/include" "$(find "$work/prefix" -name libsluice.a)"
}

# says WHAT EXPECTED COMMAND...: what the command prints, with waits that depend on the clock left out.
says() {
    local what=$1 expected=$2 printed
    shift 2
    printed=$("$@" 2>&1) || { echo "$what failed: $printed" && return 1; }
    printed=$(sed -E 's/again in [0-9]+/again in N/' <<<"$printed")
    if [[ $printed != "$expected" ]]; then
        printf '%s printed\n%s\ninstead of\n%s\n' "$what" "$printed" "$expected"
        return 1
    fi
    echo "$what: ok"
}

memory='served 1
served 2
served 3
served 4
served 5
denied by burst, again in N us
denied by burst, again in N us
denied by burst, again in N us
denied by burst, again in N us
denied by burst, again in N us'
redis='first: allowed, 1 left
second: allowed, 0 left
first: denied by orders, again in N s
first: allowed, 0 left'
postgres='three begin: 1 1 0
the first ends: released
one more begins: 1
places left: 0 of 2'
from_file='allowed by burst
allowed by burst
denied by burst
with an override: 4 left'

# ask PORT [KEY]: a request to the server of the example.
ask() {
    exec 3<>"/dev/tcp/127.0.0.1/$1"
    printf 'GET / HTTP/1.1\r\nHost: x\r\n%s\r\n' "${2:+X-API-KEY: $2$'\r\n'}" >&3
    tr -d '\r' <&3
    exec 3>&-
}

# In order: two pass, the third is denied, another key passes, a request without a key is refused.
http='HTTP/1.1 200 OK
hello, a
HTTP/1.1 200 OK
hello, a
HTTP/1.1 429 Too Many Requests
Retry-After: N
HTTP/1.1 200 OK
hello, b
HTTP/1.1 401 Unauthorized'

# ask_the_server PROGRAM: runs it for five requests.
ask_the_server() {
    local port='' deadline=$((SECONDS + 60))
    : >"$work/port" # Read before the program has begun to write it.
    "$1" 5 >"$work/port" &
    server=$!
    trap 'kill "$server" 2>/dev/null || true' EXIT  # Of the subshell that says() runs this in.
    until port=$(sed -n 's/^listening on port //p' "$work/port") && [[ -n $port ]]; do
        if ((SECONDS >= deadline)); then return 1; fi
        sleep 0.05
    done
    for key in a a a b ''; do ask "$port" "$key"; done |
        sed -nE 's/^(Retry-After: )[0-9]+$/\1N/; /^(HTTP|Retry-After|hello)/p'
    wait "$server"
}

# run_examples NAME: those in the folder of this name.
run_examples() {
    local name=$1 bin=$work/$1 kind address store
    says "$name, guard_a_call" "$memory" "$bin/guard_a_call"
    says "$name, guard_http" "$http" ask_the_server "$bin/guard_http"
    for kind in REDIS REDIS_CLUSTER REDIS_SENTINEL; do
        address=SLUICE_TEST_$kind
        says "$name, share_by_redis on $kind" "$redis" "$bin/share_by_redis" "${!address}" "$own-$name"
    done
    says "$name, share_by_postgres" "$postgres" "$bin/share_by_postgres" "$postgres_address" "$own-$name"
    for store in memory "$SLUICE_TEST_REDIS" "$postgres_address"; do
        sed "s|^store: .*|store: $store|" "$source/examples/limiter.yaml" >"$work/limiter.yaml"
        says "$name, limiter_from_file on ${store%%:*}" "$from_file" \
            "$bin/limiter_from_file" "$work/limiter.yaml" "$own-$name-file"
    done
}

install_and_build >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
run_examples by_cmake
run_examples by_pkg_config
says "the archive alone, guard_a_call" "$memory" "$work/by_pkg_config/alone"
says "--static, limiter_from_file" "$from_file" \
    "$work/by_pkg_config/static" "$source/examples/limiter.yaml" "$own"
