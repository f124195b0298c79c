#!/bin/sh
# The pictures in docs are those that tools/results.sh makes of the times in data/results.
# usage: check_results.sh RMCP SOURCE-DIR
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 source=$2
expect 0 sh "$source/tools/results.sh" "$rmcp" "$work"
n=0
for picture in "$source"/docs/results-*.svg; do
    n=$((n + 1)) n_checks=$((n_checks + 1))
    cmp -s "$picture" "$work/$(basename "$picture")" ||
        fail "$picture is not what tools/results.sh makes: run it on docs"
    "$python" -c 'import sys, xml.etree.ElementTree as x; assert len(list(x.parse(sys.argv[1]).iter())) > 150' \
        "$picture" || fail "$picture is no picture"
    grep -q "($(basename "$picture"))" "$source/docs/results.md" || fail "docs/results.md does not show $picture"
done
[ "$n" -eq 3 ] || fail "$n pictures"
kept=$(tail -n +2 "$source/data/results/h200-cudnn.csv" | wc -l)
grep -q "$kept layers, drawn" "$source/docs/results.md" ||
    fail "docs/results.md has another number of layers than $kept"
mean=$(tail -n +2 "$source/data/results/h200-cudnn.csv" |
    awk -F, '{ sum += log($4 / $3) } END { printf "%.2f", exp(sum / NR) }')
grep -q "time divided by ours is $mean" "$source/docs/results.md" || fail "docs/results.md has another mean than $mean"
finish results
