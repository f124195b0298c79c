#!/bin/sh
# Runs the fuzzer of src/help/doctor from the recorded machines. usage: fuzz_doctor.sh TESTS-DIR FUZZER [SECONDS]
set -eu
. "$(dirname "$0")/../support/lib.sh"
fuzzer=$(realpath "$2")
mkdir "$work/corpus"
cp "$1"/machines/*.txt "$1"/reports/*.txt "$1"/later/*.txt "$work/corpus"
cd "$work"
"$fuzzer" -max_total_time="${3:-10}" -seed=1 -max_len=16384 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -verbosity=0 corpus
