#!/bin/sh
# rmcp repair --install-into and --restore: what was there comes back byte by byte, whatever happens in between: killed
# or failing at every step, a full disk, files that somebody changed, files that somebody made.
# usage: check_install.sh TESTS-DIR RMCP FAULT-LIBRARY
set -eu
sources=$1 rmcp=$(realpath "$2") fault=$(realpath "$3")
. "$(dirname "$0")/../support/lib.sh"
clang=${CLANG:-clang-19}
need "$clang"
cd "$work"
compile() { # OUT CHIP
    $clang -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu="$2" -nogpulib -O1 "$sources/../rewrite/calls.c" -o "$1"
}
compile calls.co gfx1030
compile gfx906.co gfx906
compile native.co gfx1010
expect 0 "$rmcp" repair calls.co --out fixed.co
printf '\202\242pr\247gfx1030\242fi\260Kernels_gfx1030.' >lazy.dat
printf '\202\242pr\247gfx1010\242fi\260Kernels_gfx1010.' >lazy2.dat

# tree FOLDER: what is in it, with modes, owners, contents and links.
tree() {
    (cd "$1" && find . -printf '%y %m %U %p %l\n' | LC_ALL=C sort -k 4 &&
        find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2)
}
library=lib/rocblas/library
fresh() {
    rm -rf site
    mkdir -p site/$library site/empty
    cp calls.co site/lib/plain.co
    chmod 640 site/lib/plain.co
    cp calls.co site/$library/Kernels_gfx1030.co
    cp gfx906.co site/$library/Kernels_gfx906.co
    cp lazy.dat site/$library/TensileLibrary_gfx1030.dat
    cp calls.co site/$library/Own_gfx1030.co
    cp native.co site/$library/Own_gfx1010.co
    echo mine >site/lib/notes.txt
    ln -s plain.co site/lib/link.co
}
fresh
tree site >before

# In, and back.
expect 0 "$rmcp" repair --install-into site --dry-run
has 'Nothing was written'
tree site | cmp -s - before || fail "a dry run changed something"
expect 0 "$rmcp" repair --install-into site
has '1 files changed, 2 added' 'rmcp repair --restore site'
cmp -s site/lib/plain.co fixed.co || fail "plain.co is not repaired"
cmp -s site/lib/link.co fixed.co || fail "the link leads elsewhere"
[ "$(stat -c %a site/lib/plain.co)" = 640 ] || fail "other permissions"
cmp -s site/$library/Kernels_gfx1010.co fixed.co || fail "Kernels_gfx1010.co is not there"
cmp -s site/$library/TensileLibrary_gfx1010.dat lazy2.dat || fail "TensileLibrary_gfx1010.dat is not right"
for file in Kernels_gfx1030.co Own_gfx1030.co; do cmp -s site/$library/$file calls.co || fail "$file"; done
cmp -s site/$library/Own_gfx1010.co native.co || fail "the chip's own file was replaced"
cmp -s site/rmcp-repair/original/lib/plain.co calls.co || fail "no original"
tree site >after
expect 0 "$rmcp" repair --install-into site
has 'nothing to do'
tree site | cmp -s - after || fail "again changed something"
expect 0 "$rmcp" repair site --out copied # originals are no part of it
[ ! -e copied/rmcp-repair ] || fail "the originals were copied"
expect 0 "$rmcp" repair --restore site
has '1 files are as they were, 2 that were added are gone'
tree site | cmp -s - before || fail "not as before: $(tree site | diff - before)"
expect 0 "$rmcp" repair --restore site
has 'nothing is installed'
# The chip's own files, replaced and brought back.
expect 0 "$rmcp" repair --install-into site --replace
has '2 files changed, 2 added'
cmp -s site/$library/Own_gfx1010.co fixed.co || fail "the chip's own file was not replaced"
tree site >after
expect 0 "$rmcp" repair --install-into site --replace
has 'nothing to do'
tree site | cmp -s - after || fail "again, replacing, changed something"
cp calls.co site/$library/More_gfx1030.co
expect 2 "$rmcp" repair --install-into site --replace
says 'there is more to repair now'
rm site/$library/More_gfx1030.co
expect 0 "$rmcp" repair --restore site --json
has '"files_restored":[[:space:]]*2' '"files_removed":[[:space:]]*2'
tree site | cmp -s - before || fail "not as before"

