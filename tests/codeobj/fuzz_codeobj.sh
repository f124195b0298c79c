#!/bin/sh
# Runs the fuzzer of src/code/codeobj from small samples. usage: fuzz_codeobj.sh TESTS-DIR FUZZER [RUNS]
set -eu
. "$(dirname "$0")/../support/lib.sh"
fuzzer=$(realpath "$2")
status=0
"$python" "$1/codeobj_samples.py" "$work" || status=$?
[ $status = 0 ] || exit $status
mkdir "$work/corpus"
find "$work" -maxdepth 1 -type f -size -32k -exec cp {} "$work/corpus" \;
cd "$work"
"$fuzzer" -runs="${3:-20000}" -max_len=32768 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 corpus
