#!/bin/sh
# The rmcp command on terminals: colours only where they are welcome, lines in the terminal's width.
# usage: check_terminal.sh RMCP
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
"$python" -c 'import pty' 2>/dev/null || skip 'this Python makes no terminals'
unset NO_COLOR COLUMNS
TERM=xterm
export TERM

# on COLUMNS [NAME=VALUE…] -- ARGUMENT…: rmcp on a terminal; its output in $work/out, whatever its status.
on() {
    wide=$1
    shift
    words=
    while [ "$1" != -- ]; do words="$words $1" && shift; done
    shift
    n_checks=$((n_checks + 1))
    # shellcheck disable=SC2086 # words
    env $words "$python" "$here/on_terminal.py" "$wide" "$rmcp" "$@" >"$work/out" 2>"$work/err" </dev/null
    [ -s "$work/out" ] || fail "rmcp $*: nothing on the terminal"
}
coloured() { LC_ALL=C grep -q "$(printf '\033')" "$work/out"; }
# fits COLUMNS [EXCEPTION]: no line is longer, but for words that are, and lines of that pattern.
fits() {
    "$python" - "$work/out" "$1" "${2:-^$}" <<'PY' || fail "lines longer than $1 columns"
import re, sys
wide = [line for line in re.sub("\033\\[[0-9;]*m", "", open(sys.argv[1], encoding="utf-8").read()).split("\n")
        if len(line) > int(sys.argv[2]) and not re.search(sys.argv[3], line)
        and len(line.split()) > 1 and len(line) - len(line.split()[-1]) > 24]
if wide: print("\n".join(wide))
sys.exit(bool(wide))
PY
}

# ---- colours ----
on 80 -- doctor -v
coloured || fail 'no colours on a terminal'
for setting in NO_COLOR=1 TERM=dumb TERM=; do
    on 80 $setting -- doctor -v
    if coloured; then fail "colours in spite of $setting"; fi
done
on 80 NO_COLOR= -- doctor -v
coloured || fail 'NO_COLOR that is empty counts'
"$rmcp" doctor -v >"$work/out"
if coloured; then fail 'colours in a file'; fi
# The line of progress writes over itself: not where that cannot be.
on 80 TERM=dumb -- verify --device cpu --suite fuzz --cases 20
if coloured; then fail 'a dumb terminal gets control sequences'; fi

# ---- width: the terminal's, or that of COLUMNS ----
commands='(fix: |^    \$ )' # commands to be copied stay in one line
for columns in 50 80; do
    on "$columns" -- doctor -v
    fits "$columns" "$commands"
    COLUMNS="$columns" "$rmcp" doctor -v >"$work/out"
    fits "$columns" "$commands"
    on 200 "COLUMNS=$columns" -- doctor -v
    fits "$columns" "$commands"
done
on 200 COLUMNS=nonsense -- doctor -v
fits 100 "$commands"
cat >"$work/log" <<LOG
HSA_OVERRIDE_GFX_VERSION=10.3.0 on my RX 5600 XT
[ 7125.3] amdgpu 0000:03:00.0: amdgpu: GPU reset begin! and then there were very many words in that line \
which nobody needs
Memory access fault by GPU node-1 (Agent handle: 0x55d0c9b5a0) on address 0x7f0000000000. Reason: Page not present.
LOG
for columns in 50 80; do
    on "$columns" -- explain "$work/log"
    fits "$columns" 'source '
    grep -q 'GPU reset' "$work/out" || grep -q 'reset the GPU' "$work/out" || fail 'explain does not say what happened'
    COLUMNS="$columns" "$rmcp" explain "$work/log" >"$work/out"
    fits "$columns" 'source '
    on "$columns" -- explain "$work/err"
    fits "$columns"
done
"$rmcp" explain "$work/log" >"$work/whole"
COLUMNS=50 "$rmcp" explain "$work/log" >"$work/out"
# The same words, whatever the width; but for the line of the log.
for file in whole out; do
    grep -v '^   seen' "$work/$file" | tr -s ' ' '\n' | grep . >"$work/$file.words"
done
cmp -s "$work/whole.words" "$work/out.words" || fail 'explain in 50 columns has other words'
grep -q '\.\.\.' "$work/out" || fail 'the long line of the log is not shortened'
finish terminal
