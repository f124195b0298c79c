#!/bin/sh
# A runner for tests/sim/check_programs.py that rewrites the object before it is run.
# usage: run_rewritten.sh OBJECT LIBRARY CHIP [WORDS…]; the environment has RUNNER (tests/sim/programs.c), SCAN
# (rewrite_scan.c) and OPTIONS, what SCAN is given besides; RUN_ON is the chip that executes in place of CHIP.
set -eu
folder=$1.rewritten
mkdir -p "$folder"
trap 'rm -rf "$folder"' EXIT
# shellcheck disable=SC2086
"$SCAN" --target "$3" $OPTIONS --out "$folder" "$1" >"$folder/log" || {
    cat "$folder/log"
    exit 1
}
grep -q ' 0 refused; [1-9][0-9]* kernels, 0 refused;.* 0 places wrong' "$folder/log" || {
    cat "$folder/log"
    exit 1
}
object=$folder/$(basename "$1") library=$2 chip=${RUN_ON:-$3}
shift 3
"$RUNNER" "$object" "$library" "$chip" "$@"
