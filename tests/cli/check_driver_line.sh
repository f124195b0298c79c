#!/bin/bash
# Lines that MIOPEN_ENABLE_LOGGING_CMD prints, taken by rmcp verify: what they mean, and that those of the drop-in are
# all understood.
# usage: check_driver_line.sh RMCP [SEQUENCE LIBRARY LIBRMCP]
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 sequence=${2:-} library=${3:-} librmcp=${4:-}
driver=./bin/MIOpenDriver

# means LINE CASE…: the cases that a line stands for, in their order.
means() {
    line=$1
    shift
    n_checks=$((n_checks + 1))
    expect 0 "$rmcp" verify --list "$line"
    printf '%s\n' "$@" >"$work/wanted"
    cmp -s "$work/wanted" "$work/out" || fail "$line: $(tr '\n' ' ' <"$work/out")"
}
refuses() {
    n_checks=$((n_checks + 1))
    expect 2 "$rmcp" verify --list "$1"
    says "$2"
}

line="$driver conv -n 2 -c 8 -H 9 -W 7 -k 6 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -F 1 -t 1"
means "MIOpen(HIP): Command [LogCmdConvolution] $line" n2c8h9w7k6r3s3p1:f32:nchw:fwd
means "$driver conv" n100c3h32w32k32r3s3:f32:nchw:fwd n100c3h32w32k32r3s3:f32:nchw:bwd_data \
    n100c3h32w32k32r3s3:f32:nchw:bwd_weights
means "$driver convbfp16 -n 1 -c 4 -H 9 -W 8 -k 6 -y 1 -x 3 -p 0 -q 1 -u 2 -v 1 -l 1 -j 2 -g 2 -F 6 --in_layout NHWC" \
    n1c4h9w8k6r1s3p0x1u2x1d1x2g2:bf16:nhwc:bwd_data n1c4h9w8k6r1s3p0x1u2x1d1x2g2:bf16:nhwc:bwd_weights
# A transposed convolution is the gradient of one that goes the other way.
means "$driver convfp16 -n 2 -c 6 -H 5 -W 5 -k 4 -y 3 -x 3 -p 1 -q 1 -u 2 -v 2 -m trans -F 1" \
    n2c4h9w9k6r3s3p1u2:f16:nchw:bwd_data
means "$driver conv --spatial_dim 3 -n 1 -c 3 --in_d 5 -H 6 -W 7 -k 4 --fil_d 2 -y 3 -x 3 --pad_d 0 -p 1 -q 1 -F 4" \
    n1c3t5x2h6w7k4r3s3p0x1x1:f32:nchw:bwd_weights
means "$driver bnormfp16fp32 -n 4 -c 6 -H 8 -W 8 -m 1 --forw 1 -b 0 -s 1 -r 1 --layout NHWC" \
    batchnorm:n4c6h8w8:f16:nhwc:train:running:saved
means "$driver bnorm -n 4 -c 6 -D 2 -H 8 -W 8 -m 0 --forw 2 -b 1" batchnorm:n4c6t2h8w8:f32:nchw:infer:activation \
    batchnorm:n4c6t2h8w8:f32:nchw:bwd:activation
means "$driver rnn -n 4,4,3 -k 5 -H 8 -W 6 -l 2 -r 1 -b 1 -m lstm" \
    rnn:t5n4i6h8l2:lstm:f32:train:bi:bias:hx:cx:hy:cy:batches4x2,3x3 \
    rnn:t5n4i6h8l2:lstm:f32:bwd:bi:bias:hx:cx:hy:cy:dhx:dcx:batches4x2,3x3 \
    rnn:t5n4i6h8l2:lstm:f32:wrw:bi:bias:hx:batches4x2,3x3
means "$driver rnnfp16 -n 3 -k 2 -H 8 -W 8 -m gru -p 1 -c 1" rnn:t2n3i8h8:gru:f16:infer:skip:hx:hy
means "$driver pool -n 1 -c 2 -H 8 -W 8 -y 2 -x 3 -v 2 -u 1 -p 1 -q 0 -m avg -F 1" \
    pool:1x2x8x8:fwd:avg:f32:window2x3:stride2x1:pad1x0
means "$driver poolfp16 --input 2x3x4x8x8 -m max -I miopenIndexUint32 -F 2" \
    pool:2x3x4x8x8:bwd:f16:u32:window3x3x3:stride1x1x1
means "$driver activ -n 1 -c 2 -H 8 -W 8 -m 2 -A 0.5 --forw 2" act:1x2x8x8:bwd:tanh:f32:alpha0.5:beta1:gamma1
means "$driver lrn -m cross -n 2 -c 8 --forw 1" lrn:2x8x32x32:fwd:f32:alpha0.001
means "$driver lrn -m 0 -n 2 -c 8 --forw 1" lrn:2x8x32x32:fwd:within:f32:alpha0.001
means "$driver lrn -m 1 -n 2 -c 8 -A 0.0001 --forw 1" lrn:2x8x32x32:fwd:f32
means "$driver softmaxbfp16 -n 1 -c 10 -H 1 -W 1 -a 2" softmax:1x10x1x1:fwd:bf16:log softmax:1x10x1x1:bwd:bf16:log
# A group of a transposed convolution has its own filters; -k are all of them.
means "$driver conv -n 1 -c 6 -H 5 -W 4 -k 4 -y 2 -x 2 -u 2 -v 2 -m trans -g 2 -F 1" \
    n1c4h10w8k6r2s2u2g2:f32:nchw:bwd_data
