#!/bin/sh
# One compiled kernel serves a family: what clang makes for the chip that we compile for is, instruction
# by instruction, what it makes for LLVM's generic target of the family, or for each other chip in it.
# usage: check_families.sh SOURCES LIST COMPILED; exit status 77 (skip) without clang 19
set -eu
. "$(dirname "$0")/../support/lib.sh"
sources=$1 list=$2 compiled=$3 clang=${CLANG:-clang-19}
need "$clang"

# The instructions, and how registers are to be set up; three directives that follow from the version
# of code objects are left out.
reduce() {
    grep -E '^\s+([a-z]+_|\.amdhsa_)|^\.LBB' "$1" |
        sed -E '/code_object_version|uses_dynamic_stack|reserve_xnack_mask/d; s/;.*//' >"$2"
    [ -s "$2" ] || die "$1 has no code"
}

same=0
"$list" |
    grep -E -e '^(gemm_f16_64x64_row_col|gemm_f32_64x64_sum_col) ' \
        -e '^(narrow_weights_bf16|winograd_f16|product_f32_64x64_sum_sum) ' >"$work/list"
compare() { # CHIP OTHER VERSION
    [ -d "$compiled/$1" ] || { echo "$1: not in this build"; return; }
    extra=
    case $1 in gfx9*) extra="-mllvm -greedy-reverse-local-assignment" ;; esac # as compile.sh has it
    while read -r name _ file _ _ options; do
        # Word splitting is wanted: lists of options.
        # shellcheck disable=SC2086
        "$clang" -x cl -cl-std=CL1.2 -DBARE -O3 -w -target amdgcn-amd-amdhsa -mcpu="$2" -nogpulib \
            -mcode-object-version="$3" -I "$sources" $extra $options -S -o "$work/k.s" "$sources/$file"
        reduce "$compiled/$1/$name.s" "$work/ours"
        reduce "$work/k.s" "$work/theirs"
        cmp "$work/ours" "$work/theirs" || die "$name differs for $1 and $2"
        same=$((same + 1))
    done <"$work/list"
    echo "$1: the same code as for $2"
}
for chip in gfx902 gfx909 gfx90c; do compare gfx900 $chip 4; done
compare gfx1010 gfx10-1-generic 6
compare gfx1030 gfx10-3-generic 6
compare gfx1102 gfx11-generic 6
compare gfx1200 gfx12-generic 6
echo "$same comparisons"

# And that a difference would be seen: gfx906 has another mixed-precision FMA.
[ -d "$compiled/gfx900" ] && [ -d "$compiled/gfx906" ] || exit 0
reduce "$compiled/gfx900/gemm_f16_64x64_row_col.s" "$work/ours"
reduce "$compiled/gfx906/gemm_f16_64x64_row_col.s" "$work/theirs"
! cmp -s "$work/ours" "$work/theirs" || die "gfx900 and gfx906 do not differ"
