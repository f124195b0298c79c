#!/bin/sh
# rmcp repair on libraries that choose their kernels by the chip's name: host code as clang makes it of a lookup, which
# takes gfx1010 for gfx1030 afterwards and nothing else; where it is not understood, or code of the chip's own stays,
# the kernels are left out; one program of HIP on a simulated card.
# usage: check_names.sh TESTS-DIR RMCP LAUNCHED
set -eu
sources=$1 rmcp=$(realpath "$2") launched=$(realpath "$3")
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/report.sh"
need clang-19 ld.lld-19 llvm-readelf-19
cd "$work"

# Which chip a library takes names for.
cat >ask.py <<'END'
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
print(*(library.ask(name.encode()) for name in sys.argv[2:]))
END
names="gfx803 gfx900 gfx906 gfx90a gfx908 gfx1030 gfx1030:xnack- gfx1010 gfx1010:xnack- gfx1011 gfx1012 gfx1013 gfx1031
    gfx1032 gfx1036 gfx1100 gfx1102 gfx1103 gfx103 gfx10300 gfx101 gfx10100 gfx10 gfx gfx2030 gfy1030 hfx1030 1030"
before="803 900 906 910 908 1030 1030 0 0 0 0 0 0 0 0 1100 1102 0 0 0 0 0 0 0 0 0 0 0"
taken="803 900 906 910 908 1030 1030 1030 1030 0 0 0 0 0 0 1100 1102 0 0 0 0 0 0 0 0 0 0 0"
answers() { # LIBRARY EXPECTED
    n_checks=$((n_checks + 1))
    # shellcheck disable=SC2086 # a list of names
    got=$("$python" ask.py "./$1" $names) || got=failed
    [ "$got" = "$2" ] || fail "$1 answers $got, not $2"
}

compile() { # CHIP SOURCE OPTION…
    chip=$1 source=$2
    shift 2
    clang-19 -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu="$chip" -nogpulib -O3 -DCHIPS "$sources/$source" \
        -o "$chip.co" "$@"
}
compile gfx1030 kernels.c
compile gfx10-3-generic kernels.c -mcode-object-version=6 2>/dev/null # a warning: that version is new
for chip in gfx1010 gfx1032 gfx906; do compile $chip ../rewrite/calls.c; done
cat >host.cpp <<'END'
#include "chip_names.h"
extern "C" unsigned ask(const char *text) { return rocprim::chip_by_name(text); }
#ifdef FAR
asm(".pushsection .text.far, \"ax\"; .globl far; far: lea name(%rip), %rax; ret; .skip 20000; .popsection;"
    ".pushsection .rodata; name: .asciz \"gfx1030\"; .popsection");
#endif
#ifdef KNOWN
extern "C" const char *known() { return "gfx1010"; }
#endif
#ifdef TABLE
extern "C" const char *table[] = { "gfx1030", "gfx900" };
#endif
END

# library OUT CHIPS[,CHIPS…] OPTION…: a library with a fat binary of each list of chips.
library() {
    out=$1 lists=$2 n=0
    shift 2
    echo '.section .note.GNU-stack,"",@progbits' >wrapper.s
    for list in $(echo "$lists" | tr ' ,' ', '); do
        entries=
        for chip in $(echo "$list" | tr , ' '); do entries="$entries hipv4-amdgcn-amd-amdhsa--$chip=$chip.co"; done
        n=$((n + 1))
        # shellcheck disable=SC2086 # entries are words
        "$python" "$sources/wheels.py" bundle bundle$n host-x86_64-unknown-linux--=/dev/null $entries
        cat >>wrapper.s <<END
.section .hip_fatbin,"a",@progbits
.p2align 12
fat$n: .incbin "bundle$n"
.section .hipFatBinSegment,"aw",@progbits
.p2align 3
.long 0x48495046, 1
.quad fat$n, 0
END
    done
    clang-19 -c wrapper.s -o wrapper.o
    clang-19 -x c++ -std=c++17 -fPIC -fcf-protection=full -nostdinc++ "-I$sources" -c host.cpp -o host.o "$@"
    clang-19 -shared -nostdlib wrapper.o host.o -o "$out"
}

# Nothing but one comparison changes, and the symbols that are hidden.
for options in "-O3" "-O3 -march=x86-64-v3"; do
    # shellcheck disable=SC2086
    library plain.so "gfx906 gfx1030" $options
    answers plain.so "$before"
    rm -f fixed.so again.so
    cp plain.so kept.so
    expect 1 "$rmcp" repair plain.so --out fixed.so --json # 1: the kernels of rocRAND's kind
    is host_places 1
    is kernels_chosen_by_name 1
    is kernels_refused 2
    is objects_repaired 1
    equal plain.so kept.so
    answers fixed.so "$taken"
    ! grep -q 'rocPRIM is tuned' out || fail "a kernel was left out whose size fits"
    has 'it is empty in code for gfx1030'
    expect 1 "$rmcp" repair --dry-run plain.so
    has "chosen by the chip's name: 1; host code takes gfx1010 for gfx1030 there now \(places: 1\)"
    expect 0 "$rmcp" repair fixed.so --out again.so --json
    is host_places 0
    is objects_repaired_before 1
    equal fixed.so again.so
    expect 0 llvm-readelf-19 --dyn-syms plain.so
    has 'WEAK +DEFAULT .*7rocprim'
    expect 0 llvm-readelf-19 --dyn-syms fixed.so
    has 'WEAK +HIDDEN .*7rocprim' 'GLOBAL +DEFAULT .* ask$'
    for jobs in 1 2; do
        expect 1 "$rmcp" repair plain.so --out jobs$jobs.so --jobs $jobs
        equal jobs$jobs.so fixed.so
        rm jobs$jobs.so
    done
