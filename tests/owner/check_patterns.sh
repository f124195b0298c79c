#!/bin/sh
# The pattern kernels of the first owner: code for gfx1030 has each pattern where code for gfx1010 has none, the
# simulated chip meets it when it runs, and with nothing acted out both give the same results.
# usage: check_patterns.sh RMCP FOLDER; exit status 77 (skip) where the build has none.
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 folder=$2
[ -f "$folder/patterns_gfx1030.co" ] || skip "built without clang"

awk 'BEGIN {
    x = 1
    for (i = 0; i < 1024; i++) { x = (x * 75 + 74) % 65537; printf "%c%c%c%c", x % 96 + 32, 0, 0, 0 }
}' >"$work/in"
run() { # run TARGET KERNEL
    "$rmcp" sim --kernel "$folder/patterns_$1.co" "$2" --grid 1024 --block 64 \
        --args "out:4096@$work/$1" u64:0 "in:$work/in" u64:0 u32:64 >"$work/said" 2>&1
}
"$rmcp" audit "$folder/patterns_gfx1010.co" >"$work/audit" || die "code for gfx1010 has a pattern: $(cat "$work/audit")"
n=0
for kernel in branch_3f flat_offset lds_misaligned vcmpx_permlane vcmpx_exec_war lds_branch_vmem \
    vmem_scalar_write smem_vector_write inst_prefetch absent_dot; do
    run gfx1010 $kernel || die "$kernel, cured: $(cat "$work/said")"
    ! run gfx1030 $kernel || die "$kernel: the simulated chip saw no pattern"
    if [ $kernel = absent_dot ]; then
        grep -q 'illegal-instruction: gfx1010 has no such instruction' "$work/said" ||
            die "$kernel: $(cat "$work/said")"
    else
        grep -q "pattern $(echo $kernel | tr _ -) executed" "$work/said" || die "$kernel: $(cat "$work/said")"
        cmp -s "$work/gfx1010" "$work/gfx1030" || die "$kernel: the results differ"
    fi
    n=$((n + 1))
done
echo "$n pattern kernels: each has its pattern, and its cure none"
