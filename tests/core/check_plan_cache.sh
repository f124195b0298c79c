#!/bin/bash
# The plan cache survives processes killed at any moment, two processes at once, and damage.
# usage: check_plan_cache.sh RMCP [DEVICE]
set -eu
rmcp=$1 device=${2:-cpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache OMP_WAIT_POLICY=passive
fail() { echo "FAIL: $*"; exit 1; }
lines() { cat "$work"/cache/rmcp/plans/*.txt 2>/dev/null | grep -c . || true; }
# measure FIRST LAST: tunes the cases with that many channels; small, so that many fit in a second.
measure() {
    local cases=()
    for c in $(seq "$1" "$2"); do cases+=("n1c${c}h6w6k8r3s3p1:fwd"); done
    exec "$rmcp" bench --device "$device" --effort measure --repeats 1 "${cases[@]}"
}

echo "killed fifty times"
for i in $(seq 50); do
    (measure $((i * 40)) $((i * 40 + 39))) >/dev/null 2>&1 &
    pid=$!
    sleep "0.0$((RANDOM % 9 + 1))"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
done
before=$(lines)
echo "  $before lines were written"
[ "$before" -gt 0 ] || fail "nothing was written before the kills"
(measure 1 20) >/dev/null 2>"$work/messages" || fail "the cache is not usable: $(cat "$work/messages")"
[ "$(lines)" -ge $((before + 20)) ] || fail "new measurements were not added"
(measure 1 20) >/dev/null 2>"$work/messages"
[ "$(lines)" = $((before + 20)) ] || fail "what is known was measured again"
[ "$(wc -l <"$work/messages")" -le 1 ] || fail "more than one message: $(cat "$work/messages")"

echo "two at once"
rm -rf "$work/cache"
(measure 1 60) >/dev/null &
first=$!
(measure 101 160) >/dev/null &
second=$!
wait $first && wait $second || fail "one of two failed"
for c in $(seq 1 60) $(seq 101 160); do
    grep -q " n1c${c}h6w6k8r3s3p1:" "$work"/cache/rmcp/plans/*.txt || fail "the measurement of c=$c is lost"
done
echo "  120 measurements, none lost"

echo "damage"
file=$(ls "$work"/cache/rmcp/plans/*.txt)
printf 'half a line without end' >>"$file"
sed -i '3s/onednn\|reference\|[a-z_]* [0-9]*ns/broken/' "$file"
head -c 2000 /dev/urandom >"$work/cache/rmcp/plans/noise.txt"
mkdir "$work/cache/rmcp/plans/folder.txt"
(measure 1 61) >"$work/out" 2>"$work/messages" || fail "damage stops it: $(cat "$work/messages")"
[ "$(grep -c 'damaged line' "$work/messages")" = 1 ] || fail "no single message: $(cat "$work/messages")"
echo "  $(cat "$work/messages")"
(measure 61 61) >/dev/null 2>&1
[ "$(grep -c ' n1c61h6w6k8r3s3p1:' "$file")" = 1 ] || fail "the line after the torn one cannot be read"

echo "no place for a cache"
for place in /proc/nowhere /dev/null relative ""; do
    XDG_CACHE_HOME=$place HOME=$place "$rmcp" plan --device "$device" --effort measure n1c4h6w6k8r3s3p1:fwd \
        >/dev/null || fail "XDG_CACHE_HOME=$place stops it"
done
echo "all well"
