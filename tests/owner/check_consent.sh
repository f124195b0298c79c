#!/bin/bash
# rmcp verify --first-owner puts nothing on the card without consent: launches are counted on a simulated
# card, for every "no" at a terminal, without a terminal, and when a log is resumed. Exit status 77 (skip)
# where AMD's runtime is not installed. usage: check_consent.sh RMCP ANSWER.PY
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 answer=$2
export XDG_CACHE_HOME=$work/cache
unset RMCP_HIP_LIBRARY RMCP_SYSFS_ROOT RMCP_DEVICE RMCP_GUARD HSA_OVERRIDE_GFX_VERSION || true
if "$rmcp" devices | grep '^hip .*cannot be loaded'; then skip "AMD's runtime is not installed"; fi
stages='copies kernel small large times patterns'

# kernels OPTIONS…: how many kernels ran on the card; with $say, at a terminal with that answer.
kernels() {
    status=0
    "$rmcp" sim -- ${say:+"$python" "$answer" "$say"} "$rmcp" verify --first-owner --device hip:0 \
        --log "$work/log" "$@" </dev/null >"$work/out" 2>"$work/err" || status=$?
    [ $status = 0 ] || die "exit status $status"
    sed -n 's/^rmcp sim: simulated rx5600xt: \([0-9]*\) kernels.*/\1/p' "$work/err"
}
# tried NAMES: the steps that the log has as begun
tried() { [ "$(sed -n 's/^step try //p' "$work/log")" = "$1" ] || die "tried: $(grep '^step try' "$work/log")"; }
declined() { grep -q "^step skip $1.*: declined" "$work/log" || die "not declined: $1"; }
all_declined() {
    tried properties
    for step in 'copy 4 ' 'copy 67108864 ' tiny 'small direct' 'large split_k' 'time n8c3h224' 'time n8c256h56' \
        pattern; do
        declined "$step"
    done
}

# Each answer is one line: the rest of a long one is no answer to the next question.
for say in n '' 'no, you would not, yes?' 'nnnnnnnnnnnnnnnyyyyyyyyyyyyyyyyyyy'; do
    echo "'$say' to every question"
    rm -f "$work/log"
    say=${say:- }
    [ "$(kernels)" = 0 ] || die "kernels ran"
    grep -q '^6 questions' "$work/out" || die "not one question a stage"
    all_declined
done
echo "resumed: what was declined is asked for again, and declined again"
[ "$(kernels)" = 0 ] || die "kernels ran"
grep -q '^6 questions' "$work/out" || die "not one question a stage"
all_declined
echo "stages left out"
rm "$work/log"
for stage in $stages; do
    [ "$(kernels --skip "$stage")" = 0 ] || die "kernels ran"
    grep -q '^5 questions' "$work/out" || die "asked for $stage"
done
all_declined

say=''
echo "without a terminal"
[ "$(kernels)" = 0 ] || die "kernels ran"
rm "$work/log"
[ "$(kernels)" = 0 ] || die "kernels ran"
all_declined
echo "a step of a stage that is left out"
! "$rmcp" verify --first-owner --device cpu --skip kernel --step 'tiny kernel' >"$work/out" 2>"$work/err" ||
    die "it ran"
grep -q 'leaves out the stage' "$work/err" || die "no reason"

echo "consent by option, and by answer: the counter counts"
[ "$(kernels --yes --skip copies,small,large,times,patterns)" -gt 0 ] || die "no kernel ran"
grep -q '^step pass tiny kernel' "$work/log" || die "no tiny kernel"
rm "$work/log"
say=y
[ "$(kernels --skip copies,small,large,times,patterns)" -gt 0 ] || die "no kernel ran"
tried "properties
tiny kernel"
echo "all well"
