#!/usr/bin/env python3
"""Links what has been compiled of PyTorch's HIP code: link.py LIBRARY TARGET…, inside the chroot.

The code of all targets goes into one library, as in AMD's wheels: a bundle for each kernel file. What is still
undefined becomes a function that throws its name, so that a build that is under way can be used."""
import glob
import os
import pathlib
import re
import subprocess
import sys

torch = pathlib.Path("/torch")
library, *targets = pathlib.Path(sys.argv[1]), *sys.argv[2:]
work = torch / "link" / "-".join(targets)
work.mkdir(parents=True, exist_ok=True)
HOST = "host-x86_64-unknown-linux-gnu"


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True)


def bundle(stem, codes):
    """One file with the code of all targets, made anew only when one of them is newer."""
    out = work / (stem + ".hipfb")
    made = work / (stem + ".targets")
    if out.exists() and made.exists() and made.read_text() == " ".join(codes):
        if all(out.stat().st_mtime > os.path.getmtime(c) for c in codes.values()):
            return out
    kinds = ",".join([HOST] + [f"hipv4-amdgcn-amd-amdhsa--{target}" for target in codes])
    inputs = ["-input=/dev/null"] + [f"-input={code}" for code in codes.values()]
    run("clang-offload-bundler-21", "-type=o", "-bundle-align=4096", f"-targets={kinds}", *inputs, f"-output={out}")
    made.write_text(" ".join(codes))
    return out


def symbol_of(host_object):
    """The name under which the host's code of a kernel file looks for its bundle; None without kernels."""
    kept = work / (host_object.name + ".symbol")
    if not kept.exists() or kept.stat().st_mtime < host_object.stat().st_mtime:
        found = re.findall(r"\b(__hip_fatbin\w*)", run("nm", "-u", str(host_object)).stdout)
        kept.write_text(found[0] if found else "")
    return kept.read_text() or None


def collect():
    """Objects to be linked, and the assembler's lines that hold the bundles."""
    whole_registration = "/torch/host/gen_ATen_RegisterCUDA_0.cpp.o"
    objects, lines, n_kernel_files = [], ['.section .hip_fatbin,"a",@progbits'], 0
    for path in sorted(glob.glob("/torch/host/*.o")):
        host_object = pathlib.Path(path)
        stem = host_object.name[:-2]
        if stem == "gen_RegisterFew.cpp" and os.path.exists(whole_registration):
            continue
        if stem.endswith(".hip"):
            codes = {t: f"/torch/{t}/{stem}.co" for t in targets if os.path.exists(f"/torch/{t}/{stem}.co")}
            symbol = symbol_of(host_object)
            n_kernel_files += bool(codes)  # without any, kernels end with "invalid device function", as in a wheel
            if symbol:
                lines += [".p2align 12", f".globl {symbol}", f".hidden {symbol}", f"{symbol}:"]
                lines += [f'.incbin "{bundle(stem, codes)}"']
        objects.append(path)
    return objects, lines, n_kernel_files


def link(objects, *more):
    (work / "map").write_text("{ local: *; };\n")
    return run(
        "clang++-21", "-fuse-ld=lld", "-shared", "-o", f"{library}.new", *objects, *more,
        "-Wl,-Bsymbolic", f"-Wl,--version-script={work}/map", "-Wl,-z,defs", "-Wl,--error-limit=0", "-Wl,--no-demangle",
        "-ltorch_cpu", "-lc10", "-lamdhip64", "-lMIOpen", "-lhipblas", "-lrocblas", "-lhiprtc", check=False,
    )  # fmt: skip


def stubs(names):
    plain = run("c++filt", *names).stdout.splitlines() if names else []
    lines = [".text"]
    for i, (name, text) in enumerate(zip(names, plain)):
        text = text.replace("\\", "").replace('"', "")
        lines += [f".globl {name}", f".type {name},@function", f"{name}:", f"  leaq .Ltext{i}(%rip), %rdi"]
        lines += ["  jmp rmcp_not_compiled", ".section .rodata", f'.Ltext{i}: .string "{text}"', ".text"]
    return lines


def assemble(name, lines):
    (work / f"{name}.s").write_text("\n".join(lines + ['.section .note.GNU-stack,"",@progbits', ""]))
    run("gcc", "-c", str(work / f"{name}.s"), "-o", str(work / f"{name}.o"))
    return str(work / f"{name}.o")


def main():
    objects, lines, n_kernel_files = collect()
    run("g++", "-fPIC", "-O1", "-c", "/torch/support.cpp", "-o", str(work / "support.o"))
    objects += [assemble("bundles", lines), str(work / "support.o")]
    first = link(objects)
    missing = sorted(set(re.findall(r"undefined (?:hidden |protected )?symbol: (\S+)", first.stderr)))
    others = [line for line in first.stderr.splitlines() if "lld: error:" in line and "undefined" not in line]
    if others or (first.returncode and not missing):
        sys.exit("\n".join(others[:20] or first.stderr.splitlines()[:20]))
    if missing:
        second = link(objects, assemble("stubs", stubs(missing)))
        if second.returncode:
            sys.exit(second.stderr[:4000])
    os.rename(f"{library}.new", library)
    names = run("c++filt", *missing).stdout.splitlines() if missing else []
    (work / "missing.txt").write_text("".join(n + "\n" for n in names))
    print(f"linked {n_kernel_files} kernel files for {' and '.join(targets)}; {len(missing)} functions not compiled")


if __name__ == "__main__":
    main()
