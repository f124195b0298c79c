#!/bin/sh
# Whether a compiler can make what compile.sh wants of it: probe.sh CLANG TARGET
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '__kernel void k(__global int *p) { *p = 1; }\n' >"$work/k.cl"
clang=$1 target=$2
set -- -x cl -cl-std=CL1.2
case $target in
nvptx) "$clang" "$@" -target nvptx64-nvidia-cuda --cuda-feature=+ptx60 -march=sm_60 -S -o "$work/k" "$work/k.cl" ;;
*)
    "$clang" "$@" -target amdgcn-amd-amdhsa -mcpu="$target" -mcode-object-version=4 -nogpulib \
        -o "$work/k" "$work/k.cl"
    ;;
esac
