#!/usr/bin/env bash
# The pg_regress suite of the extension on a server of its own. With --accept the answers of this run become
# the expected ones.
source "$(dirname "${BASH_SOURCE[0]}")/../support/walrus_server.sh"

suite=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../pgext/walrus/test" && pwd -P)
readonly suite tests=(extension settings history functions rights)
readonly pg_regress=$pg_lib/pgxs/src/test/regress/pg_regress

make_server 'max_wal_size = 64MB' 'checkpoint_timeout = 1d' 'walrus.cooldown_sec = 300' 'walrus.max_changes_per_hour = 4'
start_server
results=$(mktemp -d "$folder/results.XXXXXX")
status=0
if [[ ${1:-} == --accept ]]; then for test in "${tests[@]}"; do touch "$suite/expected/$test.out"; done; fi
"$pg_regress" --bindir="$pg_bin" --host="$folder" --port="$port" --user=postgres --dbname=postgres \
    --use-existing --inputdir="$suite" --outputdir="$results" "${tests[@]}" || status=$?
if [[ ${1:-} == --accept ]]; then
    cp "$results/results/"*.out "$suite/expected/"
elif ((status != 0)); then
    cat "$results/regression.diffs"
    fail "the answers differ from the expected ones"
fi
stop_server
