#!/bin/sh
# rmcp repair: code compiled for gfx1030, repaired, audited, executed on a simulated gfx1010 with its bugs acted out;
# containers, folders, what is refused, hostile files; the input stays, and nothing half is left behind.
# usage: check_repair.sh TESTS-DIR RMCP
set -eu
sources=$1 rmcp=$(realpath "$2")
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/report.sh"
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

# Wide LDS accesses stay where they are proven to be aligned, lose WGP mode or are taken apart; dot products are
# replaced.
compile kernels.co "$sources/kernels.c" -O3 -DREFUSED
expect 1 "$rmcp" repair kernels.co --out kernels2.co --json
is kernels 5
is kernels_refused 1
is kernels_wide_lds 3
is kernels_lds_proven 1
is kernels_cu_mode 1
is kernels_lds_split 1
[ "$(field instructions_replaced)" -gt 0 ] || fail "no dot product was replaced"
has '"operator":.*"refused"' '"kernel":.*"refused"' '"reason":.*"global_atomic_csub'
for kernel in wide unknown large dot; do
    run kernels.co $kernel gfx1030 $kernel.bin
    run kernels2.co $kernel gfx1010 again.bin --act-out=all
    equal $kernel.bin again.bin
done
expect 0 llvm-readelf-19 -n kernels2.co
! grep -Eq '\.name: +refused' out || fail "the note names kernels that are left out"
has '\.name: +wide' '\.workgroup_processor_mode: 0' "amdgcn-amd-amdhsa--gfx1010:xnack-"
# HIP 5.2 lists functions by their symbols: those of kernels that are left out are none any more, in both tables.
expect 0 llvm-readelf-19 -sW kernels2.co
has 'FUNC .* wide$' 'NOTYPE .* refused$'
! grep -Eq 'FUNC .* refused$' out || fail "a kernel that was left out is a function"
expect 0 llvm-readelf-19 -h kernels2.co
has 'Flags: +0x233'
expect 0 "$rmcp" audit kernels2.co
n_checks=$((n_checks + 1))
! "$rmcp" sim --kernel kernels.co large --chip gfx1010 --grid 32 --block 32 --args out:4096@bad.bin i32:37 >log 2>&1 ||
    fail "accesses that are not aligned are not reported"
grep -q lds-misaligned log || fail "accesses that are not aligned are not reported: $(head -3 log)"
n_checks=$((n_checks + 1))
! "$rmcp" sim --kernel kernels2.co refused --chip gfx1010 --grid 32 --block 32 \
    --args out:4096@bad.bin i32:37 >log 2>&1 ||
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

# Kernels for each chip: the empty ones that a chip without a name would get are left out, and those whose sizes were
# chosen by the chip; no others.
compile chips.co "$sources/kernels.c" -O3 -DCHIPS
expect 1 "$rmcp" repair chips.co --out chips2.co
has '  2  it is empty in code for gfx1030' 'such as _Z1kIL11target_archE(0|4294967295)E' \
    '  1  its sizes are what rocPRIM is tuned to' 'such as _ZN7rocprim.*14default_config'
expect 0 llvm-readelf-19 -sW chips2.co
has 'NOTYPE .* _Z1kIL11target_archE4294967295EEvPii$' 'NOTYPE .* _Z1kIL11target_archE0EEvPii$' \
    'FUNC .* _Z1kIL11target_archE900EEvPii$' 'FUNC .* _Z1kIL11target_archE1030EEvPii$' \
    'FUNC .* _Z1lIL11target_archE4294967295EEvPii$' 'FUNC .* _Z5emptyPii$' \
    'NOTYPE .* _ZN7rocprim6detail1kINS0_20wrapped_merge_configINS_14default_config' \
    'FUNC .* _ZN7rocprim6detail1kINS0_20wrapped_merge_configINS_12merge_config' \
    'FUNC .* _ZN7rocprim6detail1kINS_14default_config' \
    'FUNC .* _ZN5other1kINS_20wrapped_merge_configINS_14default_config'
# FLAT accesses of workgroups that do not fit one CU: of LDS only where code makes addresses of it.
compile flat.co "$sources/kernels.c" -O3 -DFLAT
expect 0 "$rmcp" repair flat.co --out flat2.co --json
is kernels_flat_never_lds 1
is kernels_wide_flat_in_wgp_mode 1

