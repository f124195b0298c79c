#!/bin/sh
# Runs the PyTorch tests with another Debian's PyTorch in a chroot; by hand, as root, with a network.
# usage: torch_newer.sh [RELEASE [FOLDER]]   trixie (Debian 13, PyTorch 2.6) unless told otherwise, such as sid;
#                                            the chroot is kept and reused (default: ~/.cache/rmcp/RELEASE)
# Exit status 77 (skip) when the packages cannot be had.
set -eu
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/debian.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
release=${1:-trixie}
root=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/rmcp/$release}
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
need debootstrap
debian_chroot "$root" "$release" python3-torch python3-torchvision libtorch-dev python3-numpy g++ python3-dev gcc \
    libc6-dev meson ninja-build pkg-config binutils libdnnl-dev libcjson-dev opencl-headers zlib1g-dev libzstd-dev \
    libbz2-dev libsqlite3-dev ocl-icd-libopencl1 pocl-opencl-icd

mkdir -p "$root/rmcp"
tar -C "$source" --exclude=./build --exclude='./build-*' --exclude=./.git -cf - . | tar -C "$root/rmcp" -xf -
inside() {
    chroot "$root" /usr/bin/env HOME=/root OMP_WAIT_POLICY=passive RMCP_LIBRARY=/rmcp/build13/librmcp.so \
        PYTHONPATH=/rmcp/python sh -c "cd /rmcp && $1"
}
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/sys" || mount -t sysfs -o ro sysfs "$root/sys" # PoCL asks it for the memory
trap 'umount "$root/proc" "$root/sys"; rm -rf "$work"' EXIT
inside "[ -f build13/build.ninja ] || meson setup -Dwerror=false build13 >/dev/null"
inside "meson compile -C build13 rmcp:shared_library >/dev/null"
inside "python3 -c 'import torch; print(\"PyTorch\", torch.__version__)'"
inside "python3 -m rmcp.torch build"
status=0
for test in sweep models use wrong compile tracing status; do
    echo "== $test"
    inside "RMCP_TORCH_NATIVE=0 python3 tests/python/test_torch_$test.py" || status=1
done
for test in native sweep models use wrong compile tracing status; do
    echo "== $test, native"
    inside "RMCP_TORCH_NATIVE=1 python3 tests/python/test_torch_$test.py" || status=1
done
exit $status
