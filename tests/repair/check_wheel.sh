#!/bin/sh
# rmcp repair of wheels: what comes out passes Python's zipfile, has a right RECORD and is installed by pip; members
# that have nothing to repair stay as they are packed; hostile wheels are refused, and nothing is left behind.
# usage: check_wheel.sh TESTS-DIR RMCP
set -eu
sources=$1 rmcp=$(realpath "$2")
. "$(dirname "$0")/../support/lib.sh"
clang=${CLANG:-clang-19}
need "$clang"
cd "$work"
wheels() { expect 0 "$python" "$sources/wheels.py" "$@"; }

compile() { # OUT CHIP
    $clang -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu="$2" -nogpulib -O1 "$sources/../rewrite/calls.c" -o "$1"
}
compile calls.co gfx1030
compile gfx906.co gfx906
compile native.co gfx1010
expect 0 "$rmcp" repair calls.co --out fixed.co
echo 'some text' >text
printf '\202\242pr\247gfx1030\242fi\260Kernels_gfx1030.' >lazy.dat

# An honest one.
library=toy/lib/rocblas/library
wheels make toy-1.0-py3-none-any.whl toy/plain.co=calls.co toy/stored.co=calls.co toy/text.txt=text \
    "toy/a, \"b\".co=calls.co" $library/K_gfx1030.co=calls.co $library/K_gfx906.co=gfx906.co \
    $library/TensileLibrary_gfx1030.dat=lazy.dat $library/N_gfx1030.co=calls.co $library/N_gfx1010.co=native.co \
    toy/empty=/dev/null
cp toy-1.0-py3-none-any.whl before.whl
mkdir made
expect 0 "$rmcp" repair toy-1.0-py3-none-any.whl --out made/toy-1.0-py3-none-any.whl
has 'kernels +20: 20 repaired' 'code objects +4 repaired, 0 refused, 0 repaired before, 1 made for gfx1010'
cmp -s toy-1.0-py3-none-any.whl before.whl || fail "the input was changed"
wheels check made/toy-1.0-py3-none-any.whl toy/plain.co toy/stored.co 'toy/a, "b".co' toy/empty $library/K_gfx1010.co \
    $library/TensileLibrary_gfx1010.dat $library/N_gfx1010.co
for member in toy/plain.co toy/stored.co 'toy/a, "b".co' $library/K_gfx1010.co; do
    n_checks=$((n_checks + 1))
    "$python" "$sources/wheels.py" get made/toy-1.0-py3-none-any.whl "$member" | cmp -s - fixed.co || fail "$member"
done
wheels same before.whl made/toy-1.0-py3-none-any.whl toy/text.txt toy/__init__.py $library/N_gfx1010.co
n_checks=$((n_checks + 1))
! unzip -l made/toy-1.0-py3-none-any.whl 2>/dev/null | grep -Eq 'gfx906|gfx1030|jws' ||
    fail "members that should be gone"
# pip takes it, and what it installs is what is in it.
if "$python" -m pip --version >/dev/null 2>&1; then
    expect 0 "$python" -m pip install -q --no-index --no-deps --target site made/toy-1.0-py3-none-any.whl
    cmp -s site/toy/plain.co fixed.co || fail "pip installed something else"
    cmp -s "site/$library/K_gfx1010.co" fixed.co || fail "pip installed something else"
