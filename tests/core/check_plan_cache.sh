#!/bin/bash
# The plan cache survives processes killed at any moment, two processes at once, and damage.
# usage: check_plan_cache.sh RMCP [DEVICE]
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 device=${2:-cpu}
export XDG_CACHE_HOME=$work/cache OMP_WAIT_POLICY=passive
lines() { cat "$work"/cache/rmcp/plans/*.txt 2>/dev/null | grep -c . || true; }
# measure FIRST LAST: tunes the cases with that many channels; small, so that many fit in a second.
measure() {
    local cases=()
    for c in $(seq "$1" "$2"); do cases+=("n1c${c}h6w6k8r3s3p1:fwd"); done
    exec "$rmcp" bench --device "$device" --effort measure --repeats 1 "${cases[@]}"
}

say "killed fifty times"
for i in $(seq 50); do
    (measure $((i * 40)) $((i * 40 + 39))) >/dev/null 2>&1 &
    pid=$!
    # Every other time only after it has written something: a busy machine may take longer to start it.
    had=$(lines)
    while [ $((i % 2)) = 0 ] && [ "$(lines)" -le "$had" ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
    sleep "0.0$((RANDOM % 9 + 1))"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
done
before=$(lines)
say "  $before lines were written"
[ "$before" -gt 0 ] || die "nothing was written before the kills"
(measure 1 20) >/dev/null 2>"$work/messages" || die "the cache is not usable: $(cat "$work/messages")"
[ "$(lines)" -ge $((before + 20)) ] || die "new measurements were not added"
(measure 1 20) >/dev/null 2>"$work/messages"
[ "$(lines)" = $((before + 20)) ] || die "what is known was measured again"
[ "$(wc -l <"$work/messages")" -le 1 ] || die "more than one message: $(cat "$work/messages")"

echo "two at once"
rm -rf "$work/cache"
(measure 1 60) >/dev/null &
first=$!
(measure 101 160) >/dev/null &
second=$!
wait $first && wait $second || die "one of two failed"
for c in $(seq 1 60) $(seq 101 160); do
    grep -q " n1c${c}h6w6k8r3s3p1:" "$work"/cache/rmcp/plans/*.txt || die "the measurement of c=$c is lost"
done
echo "  120 measurements, none lost"

echo "damage"
file=$(ls "$work"/cache/rmcp/plans/*.txt)
printf 'half a line without end' >>"$file"
sed -i '3s/onednn\|reference\|[a-z_]* [0-9]*ns/broken/' "$file"
head -c 2000 /dev/urandom >"$work/cache/rmcp/plans/noise.txt"
mkdir "$work/cache/rmcp/plans/folder.txt"
(measure 1 61) >"$work/out" 2>"$work/messages" || die "damage stops it: $(cat "$work/messages")"
[ "$(grep -c 'damaged line' "$work/messages")" = 1 ] || die "no single message: $(cat "$work/messages")"
echo "  $(cat "$work/messages")"
(measure 61 61) >/dev/null 2>&1
[ "$(grep -c ' n1c61h6w6k8r3s3p1:' "$file")" = 1 ] || die "the line after the torn one cannot be read"

echo "no place for a cache"
for place in /proc/nowhere /dev/null relative ""; do
    XDG_CACHE_HOME=$place HOME=$place "$rmcp" plan --device "$device" --effort measure n1c4h6w6k8r3s3p1:fwd \
        >/dev/null || die "XDG_CACHE_HOME=$place stops it"
done
echo "all well"
