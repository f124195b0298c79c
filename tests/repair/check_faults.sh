#!/bin/sh
# src/code/repair from the inside, with every allocation failed, on small samples.
# usage: check_faults.sh TESTS-DIR RMCP TEST-REPAIR
set -eu
sources=$1 rmcp=$(realpath "$2") program=$(realpath "$3")
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/samples.sh"
need "${CLANG:-clang-19}"
cd "$work"
make_samples
mkdir ok
for name in plain.co libhost.so toy.whl folder; do expect 0 "$rmcp" repair in/$name --out ok/$name; done
cp -r in/folder site
mkdir tests && mv in ok site tests/ && mkdir tests/out
"$program" tests
finish
