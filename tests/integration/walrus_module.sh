#!/usr/bin/env bash
# The library as it is installed: no C++ exception can leave it, no destructor can be skipped by PostgreSQL's
# longjmp, because it has neither; and the installation is these files and no others.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
DESTDIR=$folder cmake --install "$WALRUS_BUILD" --component walrus >/dev/null
library=$(find "$folder" -name walrus.so)
installed=$(find "$folder" -type f -printf '%f\n' | sort | tr '\n' ' ')

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

# refuse PATTERN WHAT: no symbol of the library may match.
refuse() {
    local found
    found=$(nm -C "$library"; nm -D -C "$library")
    if grep -E "$1" <<<"$found"; then fail "$2"; fi
}

wanted='walrus--1.0--1.1.sql walrus--1.0.sql walrus.control walrus.so '
[[ $installed == "$wanted" ]] || fail "installed: $installed"
refuse '__cxa_(throw|begin_catch|allocate_exception)|_Unwind_|__gxx_personality' "the library has exceptions"
refuse '::~|operator (new|delete)' "the library has destructors or allocates"
if objdump -p "$library" | grep -F 'NEEDED' | grep -F 'libstdc++'; then fail "it needs the C++ runtime"; fi
nm -D "$library" | grep -q ' T walrus_worker_main$' || fail "PostgreSQL would not find the worker"
