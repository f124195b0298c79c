#!/bin/bash
# The HIP library that is installed, on a machine without an AMD GPU: quietly no device, and "auto"
# takes the next one. Exit status 77 (skip) without that library, or with a GPU.
# usage: check_hip_nogpu.sh RMCP
set -eu
rmcp=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset RMCP_HIP_LIBRARY RMCP_SYSFS_ROOT RMCP_DEVICE || true
fail() { echo "FAIL: $*"; exit 1; }
"$rmcp" devices >"$work/out" 2>"$work/err" || fail "rmcp devices: $(cat "$work/err")"
if grep '^hip .*cannot be loaded' "$work/out"; then exit 77; fi
if ! grep -q '^hip .*not usable' "$work/out"; then echo "there is a GPU"; exit 77; fi
grep '^hip .*not usable: HIP is installed and sees no GPU' "$work/out" || fail "$(cat "$work/out")"
grep -q '^auto takes [^h]' "$work/out" || fail "$(cat "$work/out")"
"$rmcp" verify n1c4h6w6k8r3s3p1:f32:fwd >"$work/out" 2>>"$work/err" || fail "auto: $(cat "$work/out")"
[ ! -s "$work/err" ] || fail "said on stderr: $(cat "$work/err")"
"$rmcp" verify --device hip n1c4h6w6k8r3s3p1:f32:fwd >"$work/out" 2>"$work/err" && fail "it runs on hip"
[ "$(wc -l <"$work/err")" = 1 ] || fail "not one line: $(cat "$work/err")"
cat "$work/err"
