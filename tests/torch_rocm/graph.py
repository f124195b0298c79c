#!/usr/bin/env python3
"""Writes build.ninja for PyTorch's HIP code: graph.py FOLDER ORDER-FILE TARGET TYPES, with FOLDER as the chroot has it
below /torch. TYPES are letters: f (float), h (half), l (int64), i (int32), b (bool): kernels for others are left out. A
few files have double, too: GradScaler's reciprocal of the scale.

Each kernel file is compiled twice by itself: for the host, once for all targets (the code is an external symbol then,
which link.py fills), and for the card, once a target. ninja goes through a file's edges in the order of the file."""
import glob
import os
import sys

DEFINES = (
    "-D__HIP_PLATFORM_AMD__=1 -DCUDA_HAS_FP16=1 -DUSE_ROCM "
    "-D__HIP_NO_HALF_OPERATORS__=1 -D__HIP_NO_HALF_CONVERSIONS__=1 "
    "-DTORCH_HIP_VERSION=604 -DROCM_VERSION=60403 -DCAFFE2_USE_MIOPEN -DUSE_MIOPEN -DHIPBLAS_V2 "
    "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_HIP -DHIP_ENABLE_WARP_SYNC_BUILTINS -DAT_PER_OPERATOR_HEADERS "
    "-DTORCH_HIP_BUILD_MAIN_LIB -DTORCH_CUDA_BUILD_MAIN_LIB -DC10_CUDA_BUILD_MAIN_LIB -DFMT_HEADER_ONLY=1 -DNDEBUG "
    "-DFLASHATTENTION_DISABLE_ALIBI"
)
INCLUDES = (
    "-I/torch/headers -I/torch/src -I/torch/src/aten/src -I/torch/src/aten/src/ATen/hip -I/torch/fmt "
    "-isystem /usr/include/rocm-core"
)
COMMON = f"-std=c++20 -fPIC -ffunction-sections -fdata-sections -w {DEFINES} {INCLUDES}"
HIP = f"clang++-21 -x hip -D__HIPCC__=1 -fno-gpu-rdc -fclang-abi-compat=17 {COMMON}"
TIMED = "/torch/timed.sh /torch/times $out"
WITH_DOUBLE = ("Copy", "UnaryFractionKernels")  # their headers are headers.py's second set, which nothing else includes
# What only programs with NVIDIA's libraries, tests and Composable Kernel have.
LEFT_OUT = (
    "/test/", "/flash_attn/", "/bgemm_kernels/", "/ck_", "HIPTest.cpp", "nvrtc_stub", "Everything", "AutocastRNN.cpp"
)  # fmt: skip


def sources(folder, *patterns):
    found = []
    for pattern in patterns:
        found += sorted(glob.glob(f"{folder}/{pattern}"))
    return ["/torch" + name[len(folder) :] for name in found if not any(word in name for word in LEFT_OUT)]


def stem_of(name):
    """What the order calls a file; those for sparse, quantized and nested tensors have other files' names."""
    special = next((word + "/" for word in ("sparse", "quantized", "nested", "cudnn") if f"/{word}/" in name), "")
    return special + os.path.basename(name).rsplit(".", 1)[0]


def in_order(files, order):
    """The files that ORDER names first, by its lines; the others behind them."""
    place = {name: i for i, name in enumerate(order)}
    return sorted(files, key=lambda name: place.get(stem_of(name), len(order)))


def rule(name, command):
    return [
        f"rule {name}",
        f"  command = {TIMED} {command}",
        "  depfile = $out.d",
        "  deps = gcc",
        f"  description = {name} $in",
    ]


