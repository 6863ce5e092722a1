#!/usr/bin/env bash
# Usage: tests/e2e/installed_library.sh SOURCE BUILD
#
# Installs the library of a build tree into a new prefix, then builds and runs the examples from there, once
# found by CMake and once by pkg-config.
set -euo pipefail

source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A build that was made for the sanitizers needs them in its users too; this one is not.
cmake --install "$build" --prefix "$work/prefix" --component library >"$work/log"
cmake -G Ninja -S "$source/examples" -B "$work/out" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_BUILD_TYPE=Release >>"$work/log"
cmake --build "$work/out" >>"$work/log"
"$work/out/guard_a_call"

config=$(find "$work/prefix" -name sluice.pc)
read -r -a flags < <(PKG_CONFIG_PATH=$(dirname "$config") pkg-config --cflags --libs sluice)
c++ "$source/examples/guard_a_call.cpp" -o "$work/by_pkg_config" "${flags[@]}"
"$work/by_pkg_config"
