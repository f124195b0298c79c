#!/bin/sh
# rmcp doctor on the recorded machines: each must get the answers that stand in its file.
# usage: check_doctor.sh RMCP TESTS-DIR
set -u
rmcp=$1 tests=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n=0
failures=0

fail() {
    failures=$((failures + 1))
    echo "FAIL: $*" >&2
}

# The answer as lines: "VERDICT RULE", "option ID", "first ID".
answers() {
    /usr/bin/python3 - "$1" <<'PY'
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
    tree=$folder/$name
    sh "$tests/machine_tree.sh" "$1" "$tree"
    "$rmcp" doctor --json --root "$tree" >"$folder/json" 2>"$folder/err" </dev/null
    status=$?
    [ -s "$folder/err" ] && fail "$name: $(head -n 1 "$folder/err")"
    answers "$folder/json" >"$folder/answers" || fail "$name: no report"
    # Word splitting is wanted: a verdict or a word, and a name.
    sed -n 's/^! //p' "$1" >"$folder/expected"
    while read -r what id; do
        n=$((n + 1))
        case $what in
        never) if grep -q " $id\$" "$folder/answers"; then fail "$name: $id must not be found"; fi ;;
        exit) [ "$status" = "$id" ] || fail "$name: exit status $status, expected $id" ;;
        *) grep -qx "$what $id" "$folder/answers" || fail "$name: no '$what $id'" ;;
        esac
    done <"$folder/expected"
    # Recorded again, and asked again: the same.
    rm -f "$folder/again.tar"
    "$rmcp" doctor --json --root "$tree" --record "$folder/again.tar" >/dev/null 2>&1 </dev/null
    "$rmcp" doctor --json --root "$folder/again.tar" >"$folder/json2" 2>&1 </dev/null
    cmp -s "$folder/json" "$folder/json2" || fail "$name: the recording gives another answer than the folder"
    (cd "$tree" && tar cf "$folder/$name.tar" --format=ustar .)
    "$rmcp" doctor --json --root "$folder/$name.tar" >"$folder/json2" 2>&1 </dev/null
    cmp -s "$folder/json" "$folder/json2" || fail "$name: the tar file gives another answer than the folder"
    "$rmcp" doctor --root "$tree" >"$folder/text" 2>&1 </dev/null
    [ "$(wc -l <"$folder/text")" -le 48 ] || fail "$name: $(wc -l <"$folder/text") lines do not fit a screen"
    cat "$folder/answers" >>"$folder/all"
}

for machine in "$tests"/machines/*.txt; do
    grep -q '^# report: https://' "$machine" || fail "$machine: no report"
    one "$machine"
done
[ "$(ls "$tests"/machines/*.txt | wc -l)" -ge 15 ] || fail "fewer than fifteen machines"

echo "$n expectations, $failures failed"
[ "$failures" -eq 0 ]