def main():
    folder, order_file, target, types = sys.argv[1:5]
    order = [w for line in open(order_file) for w in line.split("#")[0].split()]
    needed_names = order[: order.index("--")]
    aten = "src/aten/src/ATen"
    files = sources(
        folder, "src/c10/hip/*.cpp", "src/c10/hip/impl/*.cpp", f"{aten}/hip/*.cpp", f"{aten}/hip/detail/*.cpp",
        f"{aten}/hip/impl/*.cpp", f"{aten}/hip/tunable/*.cpp", f"{aten}/miopen/*.cpp", f"{aten}/native/miopen/*.cpp",
        f"{aten}/native/hip/*.cpp", f"{aten}/native/hip/linalg/*.cpp", f"{aten}/native/*/hip/*.cpp",
        "gen/RegisterFew.cpp", "gen/ATen/Register*CUDA_0.cpp", "gen/*.hip", f"{aten}/hip/*.hip",
        f"{aten}/hip/detail/*.hip", f"{aten}/native/hip/*.hip", f"{aten}/native/*/hip/*.hip",
    )  # fmt: skip
    files = in_order(files, order)
    n_needed = sum(stem_of(name) in needed_names for name in files)
    # The builddir is one for all targets: the host's objects are shared.
    lines = ["ninja_required_version = 1.5", "builddir = /torch/log"]
    for_host = "-O0 --cuda-host-only"
    for_card = f"-O3 --cuda-device-only --no-gpu-bundle-output --offload-arch={target}"
    hip = f"{HIP} -DRMCP_TYPES='\"{types}\"'"
    host, card = f"{hip} {for_host}", f"{hip} {for_card}"
    double = f"{HIP} -DRMCP_TYPES='\"{types}d\"'".replace(
        "-I/torch/headers ", "-I/torch/headers-double -I/torch/headers "
    )
    double += " -include /torch/kernel_prefix.h -MMD -MF $out.d -c $in -o $out"
    compiled = "-Xclang -include-pch -Xclang"
    header = "-fsyntax-only -Xclang -emit-pch -Xclang -o -Xclang $out $in"
    lines += rule("cxx", f"g++ -O0 {COMMON} -include /torch/prefix.h -MMD -MF $out.d -c $in -o $out")
    lines += rule("host", f"{host} -cuid=$id {compiled} /torch/host.pch -MMD -MF $out.d -c $in -o $out")
    lines += rule("card", f"{card} {compiled} /torch/{target}.pch -MMD -MF $out.d -c $in -o $out")
    lines += rule("host_double", f"{double} {for_host} -cuid=$id") + rule("card_double", f"{double} {for_card}")
    lines += rule("cxx_header", f"g++ -O0 {COMMON} -x c++-header -MMD -MF $out.d -c $in -o $out")
    lines += ["rule host_header", f"  command = {TIMED} {host} -cuid=header {header}", "  description = host $in"]
    lines += ["rule card_header", f"  command = {TIMED} {card} {header}", "  description = card $in"]
    lines += ["build /torch/prefix.h.gch: cxx_header /torch/prefix.h"]
    lines += ["build /torch/host.pch: host_header /torch/kernel_prefix.h"]
    lines += [f"build /torch/{target}.pch: card_header /torch/kernel_prefix.h"]
    objects, needed = [], []
    for i, name in enumerate(files):
        stem = name[7:].replace("/", "_")
        if name.endswith(".cpp"):
            lines.append(f"build /torch/host/{stem}.o: cxx {name} | /torch/prefix.h.gch")
            objects.append(f"/torch/host/{stem}.o")
        else:
            kind, host_pch, card_pch = "", " | /torch/host.pch", f" | /torch/{target}.pch"
            if stem_of(name) in WITH_DOUBLE:
                kind, host_pch, card_pch = "_double", "", ""
            lines += [f"build /torch/host/{stem}.o: host{kind} {name}{host_pch}", f"  id = {stem}"]
            lines += [f"build /torch/{target}/{stem}.co: card{kind} {name}{card_pch}"]
            objects += [f"/torch/host/{stem}.o", f"/torch/{target}/{stem}.co"]
        if i == n_needed - 1:
            needed = list(objects)
    lines.append("build needed: phony " + " ".join(needed))
    lines.append("build all: phony " + " ".join(objects))
    lines.append("default all")
    with open(f"{folder}/{target}.ninja", "w") as file:
        file.write("\n".join(lines) + "\n")
    print(f"{len(files)} files, {n_needed} of them needed by the models")


if __name__ == "__main__":
    main()
