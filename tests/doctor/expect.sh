# What the tests of recorded machines share, to be sourced after lib.sh: $rmcp and $tests are set.
# shellcheck shell=sh disable=SC2154

# answers JSON: the report as lines: "VERDICT RULE", "option ID", "first ID", "command LINE" of the first option.
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
    assert option["cost"] and option["effort"] and option["risk"], option
    if option["rank"] == 1:
        print("first", option["id"])
        for line in option["command"].split("\n"):
            print("command", line)
    print("option", option["id"])
PY
}

# misses MACHINE: one line for each expectation of the file that does not hold; leaves $work/tree, json, answers.
misses() {
    rm -rf "$work/tree"
    sh "$tests/machine_tree.sh" "$1" "$work/tree"
    "$rmcp" doctor --json --root "$work/tree" >"$work/json" 2>"$work/err"
    status=$?
    [ -s "$work/err" ] && head -n 1 "$work/err"
    answers "$work/json" >"$work/answers" || echo "no report"
    sed -n 's/^! //p' "$1" >"$work/expected"
    while read -r what id; do
        case $what in
        never) if grep -q " $id\$" "$work/answers"; then echo "$id must not be found"; fi ;;
        exit) [ "$status" = "$id" ] || echo "exit status $status, expected $id" ;;
        says) grep '^command ' "$work/answers" | grep -qF -e "$id" || echo "the first option does not say '$id'" ;;
        silent) if grep -qF -e "$id" "$work/json"; then echo "it says '$id'"; fi ;;
        *) grep -qx "$what $id" "$work/answers" || echo "no '$what $id'" ;;
        esac
    done <"$work/expected"
}

# The reported machines by lot: half of them blind, by the hash of the commit that wrote down what is expected.
drawn_by=b210a7cd5e01e66cf3819d31da279066b65c7d56
lot() { # lot open|blind|later: names
    if [ "$1" = later ]; then
        for machine in "$tests"/later/*.txt; do basename "$machine" .txt; done
        return
    fi
    for machine in "$tests"/reports/*.txt; do
        name=$(basename "$machine" .txt)
        echo "$(printf '%s%s' "$drawn_by" "$name" | sha256sum | cut -c1-64) $name"
    done | sort >"$work/lots"
    half=$(($(wc -l <"$work/lots") / 2))
    case $1 in
    blind) head -n "$half" "$work/lots" ;;
    *) tail -n "+$((half + 1))" "$work/lots" ;;
    esac | cut -d ' ' -f 2 | sort
}
