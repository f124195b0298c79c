#!/bin/sh
# LLVM's own cure: the same kernels compiled for chips that have the silicon bugs and for one that
# has not. There must be no finding in the former and several in the latter.
# usage: check_rules.sh TESTS RULES_DUMP; exit status 77 (skip) without clang 19.
set -eu
. "$(dirname "$0")/../support/lib.sh"
tests=$1 dump=$2
clang=${CLANG:-clang-19}
need "$clang"
wrong() { cat "$work/found" >&2; die "$@"; }

# Functions that call each other: within each of them LLVM is careful; across calls it does not
# look, and a pattern remains. Only the call through a pointer is unknown.
for chip in gfx1010 gfx1030; do
    "$clang" -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -nogpulib \
        -target amdgcn-amd-amdhsa -mcpu=$chip -mcode-object-version=4 -O2 \
        -o "$work/calls.co" "$tests/rules_calls.cl"
    "$dump" -f "$work/calls.co" >"$work/found"
    [ $chip = gfx1030 ] || [ ! -s "$work/found" ] || wrong "calls for $chip: a function has a pattern"
    "$dump" -c "$work/calls.co" >"$work/found"
    [ "$(grep unknown-call "$work/found")" = "pointer unknown-call" ] || wrong "$chip: unknown calls"
    for finding in "plain vmem-scalar-write" "lds lds-branch-vmem"; do
        grep -q "^$finding" "$work/found" || wrong "calls for $chip: no $finding"
    done
    grep -q undecodable "$work/found" && wrong "calls for $chip: not decoded"
done

for options in "-O1" "-O2" "-O3" "-O2 -mcumode" "-O2 -mwavefrontsize64" "-O2 -ffast-math"; do
    for chip in gfx1010 gfx1011 gfx1012 gfx1013 gfx1030; do
        # Word splitting is wanted: options.
        # shellcheck disable=SC2086
        "$clang" -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -nogpulib \
            -target amdgcn-amd-amdhsa -mcpu=$chip -mcode-object-version=4 $options \
            -o "$work/$chip.co" "$tests/rules_samples.cl"
        "$dump" "$work/$chip.co" >"$work/found"
        grep -q undecodable "$work/found" && wrong "$chip $options: not decoded"
        [ $chip = gfx1030 ] || [ "$(wc -l <"$work/found")" = 1 ] ||
            wrong "$chip $options: has a pattern"
    done
    for rule in vcmpx-exec-war vmem-scalar-write inst-prefetch lds-branch-vmem flat-offset; do
        grep -q "^$rule " "$work/found" || wrong "gfx1030 $options: $rule is not found"
    done
    echo "gfx1030 $options: $(tr '\n' ' ' <"$work/found")"
done
