#!/bin/sh
#: title PyTorch built from source for the chip, in a root of its own with one ROCm and one LLVM: hours
# PyTorch 2.12.1 compiled for your chip, against Debian's ROCm 6.4, whose rocBLAS, rocRAND and rocFFT have code for
# gfx1010. All of it happens below one folder, in a root file system of its own, without your environment:
#   - no other ROCm can be found: /opt/rocm of this machine does not exist in there
#   - there is one LLVM (21), and the device libraries are its own (package rocm-device-libs-21), so that no bitcode of
#     another version can be met ("Unknown attribute kind", "Invalid record")
#   - no variable of yours gets in, no override; the code is for the chip that is there
# Versions that go together, as Debian's sid has them in autumn 2026: HIP 6.4.3, rocBLAS 6.4.4, MIOpen 6.4.3, hipBLASLt
# 7.1.1, rocPRIM 6.4.3, LLVM 21.1.8, PyTorch 2.12.1. Sid goes on: the step packages stops where HIP, rocBLAS or MIOpen
# are no longer of ROCm 6.4. An archive that keeps old days then still has them: RECIPE_MIRROR=ADDRESS, and run it
# again.
#
# Switches instead of patches; no line of PyTorch is changed but by its own tool (tools/amd_build/build_amd.py):
#   HIP_CLANG_PATH, HIP_DEVICE_LIB_PATH   with ROCM_PATH=/usr, compiler and device libraries are looked for where
#                         Debian has none
#   USE_NCCL=0            Debian's librccl is of ROCm 5 and cannot be installed beside HIP 6
#   -include format       HIP's headers define __noinline__, which breaks <format> of GCC 15 and later behind them
#   rocm_version.h        a file of three lines that Debian lacks; without it PyTorch takes HIP 6.4.43484 for ROCm
#                         10.3884
#   USE_ROCM_CK_*=0       Composable Kernel, flash and memory-efficient attention have no code for RDNA1
#
# Tried:     the names and versions of all packages in Debian's archive, and that they can be installed together; the
#            step configure with the sources of Debian's package of the same version (parts of other projects from
#            Debian's packages or left out: GitHub was out of reach); some of PyTorch's own HIP and MIOpen files
#            compiled by the commands that it wrote (docs/recipes.md has the list); the command python, with the
#            root's Python.
# Not tried: the whole build, an archive of old days, and any real card.
#: if guess
# No AMD GPU was found when this was made: it is for gfx1010 (RX 5600, 5700). rmcp recipe --chip makes another.
#: end
# shellcheck disable=SC2034 # the steps are run at the end
set -eu

recipe=@recipe@           # made by RMCP @version@ on @system@
folder=@folder@
card=@card@               # what rmcp doctor found; empty: nothing
needs_memory=16           # GB
needs_root=yes            # debootstrap and chroot
wheel=@wheel@             # RMCP's wheel; empty: none was found
manager=@manager@
#: if rocms
# On this machine, and out of sight for the build: @rocms@
#: end
mirror=${RECIPE_MIRROR-}  # of Debian; else the one that apt has here, else debootstrap's own
#: begin
chip=@target@
override=@override@
visible=@visible@
release=sid
pytorch=v2.12.1
llvm=21
build_packages="ca-certificates git cmake ninja-build g++ python3-dev python3-venv python3-pip libopenblas-dev
    clang-$llvm lld-$llvm rocm-device-libs-$llvm hipcc rocminfo rocm-cmake libamdhip64-dev libhsa-runtime-dev
    libamd-comgr-dev librocblas-dev libhipblas-dev libhipblaslt-dev libmiopen-dev librocrand-dev libhiprand-dev
    librocfft-dev libhipfft-dev librocsparse-dev libhipsparse-dev librocsolver-dev libhipsolver-dev librocprim-dev
    libhipcub-dev librocthrust-dev librocm-smi-dev libroctx-dev"