# What somebody else did in between: nothing is touched, and it is said.
refuse() { # PATTERN
    tree site >now
    for way in --restore --install-into; do
        expect 1 "$rmcp" repair $way site
        one_line
        says "$1"
        tree site | cmp -s - now || fail "$way touched something: $(tree site | diff - now)"
    done
}
for file in lib/plain.co $library/Kernels_gfx1010.co; do
    fresh
    expect 0 "$rmcp" repair --install-into site
    echo upgraded >"site/$file"
    refuse 'was changed or removed since'
done
fresh
expect 0 "$rmcp" repair --install-into site
rm site/lib/plain.co
refuse 'was changed or removed since'
ln -s /etc/hostname site/lib/plain.co
refuse 'was changed or removed since'
fresh
expect 0 "$rmcp" repair --install-into site
echo damaged >site/rmcp-repair/original/lib/plain.co
refuse 'the original, is damaged'
rm site/rmcp-repair/original/lib/plain.co
refuse 'the original, is gone'
fresh
expect 0 "$rmcp" repair --install-into site
echo mine >site/rmcp-repair/mine
rm site/$library/TensileLibrary_gfx1010.dat # gone already: fine
expect 0 "$rmcp" repair --restore site
has 'not empty'
[ "$(cat site/rmcp-repair/mine)" = mine ] || fail "a file of somebody else is gone"
rm -r site/rmcp-repair
tree site | cmp -s - before || fail "not as before"
# An upgrade: the new files stay, what was added goes, the old originals are kept aside, and it can be repaired anew.
fresh
expect 0 "$rmcp" repair --install-into site --replace
compile other.co gfx1031
cp other.co site/lib/plain.co
for aside in rmcp-repair.aside rmcp-repair.aside1; do
    expect 1 "$rmcp" repair --restore site
    says 'keep-changed'
    expect 0 "$rmcp" repair --restore site --keep-changed
    has '1 files are as they were, 2 that were added are gone' "1 files changed since .*$aside\$"
    cmp -s site/lib/plain.co other.co || fail "the new file was touched"
    cmp -s site/$library/Own_gfx1010.co native.co || fail "not restored"
    [ ! -e site/$library/Kernels_gfx1010.co ] || fail "an old file that was added is still there"
    [ ! -e site/rmcp-repair ] || fail "the room is still there"
    [ -e site/$aside/original/lib/plain.co ] || fail "the old original is gone"
    expect 0 "$rmcp" repair --install-into site --replace
    has '2 files changed, 2 added' # what was moved aside is not touched
    printf '\0' >>other.co # another upgrade
    cp other.co site/lib/plain.co
