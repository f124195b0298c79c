#!/bin/sh
# By hand: our own kernels as releases of clang compile them for gfx1030 at every level of optimisation, repaired: no
# kernel is refused, and the audit finds nothing. LIST has lines as build/tools/kernels/kernel-list prints them.
# usage: compilers.sh RMCP LIST CLANG…
set -eu
rmcp=$(realpath "$1") list=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
shift 2
. "$here/../support/lib.sh"
cd "$work"
# Older releases know neither a fence of one address space nor sched_barrier; all get the same text.
cp -r "$here/../../src" sources
sed -i -e 's/"workgroup", "local"/"workgroup"/' -e 's/__builtin_amdgcn_sched_barrier(0)/(void)0/' \
    sources/kernels/target.h
for clang; do
    for level in -O0 -O1 -O2 -O3 -Os; do
        rm -rf old new
        mkdir old
        while read -r name _ file _ _ options; do
            n_checks=$((n_checks + 1))
            # shellcheck disable=SC2086 # options are words
            $clang -x cl -cl-std=CL1.2 -DBARE $level -w -target amdgcn-amd-amdhsa -mcpu=gfx1030 \
                -mcode-object-version=4 -nogpulib -I sources $options -o "old/$name.co" "sources/$file" 2>log ||
                fail "$clang $level $name: $(head -n 3 log)"
        done <"$list"
        "$rmcp" repair old --out new >report || fail "$clang $level: $(cat report)"
        "$rmcp" audit new >log || fail "$clang $level: $(cat log)"
        echo "$clang $level: $(grep '^kernels' report); $(grep '^code  ' report)"
    done
done
finish ""
