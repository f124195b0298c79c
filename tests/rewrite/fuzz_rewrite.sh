#!/bin/sh
# Runs the fuzzer of src/code/rewrite from the code of shapes.s and calls.c.
# usage: fuzz_rewrite.sh TESTS-DIR FUZZER [RUNS]
set -eu
sources=$1 fuzzer=$(realpath "$2")
. "$(dirname "$0")/../support/lib.sh"
clang=${CLANG:-clang-19}
need "$clang" llvm-objcopy-19
cd "$work"
mkdir corpus
compile="$clang -target amdgcn-amd-amdhsa -mcpu=gfx1030"
$compile -x assembler -Wa,-defsym,REFUSED=1 "$sources/shapes.s" -o shapes.co
$compile -nogpulib -x c -std=c11 -O1 "$sources/calls.c" -o calls.co
for object in shapes calls; do
    llvm-objcopy-19 -O binary --only-section=.text $object.co $object.bin
    # The first four bytes choose options; each kernel of shapes.s by itself as well.
    for options in '\000\200\000\000' '\002\300\020\040' '\006\377\000\020' '\005\100\200\300' '\010\200\000\000' \
        '\020\200\000\000'; do
        # shellcheck disable=SC2059
        { printf "$options"; head -c 8192 $object.bin; } >"corpus/$object$n_checks"
        n_checks=$((n_checks + 1))
    done
done
for at in $(seq 0 256 4352); do
    { printf '\006\377\000\020'; tail -c +$((at + 1)) shapes.bin | head -c 256; } >"corpus/shape$at"
    { printf '\010\377\000\000'; tail -c +$((at + 1)) calls.bin | head -c 512; } >"corpus/cured$at"
done
"$fuzzer" -runs="${3:-6000}" -max_len=8196 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 corpus
