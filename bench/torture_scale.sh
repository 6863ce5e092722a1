#!/usr/bin/env bash
# Usage: tools/torture scale [--slots N] [--cache MIB] [--folder DIR] [--build DIR]
#
# Fills an embedded store with random ids, up to 100 million, and
# prints rate, CPU time a slot, slowest batch, memory and disk at 1, 2, 5, 10, 20, 50 and 100 million, and how
# long a start takes then. First millions are stored in between, again and again, to compare with: a machine is
# not equally fast all the time. It needs about 20 GB of disk and half an hour.
#
#   --slots   how many, in place of 100000000
#   --cache   memory for filters in MiB, in place of the store's own choice
#   --folder  where to put the data, on the disk that is to be measured; it is removed afterwards
#   --build   use the programs that this build tree holds; build nothing
#
# Exits with 1 when a slot of the last line takes more than 1.3 times the CPU time of those first millions, or
# the start takes more than 2 s.
set -euo pipefail
# shellcheck source=../tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

slots=100000000 cache='' folder='' tree=''
while (($# > 0)); do
    case $1 in
    -h | --help) help_of "$0" && exit ;;
    --slots | --cache | --folder | --build)
        (($# > 1)) || die "$1 needs a value"
        case $1 in
        --slots) slots=$2 ;;
        --cache) cache=$2 ;;
        --folder) folder=$2 ;;
        --build) tree=$2 ;;
        esac
        shift
        ;;
    *) die "unknown option '$1'; try tools/torture scale --help" ;;
    esac
    shift
done
[[ $slots =~ ^[0-9]+$ && $cache =~ ^[0-9]*$ ]] || die "--slots and --cache are whole numbers"

if [[ -z $tree ]]; then
    "$root/tools/build" release
    tree=$root/build/release
    cmake --build "$tree" --target slot_scale_bench >&2
fi
program=$tree/bench/slot_scale_bench
[[ -x $program ]] || die "there is no $program; leave out --build, or build it"

work=$(mktemp -d "${folder:-${TMPDIR:-/tmp}}/sluice-torture-XXXXXX")
trap 'rm -rf "$work"' EXIT
"$program" "$work/data" "$slots" ${cache:+"$cache"} | tee "$work/figures"

awk '
    $1 ~ /^[0-9]+$/ { ratio = $7 }
    $2 == "again" { start = $4 }
    END {
        if (ratio == "" || start == "") { print "no figures"; exit 1 }
        printf "cpu a slot, last by first: %.2f (bar 1.30); start: %.2f s (bar 2.00)\n", ratio, start
        exit !(ratio <= 1.3 && start <= 2)
    }' "$work/figures"
