#!/usr/bin/env bash
# Usage: tools/torture limits [SECONDS]
#
# Ten minutes, unless told otherwise, of customers who ask for limits on Redis, on a Redis Cluster and on
# PostgreSQL while these are frozen and killed in turn. Prints for each, by what its plans say of a store that
# fails, how many were allowed by the store, how many of them beyond the limit of their key, and how many
# without the store. Fails if one is beyond the limit, if a `closed` plan or a key of a master that answered
# was allowed without the store, or if `open` ones exceed their budget. Checks that a master could not answer
# because it got no processor, as the kernel tells, are counted apart. A short form is among the tests.
set -euo pipefail
# shellcheck source=../tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

case ${1:-600} in
-h | --help) help_of "$0" && exit ;;
*[!0-9]*) die "the time is a number of seconds; see --help" ;;
esac

"$root/tools/build" checked limit_torture_test
SLUICE_SERVICES=$(mktemp -d)
export SLUICE_SERVICES SLUICE_TORTURE_SECONDS=${1:-600}
trap '"$root/tools/services" down && rm -rf "$SLUICE_SERVICES"' EXIT
"$root/tools/services" up postgres redis
declare -x SLUICE_TEST_POSTGRES SLUICE_TEST_REDIS
eval "$("$root/tools/services" env postgres redis)"
"$root/build/checked/tests/limit_torture_test"
