#!/usr/bin/env python3
"""Headers in front of PyTorch's own: headers.py FOLDER VERSION FEW-TYPES-FILE, with FOLDER as the chroot has it below /torch.

What cmake would configure; a dispatch over some element types; and the hooks' virtual functions in the order of the
CPU's library, which was compiled without USE_ROCM and has no place for three of them but at the end."""
import pathlib
import re
import sys

folder, version, few = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
source, out = folder / "src", folder / "headers"


def write(name, text):
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:  # an unchanged file keeps its time, and ninja its objects
        path.write_text(text)


config = (source / "aten/src/ATen/cuda/CUDAConfig.h.in").read_text()
config = re.sub(r"@[A-Z_]*@", "0", config.replace("@AT_ROCM_ENABLED@", "1").replace("@NVCC_FLAGS_EXTRA@", ""))
for name in ("ATen/cuda/CUDAConfig.h", "ATen/hip/HIPConfig.h"):
    write(name, config)
for name in ("c10/hip/impl/hip_cmake_macros.h", "c10/cuda/impl/cuda_cmake_macros.h"):
    write(name, "#pragma once\n#define C10_CUDA_BUILD_SHARED_LIBS\n")
write("torch/version.h", f'#pragma once\n#define TORCH_VERSION "{version}"\n')
numbers = "".join(f"#define ROCM_VERSION_{part} {n}\n" for part, n in (("MAJOR", 6), ("MINOR", 4), ("PATCH", 3)))
write("rocm-core/rocm_version.h", numbers + '#define ROCM_BUILD_INFO "debian"\n')

dispatch = (source / "torch/headeronly/core/Dispatch.h").read_text()
macro = re.search(r"(?m)^#define THO_PRIVATE_CASE_TYPE_USING_HINT_TMPL\((?:.*\\\n)*.*\n", dispatch)
inside = f"#ifdef RMCP_TYPES\n{few.read_text()}#else\n{macro.group(0)}#endif\n"
write("torch/headeronly/core/Dispatch.h", dispatch[: macro.start()] + inside + dispatch[macro.end() :])

hooks = (source / "aten/src/ATen/detail/CUDAHooksInterface.h").read_text()
last = re.search(r"\n  virtual void deviceSynchronize\(.*?\n  \}\n", hooks, re.S)
rest = hooks[: last.start()] + hooks[last.end() :]
start = rest.index("struct TORCH_API CUDAHooksInterface")
at = re.compile(r"#if(def| defined\()\s*USE_ROCM").search(rest, start).start()
write("ATen/detail/CUDAHooksInterface.h", rest[:at] + last.group(0).lstrip("\n") + "\n" + rest[at:])

# Casts by a type that is known when a kernel runs: each of some thirty types (8-bit floats in software among them), in
# each place of each unrolled kernel, is most of the time to compile.
casts = (source / "c10/core/DynamicCast.h").read_text()
for case in ("FETCH_AND_CAST_CASE", "CAST_AND_STORE_CASE"):
    whole = re.search(rf"    AT_FORALL_SCALAR_TYPES_WITH_COMPLEX\({case}\)\n(?:    {case}\(.*\)\n)*", casts)
    pairs = (("float", "Float"), ("at::Half", "Half"), ("int64_t", "Long"), ("int", "Int"), ("bool", "Bool"))
    fewer = "".join(f"    {case}({cpp}, {name})\n" for cpp, name in pairs)
    inside = f"#ifdef RMCP_TYPES\n{fewer}#else\n{whole.group(0)}#endif\n"
    casts = casts[: whole.start()] + inside + casts[whole.end() :]
write("c10/core/DynamicCast.h", casts)
