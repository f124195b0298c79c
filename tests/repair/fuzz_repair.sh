#!/bin/sh
# Runs the fuzzer of src/code/repair from small code objects, libraries and wheels.
# usage: fuzz_repair.sh TESTS-DIR FUZZER [RUNS]
set -eu
sources=$1 fuzzer=$(realpath "$2")
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/samples.sh"
need "${CLANG:-clang-19}"
cd "$work"
make_samples
mkdir corpus
for name in plain.co libhost.so toy.whl folder/TensileLibrary_gfx1030.dat; do cp in/$name corpus/; done
cp plain.hipfb corpus/
"$fuzzer" -runs="${3:-3000}" -max_len=65536 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 corpus
