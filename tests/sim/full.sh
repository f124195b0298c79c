#!/bin/sh
# The full verification suite on a simulated card, in pieces, with the count so far after each; by hand.
# usage: full.sh RMCP [SECONDS [OPTION-OF-SIM…]]   stops after so many seconds (default: never)
set -eu
rmcp=$(realpath "$1") limit=${2:-0}
[ $# -lt 2 ] || shift
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$work/cache}"
"$rmcp" verify --suite full --list --device cpu >"$work/cases"
total=$(wc -l <"$work/cases")
cases=0 runs=0 failures=0 reports=0 bad=0
start=$(date +%s)
while [ $cases -lt "$total" ]; do
    sed -n "$((cases + 1)),$((cases + 40))p" "$work/cases" >"$work/piece"
    # Word splitting is wanted: case strings have no blanks.
    # shellcheck disable=SC2046
    "$rmcp" sim "$@" -- "$rmcp" verify --device hip $(cat "$work/piece") >"$work/out" 2>"$work/err" || bad=1
    numbers=$(sed -n 's/^\([0-9]*\) runs, \([0-9]*\) failures$/\1 \2/p' "$work/out")
    found=$(sed -n 's/.*instructions, \([0-9]*\) reports$/\1/p' "$work/err" | tail -n 1)
    [ -n "$numbers" ] || { tail -n 20 "$work/out" "$work/err"; echo "FAILED after $cases cases"; exit 1; }
    grep '^FAIL' "$work/out" || true
    cases=$((cases + $(wc -l <"$work/piece")))
    runs=$((runs + ${numbers% *})) failures=$((failures + ${numbers#* })) reports=$((reports + ${found:-0}))
    echo "$cases of $total cases, $runs runs, $failures failures, $reports reports, $(($(date +%s) - start)) s"
    [ "$limit" = 0 ] || [ $(($(date +%s) - start)) -lt "$limit" ] || break
done
[ $bad = 0 ] && [ $failures = 0 ] && [ $reports = 0 ]