done

# gfx1012 differs in two letters, so that other chips pass as well: only where no code is for one of these.
expect 1 "$rmcp" repair plain.so --target gfx1012 --out navi14.so --json
is host_places 1
answers navi14.so "803 900 906 910 908 1030 1030 1030 1030 0 1030 0 0 1030 0 1100 1102 0 0 0 0 0 0 0 0 0 0 0"
for chip in gfx1010 gfx1032; do
    library sibling.so "gfx1030 $chip" -O3
    expect 1 "$rmcp" repair sibling.so --target gfx1012 --out sibling2.so --json
    is host_places 0
    is kernels_refused 3
    answers sibling2.so "$before"
    rm sibling2.so
done

# Code of the chip's own that stays was compiled for other sizes.
library two.so "gfx906 gfx1030,gfx1030 gfx1010" -O3
expect 1 "$rmcp" repair two.so --out two2.so --json
is host_places 0
is objects_repaired 1
is objects_native 1
is kernels_refused 3
answers two2.so "$before"
expect 1 "$rmcp" repair --replace two.so --out two3.so --json
is host_places 1
is objects_repaired 2
is objects_native 0
is kernels_refused 4
answers two3.so "$taken"

# What is not understood stays as it is: a table of pointers, the name used for something else, a library that knows
# gfx1010 itself, a lookup by a loop.
for options in -O2 "-O3 -DTABLE" "-O3 -DFAR" "-O3 -DKNOWN" -O0; do
    rm -f strange2.so
    # shellcheck disable=SC2086
    library strange.so "gfx906 gfx1030" $options
    expect 1 "$rmcp" repair strange.so --out strange2.so --json
    is host_places 0
    is kernels_refused 3
    has 'rocPRIM is tuned'
    answers strange2.so "$before"
done
# Code for a family was compiled with the sizes for chips without a name.
library family.so "gfx906 gfx10-3-generic" -O3
expect 1 "$rmcp" repair family.so --out family2.so --json
is host_places 0
is kernels_chosen_by_name 0
is kernels_refused 3
is objects_repaired 1
answers family2.so "$before"
library other.so gfx906 -O3
expect 1 "$rmcp" repair other.so --out other2.so
says 'no code for gfx1030'

# Hostile: sections that share their bytes, symbols without an end, a library cut off anywhere end in an answer.
library plain.so gfx1030 -O3
cat >spoil.py <<'END'
import struct, sys
how, library = sys.argv[1], bytearray(open(sys.argv[2], "rb").read())
start, = struct.unpack_from("<Q", library, 40)
count, = struct.unpack_from("<H", library, 60)
for at in range(start, start + 64 * count, 64):
    kind, = struct.unpack_from("<I", library, at + 4)
    offset, size, link = struct.unpack_from("<QQI", library, at + 24)
    if how == "shared" and kind == 1:
        struct.pack_into("<QQ", library, at + 24, 64, len(library) - 64)
    if how == "endless" and kind == 11:
        names, length = struct.unpack_from("<QQ", library, start + 64 * link + 24)
        library[names + 1:names + length] = b"a" * (length - 1)
open(sys.argv[3], "wb").write(library)
END
for how in shared endless; do
    rm -f broken2.so
    "$python" spoil.py $how plain.so broken.so
    expect 1 "$rmcp" repair broken.so --out broken2.so --json
    is host_places 0
done
size=$(stat -c %s plain.so)
for step in 1 2 3 4 5 6 7 8 9 10 11 12; do
    rm -f broken2.so
    head -c $((size * step / 13)) plain.so >broken.so
    n_checks=$((n_checks + 1))
    status=0
    "$rmcp" repair broken.so --out broken2.so >log 2>&1 || status=$?
    [ $status -le 2 ] || fail "cut off after $((size * step / 13)) bytes: exit status $status"
done

# A program of HIP on a simulated card: with code for gfx1030 and its own size for unknown chips parts are missing.
# (A library with a sanitizer in it cannot be loaded into a program without.)
if command -v hipcc >/dev/null && ! ldd "$rmcp" | grep -q 'lib[at]san'; then
    unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES || true
    hipcc -std=c++17 -O3 --offload-arch=gfx1030 -o by_name "$sources/by_name.cpp" >log 2>&1 || die "hipcc: $(cat log)"
    expect 0 timeout 200 "$rmcp" sim --gpu rx6800 -- ./by_name
    has '^gfx1030.*, taken for 1030: 0 wrong$'
    expect 0 "$rmcp" repair by_name --out by_name2 --json
    is host_places 1
    is kernels_chosen_by_name 1
    is kernels_refused 0
    expect 0 timeout 200 "$rmcp" sim --launches launches --act-out=all -- ./by_name2
    has '^gfx1010.*, taken for 1030: 0 wrong$'
    expect 0 "$launched" launches by_name2
    has '^[1-9][0-9]* launches of repaired objects.* 0 others$'
    expect 0 timeout 200 "$rmcp" sim --gpu rx6800 -- ./by_name2
    has '^gfx1030.*, taken for 1030: 0 wrong$'
fi
finish ""
