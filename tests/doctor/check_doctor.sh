#!/bin/sh
# rmcp doctor on the recorded machines: each must get the answers that stand in its file.
# usage: check_doctor.sh RMCP TESTS-DIR
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 tests=$2
. "$(dirname "$0")/expect.sh"

# one MACHINE: a folder, and the same as a tar file, must both give the expected answers.
one() {
    name=$(basename "$1" .txt)
    misses "$1" >"$work/misses"
    while IFS= read -r miss; do fail "$name: $miss"; done <"$work/misses"
    n_checks=$((n_checks + $(grep -c '^! ' "$1")))
    # Recorded again, and asked again: the same.
    rm -f "$work/again.tar" "$work/$name.tar"
    "$rmcp" doctor --json --root "$work/tree" --record "$work/again.tar" >/dev/null 2>&1
    "$rmcp" doctor --json --root "$work/again.tar" >"$work/json2" 2>&1
    if grep -q '^# unclean:' "$1"; then # a recording renames its folders: the findings must be the same
        answers "$work/json2" | grep -v '^command' >"$work/answers2"
        grep -v '^command' "$work/answers" | cmp -s - "$work/answers2" || fail "$name: the recording has other findings"
    else
        cmp -s "$work/json" "$work/json2" || fail "$name: the recording gives another answer than the folder"
    fi
    (cd "$work/tree" && tar cf "$work/$name.tar" --format=ustar .)
    "$rmcp" doctor --json --root "$work/$name.tar" >"$work/json2" 2>&1
    cmp -s "$work/json" "$work/json2" || fail "$name: the tar file gives another answer than the folder"
    "$rmcp" doctor --root "$work/tree" >"$work/text" 2>&1
    [ "$(wc -l <"$work/text")" -le 48 ] || fail "$name: $(wc -l <"$work/text") lines do not fit a screen"
}

for machine in "$tests"/machines/*.txt "$tests"/reports/*.txt "$tests"/later/*.txt; do
    grep -q '^# report: https://' "$machine" || fail "$machine: no report"
done
set -- "$tests"/machines/*.txt
[ $# -ge 15 ] || fail "fewer than fifteen machines"
for machine; do one "$machine"; done
for name in $(lot open); do one "$tests/reports/$name.txt"; done
for name in $(lot later); do one "$tests/later/$name.txt"; done

finish machines
