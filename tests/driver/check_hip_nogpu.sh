#!/bin/bash
# The HIP library that is installed, on a machine without an AMD GPU: quietly no device, and "auto"
# takes the next one. Exit status 77 (skip) without that library, or with a GPU.
# usage: check_hip_nogpu.sh RMCP
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1
unset RMCP_HIP_LIBRARY RMCP_SYSFS_ROOT RMCP_DEVICE || true
"$rmcp" devices >"$work/out" 2>"$work/err" || die "rmcp devices: $(cat "$work/err")"
if grep '^hip .*cannot be loaded' "$work/out"; then skip "the library is not installed"; fi
grep -q '^hip' "$work/out" || die "hip is not listed"
grep -q '^hip .*not usable' "$work/out" || skip "there is a GPU"
grep '^hip .*not usable: HIP is installed and sees no GPU' "$work/out" || die "$(cat "$work/out")"
grep -q '^auto takes [^h]' "$work/out" || die "$(cat "$work/out")"
"$rmcp" verify n1c4h6w6k8r3s3p1:f32:fwd >"$work/out" 2>>"$work/err" || die "auto: $(cat "$work/out")"
[ ! -s "$work/err" ] || die "said on stderr: $(cat "$work/err")"
"$rmcp" verify --device hip n1c4h6w6k8r3s3p1:f32:fwd >"$work/out" 2>"$work/err" && die "it runs on hip"
[ "$(wc -l <"$work/err")" = 1 ] || die "not one line: $(cat "$work/err")"
cat "$work/err"
