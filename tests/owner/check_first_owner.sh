#!/bin/sh
# rmcp verify --first-owner from start to end, killed at random moments and resumed: no step that a kill
# ended is tried twice, and every step has an end. check_first_owner.sh KILLS SKIP RMCP-COMMAND…
set -eu
. "$(dirname "$0")/../support/lib.sh"
kills=$1 skip=$2
shift 2
wrong() { [ ! -f "$work/log" ] || tail -n 20 "$work/log" >&2; die "$@"; }
device=${RMCP_TEST_DEVICE:-cpu}
owner() { exec "$@" verify --first-owner --yes --device "$device" --skip "$skip" --log "$work/log"; }

# Without a terminal and without --yes nothing risky is done.
"$@" verify --first-owner --device cpu --log "$work/careful" </dev/null >"$work/out" 2>"$work/err" ||
    wrong "the careful run: $?"
[ "$(grep '^step try' "$work/careful")" = "step try properties" ] ||
    wrong "run without asking: $(grep '^step try' "$work/careful")"
for step in copy tiny small large time; do
    grep -q "^step skip $step.*: declined" "$work/careful" || wrong "'$step' was not declined"
done
echo "a diary" >"$work/diary"
! "$@" verify --first-owner --device cpu --log "$work/diary" >"$work/out" 2>"$work/err" ||
    wrong "it wrote to another file"
[ "$(cat "$work/diary")" = "a diary" ] || wrong "it changed another file"

n=0
while [ $n -lt "$kills" ]; do
    n=$((n + 1))
    (export RMCP_TEST_MARK="$work"; owner "$@") >"$work/out" 2>"$work/err" &
    child=$!
    # Between 0.1 and 1.2 s, from the system's own dice.
    dice=$(od -An -N1 -tu1 /dev/urandom)
    sleep "$(awk -v d="$dice" 'BEGIN { printf "%.2f", 0.1 + d / 230 }')"
    kill -KILL $child 2>/dev/null || true
    wait $child 2>/dev/null || true
    # The step's own process ends with its parent, soon.
    for _ in $(seq 100); do
        sleep 0.1
        grep -q -s -a -F "RMCP_TEST_MARK=$work" /proc/[0-9]*/environ || break
    done
done
(owner "$@") >"$work/out" 2>"$work/err" || [ $? = 1 ] || wrong "the last run: $(cat "$work/err")"
grep -q 'passed' "$work/out" || wrong "no summary"

# Every step was tried once, but for those whose run was declined, and each has an end.
grep -a '^step try ' "$work/log" | sort | uniq -d >"$work/twice"
[ ! -s "$work/twice" ] || wrong "tried twice: $(cat "$work/twice")"
sed -n 's/^step try //p' "$work/log" | sort >"$work/tried"
sed -n 's/^step \(pass\|FAIL\|LOST\|skip\) \([^:]*\).*/\2/p' "$work/log" | sort -u >"$work/ended"
comm -23 "$work/tried" "$work/ended" >"$work/open"
[ ! -s "$work/open" ] || wrong "no end of: $(cat "$work/open")"
lost=$(grep -c '^step LOST' "$work/log" || true)
[ "$lost" -le "$kills" ] || wrong "$lost steps lost by $kills kills"
# A pattern may break what has its bug; that is what it is for.
! grep '^step FAIL' "$work/log" | grep -qv '^step FAIL pattern' || wrong "a step failed"
! "$@" verify --first-owner --skip lunch 2>/dev/null || wrong "a stage of no name was skipped"
before=$(wc -l <"$work/tried")
(owner "$@") >"$work/out" 2>"$work/err" || true
[ "$(grep -c '^step try' "$work/log")" = "$before" ] || wrong "a finished log was begun again"
echo "first owner on $device: $before steps, $kills kills, $lost lost, none repeated"
