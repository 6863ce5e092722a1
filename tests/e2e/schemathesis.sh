#!/usr/bin/env bash
# Usage: tests/e2e/schemathesis.sh SLUICE ENVIRONMENT
#
# Has schemathesis, the public judge of OpenAPI documents, look at a running server: whether what /openapi.json
# says is what the routes do, with all of its checks and 100 examples for each route. It lives in a virtual
# environment of its own (folder ENVIRONMENT, made when missing, from PyPI). Exit 77: it cannot be installed.
#
# SCHEMATHESIS_SEED=N, 1 unless set, is where its random values begin.
set -euo pipefail

readonly version=4.32.5 sluice=$1 environment=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
work=$(mktemp -d)
server=''

clean_up() {
    local code=$?
    if [[ -n $server ]]; then
        kill "$server" || true
        wait "$server" || true
    fi
    if ((code != 0)) && [[ -f $work/log ]]; then tail -n 20 "$work/log" >&2; fi
    rm -rf "$work"
    exit "$code"
}
trap clean_up EXIT

install_judge() {
    if [[ $("$environment/bin/schemathesis" --version 2>/dev/null) == *" $version" ]]; then return; fi
    python3 -m venv "$environment" && "$environment/bin/pip" install --quiet "schemathesis==$version"
}

# start_server: on any free port, with a token, because the checks look at what happens without one.
start_server() {
    openssl rand -hex 32 >"$work/token"
    "$sluice" serve --store memory --listen 127.0.0.1:0 --token-file "$work/token" --log-level warn 2>"$work/log" &
    server=$!
    for _ in {1..300}; do
        address=$(grep -o 'http://127.0.0.1:[0-9]*' "$work/log" | head -n 1) && return
        sleep 0.1
    done
    echo "the server did not start" >&2
    return 1
}

# change METHOD PATH BODY: something for the routes to work on.
change() {
    curl --silent --show-error --fail -o "$work/answer" -X "$1" "$address$2" -d "$3" \
        -H "Content-Type: application/json" -H "$authorization"
}

if ! install_judge >"$work/install" 2>&1; then
    tail -n 3 "$work/install" >&2
    exit 77
fi
start_server
authorization="Authorization: Bearer $(cat "$work/token")"
change POST /admin/rate-limit/config '{"configName":"default","maxPerWindow":1000,"windowSize":"PT4S"}'
change POST /api/config '{"userId":0,"rateLimit":1000,"timeWindow":5}'
change PUT /admin/plans/gold '{"algorithm":"token_bucket","capacity":1000,"refill":"1000/s"}'

# It keeps notes where it runs.
cp "$here/schemathesis/"* "$work/"
cd "$work"
"$environment/bin/schemathesis" --config-file=schemathesis.toml run "$address/openapi.json" \
    --header "$authorization" --checks all --max-examples 100 --continue-on-failure --no-shrink --warnings off \
    --workers 1 --generation-database none --seed "${SCHEMATHESIS_SEED:-1}"
