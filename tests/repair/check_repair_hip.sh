#!/bin/sh
# Code for gfx1030, repaired, loaded and run by the HIP that is installed, on a simulated gfx1010 without an override; a
# kernel that was left out is not found. Exit status 77 (skip) without HIP or clang 19.
# usage: check_repair_hip.sh TESTS-DIR LOAD-KERNELS RMCP LAUNCHED [LIBAMDHIP64]
set -eu
. "$(dirname "$0")/../support/lib.sh"
here=$1 load=$2 rmcp=$3 launched=$4 library=${5-}
need clang-19 ld.lld-19
for name in libamdhip64.so.7 libamdhip64.so.6 libamdhip64.so.5; do
    [ -n "$library" ] || ! "$python" -c "import ctypes; ctypes.CDLL('$name')" 2>/dev/null || library=$name
done
[ -n "$library" ] || skip "no libamdhip64"
points=
case $library in *.so.5*) points=-p ;; esac # see load_kernels.c
unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES || true
export XDG_CACHE_HOME="$work/cache"
cat "$here/../codeobj/sample_kernels.c" - >"$work/kernels.c" <<'END'
KERNEL refused(int *out, int n)
{
    __asm__ volatile("global_atomic_csub %0, %1, %2, off glc\n\ts_waitcnt vmcnt(0)"
                     : "=&v"(n) : "v"(out), "v"(n) : "memory");
    *out = n;
}
END
cat >"$work/find.py" <<'END'
import ctypes, sys
hip = ctypes.CDLL(sys.argv[1])
module, function = ctypes.c_void_p(), ctypes.c_void_p()
image = open(sys.argv[2], "rb").read()
print("loaded:", hip.hipModuleLoadData(ctypes.byref(module), image))
for name in sys.argv[3:]:
    print(name + ":", hip.hipModuleGetFunction(ctypes.byref(function), module, name.encode()))
END
clang-19 -x c -O2 -target amdgcn-amd-amdhsa -mcpu=gfx1030 -mcode-object-version=4 -nogpulib "$work/kernels.c" \
    -o "$work/old.co"
expect 1 "$rmcp" repair "$work/old.co" --out "$work/new.co"
has 'kernels +8: 7 repaired, 1 refused'
# shellcheck disable=SC2086 # words are wanted
expect 0 timeout 250 "$rmcp" sim --launches "$work/launches" --act-out=all -- "$load" "$library" $points "$work/new.co"
has 'new.co: right'
# Every launch is of the object with the note, or of the runtime; launches of another object are told.
expect 0 "$launched" "$work/launches" "$work/new.co"
has '^[1-9][0-9]* launches of repaired objects, [0-9]+ of the runtime, 0 others$'
expect 1 "$launched" "$work/launches" "$work/old.co"
has '^other: gfx1010 plain$' '^0 launches of repaired objects'
clang-19 -x c -O2 -target amdgcn-amd-amdhsa -mcpu=gfx1010 -mcode-object-version=4 -nogpulib \
    "$here/../codeobj/sample_kernels.c" -o "$work/native.co"
# shellcheck disable=SC2086
expect 0 timeout 250 "$rmcp" sim --launches "$work/launches" -- "$load" "$library" $points "$work/native.co"
expect 1 "$launched" "$work/launches" "$work/new.co"
has '^other: gfx1010 plain$' '^[1-9][0-9]* launches of repaired objects, .* [1-9][0-9]* others$'
expect 0 timeout 100 "$rmcp" sim -- "$python" "$work/find.py" "$library" "$work/new.co" plain
has 'loaded: 0' 'plain: 0'
# Asked for a kernel that was left out, HIP answers with an error, and the program goes on.
expect 0 timeout 100 "$rmcp" sim -- "$python" "$work/find.py" "$library" "$work/new.co" refused plain
has 'loaded: 0' 'refused: [1-9]' 'plain: 0'
# As it was, it is not loaded at all.
expect 0 timeout 100 "$rmcp" sim -- "$python" "$work/find.py" "$library" "$work/old.co" plain
has 'loaded: [1-9]'
finish "$library"
