#!/usr/bin/env python3
"""Headers in front of PyTorch's own: headers.py FOLDER VERSION FEW-TYPES-FILE, with FOLDER as the chroot has it below
/torch.

What cmake would configure; a dispatch over some element types; and the hooks' virtual functions in the order of the
CPU's library, which was compiled without USE_ROCM and has no place for three of them but at the end.
headers-double has the dispatch and the casts with double, for a few files (graph.py)."""
import pathlib
import re
import sys

folder, version, few = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
source, out, doubles = folder / "src", folder / "headers", folder / "headers-double"


def write(name, text, out=out):
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
no_other = "    default: return 0;\n"
with_double = few.read_text().replace(no_other, "    case c10::ScalarType::Double: return 'd';\n" + no_other)
for place, types in ((out, few.read_text()), (doubles, with_double)):
    inside = f"#ifdef RMCP_TYPES\n{types}#else\n{macro.group(0)}#endif\n"
    write("torch/headeronly/core/Dispatch.h", dispatch[: macro.start()] + inside + dispatch[macro.end() :], place)

hooks = (source / "aten/src/ATen/detail/CUDAHooksInterface.h").read_text()
last = re.search(r"\n  virtual void deviceSynchronize\(.*?\n  \}\n", hooks, re.S)
rest = hooks[: last.start()] + hooks[last.end() :]
start = rest.index("struct TORCH_API CUDAHooksInterface")
at = re.compile(r"#if(def| defined\()\s*USE_ROCM").search(rest, start).start()
write("ATen/detail/CUDAHooksInterface.h", rest[:at] + last.group(0).lstrip("\n") + "\n" + rest[at:])

# Casts by a type that is known when a kernel runs: each of some thirty types (8-bit floats in software among them), in
# each place of each unrolled kernel, is most of the time to compile. The host, which reads scalars by it, has them all.
pairs = [("float", "Float"), ("at::Half", "Half"), ("int64_t", "Long"), ("int", "Int"), ("bool", "Bool")]
for place, types in ((out, pairs), (doubles, pairs + [("double", "Double")])):
    casts = (source / "c10/core/DynamicCast.h").read_text()
    for case in ("FETCH_AND_CAST_CASE", "CAST_AND_STORE_CASE"):
        whole = re.search(rf"    AT_FORALL_SCALAR_TYPES_WITH_COMPLEX\({case}\)\n(?:    {case}\(.*\)\n)*", casts)
        fewer = "".join(f"    {case}({cpp}, {name})\n" for cpp, name in types)
        inside = f"#if defined(RMCP_TYPES) && defined(__HIP_DEVICE_COMPILE__)\n{fewer}#else\n{whole.group(0)}#endif\n"
        casts = casts[: whole.start()] + inside + casts[whole.end() :]
    write("c10/core/DynamicCast.h", casts, place)