fi
# The number of workers changes nothing; again changes nothing; a dry run writes nothing.
expect 0 "$rmcp" repair before.whl --out one.whl --jobs 1
cmp -s one.whl made/toy-1.0-py3-none-any.whl || fail "another wheel with one worker"
expect 0 "$rmcp" repair one.whl --out again.whl
cmp -s one.whl again.whl || fail "repaired again, it differs"
expect 0 "$rmcp" repair before.whl --dry-run
has '4 repaired'
# Written to a pipe, it has the sizes behind the bytes.
wheels stream before.whl streamed.whl
expect 0 "$rmcp" repair streamed.whl --out streamed2.whl
wheels check streamed2.whl toy/plain.co $library/K_gfx1010.co
wheels same one.whl streamed2.whl toy/plain.co toy/stored.co toy/text.txt $library/K_gfx1010.co
# With what was made for the chip replaced.
expect 0 "$rmcp" repair before.whl --out replaced.whl --replace
wheels check replaced.whl $library/N_gfx1010.co
expect 0 "$rmcp" audit replaced.whl
has 'gfx1010:xnack- +3 +15 +0 +0 ' '3 made by rmcp repair'
"$python" "$sources/wheels.py" get replaced.whl $library/N_gfx1010.co | cmp -s - fixed.co || fail "not replaced"
# Nothing to repair.
wheels make none.whl toy/text.txt=text
expect 1 "$rmcp" repair none.whl --out none2.whl
says 'no GPU code'
[ ! -e none2.whl ] || fail "a wheel without GPU code was written"
# The same unpacked: a folder with libraries, links, rocBLAS's folder.
mkdir unpacked
(cd unpacked && "$python" -m zipfile -e ../before.whl . && ln -s plain.co toy/link.co)
expect 0 "$rmcp" repair unpacked --out unpacked2
cmp -s "unpacked2/$library/K_gfx1010.co" fixed.co || fail "the folder's file"
[ "$(readlink unpacked2/toy/link.co)" = plain.co ] || fail "the link"
# Within a folder a wheel stays, and that is said.
mkdir folder
cp before.whl folder/x.whl
expect 1 "$rmcp" repair folder --out folder2
has 'a wheel within a folder'
cmp -s folder2/x.whl before.whl || fail "the wheel within a folder was changed"

# More than 65,535 members.
wheels large large.whl calls.co
expect 0 "$rmcp" repair large.whl --out large2.whl
wheels check large2.whl toy/data/65599
"$python" "$sources/wheels.py" get large2.whl toy/a.co | cmp -s - fixed.co || fail "the member of a large wheel"

# Hostile ones.
mkdir bad
wheels hostile bad calls.co
for wheel in bad/*.whl; do
    status=0
    n_checks=$((n_checks + 1))
    "$rmcp" repair "$wheel" --out made.whl >out.txt 2>err.txt || status=$?
    case $status in 1 | 2) ;; *) fail "$wheel: exit status $status" ;; esac
    [ ! -e made.whl ] || fail "$wheel: something was written"
    [ "$(wc -l <err.txt)" = 1 ] || fail "$wheel: not one line: $(cat err.txt)"
    case $wheel in
    bad/path*) grep -q "leads out" err.txt ;;
    bad/twice*) grep -q "same name" err.txt ;;
    bad/bomb*) grep -q "100 times" err.txt ;;
    bad/liar*) grep -q "more than the 1000 bytes announced" err.txt ;;
    bad/no-record*) grep -q "no RECORD" err.txt ;;
    bad/other-hash*) grep -q "another hash of toy/a.co" err.txt ;;
    bad/odd-record*) grep -q "no CSV" err.txt ;;
    bad/crc*) grep -q "checksum" err.txt ;;
    bad/overlap*) grep -q "overlap" err.txt ;;
    bad/encrypted*) grep -q "encrypted" err.txt ;;
    esac || fail "$wheel: $(cat err.txt)"
done
# Damage anywhere: refused, or a wheel that is right.
size=$(stat -c %s before.whl)
i=0
while [ $i -lt 40 ]; do
    i=$((i + 1))
    cp before.whl damaged.whl
    printf '\377\001' | dd of=damaged.whl bs=1 seek=$((i * 7919 % size)) conv=notrunc status=none
    printf '\200' | dd of=damaged.whl bs=1 seek=$((size - i * 31)) conv=notrunc status=none
    rm -f made.whl
    n_checks=$((n_checks + 1))
    status=0
    "$rmcp" repair damaged.whl --out made.whl >out.txt 2>err.txt || status=$?
    [ $status -le 2 ] || fail "damage $i: exit status $status: $(tail -3 err.txt)"
    [ ! -e made.whl ] || "$python" -m zipfile -t made.whl >out.txt 2>&1 || fail "damage $i: $(tail -3 out.txt)"
done
# Killed at random moments: no wheel, or the whole one.
for delay in 0.005 0.01 0.015 0.02 0.03 0.04 0.06 0.08; do
    rm -rf killed.whl killed.whl.rmcp-*
    n_checks=$((n_checks + 1))
    timeout -s KILL $delay "$rmcp" repair before.whl --out killed.whl >out.txt 2>&1 || true
    [ ! -e killed.whl ] || cmp -s killed.whl one.whl || fail "killed after $delay: half a wheel"
done
rm -rf killed.whl.rmcp-*
[ -z "$(find . -name '*.rmcp-*')" ] || fail "left behind: $(find . -name '*.rmcp-*')"
finish
