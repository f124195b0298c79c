#!/bin/sh
# Every instruction of the simulator against results computed in Python, and mutations of it.
# Arguments: the program sim_rows, rows/make.py.
set -eu
if ! command -v llvm-mc-19 >/dev/null; then
    echo "skipped: llvm-mc-19 is not installed"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" list >"$folder/rows"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$2" "$folder/rows" "$folder/cases"
"$1" run "$folder/cases"
"$1" mutate "$folder/cases"
