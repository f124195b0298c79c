#!/bin/sh
# Code objects and their containers: made with clang, then read by src/codeobj, by LLVM's tools, and,
# damaged in every way, by src/codeobj again. Exit status 77 (skip) without LLVM 19.
# usage: check_codeobj.sh TESTS-DIR DUMP TEST
set -eu
here=$1 dump=$2 test=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
python3 "$here/codeobj_samples.py" "$work" || status=$?
[ $status = 0 ] || exit $status
python3 "$here/check_codeobj.py" "$dump" "$work"
"$test" "$work"