done
# Also when everything is gone, or an original is damaged.
fresh
expect 0 "$rmcp" repair --install-into site
echo damaged >site/rmcp-repair/original/lib/plain.co
rm -r site/$library
expect 0 "$rmcp" repair --restore site --keep-changed
has 'rmcp-repair.aside'
cmp -s site/lib/plain.co fixed.co || fail "a repaired file was lost"
# What an earlier release installed, by its manifest.
fresh
mkdir -p site/rmcp-repair/original/lib
mv site/lib/plain.co site/rmcp-repair/original/lib
cp fixed.co site/lib/plain.co
cp fixed.co site/$library/Kernels_gfx1010.co
hash_of() { sha256sum "$1" | cut -d ' ' -f 1; }
size_of() { stat -c %s "$1"; }
{
    echo 'rmcp-repair 1'
    echo "changed $(hash_of calls.co) $(hash_of fixed.co) $(size_of calls.co) $(size_of fixed.co) lib/plain.co"
    echo "added - $(hash_of fixed.co) 0 $(size_of fixed.co) $library/Kernels_gfx1010.co"
    echo end
} >site/rmcp-repair/manifest
expect 0 "$rmcp" repair --restore site
has '1 files are as they were, 1 that were added are gone'
tree site | cmp -s - before || fail "not as before: $(tree site | diff - before)"
# A manifest that leads elsewhere, or is nonsense.
hash=$(sha256sum calls.co | cut -d ' ' -f 1)
for line in "added - $hash 0 1 ../calls.co" "changed $hash $hash 1 1 /etc/passwd" "changed $hash" nonsense "end
added - $hash 0 1 x"; do
    fresh
    mkdir site/rmcp-repair
    printf 'rmcp-repair 1\n%s\nend\n' "$line" >site/rmcp-repair/manifest
    refuse 'is damaged'
done
[ -e calls.co ] || fail "a file outside was removed"
fresh
mkdir -p site/rmcp-repair outside
cp calls.co outside/x.co
ln -s "$PWD/outside" site/out
printf 'rmcp-repair 1\nadded - %s 0 %s out/x.co\nend\n' "$hash" "$(stat -c %s calls.co)" >site/rmcp-repair/manifest
expect 1 "$rmcp" repair --restore site
[ -e outside/x.co ] || fail "removed through a link"
fresh
ln -s "$PWD/outside" site/rmcp-repair
refuse 'is not a folder'

# rmcp doctor offers it for a wheel without code for the chip, sees it in place, and sees when it was replaced again.
"$python" "$sources/wheels.py" bundle plain.hipfb host-x86_64-unknown-linux--=/dev/null \
    hipv4-amdgcn-amd-amdhsa--gfx1030=calls.co
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
sh "$sources/../doctor/machine_tree.sh" "$sources/../doctor/machines/rx5600xt-override.txt" machine
torch=$(find machine -name libtorch_hip.so)
place=$(dirname "$torch")
cp libhost.so "$torch"
doctor() { # the findings and options of the machine
    status=0
    "$rmcp" doctor -v --root "${1:-machine}" >wrapped 2>err || status=$?
    tr -s '\n ' ' ' <wrapped >out
    n_checks=$((n_checks + 1))
    [ $status -le 1 ] || fail "rmcp doctor: exit status $status"
}
doctor
has 'its code for gfx1030 repaired in place' 'rmcp repair --target gfx1010 --install-into .*/torch/lib' \
    'only simulated: no card has run a repaired library'
expect 0 "$rmcp" repair --install-into "$place"
has '1 files changed'
expect 1 "$rmcp" audit --target gfx1010 "$torch" # for the gfx1030 code, which stays
has '1 made by rmcp repair'
doctor
has 'by rmcp repair --install-into \(simulated only' 'has gfx1030,gfx1010'
! grep -q 'repaired in place, with RMCP' out || fail "it is offered again"
# The same from a recording, which has a stub in the library's place.
"$rmcp" doctor --root machine --record recorded.tar >out 2>err || true
doctor recorded.tar
has 'by rmcp repair --install-into'
echo >>"$torch"
doctor
has 'replaced again' 'rmcp repair --restore .* --keep-changed && rmcp repair --install-into'

# Wrong use.
fresh
for words in "--install-into site --out x" "site --install-into site" "--restore site --dry-run" "--restore site x" \
    "--install-into calls.co" "--restore calls.co" "--install-into site --keep-changed"; do
    # shellcheck disable=SC2086
    expect 2 "$rmcp" repair $words
    one_line
done
expect 1 "$rmcp" repair --install-into site/empty
says 'no GPU code'
[ -z "$(ls -A site/empty)" ] || fail "something was written"
if command -v flock >/dev/null; then
    expect 1 flock site "$rmcp" repair --install-into site
    says 'another rmcp is at work'
