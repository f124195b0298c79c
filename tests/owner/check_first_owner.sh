#!/bin/sh
# rmcp verify --first-owner from start to end, killed at random moments and resumed: no step that a kill
# ended is tried twice, and every step has an end. check_first_owner.sh KILLS SKIP RMCP-COMMAND…
set -eu
kills=$1 skip=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; [ ! -f "$work/log" ] || tail -n 20 "$work/log" >&2; exit 1; }
device=${RMCP_TEST_DEVICE:-cpu}
owner() { exec "$@" verify --first-owner --yes --device "$device" --skip "$skip" --log "$work/log"; }

# Without a terminal and without --yes nothing risky is done.
"$@" verify --first-owner --device cpu --log "$work/careful" </dev/null >"$work/out" 2>"$work/err" || fail "the careful run: $?"
[ "$(grep '^step try' "$work/careful")" = "step try properties" ] || fail "run without asking: $(grep '^step try' "$work/careful")"
for step in copy tiny small large time; do
    grep -q "^step skip $step.*: declined" "$work/careful" || fail "'$step' was not declined"
done
echo "a diary" >"$work/diary"
! "$@" verify --first-owner --device cpu --log "$work/diary" >"$work/out" 2>"$work/err" || fail "it wrote to another file"
[ "$(cat "$work/diary")" = "a diary" ] || fail "it changed another file"

n=0
while [ $n -lt "$kills" ]; do
    n=$((n + 1))
    (owner "$@") >"$work/out" 2>"$work/err" &
    child=$!
    # Between 0.1 and 1.2 s, from the system's own dice.
    dice=$(od -An -N1 -tu1 /dev/urandom)
    sleep "$(awk -v d="$dice" 'BEGIN { printf "%.2f", 0.1 + d / 230 }')"
    kill -KILL $child 2>/dev/null || true
    wait $child 2>/dev/null || true
    sleep 0.1 # the step's own process ends with its parent
done
(owner "$@") >"$work/out" 2>"$work/err" || [ $? = 1 ] || fail "the last run: $(cat "$work/err")"
grep -q 'passed' "$work/out" || fail "no summary"

# Every step was tried once, but for those whose run was declined, and each has an end.
grep -a '^step try ' "$work/log" | sort | uniq -d >"$work/twice"
[ ! -s "$work/twice" ] || fail "tried twice: $(cat "$work/twice")"
sed -n 's/^step try //p' "$work/log" | sort >"$work/tried"
sed -n 's/^step \(pass\|FAIL\|LOST\|skip\) \([^:]*\).*/\2/p' "$work/log" | sort -u >"$work/ended"
comm -23 "$work/tried" "$work/ended" >"$work/open"
[ ! -s "$work/open" ] || fail "no end of: $(cat "$work/open")"
lost=$(grep -c '^step LOST' "$work/log" || true)
[ "$lost" -le "$kills" ] || fail "$lost steps lost by $kills kills"
# A pattern may break what has its bug; that is what it is for.
! grep '^step FAIL' "$work/log" | grep -qv '^step FAIL pattern' || fail "a step failed"
! "$@" verify --first-owner --skip lunch 2>/dev/null || fail "a stage of no name was skipped"
before=$(wc -l <"$work/tried")
(owner "$@") >"$work/out" 2>"$work/err" || true
[ "$(grep -c '^step try' "$work/log")" = "$before" ] || fail "a finished log was begun again"
echo "first owner on $device: $before steps, $kills kills, $lost lost, none repeated"
