#!/bin/bash
# rmcp explain as its users call it: files, input, wrong use, and logs far larger than its memory.
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1

printf 'RuntimeError: HIP error: invalid device function\n' >"$work/log"
expect 1 "$rmcp" explain "$work/log"
has 'no GPU code for this chip'
expect 1 "$rmcp" explain --json - <"$work/log"
has '"id":.*"no-device-function"'
echo hello >"$work/healthy"
expect 0 "$rmcp" explain <"$work/healthy"
has 'nothing in them that I know'
for wrong in "$work" "$work/absent"; do
    expect 2 "$rmcp" explain "$wrong"
    one_line
done
expect 2 "$rmcp" explain --gpu "GTX 1080" "$work/log"
expect 2 "$rmcp" explain "$work/log" "$work/log"

# Input without end: it says how far it is, and a signal makes it answer.
status=0
{ cat "$work/log"; yes 'step 1 loss 0.5'; } 2>/dev/null |
    timeout -s INT 8 "$rmcp" explain - >"$work/out" 2>"$work/err" || status=$?
[ "$status" = 124 ] || [ "$status" = 1 ] || fail "stopped, explain gives $status"
grep -q 'no GPU code for this chip' "$work/out" || fail "stopped, explain does not answer"
grep -q 'findings so far' "$work/err" || fail "endless input without progress"

# A line full of first parts: the rest of a pattern is not sought again and again.
{ yes 'amdgpu 0x731 rx radeon gfx ' | tr -d '\n' | head -c 50000000; cat "$work/log"; } 2>/dev/null >"$work/hostile"
expect 1 timeout 100 "$rmcp" explain "$work/hostile"

# A line of 100 MB, a binary, and a log of $2 MB, all within 64 MB of memory (no limit under sanitizers).
[ "${3-}" = sanitized ] || ulimit -v 65536
{ head -c 100000000 /dev/zero | tr '\0' x; cat "$work/log"; } >"$work/long"
expect 1 "$rmcp" explain "$work/long"
"$rmcp" explain "$rmcp" >"$work/out" 2>"$work/err" || [ $? = 1 ] || fail "a binary gives neither 0 nor 1"
{ yes 'step 1 loss 0.5 gfx hsa memory access amdgpu ring' | head -c "${2}000000"; cat "$work/log"; } |
    "$rmcp" explain - >"$work/out" 2>"$work/err" && fail "the huge log gave no finding"
grep -q 'no GPU code for this chip' "$work/out" || die "the end of the huge log was not read"
finish "explain, up to $2 MB"
