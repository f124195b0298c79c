#!/bin/bash
# Our own convolutions on simulated cards, under the ROCm that is installed. Exit status 77 (skip)
# without ROCm.
# usage: check_verify.sh RMCP
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1
need rocminfo
export XDG_CACHE_HOME=$work/cache
unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES RMCP_DEVICE || true

# verify OPTIONS-OF-SIM… -- OPTIONS-OF-VERIFY…: 0 failures, 0 reports.
verify() {
    sim=()
    while [ "$1" != -- ]; do
        sim+=("$1")
        shift
    done
    shift
    timeout 900 "$rmcp" sim ${sim[@]+"${sim[@]}"} -- "$rmcp" verify --device hip "$@" >"$work/out" 2>"$work/err" ||
        die "${sim[*]-} $*: $(tail -n 20 "$work/out" "$work/err")"
    grep -q ' 0 failures' "$work/out" || die "${sim[*]-}: $(tail -n 3 "$work/out")"
    echo "${sim[*]-rx5600xt}: $(tail -n 1 "$work/out"); $(tail -n 1 "$work/err")"
}

verify -- --suite quick
verify -- --suite fuzz --operation conv --cases 200
few=(n2c8h9w9k6r3s3p1 n2c8h9w9k6r3s3p1:f16:nhwc n1c17h17w17k33r3s3p1 n1c6h15w13k9r3s3p2d2g3:bf16
    n2c32h14w14k64r1s1:f16)
verify --override 10.3.0 -- "${few[@]}"
verify --gpu rx5500xt -- "${few[@]}"
verify --gpu rx6800 -- "${few[@]}"
HIP_VISIBLE_DEVICES=1 verify --gpu two -- "${few[0]}"

# guard PLANT FINDING SECONDS: first use of a kernel that hangs or faults within so many seconds; the
# next command tells and passes it over.
guard() {
    rm -rf "$XDG_CACHE_HOME"
    status=0
    RMCP_GUARD_LIMIT=$3 timeout 300 "$rmcp" sim --allow-reports --plant "$1" -- \
        "$rmcp" verify --device hip "${few[0]}:f32:nchw:fwd" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = 1 ] || die "$1: status $status: $(tail -n 20 "$work/out" "$work/err")"
    timeout 60 "$rmcp" sim -- "$rmcp" devices >"$work/out" 2>>"$work/err" || die "$(cat "$work/err")"
    grep -q "$2" "$work/out" || die "$1: no '$2' in $(cat "$work/out")"
    grep "bad:" "$work/out"
}
guard hang:gemm 'bad: implicit_gemm f32: no result within 5 seconds' 5
guard fault:direct 'bad: direct f32: the process that tried it ended without a result' 60
timeout 60 "$rmcp" sim --gpu two -- "$rmcp" devices >"$work/out" 2>"$work/err" || die "$(cat "$work/err")"
grep -q 'RX 5600 XT' "$work/out" || die "two cards: $(cat "$work/out")"
echo "all right"
