#!/bin/sh
# Print what the compiler made of each kernel for gfx1010: report.sh COMPILED LIST
# Registers, local memory, spills, waves per SIMD, and FMA among all instructions of the inner loop.
# Fails when a gemm, thin, product, winograd or matmul kernel spills, or one but thin has less than 85 % FMA in its
# inner loop: 78 % where the loop also fetches, 65 % where it transforms filters, 88 % in the large tiles of matmul
# (85 % where they convert).
set -eu
here=$(dirname "$0") out=$1 list=$2
printf '%-26s %4s %4s %5s %6s %7s %5s  %s\n' kernel VGPR SGPR LDS spills scratch waves 'FMA share'
"$list" | {
    failed=0
    while read -r name _ _ entry rest; do
        awk -v name="$name" -v entry="$entry" -f "$here/report.awk" "$out/$name.s" || failed=1
    done
    exit $failed
}