# What PyTorch's build is told; nothing else is in its environment.
switches() {
    cat <<END
ROCM_PATH=/usr
HIP_PLATFORM=amd
HIP_CLANG_PATH=/usr/lib/llvm-$llvm/bin
HIP_DEVICE_LIB_PATH=/usr/lib/llvm-$llvm/lib/clang/$llvm/amdgcn/bitcode
PYTORCH_ROCM_ARCH=$chip
CC=gcc
CXX=g++
HIPCXX=/usr/bin/clang++-$llvm
CXXFLAGS=-include format
HIPFLAGS=-include format
HIPCC_COMPILE_FLAGS_APPEND=-include format
CMAKE_HIP_ARCHITECTURES=$chip
CMAKE_IGNORE_PREFIX_PATH=/opt/rocm
CMAKE_POLICY_VERSION_MINIMUM=3.5
PYTORCH_BUILD_VERSION=${pytorch#v}
PYTORCH_BUILD_NUMBER=1
USE_ROCM=1
USE_CUDA=0
USE_XPU=0
USE_NCCL=0
USE_RCCL=0
USE_FLASH_ATTENTION=0
USE_MEM_EFF_ATTENTION=0
USE_ROCM_CK_GEMM=0
USE_ROCM_CK_SDPA=0
USE_FBGEMM=0
USE_FBGEMM_GENAI=0
USE_KINETO=0
USE_MAGMA=0
USE_TENSORPIPE=0
BUILD_TEST=0
END
    # More of them, for those who try something: RECIPE_SWITCHES, one a line.
    [ -z "${RECIPE_SWITCHES-}" ] || printf '%s\n' "$RECIPE_SWITCHES"
}

# inside COMMAND…: in the new root, as root, with a clean environment. Its mounts go when the command ends.
inside() {
    # shellcheck disable=SC2016 # of the inner shell
    as_root unshare --mount sh -c 'mount --bind /proc "$1/proc" && shift_root=$1 && shift &&
        exec chroot "$shift_root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"' sh "$folder/root" "$@"
}

# build COMMAND…: the same in PyTorch's sources, with the switches.
build() {
    jobs=$(nproc)
    most=$(awk '/^(MemTotal|SwapTotal):/ { sum += $2 } END { printf "%d", sum / 3000000 }' /proc/meminfo) # 3 GB each
    [ "$jobs" -le "$most" ] || jobs=$most
    [ "$jobs" -ge 1 ] || jobs=1
    switches | as_root tee "$folder/root/opt/switches" >/dev/null
    # shellcheck disable=SC2016 # of the inner shell
    inside sh -ec 'while IFS= read -r line; do export "$line"; done </opt/switches; export MAX_JOBS="$1"; shift
        cd /opt/pytorch && exec "$@"' sh "$jobs" "$@"
}

#: step tools 2 1 debootstrap, which makes the root, and bubblewrap, which runs programs in it without root
step_tools() {
    if command -v debootstrap && command -v bwrap; then return; fi
    case $manager in
    apt) as_root apt-get install -y debootstrap bubblewrap ;;
    pacman) as_root pacman -S --needed --noconfirm debootstrap bubblewrap debian-archive-keyring ;;
    dnf) as_root dnf install -y debootstrap bubblewrap debian-keyring ;;
    zypper) as_root zypper --non-interactive install debootstrap bubblewrap ;;
    *) echo "install debootstrap and bubblewrap" && return 1 ;;
    esac
}

#: step root 5 1 A small Debian below the folder
step_root() {
    # shellcheck disable=SC2016 # apt's own
    [ -n "$mirror" ] ||
        mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep '/debian/*$' | head -n 1) || true
    # An unfinished one is begun anew; only what this script made is taken away.
    if [ -e "$folder/root/debootstrap" ]; then as_root rm -rf "$folder/root"; fi
    [ -x "$folder/root/usr/bin/apt-get" ] ||
        as_root debootstrap --variant=minbase "$release" "$folder/root" ${mirror:+"$mirror"}
    as_root cp /etc/resolv.conf "$folder/root/etc/resolv.conf"
    echo 'Acquire::Check-Valid-Until "false";' | as_root tee "$folder/root/etc/apt/apt.conf.d/99recipe" >/dev/null
}

#: step packages 20 14 ROCm, LLVM and what PyTorch needs, in that root
step_packages() {
    # Another mirror than when the root was made.
    [ -z "$mirror" ] || echo "deb $mirror $release main" | as_root tee "$folder/root/etc/apt/sources.list" >/dev/null
    inside apt-get update
    for one in libamdhip64-dev librocblas-dev libmiopen-dev; do
        candidate=$(inside apt-cache policy "$one" | sed -n 's/^ *Candidate: //p')
        case $candidate in
        6.4.*) continue ;;
        esac
        echo "$one is ${candidate:-not} in the archive, and not of ROCm 6.4:" \
            "RECIPE_MIRROR=ADDRESS of an older day (RECIPE_ANYWAY=1 tries)"
        [ -n "${RECIPE_ANYWAY-}" ] || return 1
    done
    # Several words are wanted.
    # shellcheck disable=SC2086
    inside apt-get install -qy --no-install-recommends $build_packages
    # ROCm's version, which Debian does not tell: PyTorch would take HIP's, 6.4.43484, for ROCm 10.
    # shellcheck disable=SC2016 # dpkg-query's own
    inside dpkg-query -W -f '${Version}\n' libamdhip64-dev | awk -F '[.-]' '{
        printf "#define ROCM_VERSION_MAJOR %d\n#define ROCM_VERSION_MINOR %d\n", $1, $2
        printf "#define ROCM_VERSION_PATCH %d\n", $3 }' >"$folder/.recipe/rocm_version.h"
    as_root install -D -m 644 "$folder/.recipe/rocm_version.h" "$folder/root/usr/include/rocm-core/rocm_version.h"
}

