#!/bin/sh
# Code that is taken apart, gets s_nop at random places and is laid out again does the same as before: shapes of
# hand-written and of compiled code, executed; what is not understood is refused for the right reason.
# usage: check_rewrite.sh TESTS-DIR SCAN RMCP
set -eu
sources=$1 scan=$(realpath "$2") rmcp=$(realpath "$3")
. "$(dirname "$0")/../support/lib.sh"
clang=${CLANG:-clang-19}
need "$clang"
cd "$work"

# run OBJECT KERNEL CHIP NAME ARGUMENT [OPTION]: keeps what the kernel wrote in NAME.
run() {
    n_checks=$((n_checks + 1))
    # shellcheck disable=SC2086
    "$rmcp" sim --kernel "$1" "$2" --chip "$3" ${6-} --grid 32 --block 32 --args "out:4096@$4" $5 >log 2>&1 ||
        fail "$1 $2: $(head -3 log)"
}

# rewritten OBJECT CHIP OPTION…: rewritten/OBJECT.
rewritten() {
    n_checks=$((n_checks + 1))
    object=$1 chip=$2
    shift 2
    mkdir -p rewritten
    rm -f "rewritten/$object"
    "$scan" --target "$chip" "$@" --out rewritten "$object" >log || fail "$object $*: $(cat log)"
    grep -q ' 0 refused; .* 0 refused; .* 0 places wrong' log || fail "$object $*: $(cat log)"
}

shapes="forwards backwards either later short subroutine choice table clause twice fourfold"
for chip in gfx1010 gfx1030; do
    sed "s/--gfx1030/--$chip/" "$sources/shapes.s" >shapes.s
    assemble="$clang -x assembler -target amdgcn-amd-amdhsa -mcpu=$chip"
    $assemble shapes.s -o shapes.co
    for options in "--nops 0" "--nops 40" "--nops 300 --seed 2" "--nops 50 --reach 64"; do
        # shellcheck disable=SC2086
        rewritten shapes.co $chip --avoid-3f $options
        for shape in $shapes; do
            run rewritten/shapes.co "$shape" "$chip" out.bin ""
            words=$(od -An -v -tx4 -N16 out.bin | tr -s ' \n' ' ')
            [ "$words" = " 00000001 00000000 00000000 00000000 " ] || fail "$chip $options $shape: $words"
        done
    done
done

# Each kernel that must be refused, and the reason.
$assemble -Wa,-defsym,REFUSED=1 shapes.s -o refused.co
"$scan" --list refused.co >log || fail "$(cat log)"
while read -r kernel reason; do
    grep -q ": $kernel: $reason" log || fail "$kernel is not refused for: $reason"
done <<'END'
no_loaded an indirect jump, and where it goes is not known
no_pc the program counter is used for something else
no_half the address of the middle of a function is used as data
no_shared the constant of a pc-relative sum is used for something else as well
no_shared_later the constant of a pc-relative sum is used for something else as well
no_sum an indirect jump, and where it goes is not known
no_middle the address of the middle of a function is used as data
no_word a word that is no instruction of the chip
no_inside a branch to where no instruction starts
no_kept an indirect jump, and where it goes is not known
no_kept_deep an indirect jump, and where it goes is not known
END
grep -q '; 22 kernels, 11 refused;' log || fail "other kernels are refused: $(cat log)"

# A file with the objects put back is that with each of them rewritten; where one is refused, there is no file.
rewritten shapes.co "$chip" --avoid-3f --nops 40
"$scan" --target "$chip" --avoid-3f --nops 40 --to again.co shapes.co >log || fail "--to: $(cat log)"
cmp -s again.co rewritten/shapes.co || fail "--to makes another object"
"$scan" --target gfx1012 --to other.co shapes.co >log || fail "--to for another chip: $(cat log)"
cmp -s other.co shapes.co || fail "--to changes an object for another chip"
status=0
"$scan" --target "$chip" --to refused.new.co refused.co >log || status=$?
[ $status = 2 ] || fail "--to of refused kernels: status $status"
grep -q 'is not rewritten$' log || fail "--to of refused kernels: $(cat log)"
[ ! -e refused.new.co ] || fail "--to of refused kernels makes a file"
n_checks=$((n_checks + 4))

# What the compiler makes of calls, pointers to functions, constants and branches that are long.
for level in "-O0" "-O1 -mwavefrontsize64" "-O3" "-O3 -mllvm -amdgpu-s-branch-bits=5"; do
    # shellcheck disable=SC2086
    $clang -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu=gfx1010 -nogpulib $level "$sources/calls.c" -o calls.co
    for kernel in calls pointers constants generic branches; do run calls.co $kernel gfx1010 $kernel.bin i32:37; done
    for options in "--nops 0" "--nops 30" "--nops 250 --seed 3 --reach 400"; do
        # shellcheck disable=SC2086
        rewritten calls.co gfx1010 --avoid-3f $options
        for kernel in calls pointers constants generic branches; do
            run rewritten/calls.co $kernel gfx1010 again.bin i32:37
            cmp -s $kernel.bin again.bin || fail "$level $options: $kernel computes something else"
        done
    done
done

# Code for gfx1030 on a gfx1010 whose silicon bugs act: wrong or reported as it is, right when it is cured.
cured() { sed -n "s/^$1: .* \([0-9]*\) left$/\1/p" log; }
for level in "-O0" "-O2" "-O3 -mwavefrontsize64"; do
    # shellcheck disable=SC2086
    $clang -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu=gfx1030 -nogpulib $level "$sources/calls.c" -o calls.co
    rewritten calls.co gfx1030 --cure all
    ! grep -q ' [1-9][0-9]* left$' log || fail "$level: $(cat log)"
    grep -q '^flat-offset: [1-9]' log || fail "$level: no FLAT offsets to be cured: $(cat log)"
    for kernel in calls pointers constants generic branches; do
        run calls.co $kernel gfx1030 $kernel.bin i32:37
        run rewritten/calls.co $kernel gfx1010 again.bin i32:37 --act-out=all
        cmp -s $kernel.bin again.bin || fail "$level: $kernel, cured, computes something else"
    done
    n_checks=$((n_checks + 1))
    ! "$rmcp" sim --kernel calls.co generic --chip gfx1010 --act-out=data --grid 32 --block 32 \
        --args out:4096@bad.bin i32:37 >log 2>&1 || fail "$level: nothing is reported without a cure"
    ! cmp -s generic.bin bad.bin || fail "$level: the right result without a cure"
done
# Each cure that is left out is noticed.
for rule in vmem-scalar-write lds-branch-vmem vcmpx-exec-war inst-prefetch flat-offset; do
    options=
    for other in vmem-scalar-write lds-branch-vmem vcmpx-exec-war inst-prefetch flat-offset smem-vector-write \
        branch-3f; do
        [ $other = $rule ] || options="$options --cure $other"
    done
    $clang -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu=gfx1030 -nogpulib -O3 "$sources/calls.c" -o calls.co
    # shellcheck disable=SC2086
    "$scan" $options calls.co >log
    [ "$(cured $rule)" -gt 0 ] || fail "$rule: $(cat log)"
    n_checks=$((n_checks + 1))
done
finish
