"""RMCP's MIOpen in the place of the one that PyTorch for ROCm would load. Import it before torch:

    import rmcp.miopen
    import torch

for programs that cannot be started with `rmcp run` (notebooks, ComfyUI). MIOpen is AMD's library for
convolutions and batch normalisation. The dynamic linker takes a library that is loaded already under the
name that is needed, so ours must come first; afterwards it is too late, and the import says so.

status() tells which MIOpen the process uses. RMCP_DISABLE=1 leaves everything as it is.
RMCP_MIOPEN_LIBRARY names the folder with our libMIOpen.so.1 and wheel/libMIOpen.so, or one file.
"""
import ctypes
import glob
import importlib.util
import os
import pathlib
import re
import sys
import warnings

from . import _library

__all__ = ["MiopenWarning", "NotFound", "TooLate", "status"]

_SYSTEM, _WHEEL = "libMIOpen.so.1", "libMIOpen.so"
_MARK, _LARGEST = b"RMCP_MIOPEN_ORIGINAL", 1 << 26  # AMD's is larger, and has no such word in it


class TooLate(ImportError):
    """Another MIOpen is loaded already."""


class NotFound(ImportError):
    """RMCP's libMIOpen is not where the package and librmcp are."""


class MiopenWarning(UserWarning):
    """No MIOpen will be called: there is no PyTorch for ROCm."""


def _is_ours(path):
    try:
        return os.path.getsize(path) <= _LARGEST and _MARK in pathlib.Path(path).read_bytes()
    except OSError:
        return False


def _mapped(start):
    """The libraries of this process whose names begin so, in the order of their addresses."""
    found = []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").split(None, 5)[-1]
            if os.path.basename(path).startswith(start) and path not in found:
                found.append(path)
    return found


class _Place(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("address", ctypes.c_void_p)]


def _reached():
    """The library that a call of miopenCreate reaches from here, or None."""
    everything, place = ctypes.CDLL(None), _Place()
    try:
        function = ctypes.cast(everything.miopenCreate, ctypes.c_void_p)
        everything.dladdr.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Place))
        return os.fsdecode(place.file) if everything.dladdr(function, ctypes.byref(place)) else None
    except AttributeError:
        return None


class _Torch:
    """The PyTorch that would be imported, by its files."""

    def __init__(self):
        try:
            spec = importlib.util.find_spec("torch")
        except (ImportError, ValueError):
            spec = None
        self.folder = os.path.dirname(os.path.abspath(spec.origin)) if spec and spec.origin else None
        self.version = self.hip = ""
        if not self.folder:
            return
        try:
            text = pathlib.Path(self.folder, "version.py").read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        for name, attribute in (("__version__", "version"), ("hip", "hip")):
            match = re.search(rf"""^{name}\b[^=\n]*=\s*['"]([^'"\n]*)['"]""", text, flags=re.M)
            setattr(self, attribute, match.group(1) if match else "")

    def __bool__(self):
        """Whether it is for ROCm."""
        return bool(self.folder) and (bool(self.hip) or os.path.exists(self.folder + "/lib/libtorch_hip.so"))

    def __str__(self):
        return f"PyTorch {self.version} in {self.folder}" if self.folder else "no PyTorch"


def _sdk():
    """libMIOpen.so.1 of ROCm as Python packages (TheRock), or None."""
    for folder in sys.path:
        found = sorted(glob.glob(glob.escape(folder or ".") + "/_rocm_sdk_libraries*/lib/" + _SYSTEM))
        if found:
            return os.path.abspath(found[0])
    return None


def _system():
    """A libMIOpen.so.1 where the dynamic linker usually finds one, or None."""
    folders = [*os.environ.get("LD_LIBRARY_PATH", "").split(":"), sys.prefix + "/lib", "/opt/rocm/lib",
               "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"]
    for folder in folders:
        path = os.path.join(folder, _SYSTEM)
        if folder and os.path.exists(path):
            return os.path.abspath(path)
    return None


def _needed(torch):
    """The name of the copy that is needed, and the library that it replaces (None: not known)."""
    bundled = f"{torch.folder}/lib/{_WHEEL}"
    sdk = _sdk()
    if torch and sdk and (os.path.exists(torch.folder + "/_rocm_init.py") or not os.path.exists(bundled)):
        return _SYSTEM, sdk
    if torch and os.path.exists(bundled):
        return _WHEEL, bundled
    return _SYSTEM, _system()


def _folders():
    """Where our copies may be, best first."""
    named = os.environ.get("RMCP_LIBRARY")
    places = [os.path.dirname(os.path.realpath(named))] if named else []
    places.append(os.path.dirname(os.path.realpath(__file__)))
    yield from places
    yield from (place + below for place in places for below in ("/rmcp", "/src/dropin/miopen", "/native/lib/rmcp"))
    _library.library()  # an installed one: found by the dynamic linker, so it knows where
    for path in _mapped("librmcp.so"):
        yield os.path.join(os.path.dirname(path), "rmcp")


def _copy(name):
    """The path of our copy of that name."""
    below = name if name == _SYSTEM else "wheel/" + name
    named = os.environ.get("RMCP_MIOPEN_LIBRARY")
    if named:
        path = os.path.join(named, below) if os.path.isdir(named) else named
        if not os.path.exists(path):
            raise NotFound(f"RMCP_MIOPEN_LIBRARY is {named}: there is no {path}")
        return path
    for folder in _folders():
        path = os.path.join(folder, below)
        if os.path.exists(path) and _is_ours(path):
            return path
    raise NotFound(f"RMCP's {below} is neither in the package rmcp nor beside librmcp; RMCP_MIOPEN_LIBRARY may "
                   "name its folder")


def _original_of(path):
    """The library itself, or what an installation of ours keeps of it; None where there is neither."""
    if path and _is_ours(path):
        path += ".rmcp-original"
    return path if path and os.path.exists(path) else None


def _load():
    """Load ours where it helps; returns its handle, or None."""
    if os.environ.get("RMCP_DISABLE", "").lower() not in ("", "0", "no", "off", "false"):
        return None
    loaded = _mapped("libMIOpen.so")
    if any(map(_is_ours, loaded)):
        return None  # preloaded by rmcp run, or installed
    if loaded:
        raise TooLate(f"{loaded[0]} is loaded already: import rmcp.miopen before torch. In a notebook restart the "
                      "kernel first; a program can be started with rmcp run")
    torch = _Torch()
    name, original = _needed(torch)
    if not torch and not original:
        found = f"{torch}, without ROCm" if torch.folder else torch
        warnings.warn(f"rmcp.miopen: {found}: no MIOpen will be called, nothing is replaced",
                      MiopenWarning, stacklevel=3)
        return None
    path, original = _copy(name), _original_of(original)
    if original:
        os.environ.setdefault("RMCP_MIOPEN_ORIGINAL", original)
    around = ("", "/rmcp", "/..", "/../..", "/../../..")
    folder = os.path.dirname(os.path.realpath(path))
    if not any(os.path.exists(f"{folder}{step}/librmcp.so.0") for step in around):
        _library.library()  # then it is in the process
    return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)


def status():
    """Which MIOpen this process uses: {"library": its path or None, "rmcp": whether it is ours, "loaded": all
    that are there, "original": the one that ours replaces, where it is known}."""
    loaded = _mapped("libMIOpen.so")
    library = _reached() or (loaded[0] if loaded else None)
    return {"library": library, "rmcp": bool(library) and _is_ours(library), "loaded": loaded,
            "original": os.environ.get("RMCP_MIOPEN_ORIGINAL")}


_handle = _load()