#: step source 15 4 PyTorch's sources, with those of others that it brings
step_source() {
    [ -e "$folder/root/opt/pytorch/.git/HEAD" ] || inside git clone --branch "$pytorch" --depth 1 \
        https://github.com/pytorch/pytorch /opt/pytorch
    inside git -C /opt/pytorch submodule update --init --recursive --depth 1
}

#: step python 3 1 A Python environment in that root, with the build's own tools
step_python() {
    inside python3 -m venv --clear /opt/torch
    inside /opt/torch/bin/pip install 'setuptools<80' wheel numpy packaging pyyaml requests six \
        'typing-extensions>=4.10' filelock fsspec jinja2 networkx 'sympy>=1.13'
}

#: step hipify 3 1 CUDA made HIP, by PyTorch's own tool
step_hipify() { build "${RECIPE_PYTHON:-/opt/torch/bin/python}" tools/amd_build/build_amd.py; }

#: step configure 10 1 The build described: CMake says which ROCm it found
step_configure() {
    build env CMAKE_ONLY=1 "${RECIPE_PYTHON:-/opt/torch/bin/python}" setup.py build
    # Nothing but the root's own ROCm and LLVM may be in it.
    if grep -n -i '/opt/rocm' "$folder/root/opt/pytorch/build/CMakeCache.txt" | grep -v IGNORE; then
        echo "another ROCm was found, see above" && return 1
    fi
    grep -E '^(HIP|hip|rocblas|miopen|ROCM).*(_DIR|VERSION|PATH)' "$folder/root/opt/pytorch/build/CMakeCache.txt"
}

#: step compile 2400c 15 PyTorch compiled: hours; what was compiled before is kept
step_compile() { build "${RECIPE_PYTHON:-/opt/torch/bin/python}" setup.py bdist_wheel; }

#: step install 2 3 PyTorch and RMCP in that environment
step_install() {
    inside sh -c '/opt/torch/bin/pip install --no-index --force-reinstall --no-deps /opt/pytorch/dist/torch-*.whl'
    [ -n "$wheel" ] ||
        { echo "RMCP's wheel is missing: rmcp recipe $recipe --wheel FILE --run (docs/install.md)" && return 1; }
    as_root cp "$wheel" "$folder/root/opt/"
    inside /opt/torch/bin/pip install --no-index --force-reinstall --no-deps "/opt/$(basename "$wheel")"
}

#: step start 1 0 The command python in the folder, which runs it as you, with your files and the card
step_start() {
    as_root mkdir -p "$folder/root$HOME" # where your files are mounted
    {
        echo '#!/bin/sh'
        echo '# PyTorch for the card and RMCP, in a root of its own: python train.py, python -m rmcp train.py'
        echo "set -- /opt/torch/bin/python \"\$@\""
        [ -z "$override" ] || echo "set -- env HSA_OVERRIDE_GFX_VERSION=$override \"\$@\""
        [ -z "$visible" ] || echo "set -- env HIP_VISIBLE_DEVICES=$visible \"\$@\""
        printf '%s\n' "exec bwrap --bind $(word "$folder/root") / --dev-bind /dev /dev --proc /proc \\"
        echo "    --ro-bind /sys /sys --bind /tmp /tmp --bind \"\$HOME\" \"\$HOME\" --chdir \"\$PWD\" --clearenv \\"
        echo "    --setenv HOME \"\$HOME\" --setenv LANG C.UTF-8 \\"
        echo "    --setenv TERM \"\${TERM:-dumb}\" --setenv PATH /opt/torch/bin:/usr/bin:/bin \"\$@\""
    } >"$folder/python"
    chmod 755 "$folder/python"
}

#: step check 5 0 Is it right? Convolutions and training steps, compared with the processor's
step_check() { "$folder/python" -m rmcp check; }

epilogue() {
    echo "Done. With RMCP for the convolutions:"
    echo "    $folder/python -m rmcp train.py      # in a folder below $HOME: it sees no others"
}

#include "steps.sh"
