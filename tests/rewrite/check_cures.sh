#!/bin/sh
# Each silicon bug's pattern, in a kernel of its own: right on a simulated gfx1010 whose bugs act when it is cured; with
# every cure but that one the pattern is found, and the run is wrong or reported.
# usage: check_cures.sh TESTS-DIR SCAN RMCP
set -eu
sources=$1 scan=$(realpath "$2") rmcp=$(realpath "$3")
. "$(dirname "$0")/../support/lib.sh"
clang=${CLANG:-clang-19}
need "$clang"
cd "$work"
rules="vcmpx-exec-war vcmpx-permlane vmem-scalar-write smem-vector-write inst-prefetch lds-branch-vmem flat-offset
branch-3f lds-misaligned nsa scratch-offset"
i=0
while [ $i -lt 32 ]; do
    printf '%8d\n' $((7 * i + 3))
    i=$((i + 1))
done >wanted

# run OBJECT KERNEL CHIP [OPTION]: true when it is right and nothing is reported.
run() {
    rm -f out.bin
    # shellcheck disable=SC2086
    "$rmcp" sim --kernel "$1" "$2" --chip "$3" ${4-} --grid 32 --block 32 --args out:128@out.bin >log 2>&1 || return 1
    od -An -v -tu4 -w4 out.bin | awk '{ printf "%8d\n", $1 }' >got
    cmp -s wanted got
}

# found RULE left|found: a number of the last scan.
found() {
    sed -n "s/^$1: \([0-9]*\) found, [0-9]* cures, \([0-9]*\) left$/\\$([ "$2" = left ] && echo 2 || echo 1)/p" \
        found.txt
}

$clang -x assembler -target amdgcn-amd-amdhsa -mcpu=gfx1030 "$sources/patterns.s" -o patterns.co
mkdir all
"$scan" --cure all --out all patterns.co >found.txt || fail "$(cat found.txt)"
for rule in $rules; do
    kernel=$(echo "$rule" | tr - _)
    n_checks=$((n_checks + 4))
    [ "$(found "$rule" left)" = 0 ] || fail "$rule is left: $(cat found.txt)"
    run patterns.co "$kernel" gfx1030 || fail "$rule on gfx1030: $(head -3 log)"
    run all/patterns.co "$kernel" gfx1030 || fail "$rule, cured, on gfx1030: $(head -3 log)"
    run all/patterns.co "$kernel" gfx1010 --act-out=all || fail "$rule, cured: $(head -3 log)"
done
[ "$(found lds-misaligned found)" -ge 5 ] || fail "lds-misaligned: $(cat found.txt)"
for rule in $rules; do
    kernel=$(echo "$rule" | tr - _)
    options=
    for other in $rules; do
        [ "$other" = "$rule" ] || options="$options --cure $other"
    done
    mkdir "$rule"
    # shellcheck disable=SC2086
    "$scan" $options --out "$rule" patterns.co >found.txt || fail "$rule: $(cat found.txt)"
    n_checks=$((n_checks + 2))
    [ "$(found "$rule" left)" -gt 0 ] || fail "$rule is not left out: $(cat found.txt)"
    # Images are not executed here.
    [ "$rule" = nsa ] || ! run "$rule/patterns.co" "$kernel" gfx1010 --act-out=all ||
        fail "nobody notices that $rule is not cured"
    for other in $rules; do
        n_checks=$((n_checks + 1))
        [ "$other" = "$rule" ] || [ "$(found "$other" left)" = 0 ] || fail "$other is left without $rule"
    done
done
finish
