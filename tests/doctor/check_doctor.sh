#!/bin/sh
# rmcp doctor on the recorded machines: each must get the answers that stand in its file.
# usage: check_doctor.sh RMCP TESTS-DIR
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 tests=$2
# The answer as lines: "VERDICT RULE", "option ID", "first ID".
answers() {
    "$python" - "$1" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["schema"] == "rmcp.doctor/1"
for finding in report["findings"]:
    assert finding["seen"], finding
    assert finding["why"].count("\n") < 2
    print(finding["verdict"], finding["id"])
for option in report["options"]:
    if option["rank"] == 1:
        print("first", option["id"])
    print("option", option["id"])
PY
}

# one MACHINE: a folder, and the same as a tar file, must both give the expected answers.
one() {
    name=$(basename "$1" .txt)
    tree=$work/$name
    sh "$tests/machine_tree.sh" "$1" "$tree"
    "$rmcp" doctor --json --root "$tree" >"$work/json" 2>"$work/err"
    status=$?
    [ -s "$work/err" ] && fail "$name: $(head -n 1 "$work/err")"
    answers "$work/json" >"$work/answers" || fail "$name: no report"
    # Word splitting is wanted: a verdict or a word, and a name.
    sed -n 's/^! //p' "$1" >"$work/expected"
    while read -r what id; do
        n_checks=$((n_checks + 1))
        case $what in
        never) if grep -q " $id\$" "$work/answers"; then fail "$name: $id must not be found"; fi ;;
        exit) [ "$status" = "$id" ] || fail "$name: exit status $status, expected $id" ;;
        *) grep -qx "$what $id" "$work/answers" || fail "$name: no '$what $id'" ;;
        esac
    done <"$work/expected"
    # Recorded again, and asked again: the same.
    rm -f "$work/again.tar"
    "$rmcp" doctor --json --root "$tree" --record "$work/again.tar" >/dev/null 2>&1
    "$rmcp" doctor --json --root "$work/again.tar" >"$work/json2" 2>&1
    cmp -s "$work/json" "$work/json2" || fail "$name: the recording gives another answer than the folder"
    (cd "$tree" && tar cf "$work/$name.tar" --format=ustar .)
    "$rmcp" doctor --json --root "$work/$name.tar" >"$work/json2" 2>&1
    cmp -s "$work/json" "$work/json2" || fail "$name: the tar file gives another answer than the folder"
    "$rmcp" doctor --root "$tree" >"$work/text" 2>&1
    [ "$(wc -l <"$work/text")" -le 48 ] || fail "$name: $(wc -l <"$work/text") lines do not fit a screen"
    cat "$work/answers" >>"$work/all"
}

for machine in "$tests"/machines/*.txt; do
    grep -q '^# report: https://' "$machine" || fail "$machine: no report"
    one "$machine"
done
set -- "$tests"/machines/*.txt
[ $# -ge 15 ] || fail "fewer than fifteen machines"

finish machines
