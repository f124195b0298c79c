#!/bin/sh
# Every instruction of the simulator against results computed in Python, and mutations of it.
# Arguments: the program sim_rows, rows/make.py.
set -eu
. "$(dirname "$0")/../support/lib.sh"
need llvm-mc-19
"$1" list >"$work/rows"
PYTHONDONTWRITEBYTECODE=1 "$python" "$2" "$work/rows" "$work/cases"
"$1" run "$work/cases"
"$1" mutate "$work/cases"