fi
tree site | cmp -s - before || fail "wrong use changed something"
if [ "$(id -u)" -eq 0 ] && mkdir small &&
    mount -t tmpfs -o "size=$(($(stat -c %s calls.co) / 1024 + 9))k" none small 2>/dev/null; then
    cp calls.co small/
    tree small >small.before
    expect 1 "$rmcp" repair --install-into small
    says 'No space left'
    tree small | cmp -s - small.before || fail "a full disk leaves something behind: $(tree small)"
    umount small
fi

# Killed, or failing, at every step: each file is whole, as it was or as it shall be; back works from everywhere.
small() {
    rm -rf site
    mkdir -p site/lib
    cp calls.co site/lib/plain.co
    cp calls.co site/K_gfx1030.co
    echo mine >site/notes.txt
}
small
tree site >before
faults() { # WAY SETUP
    way=$1
    at=0
    while :; do
        at=$((at + 1))
        over=
        for mode in kill after full; do
            small
            [ -z "${2-}" ] || "$rmcp" repair --install-into site >/dev/null
            case $mode in
            kill) set -- "$1" "${2-}" FAULT_AT=$at ;;
            after) set -- "$1" "${2-}" FAULT_AT=$at FAULT_AFTER=1 ;;
            full) set -- "$1" "${2-}" FAULT_AT=$at FAULT_ERRNO=28 ;;
            esac
            setup=$2
            shift 2
            status=0
            env "$@" "LD_PRELOAD=$fault" "$rmcp" repair "$way" site --jobs 1 >out 2>err || status=$?
            set -- "$way" "$setup"
            n_checks=$((n_checks + 1))
            [ $status -ne 0 ] || [ $mode != kill ] || over=1
            cmp -s site/lib/plain.co calls.co || cmp -s site/lib/plain.co fixed.co ||
                fail "$way $mode $at: plain.co is neither"
            [ ! -e site/K_gfx1010.co ] || cmp -s site/K_gfx1010.co fixed.co || fail "$way $mode $at: half a file"
            cmp -s site/K_gfx1030.co calls.co || fail "$way $mode $at: a file that nobody should touch"
            [ $mode != full ] || [ $status -le 1 ] || fail "$way $mode $at: exit status $status"
            case $((at % 2)) in # both go on from there
            0)
                "$rmcp" repair --install-into site >out 2>err || fail "$way $mode $at: not again: $(cat err)"
                cmp -s site/lib/plain.co fixed.co || fail "$way $mode $at: not installed again"
                ;;
            esac
            "$rmcp" repair --restore site >out 2>err || fail "$way $mode $at: no way back: $(cat err)"
            tree site | cmp -s - before || fail "$way $mode $at: not as before: $(tree site | diff - before)"
        done
        [ -z "$over" ] || break
        [ $at -lt 300 ] || die "no end"
    done
    [ $at -gt 8 ] || fail "only $at steps were counted"
    say "$way: $at steps"
}
faults --install-into
faults --restore installed
# An installation that is whole stays when another fails.
at=0
while [ $at -lt 12 ]; do
    at=$((at + 1))
    small
    "$rmcp" repair --install-into site >/dev/null
    status=0
    env FAULT_AT=$at FAULT_ERRNO=28 "LD_PRELOAD=$fault" "$rmcp" repair --install-into site --jobs 1 >out 2>err ||
        status=$?
    n_checks=$((n_checks + 1))
    [ $at -gt 1 ] || [ $status = 1 ] || fail "no fault in the second installation: exit status $status"
    cmp -s site/lib/plain.co fixed.co || fail "second, fault $at: the first is gone: $(cat err)"
    cmp -s site/K_gfx1010.co fixed.co || fail "second, fault $at: what was added is gone"
    "$rmcp" repair --restore site >out 2>err || fail "second, fault $at: no way back: $(cat err)"
    tree site | cmp -s - before || fail "second, fault $at: not as before: $(tree site | diff - before)"
done
finish
