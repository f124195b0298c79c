#!/bin/sh
# The drop-in on streams and inside captures, with AMD's own runtime on a simulated RX 5600 XT.
# usage: check_streams.sh RMCP TEST_STREAMS
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 streams=$2
export XDG_CACHE_HOME="$work/cache" RMCP_GUARD=0 OMP_WAIT_POLICY=passive
unset RMCP_HIP_LIBRARY RMCP_SYSFS_ROOT RMCP_DEVICE HSA_OVERRIDE_GFX_VERSION || true
"$rmcp" devices >"$work/out" 2>&1 || true
if grep '^hip .*cannot be loaded' "$work/out"; then skip "AMD's runtime is not installed"; fi
for name in libamdhip64.so.7 libamdhip64.so.6 libamdhip64.so.5; do
    hip=$(ldconfig -p | sed -n "s|.*$name .*=> ||p" | head -n 1)
    [ -z "$hip" ] || break
done
[ -n "$hip" ] || skip "no libamdhip64 where ldconfig looks"
expect 0 "$rmcp" sim -- "$streams" "$hip"
says '^\[  PASSED  \] [1-9]' ', 0 reports'
finish "$hip"
