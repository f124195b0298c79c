#!/bin/sh
# Kernels with every kind of reference (sample_kernels.c), written again in every way, loaded and run by the HIP
# that is installed, on a simulated card. Exit status 77 (skip) without HIP or clang 19.
# usage: check_write_hip.sh TESTS-DIR REWRITE LOAD-KERNELS RMCP [LIBAMDHIP64]
set -eu
. "$(dirname "$0")/../support/lib.sh"
here=$1 rewrite=$2 load=$3 rmcp=$4 library=${5-}
need clang-19 ld.lld-19
for name in libamdhip64.so.7 libamdhip64.so.6 libamdhip64.so.5; do
    [ -n "$library" ] || ! "$python" -c "import ctypes; ctypes.CDLL('$name')" 2>/dev/null || library=$name
done
[ -n "$library" ] || skip "no libamdhip64"
versions="4 5" points=
case $library in *.so.5*) versions=4 points=-p ;; esac # HIP 5.2 knows version 4, and see load_kernels.c
unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES || true
export XDG_CACHE_HOME="$work/cache"
mkdir "$work/tmp"
for version in $versions; do
    old=$work/old-v$version.co
    clang-19 -x c -O2 -g -target amdgcn-amd-amdhsa -mcpu=gfx1010:xnack- "-mcode-object-version=$version" -nogpulib \
        "$here/sample_kernels.c" -o "$old"
    expect 0 "$rewrite" same "$old" "$work/same-v$version.co"
    expect 0 "$rewrite" spread 0 "$old" "$work/moved-v$version.co"
    expect 0 "$rewrite" spread 3 "$old" "$work/spread-v$version.co"
    expect 0 "$rewrite" tag gfx1010:xnack- "$old" "$work/noted-v$version.co"
done
# shellcheck disable=SC2086 # words are wanted
TMPDIR=$work/tmp expect 0 timeout 250 "$rmcp" sim -- "$load" "$library" $points "$work"/*.co
for file in "$work"/*.co; do has "$(basename "$file"): right"; done
cat "$work/out"
finish "$library"
