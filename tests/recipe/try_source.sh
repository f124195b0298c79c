#!/bin/sh
# The recipe torch-source on PyTorch's real sources: its packages and its step configure, then some of PyTorch's HIP
# files compiled by exactly the commands that CMake wrote.
# usage: try_source.sh RMCP [FOLDER]     by hand, as root; half an hour and 8 GB; FOLDER (default: a temporary one) is
#                                        kept
# The root is an overlay on the chroot that tests/torch_rocm/run made (TORCH_ROCM_STATE, see there), whose sources are
# Debian's of the same version. What PyTorch brings of other projects is not in them: Debian's packages are taken, or
# empty headers where the configure step only looks whether they are there.
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$(readlink -f "$1")
state=${TORCH_ROCM_STATE:-${XDG_CACHE_HOME:-$HOME/.cache}/rmcp/torch_rocm}/rmcp/chroots/sid
[ "$(id -u)" = 0 ] || skip "an overlay needs root"
[ -d "$state/torch/src" ] || skip "no sources in $state: tests/torch_rocm/run makes them"
folder=${2:-$(mktemp -d)}
mkdir -p "$folder/upper" "$folder/work" "$folder/root" "$folder/.recipe"
mount -t overlay overlay -o "lowerdir=$state,upperdir=$folder/upper,workdir=$folder/work" "$folder/root"
trap 'umount "$folder/root"; rm -rf "$work"' EXIT
third=$folder/root/torch/src/third_party
ln -sfn ../torch/src "$folder/root/opt/pytorch"
# Headers of RCCL that were only unpacked there.
rm -rf "$folder/root/usr/lib/x86_64-linux-gnu/cmake/rccl" "$folder/root/usr/include/rccl"
mkdir -p "$third/pocketfft" "$third/fmt" "$third/cpp-httplib" "$third/concurrentqueue" "$third/nlohmann/include"
: >"$third/pocketfft/pocketfft_hdronly.h"
for name in fmt fmt-header-only; do
    printf 'add_library(%s INTERFACE)\nadd_library(fmt::%s ALIAS %s)\n' $name $name $name
done >"$third/fmt/CMakeLists.txt"
"$rmcp" recipe torch-source --chip gfx1010 --folder "$folder" | sed '/^case \${1-} in/,$d' >"$work/steps.sh"
cat >>"$work/steps.sh" <<'END'
echo "== step packages"
step_packages
inside apt-get install -qy --no-install-recommends libfmt-dev libeigen3-dev pybind11-dev libprotobuf-dev \
    protobuf-compiler libsleef-dev libonnx-dev libcpuinfo-dev libgloo-dev nlohmann-json3-dev libfp16-dev libpsimd-dev \
    libfxdiv-dev libpthreadpool-dev python3-yaml python3-numpy python3-typing-extensions python3-setuptools \
    python3-jinja2 libonnx-dev
echo "== step configure"
as_root rm -rf "$folder/root/torch/src/build"
step_configure
echo "== objects"
build ninja -j 1 -C build ATEN_CPU_FILES_GEN_TARGET ATEN_CUDA_FILES_GEN_TARGET
failed=0
hip=caffe2/CMakeFiles/torch_hip.dir/__/aten/src/ATen/native
for object in c10/hip/CMakeFiles/c10_hip.dir/HIPCachingAllocator.cpp.o c10/hip/CMakeFiles/c10_hip.dir/HIPStream.cpp.o \
    $hip/miopen/BatchNorm_miopen.cpp.o $hip/miopen/Conv_miopen.cpp.o \
    $hip/hip/torch_hip_generated_ActivationThresholdKernel.hip.o \
    $hip/hip/torch_hip_generated_CopysignKernel.hip.o $hip/hip/torch_hip_generated_FillKernel.hip.o \
    $hip/hip/torch_hip_generated_LossCTC.hip.o $hip/hip/torch_hip_generated_PointwiseOpsKernel.hip.o; do
    command=$(build ninja -C build -t commands -s "$object" | tail -n 1)
    before=$(date +%s)
    if build sh -c "cd build && $command" >"$folder/object.log" 2>&1; then
        echo "compiled in $(($(date +%s) - before)) s: $object"
    else
        echo "FAILED: $object" && tail -n 20 "$folder/object.log" && failed=1
    fi
done
exit $failed
END
RECIPE_PYTHON=/usr/bin/python3 RECIPE_SWITCHES='USE_SYSTEM_LIBS=1
BUILD_CUSTOM_PROTOBUF=0
USE_MKLDNN=0
USE_XNNPACK=0
USE_PYTORCH_QNNPACK=0
USE_NNPACK=0
USE_ITT=0
USE_DISTRIBUTED=0' sh "$work/steps.sh"
