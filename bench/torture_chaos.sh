#!/usr/bin/env bash
# Usage: tools/torture chaos [--seeds N] [--first SEED] [--seconds S]
#
# Runs PostgresChaos of tests/fault for one seed after the other, 50 unless told otherwise, each for 60 seconds
# unless told otherwise, and goes on when one fails. Prints a line for each, and fails if one did.
set -euo pipefail
# shellcheck source=../tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

seeds=50 first=1 seconds=60
while (($# > 0)); do
    case $1 in
    -h | --help) help_of "$0" && exit ;;
    --seeds | --first | --seconds)
        if [[ ! ${2:-} =~ ^[0-9]+$ ]]; then die "$1 needs a whole number"; fi
        printf -v "${1#--}" '%s' "$2"
        shift
        ;;
    *) die "unknown option '$1'; try tools/torture chaos --help" ;;
    esac
    shift
done

"$root/tools/build" checked postgres_nodes_test
SLUICE_SERVICES=$(mktemp -d)
report=$(mktemp)
export SLUICE_SERVICES SLUICE_SERVICES_FSYNC=off SLUICE_CHAOS_SECONDS=$seconds
trap '"$root/tools/services" down && rm -rf "$SLUICE_SERVICES" "$report"' EXIT
"$root/tools/services" up postgres
declare -x SLUICE_TEST_POSTGRES
eval "$("$root/tools/services" env postgres)"

failed=0
for ((seed = first; seed < first + seeds; seed++)); do
    if SLUICE_CHAOS_SEED=$seed "$root/build/checked/tests/postgres_nodes_test" --gtest_filter='PostgresChaos.*' \
        >"$report" 2>&1; then
        printf 'seed %d: %s\n' "$seed" "$(grep ' events, ' "$report")"
    else
        failed=$((failed + 1))
        printf 'seed %d: FAILED\n' "$seed"
        grep -v '^==>' "$report" | head -n 40
    fi
done
printf '%d of %d seeds passed\n' "$((seeds - failed))" "$seeds"
((failed == 0))
