"""Makes the wheel: a PEP 517 backend that needs nothing but Python, for `pip install python/`, and a command:

    build_backend.py FOLDER [PLATFORM]    e.g. dist manylinux_2_34_x86_64

A wheel is a zip of the package, what is known about it, and a list of hashes. Into rmcp/native go the command, librmcp,
the MIOpen drop-in and the simulated card, in the folders bin and lib as they are installed anywhere else:

    RMCP_NATIVE=FOLDER       those of this installation or package (its bin and lib)
    RMCP_NATIVE=none         none: a wheel of Python alone, which takes the librmcp of the system
    RMCP_LIBRARY=FILE        this librmcp, and the drop-in beside it
    otherwise                those of ../build; without a build there, none

The same input and SOURCE_DATE_EPOCH give the same bytes.
"""
import base64
import hashlib
import os
import pathlib
import runpy
import sys
import sysconfig
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SUMMARY = "Convolutions, forward and backward, on whichever device is there; a drop-in for PyTorch's"
DROPIN = ("libMIOpen.so.1", "wheel/libMIOpen.so")


def _beside(library):
    """The drop-in that belongs to a librmcp: {name below lib/rmcp: path}, whole or not at all."""
    for below in ("src/dropin/miopen", "rmcp"):
        files = {name: library.resolve().parent / below / name for name in DROPIN}
        if all(path.is_file() for path in files.values()):
            return files
    return {}


def _of_library(library):
    files = {"lib/librmcp.so.0": library}
    files.update({f"lib/rmcp/{name}": path for name, path in _beside(library).items()})
    return files


def _of_build(folder):
    files = _of_library(folder / "librmcp.so")
    for name, path in (("bin/rmcp", folder / "rmcp"),
                       ("lib/rmcp/librmcp-sim.so", folder / "sim/driver/librmcp-sim.so")):
        if path.is_file():
            files[name] = path
    return files


def _of_installation(prefix):
    """What is below bin and lib, but for what only compilers want; of several names of a library the one that is
    loaded."""
    found = {}
    for path in sorted(p for below in ("bin", "lib") for p in (prefix / below).rglob("*")):
        name = path.relative_to(prefix).as_posix()
        if path.is_file() and not name.startswith(("lib/pkgconfig/", "lib/python")):
            found[name] = path
    library = "lib/librmcp.so.0"
    if library not in found:
        raise SystemExit(f"RMCP_NATIVE is {prefix}, which has no {library}")
    return {name: path for name, path in found.items() if name == library or not name.startswith("lib/librmcp.so")}


def native_files():
    """{name below rmcp/native: path}; empty for a wheel of Python alone."""
    prefix, library = os.environ.get("RMCP_NATIVE"), os.environ.get("RMCP_LIBRARY")
    build = HERE.parent / "build"
    if prefix == "none":
        return {}
    if prefix:
        return _of_installation(pathlib.Path(prefix).resolve())
    if library:
        if not pathlib.Path(library).is_file():
            raise SystemExit(f"RMCP_LIBRARY is {library}, which is no file")
        return _of_library(pathlib.Path(library))
    return _of_build(build) if (build / "librmcp.so").is_file() else {}


def _licences():
    """Ours, and those of the libraries that a package carries."""
    found = {}
    ours = HERE.parent / "LICENSE"
    if ours.is_file():
        found["LICENSE"] = ours
    prefix = os.environ.get("RMCP_NATIVE", "none")
    if prefix != "none":
        found.update((path.name, path) for path in pathlib.Path(prefix, "share/doc/rmcp/licences").glob("*"))
    return found


def _contents(platform):
    """[(name in the wheel, bytes, whether it is a program)] and the wheel's name."""
    about = runpy.run_path(str(HERE / "rmcp" / "_version.py"))
    native = native_files()
    tag = f"py3-none-{platform}" if native else "py3-none-any"
    info = f"rmcp-{about['TEXT']}.dist-info"
    files = {f"rmcp/{path.relative_to(HERE / 'rmcp').as_posix()}": path
             for path in (HERE / "rmcp").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    files["rmcp/rmcp.h"] = pathlib.Path(about["HEADER"])
    files.update({f"rmcp/native/{name}": path for name, path in native.items()})
    files.update({f"{info}/licenses/{name}": path for name, path in _licences().items()})
    rows = [(name, path.read_bytes(), name.startswith("rmcp/native/bin/")) for name, path in sorted(files.items())]
    text = {
        "METADATA": f"Metadata-Version: 2.1\nName: rmcp\nVersion: {about['TEXT']}\nSummary: {SUMMARY}\n"
                    "License: MIT\nRequires-Python: >=3.8\n",
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: rmcp\nRoot-Is-Purelib: {'false' if native else 'true'}\nTag: {tag}\n",
        "entry_points.txt": "[console_scripts]\nrmcp = rmcp._command:main\n",
        "top_level.txt": "rmcp\n",
    }
    rows += [(f"{info}/{name}", words.encode(), False) for name, words in sorted(text.items())]
    return rows, info, f"rmcp-{about['TEXT']}-{tag}.whl"


def _record(rows, info):
    lines = []
    for name, data, _program in rows:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{info}/RECORD,,\n"


def write(folder, platform):
    """Write the wheel into the folder; returns its name."""
    rows, info, name = _contents(platform)
    rows.append((f"{info}/RECORD", _record(rows, info).encode(), False))
    earliest = 315532800  # 1980: a zip has no date before
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", earliest)), earliest))[:6]
    with zipfile.ZipFile(pathlib.Path(folder, name), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for path, data, program in rows:
            entry = zipfile.ZipInfo(path, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: the rights below count
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            wheel.writestr(entry, data)
    return name


# ---- the hooks that pip calls ----

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    del config_settings, metadata_directory
    return write(wheel_directory, sysconfig.get_platform().replace("-", "_").replace(".", "_"))


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the source is the whole checkout: git archive")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        raise SystemExit(__doc__)
    if len(sys.argv) == 3:
        print(write(sys.argv[1], sys.argv[2]))
    else:
        print(build_wheel(sys.argv[1]))
