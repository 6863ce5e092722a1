#!/usr/bin/env bash
# Usage: tests/e2e/standard_webhooks.sh SENDER ENVIRONMENT
#
# Has standardwebhooks, the public library, verify what our carrier signs: before, while and after a secret is
# replaced by another. It lives in a virtual environment of its own (folder ENVIRONMENT, made when missing, from
# PyPI). Exit 77: it cannot be installed.
set -euo pipefail

readonly version=1.1.0 sender=$1 environment=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
work=$(mktemp -d)
receiver=''

clean_up() {
    local code=$?
    if [[ -n $receiver ]]; then
        kill "$receiver" || true
        wait "$receiver" || true
    fi
    rm -rf "$work"
    exit "$code"
}
trap clean_up EXIT

install_library() {
    if "$environment/bin/pip" show standardwebhooks 2>/dev/null | grep -qx "Version: $version"; then return; fi
    python3 -m venv "$environment" && "$environment/bin/pip" install --quiet "standardwebhooks==$version"
}

if ! install_library >"$work/install" 2>&1; then
    tail -n 3 "$work/install" >&2
    exit 77
fi

# One with the prefix and padding, one without either, as people paste them.
echo "whsec_$(openssl rand -base64 25)" >"$work/old"
openssl rand -base64 32 | tr -d '=' >"$work/new"
mkfifo "$work/port"
"$environment/bin/python" "$here/standard_webhooks/receiver.py" "$work/old" "$work/new" >"$work/port" &
receiver=$!
read -r port <"$work/port"

"$sender" "http://127.0.0.1:$port/0" "$work/old"
"$sender" "http://127.0.0.1:$port/0-1" "$work/old" "$work/new"
"$sender" "http://127.0.0.1:$port/0-1" "$work/new" "$work/old"
"$sender" "http://127.0.0.1:$port/1" "$work/new"

# The judge can say no.
if "$sender" "http://127.0.0.1:$port/1" "$work/old" 2>"$work/refusal"; then
    echo "a signature of the old secret passed for one of the new" >&2
    exit 1
fi
grep -q 'verified with \[0\], not with \[1\]' "$work/refusal"
