#!/bin/bash
# The rmcp command on a fake HIP library: first use in a process of its own, killed, timed out, twice
# at once; what rmcp devices says of it, and --forget.
# usage: check_hip.sh RMCP LIBFAKE_HIP
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1
export XDG_CACHE_HOME=$work/cache RMCP_SYSFS_ROOT=$work/sys RMCP_HIP_LIBRARY=$2
export FAKE_HIP_DEVICES="gfx1030 0000:03:00.0" OMP_WAIT_POLICY=passive RMCP_DEVICE=
unset RMCP_GUARD RMCP_COMMAND HIP_VISIBLE_DEVICES HSA_OVERRIDE_GFX_VERSION || true
node=$work/sys/class/kfd/kfd/topology/nodes/1
mkdir -p "$node"
printf 'simd_count 72\nsimd_per_cu 2\ngfx_target_version 100100\nlocation_id 768\ndomain 0\n' >"$node/properties"
case=n1c8h9w7k24r3s3p1:f32:fwd
# holds FILE PATTERN
holds() { grep -qe "$2" "$1" || die "no '$2' in: $(cat "$1")"; }
lines() { cat "$work"/cache/rmcp/first_use/*.txt 2>/dev/null | grep -c " $1 " || true; }

echo "known good after one trial"
"$rmcp" devices >"$work/out" 2>"$work/err"
holds "$work/out" 'gfx1010, 36 compute units'
holds "$work/out" 'untried: depthwise f32 f16 bf16, direct f32 f16 bf16, implicit_gemm f32'
"$rmcp" verify --device hip --algorithm direct $case >"$work/out" 2>"$work/err" || die "$(cat "$work/out" "$work/err")"
"$rmcp" verify --device hip --algorithm direct $case >"$work/out" 2>>"$work/err" || die "$(cat "$work/out")"
[ ! -s "$work/err" ] || die "said on stderr: $(cat "$work/err")"
[ "$(lines trying)$(lines good)" = 11 ] || die "not tried once: $(cat "$work"/cache/rmcp/first_use/*.txt)"
"$rmcp" devices >"$work/out"
holds "$work/out" 'good: direct f32$'

echo "wrong results are not used"
"$rmcp" plan --device hip --effort measure n4c64h28w28k64r3s3p1:f32:fwd >"$work/out" || die "$(cat "$work/out")"
holds "$work/out" '^  direct'
"$rmcp" devices >"$work/out"
holds "$work/out" 'bad: implicit_gemm f32: n[0-9].* is NaN or was never written'
"$rmcp" devices --json >"$work/out"
holds "$work/out" '"state":.*"bad"'
"$rmcp" plan --explain --device hip $case >"$work/out"
holds "$work/out" 'implicit_gemm .*rmcp devices --forget'

echo "forgotten"
"$rmcp" devices --forget hip:0
"$rmcp" devices >"$work/out"
holds "$work/out" 'untried: depthwise f32 f16 bf16, direct f32 f16 bf16, implicit_gemm f32'
"$rmcp" devices --forget hip:7 2>"$work/err" && die "forgets a device that there is not"
"$rmcp" devices --forget cpu 2>>"$work/err" && die "forgets what is not remembered"
holds "$work/err" 'no such device'
holds "$work/err" 'nothing is remembered'

echo "killed in the middle of first use"
FAKE_HIP_HANG=$work/launched setsid "$rmcp" verify --device hip --algorithm direct $case >/dev/null 2>&1 &
group=$!
for _ in $(seq 3000); do [ -e "$work/launched" ] && break; sleep 0.02; done
[ -e "$work/launched" ] || die "nothing was launched"
"$rmcp" devices >"$work/out"
holds "$work/out" 'being tried: direct f32$'
kill -9 -- -$group
wait $group 2>/dev/null || true
"$rmcp" devices >"$work/out"
holds "$work/out" 'bad: direct f32: process [0-9]* ended or the machine stopped while it was tried'
"$rmcp" verify --device hip --algorithm direct $case >"$work/out" 2>&1 && die "it is used again"
holds "$work/out" 'ended or the machine stopped while it was tried'
"$rmcp" devices --forget

echo "time limit"
FAKE_HIP_HANG=$work/again RMCP_GUARD_LIMIT=1 "$rmcp" verify --device hip --algorithm direct $case \
    >"$work/out" 2>&1 && die "a hanging kernel is used"
holds "$work/out" 'no result within 1 seconds'
"$rmcp" devices --forget

echo "two at once"
before=$(lines trying)
"$rmcp" verify --device hip --algorithm direct $case >/dev/null & one=$!
"$rmcp" verify --device hip --algorithm direct $case >/dev/null & two=$!
wait $one && wait $two || die "one of two failed"
[ $(($(lines trying) - before)) = 1 ] || die "tried $(($(lines trying) - before)) times"

echo "switched off, or no place to remember"
rm -rf "$work/cache"
RMCP_GUARD=0 "$rmcp" verify --device hip --algorithm direct $case >/dev/null || die "with RMCP_GUARD=0"
[ ! -e "$work/cache/rmcp/first_use" ] || die "something was written"
XDG_CACHE_HOME=/proc/nowhere "$rmcp" verify --device hip --algorithm direct $case >/dev/null 2>"$work/err"
[ "$(grep -c 'cannot be written' "$work/err")" = 1 ] || die "no single remark: $(cat "$work/err")"
RMCP_COMMAND=/nonexistent "$rmcp" verify --device hip --algorithm direct $case >/dev/null || die "without a command"

echo "a command that does not work is no evidence"
rm -rf "$work/cache"
printf '#!/bin/sh\necho "broken: no libdw" >&2\nexit 127\n' >"$work/broken"
chmod +x "$work/broken"
RMCP_COMMAND=$work/broken "$rmcp" verify --device hip --algorithm direct $case ${case/fwd/bwd_data} \
    >"$work/out" 2>"$work/err" || fail "$(cat "$work/out")"
[ "$(wc -l <"$work/err")" = 1 ] || fail "not one remark: $(cat "$work/err")"
says 'tried in the process itself, since the rmcp command does not work: broken: no libdw$'
has ' 0 failures'
grep -q "broken\|command" "$work"/cache/rmcp/first_use/*.txt && fail "it is remembered"
"$rmcp" devices >"$work/out" 2>"$work/err"
has 'good: direct f32$'
mkdir "$work/home"
XDG_CACHE_HOME='' HOME=$work/nobody "$rmcp" verify --device hip --algorithm direct $case >/dev/null 2>&1 ||
    fail "without a home"
[ ! -e "$work/nobody" ] || fail "a home was made"
XDG_CACHE_HOME='' HOME=$work/home "$rmcp" verify --device hip --algorithm direct $case >/dev/null || fail "with a home"
[ -e "$work/home/.cache/rmcp/first_use" ] || fail "nothing is remembered"

echo "two cards"
mkdir -p "${node%1}2"
printf 'gfx_target_version 100300\nlocation_id 2560\n' >"${node%1}2/properties"
export FAKE_HIP_DEVICES="gfx1030 0000:03:00.0;gfx1030 0000:0a:00.0"
HIP_VISIBLE_DEVICES=1,0 "$rmcp" devices >"$work/out"
tr '\n' ' ' <"$work/out" | grep -q 'hip:0 .*gfx1030, .*hip:1 .*taking it for gfx1030, gfx1010' ||
    die "$(cat "$work/out")"
"$rmcp" verify --device hip:1 --algorithm direct $case >/dev/null || die "hip:1"
finish hip
