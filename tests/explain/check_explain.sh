#!/bin/sh
# rmcp explain as its users call it: files, input, wrong use, and logs far larger than its memory.
set -eu
rmcp=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
status() { set +e; "$@" >"$work/out" 2>"$work/err"; result=$?; set -e; }

printf 'RuntimeError: HIP error: invalid device function\n' >"$work/log"
status "$rmcp" explain "$work/log"
[ $result = 1 ] || fail "a finding gave $result"
grep -q 'no GPU code for this chip' "$work/out" || fail "the answer is missing"
status "$rmcp" explain --json - <"$work/log"
grep -q '"id":.*"no-device-function"' "$work/out" || fail "no JSON finding"
echo hello >"$work/healthy"
status "$rmcp" explain <"$work/healthy"
[ $result = 0 ] || fail "a log without findings gave $result"
grep -q 'nothing in them that I know' "$work/out" || fail "it does not say that it found nothing"
for wrong in "$work" "$work/absent"; do
    status "$rmcp" explain "$wrong"
    [ $result = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] || fail "explain $wrong: $result"
done
status "$rmcp" explain --gpu "GTX 1080" "$work/log"
[ $result = 2 ] || fail "an unknown card gave $result"
status "$rmcp" explain "$work/log" "$work/log"
[ $result = 2 ] || fail "two files gave $result"

# A line of 100 MB, a binary, and a log of $2 MB, all within 64 MB of memory (no limit under sanitizers).
[ "${3-}" = sanitized ] || ulimit -v 65536
{ head -c 100000000 /dev/zero | tr '\0' x; cat "$work/log"; } >"$work/long"
status "$rmcp" explain "$work/long"
[ $result = 1 ] || fail "the long line gave $result: $(cat "$work/err")"
status "$rmcp" explain "$rmcp"
[ $result -le 1 ] || fail "a binary gave $result"
{ yes 'step 1 loss 0.5 gfx hsa memory access amdgpu ring' | head -c "${2}000000"; cat "$work/log"; } |
    "$rmcp" explain - >"$work/out" && fail "the huge log gave no finding"
grep -q 'no GPU code for this chip' "$work/out" || fail "the end of the huge log was not read"
echo "explain: files, input, wrong use, long lines, $2 MB: as they should be"
