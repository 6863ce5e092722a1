#!/usr/bin/env bash
# Usage: tools/torture dispatch [EVENTS] [BLOWS]
#
# 5,000 events that are due at once under a rate of 50 a second, unless told otherwise, to a receiver that notes
# by its own clock what arrives: undisturbed, across 20 kills, and across as many freezes; from the embedded
# store, and from two nodes on one PostgreSQL. No sliding second may see more than 50, nothing may be lost, and
# undisturbed at least 97 % of the rate must be used. A short form is among the tests.
set -euo pipefail
# shellcheck source=../tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

case ${1:-5000}${2:-20} in
-h* | --help*) help_of "$0" && exit ;;
*[!0-9]*) die "both are whole numbers; see --help" ;;
esac

"$root/tools/build" checked dispatch_test
SLUICE_SERVICES=$(mktemp -d "$root/build/services-of-torture.XXXXXX")
export SLUICE_SERVICES
trap '"$root/tools/services" down; rm -rf "$SLUICE_SERVICES"' EXIT
"$root/tools/services" up postgres
addresses=$("$root/tools/services" env postgres)
set -a
eval "$addresses"
set +a
export SLUICE_DISPATCH_EVENTS=${1:-5000} SLUICE_DISPATCH_BLOWS=${2:-20}
"$root/build/checked/tests/dispatch_test"