# Sequences of sixty steps: a long line, and few runs.
many=$(printf '32,%.0s' $(seq 50))$(printf '31,%.0s' $(seq 9))7
means "$driver rnn -n $many -k 60 -H 8 -W 8 -F 1" rnn:t60n32i8h8:tanh:f32:train:hx:hy:batches32x50,31x9,7x1
# Logs leave out the layout of a tensor that is both, as one with a single channel.
means "$driver conv -n 1 -c 1 -H 9 -W 8 -k 6 -F 1 --fil_layout NHWC --out_layout NHWC" n1c1h9w8k6r3s3:f32:nhwc:fwd
refuses "$driver conv --in_layout NHWC --out_layout NCHW" 'several layouts'
refuses "$driver conv --in_layout NCHWc4" "'NCHWc4' is no layout"
refuses "$driver conv -m transposed" "'transposed' is no mode"
refuses "$driver pool -m min" "'min' is no mode"
refuses "$driver lrn -m 2" "'2' is no mode"
refuses "$driver bnorm -m 2" "'2' is no mode"
refuses "$driver rnn -m elman" "'elman' is no mode"
refuses "$driver conv -F 8" "-F is 8; it must be 0 to 7"
refuses "$driver bnorm --forw 3" "-F is 3; it must be 0 to 2"
refuses "$driver pool -F 3" "-F is 3; it must be 0 to 2"
refuses "$driver rnn -c 1 -F 2" "no pass is asked for"
refuses "$driver conv -m trans -p 4611686018427387905" "no such transposed"
refuses "$driver activ -A $(printf '%0100d' 1)" "-A is"
refuses "$driver foo -n 1" "operation 'foo' is not known"
refuses "$driver conv -n" "'-n' has no value"
refuses "$driver conv -n x" "must be a number"
refuses "$driver conv --bad 3" "'--bad' is not known"
refuses "$driver conv -z same" "padding mode"
refuses "$driver conv --spatial_dim 4" "4 spatial dimensions"
refuses "$driver conv -m trans -H 99999999999 -u 99999999999" "no such transposed"
refuses "$driver rnn -n 4,,3 -k 3" "n is"
refuses "$driver" "no field"

# Every line that the drop-in prints is one that is taken.
if [ -n "$sequence" ]; then
    mkdir "$work/results"
    RMCP_DEVICE=cpu RMCP_GUARD=0 RMCP_LIBRARY=$librmcp MIOPEN_ENABLE_LOGGING_CMD=1 \
        "$sequence" --together "$library" "$work/results" 'torch-2.12*/*/forward' 'torch-2.12-rnn/*/*' \
        'torch-norm/*/*' 'fusion/*/*' '*pool*/*/*' '*lrn*/*/*' '*/deconvolution-grouped/*' >"$work/log" 2>&1 ||
        die "the sequences"
    grep -a 'MIOpenDriver \(conv\|bnorm\|rnn\|pool\|lrn\|activ\)' "$work/log" | sort -u >"$work/lines"
    [ "$(wc -l <"$work/lines")" -gt 40 ] || fail "only $(wc -l <"$work/lines") lines"
    # Calls of types and dimensions that the original's lines do not tell. (A library with a sanitizer in it cannot be
    # loaded into a Python without.)
    if ! ldd "$library" | grep -q 'lib[at]san'; then
        RMCP_DEVICE=cpu RMCP_GUARD=0 RMCP_LIBRARY=$librmcp MIOPEN_ENABLE_LOGGING_CMD=1 \
            "$python" - "$library" >"$work/log" 2>&1 <<'PY' || die "activations"
import ctypes as c, sys
m = c.CDLL(sys.argv[1])
def call(name, *arguments):
    assert getattr(m, name)(*arguments) == 0, name
handle, activation = c.c_void_p(), c.c_void_p()
call("miopenCreate", c.byref(handle))
call("miopenCreateActivationDescriptor", c.byref(activation))
call("miopenSetActivationDescriptor", activation, 3, c.c_double(0.5), c.c_double(1), c.c_double(1))
for kind, size in (5, (2, 3, 4, 5)), (1, (2, 3, 2, 4, 5)), (0, (2, 3)):
    tensor, strides, n = c.c_void_p(), [], 1
    for length in reversed(size):
        strides.insert(0, n)
        n *= length
    call("miopenCreateTensorDescriptor", c.byref(tensor))
    array = c.c_int * len(size)
    call("miopenSetTensorDescriptor", tensor, kind, len(size), array(*size), array(*strides))
    x, y, one, zero = (c.c_char * (4 * n))(), (c.c_char * (4 * n))(), c.c_float(1), c.c_float(0)
    call("miopenActivationForward", handle, activation, c.byref(one), tensor, x, c.byref(zero), tensor, y)
PY
        grep -a 'MIOpenDriver activ' "$work/log" >"$work/activations"
        sed -i 's/.*\(MIOpenDriver\)/.\/bin\/\1/' "$work/activations"
        mapfile -t activations <"$work/activations"
        means "${activations[0]}" act:2x3x4x5:fwd:relu:bf16:alpha0.5:beta1:gamma1
        means "${activations[1]}" act:2x3x2x4x5:fwd:relu:f32:alpha0.5:beta1:gamma1
        means "${activations[2]}" act:2x3x1x1:fwd:relu:f16:alpha0.5:beta1:gamma1
    fi
    grep -q 'conv -n 1 -c 6 -H 5 -W 4 -k 4 .* -m trans -g 2' "$work/lines" ||
        fail "not all filters of a transposed convolution"
    while IFS= read -r line; do
        "$rmcp" verify --list "$line" >>"$work/cases" 2>>"$work/refused" || fail "$line: $(tail -n 1 "$work/refused")"
    done <"$work/lines"
fi
finish "lines for MIOpenDriver"
