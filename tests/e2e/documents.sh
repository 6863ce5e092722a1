#!/usr/bin/env bash
# Usage: tests/e2e/documents.sh SOURCE SLUICE DOCUMENT
#
# Runs every `sh` block of a document, in order, in one shell, in a new folder that looks like a built tree, as a
# reader pastes them: the first command that fails ends it. Servers listen where the document says, so this needs a
# network of its own (root), or the ports to be free.
#
# A block that cannot run here is a `console` block, and must be listed below with the reason.
set -euo pipefail

source=$1 sluice=$2 document=$3
readonly -A not_run=(
    ["README.md: \$ tools/run"]="installs packages and builds; every run of the tests has done both"
    ["docs/walrus.md: \$ apt-get install postgresql-server-dev-15"]="changes the machine; Walrus.* do the rest"
    ["docs/limits.md: \$ tools/build release sluice_archive"]="changes the machine; InstalledLibrary.* do the rest"
    ["docs/dispatch.md: \$ curl -s 127.0.0.1:8080/api/v1/slots -H 'Content-Type: application/json' -d '{\"eventId\":\"pay-2\","]="calls a bank that does not exist; Dispatch.* do the rest"
    ["docs/operations.md: \$ useradd --system --home-dir /var/lib/sluice sluice"]="changes the machine"
)
# What a reader must see in the end: how many lines at least, and a pattern.
readonly -A must_print=(
    [README.md]='4 "eventId":"pay-1","scheduledTime":"2030-01-01T
2 "code":"cancelled"
2 ^204$
1 HTTP/1.1 429
1 2030-01-01T09:00:00.000Z  3
1 nodes: 2 servers have one version
1 recount: Every counter is right'
    [docs/dispatch.md]='1 pay-1 .* sent
1 ^  attempt
1 host  bank.example'
    [docs/gateway.md]='3 Message Sent Successfully
1 exit code 4
1 "state":"\(queued\|sent\)"'
    [docs/slots.md]='2 ^60$'
    [docs/operations.md]='1 "configs":\[\]
2 open files:
1 "status":"ok"
1 TLS certificate: '
)

# Alone with a loopback of our own, where that is allowed.
if [[ -z ${SLUICE_TEST_ALONE:-} ]] && unshare -n true 2>/dev/null; then
    SLUICE_TEST_ALONE=yes exec unshare -n "$0" "$@"
fi
if [[ -n ${SLUICE_TEST_ALONE:-} ]]; then ip link set lo up; fi

while IFS= read -r first; do
    first=${first%%  *}  # Without the comment.
    if [[ -z ${not_run["$document: $first"]:-} ]]; then
        echo "$document has a console block that is not among those that need not run: $first" >&2
        exit 1
    fi
done < <(awk '/^```console$/ { getline; print }' "$source/$document")

folder=$(mktemp -d)
cp -r "$source/tools" "$folder/tools"
mkdir -p "$folder/build/release"
ln -s "$sluice" "$folder/build/release/sluice"
awk '/^```/ { inside = !inside && $0 == "```sh"; next } inside' "$source/$document" >"$folder/.blocks"
cd "$folder"

# Only what a reader has.
unset "${!SLUICE_@}"
export SLUICE_SERVICES_FSYNC=off
status=0
# shellcheck disable=SC2016  # It is for the other shell.
timeout --kill-after=10 200 bash -c '
    clean_up() {
        local status=$?
        trap - ERR && set +e
        kill $(jobs -p) 2>/dev/null
        wait
        if [[ -d build/services ]]; then tools/services down; fi
        exit "$status"
    }
    trap clean_up EXIT
    set -eEo pipefail
    trap "echo \"failed: \$BASH_COMMAND\" >&2" ERR
    source ./.blocks' >out 2>errors || status=$?
if ((status != 0)); then
    echo "$document: a block failed with $status" >&2
elif [[ -n ${must_print[$document]:-} ]]; then
    while read -r times pattern; do
        if (($(grep -c -- "$pattern" out) < times)); then
            status=1
            echo "$document did not print $times times: $pattern" >&2
        fi
    done <<<"${must_print[$document]}"
fi
if ((status != 0)); then tail -n 40 out errors >&2; fi
cd / && rm -rf "$folder"
exit "$status"