# Every kernel refused: no file.
sed '/^KERNEL void [uwld]/,/^}/d' "$sources/kernels.c" >none.c
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
    # Entries of the chip's own stay, and go only when they shall be replaced: all of them, wherever they stand.
    $clang -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu=gfx1010 -nogpulib -O3 "$sources/../rewrite/calls.c" -o own.co
    id=hipv4-amdgcn-amd-amdhsa--
    "$python" "$sources/wheels.py" bundle own.hipfb host-x86_64-unknown-linux--=host.o ${id}gfx1010=own.co \
        ${id}gfx1030=calls.co ${id}gfx1010:xnack-=own.co ${id}gfx906=gfx906.co
    expect 0 "$rmcp" repair own.hipfb --out own1.hipfb --json
    is objects_repaired 0
    is objects_native 2
    equal own.hipfb own1.hipfb
    expect 0 "$rmcp" repair own.hipfb --out own2.hipfb --json --replace
    is objects_repaired 1
    is objects_replaced 2
    is objects_native 0
    clang-offload-bundler-19 -type=o -list -input=own2.hipfb >log
    [ "$(grep -c gfx1010 log)" = 1 ] || fail "other entries: $(cat log)"
    clang-offload-bundler-19 -type=o -unbundle -input=own2.hipfb -output=own2.co "-targets=${id}gfx1010:xnack-"
    equal own2.co fixed.co
    expect 0 "$rmcp" repair own2.hipfb --out own3.hipfb --json --replace
    is objects_repaired 0
    is objects_repaired_before 1
    equal own2.hipfb own3.hipfb
    # A library of many fat binaries: the same bytes and the same report, however many work on it.
    {
        echo '.section .hip_fatbin,"a",@progbits'
        for i in $(seq 12); do
            case $((i % 3)) in 0) file=own.hipfb ;; *) file=plain.hipfb ;; esac
            printf '.p2align 12\nfat%s: .incbin "%s"\n' "$i" $file
        done
        printf '.section .hipFatBinSegment,"aw",@progbits\n.p2align 3\n'
        for i in $(seq 12); do printf '.long 0x48495046, 1\n.quad fat%s, 0\n' "$i"; done
        echo '.section .note.GNU-stack,"",@progbits'
    } >many.s
    cc -shared -nostdlib many.s -o libmany.so
    for jobs in 1 2 7; do
        expect 0 "$rmcp" repair libmany.so --out libmany$jobs.so --json --jobs $jobs
        [ "$(field objects_repaired)" -ge 8 ] || fail "not all were repaired"
        cp out report$jobs
        equal libmany1.so libmany$jobs.so
        equal report1 report$jobs
    done
    # Progress on a terminal: the file and each of its objects.
    if command -v script >/dev/null; then
        n_checks=$((n_checks + 1))
        script -qec "'$rmcp' repair libmany.so --dry-run" /dev/null >log 2>&1 || true
        grep -aq '0/13 .*libmany.so' log || fail "no progress on a terminal: $(head -c 300 log)"
    fi
    # Damaged in the middle: with many workers as with one.
    head -c $(($(stat -c %s libmany.so) / 2)) libmany.so >cut.so
    for at in 300000 200000 100000; do
        cp libmany.so bad.so
        printf '\377\377\377\377\377\377\377\377' | dd of=bad.so bs=1 seek=$at conv=notrunc status=none
        for file in bad.so cut.so; do
            for jobs in 1 5; do
                rm -f made.so
                status=0
                "$rmcp" repair $file --out made.so --json --jobs $jobs >report$jobs 2>log || status=$?
                echo "$status" >>report$jobs
                [ $status -le 2 ] || fail "$file at $at: exit status $status"
                [ ! -e made.so ] || cat made.so >>report$jobs
            done
            equal report1 report5
        done
    done
    expect 1 "$rmcp" repair gfx906.co --out gfx906-2.co
    says 'only for other chips'
    [ ! -e gfx906-2.co ] || fail "code of another generation was written"
fi

