#!/bin/sh
# Code objects and their containers: made with clang, then read by src/code/codeobj, by LLVM's tools, and,
# damaged in every way, by src/code/codeobj again. Exit status 77 (skip) without LLVM 19.
# usage: check_codeobj.sh TESTS-DIR DUMP TEST
set -eu
. "$(dirname "$0")/../support/lib.sh"
here=$1 dump=$2 test=$3
status=0
"$python" "$here/codeobj_samples.py" "$work" || status=$?
[ $status = 0 ] || exit $status
"$python" "$here/check_codeobj.py" "$dump" "$work"
"$test" "$work"
