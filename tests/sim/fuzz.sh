#!/bin/sh
# Runs the fuzzer of the executor from real code. usage: fuzz.sh FUZZER KERNELS [RUNS [PROCESSES [SEEDS]]]
# KERNELS is src; without clang the fuzzer starts from nothing, or from the files in the folder SEEDS.
# The runs are shared by the processes; an input that goes wrong is left in the current folder.
set -eu
fuzzer=$(realpath "$1") sources=$2 runs=${3:-20000} processes=${4:-1} seeds=${5:-} here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/corpus"
clang=${CLANG:-clang-19}
if command -v "$clang" >/dev/null; then
    for name in direct narrow reduce; do
        "$clang" -x cl -cl-std=CL1.2 -DBARE -DTYPE=1 -O2 -w -target amdgcn-amd-amdhsa -mcpu=gfx1010 -nogpulib \
            -I "$sources" -c -o "$work/$name.o" "$sources/engine/ops/conv/kernels/$name.cl"
        llvm-objcopy-19 -O binary --only-section=.text "$work/$name.o" "$work/$name.text" 2>/dev/null || continue
        # pieces of code behind a header of 16 bytes
        for piece in 0 1 2 3 4 5 6 7; do
            { printf '\000\001\000\037\000\037\100\040\017\000\300\010\000\000\000\000'
              dd if="$work/$name.text" bs=256 skip=$piece count=1 2>/dev/null; } >"$work/corpus/$name.$piece"
        done
    done
fi
if [ -n "$seeds" ]; then
    find "$seeds" -type f -exec cp -t "$work/corpus" {} +
fi
# Undefined behaviour ends a run as a bad access does.
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
cd "$work"
number=0 pids=
while [ $number -lt "$processes" ]; do
    number=$((number + 1))
    mkdir "corpus$number"
    "$fuzzer" -seed="$number" -runs=$((runs / processes)) -max_len=2048 -timeout=20 -rss_limit_mb=4096 \
        -print_final_stats=1 -verbosity=0 -artifact_prefix="$here/" "corpus$number" corpus >"$number.log" 2>&1 &
    pids="$pids $!"
done
failed=0
for pid in $pids; do wait "$pid" || failed=1; done
cat ./*.log
echo "$(sed -n 's/^stat::number_of_executed_units: *//p' ./*.log | awk '{ n += $1 } END { print n }') runs"
exit $failed
