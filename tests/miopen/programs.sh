#!/bin/bash
# Programs that others wrote, on our drop-in, on a simulated card under sid's ROCm 6.4: MIOpenDriver, which judges
# convolutions and other operations with its own code on the CPU, and MIGraphX's driver, which judges models like
# AlexNet, GoogLeNet, ResNet and VGG with its own.
#
# usage: programs.sh BUILD-FOLDER [RESULTS-FOLDER]
#   RESULTS-FOLDER  keeps what the programs printed (default: miopen-programs in the build folder): with the same
#                   libraries a program that was right is not run again
#
# MIOpenDriver calls C++ functions of libMIOpen, which only the original has, so the original is chained behind ours
# (RMCP_MIOPEN_CHAIN=1), which is preloaded under its other name: each C function is ours. MIGraphX needs nothing of the
# original. MIOpenDriver's batch norm (bnorm) passes descriptors that no C function made, which ours cannot know: it is
# left out. Nor does its GPU reference run, which asks for one of the original's kernels by number: it verifies on the
# CPU.
# Needs root, debootstrap, a mirror (4 GB once). Exit status 1 after a failure, 77 where the chroot cannot be made.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/lib.sh"
. "$here/original.sh"
[ $# -ge 1 ] || { sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
results=${2:-$build/miopen-programs}
mkdir -p "$results"
results=$(cd "$results" && pwd)
original_open "$build" libmiopen1-tests migraphx
state=$(cat "$build/librmcp.so.0" "$build/src/dropin/miopen/libMIOpen.so.1" "$0" | sha256sum)
[ -f "$results/state" ] && [ "$(cat "$results/state")" = "$state" ] || rm -f "$results"/*.right
echo "$state" >"$results/state"
mkdir -p "$inside/wheel"
cp "$build/src/dropin/miopen/wheel/libMIOpen.so" "$inside/wheel/"
for model in alexnet googlenet resnet vgg; do
    "$python" "$here/onnx_models.py" $model "$inside/$model.onnx"
    "$python" "$here/onnx_models.py" $model "$inside/$model-f16.onnx" f16
done

# went_through_ours: the table of executed kernels has some of ours and none of the original's convolutions.
ours=$("$build/tools/kernels/kernel-list" | cut -d ' ' -f 4 | sort -u | tr '\n' '|')
went_through_ours() {
    grep -Eq " (${ours%|})\$" "$file" && ! grep -Eq 'naive_conv|Im2.*Col|miopenSp3Asm|gcnAsmConv|MIOpenConv' "$file"
}

# program NAME PATTERN LIBRARY COMMAND…: right when it ends with status 0 and prints PATTERN, and each of its
# convolutions went through ours.
program() {
    name=$1 pattern=$2 library=$3
    shift 3
    n_checks=$((n_checks + 1))
    file=$results/$name
    if [ -f "$file.right" ]; then
        say "$name: right, before"
        return 0
    fi
    status=0
    original_chroot 900 env RMCP_MIOPEN_CHAIN="$chain" RMCP_MIOPEN_ORIGINAL=/usr/lib/x86_64-linux-gnu/libMIOpen.so.1 \
        RMCP_LIBRARY="$place/librmcp.so.0" MIOPEN_DRIVER_USE_GPU_REFERENCE=0 LD_PRELOAD="$place/$library" \
        MIOPEN_ENABLE_LOGGING_CMD=1 ./rmcp sim --stats -- "$@" >"$file" 2>&1 || status=$?
    if [ "$status" = 0 ] && grep -Eq "$pattern" "$file" && ! grep -q 'FAILED' "$file" && went_through_ours; then
        mv "$file" "$file.right"
        say "$name: right; $(sed -n 's/^rmcp sim: simulated [^:]*: //p' "$file.right")"
    else
        cp "$file" "$work/out"
        fail "$name: status $status, $(grep -E 'FAILED|error|what' "$file" | head -n 1)"
    fi
}

chain=1
driver=/usr/libexec/rocm/libmiopen1-tests/MIOpenDriver
n=0
# All three passes of each, in find mode and, with -S 0, in immediate mode.
for arguments in \
    'conv -n 2 -c 8 -H 9 -W 7 -k 6 -y 3 -x 3 -p 1 -q 1' \
    'conv -n 2 -c 8 -H 9 -W 7 -k 6 -y 3 -x 3 -p 1 -q 1 -S 0' \
    'convfp16 -n 2 -c 8 -H 9 -W 7 -k 6 -y 3 -x 3 -p 1 -q 1' \
    'convbfp16 -n 2 -c 8 -H 9 -W 7 -k 6 -y 3 -x 3 -p 1 -q 1' \
    'conv -n 1 -c 3 -H 23 -W 21 -k 8 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2' \
    'conv -n 2 -c 6 -H 9 -W 8 -k 9 -y 3 -x 3 -p 1 -q 1 -g 3' \
    'conv -n 2 -c 8 -H 9 -W 8 -k 8 -y 3 -x 3 -p 1 -q 1 -g 8 -S 0' \
    'conv -n 2 -c 4 -H 11 -W 10 -k 6 -y 3 -x 3 -p 2 -q 2 -l 2 -j 2' \
    'conv -n 2 -c 6 -H 5 -W 5 -k 4 -y 3 -x 3 -p 1 -q 1 -u 2 -v 2 -m trans' \
    'conv -n 2 -c 8 -H 9 -W 7 -k 6 -y 3 -x 3 -p 1 -q 1 --in_layout NHWC --fil_layout NHWC --out_layout NHWC' \
    'conv --spatial_dim 3 -n 1 -c 3 -! 5 -H 6 -W 7 -k 4 -@ 3 -y 3 -x 3 -$ 1 -p 1 -q 1 -# 1 -u 1 -v 1 -^ 1 -l 1 -j 1'; do
    n=$((n + 1))
    # Word splitting is wanted: arguments.
    # shellcheck disable=SC2086
    program "driver-$n" 'Weights Verifies OK' wheel/libMIOpen.so "$driver" $arguments -F 0 -V 1 -i 1 -t 0
done
# The other operations, forward and backward where there is one.
for arguments in \
    'softmax -n 2 -c 10 -H 4 -W 4' \
    'softmaxfp16 -n 2 -c 10 -H 4 -W 4 -m 0' \
    'lrn -n 2 -c 8 -H 5 -W 5' \
    'activ -n 2 -c 4 -H 4 -W 4 -m 3' \
    'activ -n 2 -c 4 -H 4 -W 4 -m 2' \
    'pool -W 2x3x8x8 -y 3 -x 3 -p 1 -q 1 -u 2 -v 2 -m max' \
    'pool -W 2x3x8x8 -y 2 -x 2 -u 2 -v 2 -m avg' \
    'reduce -D 4,8,5 -R 1 -O 0'; do
    n=$((n + 1))
    # shellcheck disable=SC2086
    program "driver-$n-${arguments%% *}" 'Verifies on CPU and GPU' wheel/libMIOpen.so \
        "$driver" $arguments -V 1 -i 1 -t 0
done
chain=0
for model in alexnet googlenet resnet vgg alexnet-f16 googlenet-f16 resnet-f16 vgg-f16; do
    program "migraphx-$model" 'verification passed' libMIOpen.so.1 migraphx-driver verify "$model.onnx" --gpu
done
finish programs