# A folder like rocBLAS's. Files of the chip's own stay, unless they shall be replaced.
mkdir -p library/sub
$clang -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu=gfx1010 -nogpulib -O3 "$sources/../rewrite/calls.c" -o gfx1010.co
cp calls.co library/Kernels_gfx1030.co
cp calls.co library/Kernels_gfx906.co
cp gfx1010.co library/Kernels_gfx1010.co
cp calls.co library/sub/plain.co
printf '\202\242pr\247gfx1030\242fi\260Kernels_gfx1030.' >library/TensileLibrary_gfx1030.dat
printf '\201\241a\241b' >library/TensileLibrary_fallback.dat
echo text >library/notes.txt
ln -s notes.txt library/link
cp -r library library.before
expect 0 "$rmcp" repair library --out library1 --jobs 2 --json
is files_changed 2
is files_left_out 2
is objects_native 1
is objects_replaced 0
equal library1/Kernels_gfx1010.co gfx1010.co
expect 0 "$rmcp" repair library --out library2 --jobs 2 --json --replace
is files_changed 3
is files_left_out 2
is objects_native 0
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
head -c 3000 calls.co >half.co
expect 1 "$rmcp" repair --dry-run half.co
has 'code object that is cut off'

# Archives stay as they are: told where code in them has no other for the chip; what is compressed is not looked into.
mkdir archives
ar rc archives/code.a calls.co
tar cf archives/code.tar calls.co
ar rc archives/text.a library/notes.txt
gzip -c archives/code.tar >packed.tar.gz
(cd archives && "$python" -c 'import zipfile, sys; zipfile.ZipFile("../code.zip", "w").write("code.a")')
expect 1 "$rmcp" repair archives --out archives2
has ' 2  an archive: unpack it, repair what is in it' 'code objects +0 repaired, 2 refused'
diff -r archives archives2 >log || fail "an archive was changed: $(cat log)"
expect 1 "$rmcp" repair --dry-run packed.tar.gz
says 'compressed by gzip, which is not looked into: unpack it first'
expect 1 "$rmcp" repair --dry-run code.zip
says 'a zip file, which is not looked into: unpack it first'
expect 1 "$rmcp" repair --dry-run archives/text.a
says 'a static library, which is not looked into'

# A folder that its owner may not write in, as in Nix's store: the new one is whole, and has the same permissions.
as_user=
[ "$(id -u)" != 0 ] || as_user="setpriv --reuid 65534 --clear-groups"
mkdir -p store/lib/deep there
cp calls.co store/lib/deep
ln -s deep/calls.co store/lib/link.co
[ -z "$as_user" ] || { chmod 755 . && chown -R 65534 store there; }
chmod 444 store/lib/deep/calls.co
chmod 555 store/lib/deep store/lib store
if $as_user "$rmcp" version >log 2>&1; then
    expect 0 $as_user "$rmcp" repair store --out there/store
    equal there/store/lib/deep/calls.co fixed.co
    [ "$(readlink there/store/lib/link.co)" = deep/calls.co ] || fail "the link in a folder that is read-only"
    (cd store && find . -type d -printf '%p %m\n' | sort) >a
    (cd there/store && find . -type d -printf '%p %m\n' | sort) >b
    equal a b
    # Without anything for the chip no folder is made, and nothing is left behind.
    chmod u+w store/lib/deep
    rm -f store/lib/deep/calls.co
    chmod 555 store/lib/deep
    expect 1 $as_user "$rmcp" repair store --out there/none
    says 'no GPU code in it'
    [ "$(ls -A there)" = store ] || fail "a folder without GPU code was copied: $(ls -A there)"
fi
chmod -R u+w store there
# Names that are as long as can be.
mkdir long
cp calls.co "long/$(printf '%0255d' 1)"
cp library/notes.txt "long/$(printf '%0255d' 2)"
expect 0 "$rmcp" repair long --out long2
equal "long2/$(printf '%0255d' 1)" fixed.co
equal "long2/$(printf '%0255d' 2)" library/notes.txt
# Whether something was written is said in each case.
compile native1.co "$sources/../rewrite/calls.c" -O1 -mcpu=gfx1010
expect 0 "$rmcp" repair native1.co --out native2.co
has '^Written: native2.co, unchanged\.'
equal native1.co native2.co
compile calls.o "$sources/../rewrite/calls.c" -O1 -c
expect 1 "$rmcp" repair calls.o --out calls2.o
has '^Nothing was written: nothing of it could be repaired\.'
[ ! -e calls2.o ] || fail "a relocatable object was written"

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
