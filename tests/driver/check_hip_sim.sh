#!/bin/bash
# The HIP device with AMD's own runtime on a simulated RX 5600 XT: native and under the override, first
# use guarded, beside OpenCL, and with RMCP_CHECK. Exit status 77 (skip) where that runtime is not installed.
# usage: check_hip_sim.sh RMCP TWO_DEVICES TEST_CHECK_DATA
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 two=$2 data=$3
export XDG_CACHE_HOME=$work/cache RMCP_GUARD=1 OMP_WAIT_POLICY=passive
unset RMCP_HIP_LIBRARY RMCP_SYSFS_ROOT RMCP_DEVICE HSA_OVERRIDE_GFX_VERSION || true
sim() { "$rmcp" sim "$@" >"$work/out" 2>"$work/err" || die "rmcp sim $*: $(cat "$work/out" "$work/err")"; }
if "$rmcp" devices | grep '^hip .*cannot be loaded'; then skip "AMD's runtime is not installed"; fi
case=n1c8h9w7k24r3s3p1

for override in '' 10.3.0; do
    echo "override '$override'"
    sim ${override:+--override $override} -- "$rmcp" verify --device hip --algorithm implicit_gemm $case:f32
    grep ' runs, 0 failures' "$work/out" || die "$(cat "$work/out")"
    grep '0 reports' "$work/err" || die "$(cat "$work/err")"
    sim ${override:+--override $override} -- "$rmcp" devices
    grep -q 'gfx1010, 36 compute units' "$work/out" || die "$(cat "$work/out")"
    grep -q 'good: implicit_gemm f32$' "$work/out" || die "$(cat "$work/out")"
    [ -z "$override" ] || grep 'takes this gfx1010 for gfx1030; code for gfx1010 is used' "$work/out"
done

echo "beside OpenCL"
sim -- "$two" hip opencl
grep -q '^hip: RMCP_OK' "$work/out" || die "$(cat "$work/out")"
sim -- "$two" opencl hip
[ "$(wc -l <"$work/out")" = 2 ] || die "$(cat "$work/out")"
cat "$work/out"

echo "rmcp check: the engine, and a PyTorch for the CPU that has its convolutions on the card"
RMCP_GUARD=0 sim -- "$rmcp" check --engine --device hip:0
grep '^RMCP itself on hip, .* (simulated): 90 of 90 convolutions, compared with the CPU, right$' "$work/out" ||
    die "$(cat "$work/out")"
if torch=$("$tools/find_python.sh" torch) && ! ldd "$rmcp" | grep -q 'lib[at]san'; then
    RMCP_GUARD=0 sim -- "$rmcp" check --python "$torch" --device offload:hip
    grep 'uses RMCP on hip (simulated): 93 convolutions, compared with the CPU, right$' "$work/out" ||
        die "$(cat "$work/out")"
fi

echo "every execution compared"
RMCP_GUARD=0 sim -- "$data" hip 2
grep '^conv: [1-9].* executions' "$work/out" || die "$(cat "$work/out")"
grep '0 reports' "$work/err" || die "$(cat "$work/err")"
echo "all well"
