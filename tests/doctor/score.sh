#!/bin/sh
# Scores rmcp doctor on the reported machines, one row for each, with every miss; by hand.
# usage: score.sh RMCP open|blind|later
set -u
. "$(dirname "$0")/../support/lib.sh"
[ $# = 2 ] || { echo "usage: score.sh RMCP open|blind|later" >&2; exit 2; }
rmcp=$1 tests=$(dirname "$0")
. "$tests/expect.sh"
n=0 right=0 ready=0
for name in $(lot "$2"); do
    file=$tests/reports/$name.txt
    [ "$2" = later ] && file=$tests/later/$name.txt
    misses "$file" >"$work/misses"
    n=$((n + 1))
    if [ -s "$work/misses" ]; then
        echo "| $name | $(paste -sd ';' "$work/misses" | sed 's/;/; /g') |"
        # "Nothing: this machine is ready" where the report says otherwise
        if grep -qx '! never nothing' "$file" && grep -qx 'option nothing' "$work/answers"; then
            ready=$((ready + 1))
        fi
    else
        right=$((right + 1))
        echo "| $name | right |"
    fi
done
echo "$2: $right of $n right, $ready wrongly called ready"
