#!/bin/sh
# Code objects and their containers written again: read by src/code/codeobj, by LLVM's tools, damaged, with the writer
# killed at every write. Exit status 77 (skip) without LLVM 19.
# usage: check_write.sh TESTS-DIR REWRITE TEST-WRITE TEST-OUTPUT
set -eu
. "$(dirname "$0")/../support/lib.sh"
status=0
"$python" "$1/codeobj_samples.py" "$work" || status=$?
[ $status = 0 ] || exit $status
: >"$work/empty-file"
"$3" "$work"
"$4" "$work"
"$python" "$1/check_write.py" "$2" "$work"
