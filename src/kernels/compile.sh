#!/bin/sh
# Compile every kernel variant without any OpenCL library: compile.sh TARGET SOURCES OUT LIST [PROVE]
# TARGET is gfx1010 (code objects and assembly) or nvptx (PTX); LIST prints the table of kernels;
# PROVE (src/kernels/prove.c), when given, is run on the code objects and must be content.
# CLANG names the compiler (default clang-19). Fails when one variant does not compile, calls a
# function that nobody defines, or needs arguments that only a runtime could supply.
set -eu
clang=${CLANG:-clang-19}

# one TARGET SOURCES OUT NAME FILE ENTRY BLOCK OPTIONS...
if [ "$1" = one ]; then
    target=$2 sources=$3 base=$4/$5 file=$6
    shift 8
    common="-x cl -cl-std=CL1.2 -DBARE -O3 -Wall -Werror"
    case $target in
    gfx1010)
        machine="-target amdgcn-amd-amdhsa -mcpu=gfx1010 -mcode-object-version=4"
        $clang $common $machine -nogpulib "$@" -S -o "$base.s" "$sources/$file"
        $clang $machine -o "$base.co" "$base.s"
        if grep -q 'value_kind: *hidden_' "$base.s"; then
            echo "$base: needs hidden arguments" >&2
            exit 255
        fi ;;
    nvptx)
        $clang $common -target nvptx64-nvidia-cuda --cuda-feature=+ptx60 -march=sm_60 "$@" \
            -S -o "$base.ptx" "$sources/$file"
        if grep -q '\.extern \.func' "$base.ptx"; then
            echo "$base: calls a function that nobody defines" >&2
            exit 255
        fi ;;
    esac || exit 255 # xargs stops at once
    exit
fi

target=$1 sources=$2 out=$3 list=$4
rm -rf "$out"
mkdir -p "$out"
"$list" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 sh "$0" one "$target" "$sources" "$out"
echo "$target: $("$list" | wc -l) kernels compiled into $out"
if [ "$target" = gfx1010 ] && [ $# -ge 5 ]; then
    "$5" "$out"/*.co
fi
