#!/bin/sh
# rmcp repair: code compiled for gfx1030, repaired, audited, executed on a simulated gfx1010 with its bugs acted out;
# containers, folders, what is refused, hostile files; the input stays, and nothing half is left behind.
# usage: check_repair.sh TESTS-DIR RMCP
set -eu
sources=$1 rmcp=$(realpath "$2")
. "$(dirname "$0")/../support/lib.sh"
clang=${CLANG:-clang-19}
need "$clang" llvm-readelf-19
cd "$work"

compile() { # OUT SOURCE OPTION…
    out=$1 source=$2
    shift 2
    $clang -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu=gfx1030 -nogpulib "$@" "$source" -o "$out"
}

# run OBJECT KERNEL CHIP NAME [OPTION]: keeps what the kernel wrote in NAME.
run() {
    n_checks=$((n_checks + 1))
    # shellcheck disable=SC2086
    "$rmcp" sim --kernel "$1" "$2" --chip "$3" ${5-} --grid 32 --block 32 --args "out:4096@$4" i32:37 >log 2>&1 ||
        fail "$1 $2: $(head -3 log)"
}

# equal FILE FILE: the same bytes.
equal() {
    n_checks=$((n_checks + 1))
    cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

# field NAME: a number of the last command's JSON.
field() { sed -n "s/^[[:space:]]*\"$1\":[[:space:]]*\([0-9]*\),*$/\1/p" out | head -n 1; }
is() { # NAME NUMBER
    n_checks=$((n_checks + 1))
    [ "$(field "$1")" = "$2" ] || fail "$1 is $(field "$1"), not $2"
}

# What is compiled, repaired, is right where the bugs are acted out, and wrong without.
for level in "-O0" "-O1 -mwavefrontsize64" "-O3"; do
    # shellcheck disable=SC2086
    compile calls.co "$sources/../rewrite/calls.c" $level
    rm -f fixed.co
    cp calls.co before.co
    expect 0 "$rmcp" repair calls.co --out fixed.co
    equal calls.co before.co
    expect 0 "$rmcp" audit fixed.co
    has 'gfx1010:xnack- +1 +5 +0 +0 ' '1 made by rmcp repair'
    for kernel in calls pointers constants generic branches; do
        run calls.co $kernel gfx1030 $kernel.bin
        run fixed.co $kernel gfx1010 again.bin --act-out=all
        equal $kernel.bin again.bin
    done
done
n_checks=$((n_checks + 1))
! "$rmcp" sim --kernel calls.co generic --chip gfx1010 --act-out=data --grid 32 --block 32 \
    --args out:4096@bad.bin i32:37 >log 2>&1 || fail "nothing is reported without a repair"

# Wide LDS accesses lose WGP mode; dot products are replaced.
compile kernels.co "$sources/kernels.c" -O3 -DREFUSED
expect 1 "$rmcp" repair kernels.co --out kernels2.co --json
is kernels 4
is kernels_refused 2
is kernels_cu_mode 1
[ "$(field instructions_replaced)" -gt 0 ] || fail "no dot product was replaced"
has '"kernel":.*"refused"' '"reason":.*"global_atomic_csub' '"kernel":.*"large"' 'wide LDS accesses'
for kernel in wide dot; do
    run kernels.co $kernel gfx1030 $kernel.bin
    run kernels2.co $kernel gfx1010 again.bin --act-out=all
    equal $kernel.bin again.bin
done
expect 0 llvm-readelf-19 -n kernels2.co
! grep -Eq '\.name: +(refused|large)' out || fail "the note names kernels that are left out"
has '\.name: +wide' '\.workgroup_processor_mode: 0' "amdgcn-amd-amdhsa--gfx1010:xnack-"
expect 0 llvm-readelf-19 -h kernels2.co
has 'Flags: +0x233'
expect 0 "$rmcp" audit kernels2.co
n_checks=$((n_checks + 1))
! "$rmcp" sim --kernel kernels2.co refused --chip gfx1010 --grid 32 --block 32 --args out:4096 i32:37 >log 2>&1 ||
    fail "a kernel that was left out runs"

# Again: nothing changes. Without writing: the same report, and no file.
expect 0 "$rmcp" repair kernels2.co --out kernels3.co
equal kernels2.co kernels3.co
expect 1 "$rmcp" repair kernels.co --out kernels4.co
equal kernels2.co kernels4.co
grep -v '^Written\|^$' out >wet
find . | sort >files
expect 1 "$rmcp" repair kernels.co --dry-run
grep -v '^Nothing\|^$' out >dry
equal wet dry
find . | sort >files2
grep -v '/wet$\|/dry$\|/files2*$' files >a
grep -v '/wet$\|/dry$\|/files2*$\|^./a$' files2 >b
equal a b

# Every kernel refused: no file.
compile none.co "$sources/kernels.c" -O3 -DREFUSED -Dwide=refused_wide -Ddot=refused_dot
sed '/KERNEL.*wide/,/^}/d; /KERNEL void dot/,/^}/d' "$sources/kernels.c" >none.c
compile none.co none.c -O3 -DREFUSED
expect 1 "$rmcp" repair none.co --out none2.co
has 'every kernel is refused'
[ ! -e none2.co ] || fail "a file without kernels was written"

# Bundles gain an entry; code for the chip stays.
if command -v clang-offload-bundler-19 >/dev/null; then
    : >host.o
    $clang -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu=gfx906 -nogpulib -O3 "$sources/../rewrite/calls.c" -o gfx906.co
    bundle() { # OUT OPTION…
        out=$1
        shift
        clang-offload-bundler-19 -type=o -bundle-align=4096 -input=host.o -input=gfx906.co -input=calls.co \
            -targets=host-x86_64-unknown-linux--,hipv4-amdgcn-amd-amdhsa--gfx906,hipv4-amdgcn-amd-amdhsa--gfx1030 \
            "-output=$out" "$@"
    }
    bundle plain.hipfb
    cat >host.s <<'END'
.section .hip_fatbin,"a",@progbits
.p2align 12
fat: .incbin "plain.hipfb"
.section .hipFatBinSegment,"aw",@progbits
.p2align 3
.long 0x48495046, 1
.quad fat, 0
.section .note.GNU-stack,"",@progbits
END
    cc -shared -nostdlib host.s -o libhost.so
    for file in plain.hipfb libhost.so; do
        expect 0 "$rmcp" repair $file --out "new-$file" --json
        is objects_repaired 1
        is objects_of_other_chips 1
        expect 1 "$rmcp" audit "new-$file"
        has 'gfx1010:xnack- +1 +5 +0 +0 ' 'gfx906' 'gfx1030'
        expect 0 "$rmcp" repair "new-$file" --out "again-$file" --json
        is objects_repaired 0
        is objects_repaired_before 1
        equal "new-$file" "again-$file"
    done
    mkdir -p unpacked
    clang-offload-bundler-19 -type=o -unbundle -input=new-plain.hipfb -output=unpacked/a \
        "-targets=hipv4-amdgcn-amd-amdhsa--gfx1010:xnack-"
    equal unpacked/a fixed.co
    expect 0 llvm-readelf-19 -lSW new-libhost.so
    quiet
    expect 1 "$rmcp" repair gfx906.co --out gfx906-2.co
    says 'only for other chips'
    [ ! -e gfx906-2.co ] || fail "code of another generation was written"
fi

# A folder like rocBLAS's.
mkdir -p library/sub
cp calls.co library/Kernels_gfx1030.co
cp calls.co library/Kernels_gfx906.co
cp fixed.co library/Kernels_gfx1010.co
cp calls.co library/sub/plain.co
printf '\202\242pr\247gfx1030\242fi\260Kernels_gfx1030.' >library/TensileLibrary_gfx1030.dat
printf '\201\241a\241b' >library/TensileLibrary_fallback.dat
echo text >library/notes.txt
ln -s notes.txt library/link
cp -r library library.before
expect 0 "$rmcp" repair library --out library2 --jobs 2 --json
is files_changed 3
is files_left_out 2
diff -r library library.before >log || fail "the input was changed"
equal library2/Kernels_gfx1010.co fixed.co
equal library2/sub/plain.co fixed.co
equal library2/notes.txt library/notes.txt
equal library2/TensileLibrary_fallback.dat library/TensileLibrary_fallback.dat
[ "$(readlink library2/link)" = notes.txt ] || fail "the link"
printf '\202\242pr\247gfx1010\242fi\260Kernels_gfx1010.' >expected.dat
equal library2/TensileLibrary_gfx1010.dat expected.dat
[ "$(find library2 | wc -l)" = 8 ] || fail "other files: $(find library2)"
expect 0 "$rmcp" repair library2 --out library3
diff -r library2 library3 >log || fail "repaired again: $(cat log)"

# Wrong use.
expect 2 "$rmcp" repair calls.co --out fixed.co
says 'is there already'
expect 2 "$rmcp" repair library --out library/new
says 'would lie within'
expect 2 "$rmcp" repair calls.co --out x.co --target gfx1100
says 'another generation'
expect 2 "$rmcp" repair calls.co
expect 2 "$rmcp" repair --dry-run missing.co
expect 1 "$rmcp" repair --dry-run library/notes.txt
says 'no GPU code'

# Damage: an error or a right file, never a crash, never something left behind.
size=$(stat -c %s kernels.co)
i=0
while [ $i -lt 40 ]; do
    i=$((i + 1))
    cp kernels.co damaged.co
    if [ $i -le 10 ]; then
        truncate -s $((size * i / 11)) damaged.co
    else
        for at in $((i * 7919 % size)) $((i * 104729 % size)) $((i * 31 % 1024)); do
            printf '\377' | dd of=damaged.co bs=1 seek=$at conv=notrunc status=none
        done
    fi
    rm -f made.co
    n_checks=$((n_checks + 1))
    status=0
    "$rmcp" repair damaged.co --out made.co >log 2>&1 || status=$?
    [ $status -le 2 ] || fail "damage $i: exit status $status: $(tail -3 log)"
    [ ! -e made.co ] || "$rmcp" audit made.co >log 2>&1 || [ $? = 1 ] || fail "damage $i: $(tail -3 log)"
done
[ -z "$(find . -name '*.rmcp-*')" ] || fail "left behind: $(find . -name '*.rmcp-*')"
finish
