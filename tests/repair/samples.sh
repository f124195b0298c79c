# samples.sh: to be sourced: small files to be repaired, in the folder at hand: in/, and what the folder is to become.
# shellcheck shell=sh disable=SC2154
compile_sample() { # OUT CHIP
    "${CLANG:-clang-19}" -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu="$2" -nogpulib -O1 \
        "$sources/../rewrite/calls.c" -o "$1"
}

make_samples() {
    mkdir in in/folder in/folder/sub
    compile_sample in/plain.co gfx1030
    cp in/plain.co in/folder/K_gfx1030.co
    cp in/plain.co in/folder/sub/plain.co
    echo text >in/folder/notes.txt
    printf '\202\242pr\247gfx1030\242fi\260Kernels_gfx1030.' >in/folder/TensileLibrary_gfx1030.dat
    "$python" "$sources/wheels.py" make in/toy.whl toy/a.co=in/plain.co toy/stored.co=in/plain.co \
        toy/K_gfx1030.co=in/plain.co
    "$python" "$sources/wheels.py" bundle plain.hipfb host-x86_64-unknown-linux--=/dev/null \
        hipv4-amdgcn-amd-amdhsa--gfx1030=in/plain.co
    cat >host.s <<'END'
.section .hip_fatbin,"a",@progbits
.p2align 12
one: .incbin "plain.hipfb"
.p2align 12
two: .incbin "plain.hipfb"
.section .hipFatBinSegment,"aw",@progbits
.p2align 3
.long 0x48495046, 1
.quad one, 0
.long 0x48495046, 1
.quad two, 0
.section .note.GNU-stack,"",@progbits
END
    cat >names.cpp <<'END'
#include "chip_names.h"
extern "C" unsigned ask(const char *text) { return rocprim::chip_by_name(text); }
END
    "${CLANG:-clang-19}" -x c++ -O3 -fPIC "-I$sources" -c names.cpp -o names.o
    cc -shared -nostdlib host.s names.o -o in/libhost.so
}
