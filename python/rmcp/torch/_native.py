"""The optional native part: native.cpp, built for the PyTorch at hand and kept in the cache folder.

It makes the known way of a call short, decides nothing, and is not needed: without it, or with
RMCP_TORCH_NATIVE=0, the Python form does the same. `python -m rmcp.torch build` builds it once for each
PyTorch; from then on it is loaded with the first enable(). Nothing is built unasked: it takes half a minute.
"""
import ctypes
import hashlib
import logging
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile

import torch

from .. import _library as c
from .._version import HEADER, TEXT

SOURCE = pathlib.Path(__file__).resolve().parent / "native.cpp"
OFF = os.environ.get("RMCP_TORCH_NATIVE", "") == "0"
STANDARDS = ("-std=c++17", "-std=c++20")  # newer PyTorch asks for the second

_log = logging.getLogger("rmcp.torch")
_loaded = None  # the library, False when it cannot be had; None: not tried yet
why_not = "not tried yet"
active = False  # aten::convolution goes through it

_Visit = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
                          ctypes.c_int64, ctypes.c_double)
_FUNCTIONS = ("rmcp_conv_plan", "rmcp_plan_destroy", "rmcp_plan_workspace", "rmcp_plan_algorithm",
              "rmcp_conv_execute", "rmcp_last_error")
# c10::cuda::getCurrentCUDAStream(DeviceIndex) and CUDAStream::stream() const, by the names that releases gave them.
_STREAMS = (("_ZN3c104cuda20getCurrentCUDAStreamEa", "_ZNK3c104cuda10CUDAStream6streamEv"),
            ("_ZN3c103hip19getCurrentHIPStreamEa", "_ZNK3c103hip9HIPStream6streamEv"))


def path():
    """Where the part for this PyTorch, this release and this source is, built or not."""
    key = hashlib.sha256(SOURCE.read_bytes() + HEADER.read_bytes())
    for fact in (torch.__version__, getattr(torch.version, "git_version", ""), torch.version.cuda,
                 getattr(torch.version, "hip", None), platform.machine(), torch.compiled_with_cxx11_abi()):
        key.update(f"{fact}\n".encode())
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    release = "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in torch.__version__)
    return pathlib.Path(home, "rmcp", "torch", f"native-{TEXT}-{release}-{key.hexdigest()[:16]}.so")


def _mapped(name):
    """The file that this process has loaded a library of PyTorch from, or None."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                file = line.rstrip("\n").partition("/")[2]
                if file and os.path.basename(file).startswith(name + ".so"):
                    return "/" + file
    except OSError:
        pass
    guess = pathlib.Path(torch.__file__).parent / "lib" / (name + ".so")
    return str(guess) if guess.is_file() else None


def build(say=print):
    """Build the part for this PyTorch and return its path; raises RuntimeError with the reason."""
    compiler = os.environ.get("CXX") or next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    if compiler is None:
        raise RuntimeError("there is no C++ compiler (c++, g++ or clang++); CXX may name one")
    include = pathlib.Path(torch.__file__).resolve().parent / "include"
    if not (include / "ATen" / "Context.h").is_file():
        raise RuntimeError(f"this PyTorch has no headers in {include} (Debian: apt install libtorch-dev)")
    libraries = [_mapped(name) for name in ("libtorch_cpu", "libc10")]
    if None in libraries:
        raise RuntimeError("the libraries of this PyTorch were not found")
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(prefix="native-", suffix=".part", dir=target.parent)
    os.close(handle)
    command = [*compiler.split(), "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w",
               f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}", f"-I{HEADER.parent}",
               f"-I{include}", f"-I{include / 'torch' / 'csrc' / 'api' / 'include'}", str(SOURCE), "-o", part,
               *libraries]
    say(f"building {target} (half a minute)")
    try:
        for standard in STANDARDS:
            run = subprocess.run([command[0], standard, *command[1:]], capture_output=True, text=True)
            if run.returncode == 0:
                os.chmod(part, 0o755)
                os.replace(part, target)
                return target
        errors = [line for line in run.stderr.splitlines() if "error" in line] or run.stderr.splitlines()
        raise RuntimeError(f"{compiler} failed: " + "\n".join(errors[:5]))
    finally:
        if os.path.exists(part):
            os.unlink(part)


def _stream_functions():
    """Addresses of the two functions for the current stream; zeros where PyTorch has no GPU."""
    for library in ("libc10_cuda", "libc10_hip"):
        file = _mapped(library)
        if file is None:
            continue
        loaded = ctypes.CDLL(file)
        for names in _STREAMS:
            try:
                return [ctypes.cast(getattr(loaded, name), ctypes.c_void_p).value for name in names]
            except AttributeError:
                pass
    return [0, 0]


def _load():
    if OFF:
        raise OSError("RMCP_TORCH_NATIVE=0")
    file = path()
    facts = file.stat()  # FileNotFoundError: not built
    if facts.st_uid not in (0, os.geteuid()) or facts.st_mode & 0o022:
        raise OSError(f"{file} belongs to, or can be written by, somebody else")
    library = ctypes.CDLL(str(file))
    engine = c.library()
    streams = _stream_functions()
    addresses = [ctypes.cast(getattr(engine, name), ctypes.c_void_p).value for name in _FUNCTIONS] + streams
    library.rmcp_native_start((ctypes.c_void_p * len(addresses))(*addresses))
    library.has_streams = bool(streams[0])
    for name, arguments in (("take", [ctypes.c_int]), ("pause", [ctypes.c_int]), ("forget", [ctypes.c_int]),
                            ("rows", [_Visit, ctypes.c_int])):
        function = getattr(library, "rmcp_native_" + name)
        function.restype, function.argtypes = None, arguments
    return library


def library():
    """The native part, or None; loaded once. `why_not` then has the reason."""
    global _loaded, why_not
    if _loaded is None:
        try:
            _loaded, why_not = _load(), ""
        except FileNotFoundError:
            _loaded, why_not = False, "not built for this PyTorch: python -m rmcp.torch build"
        except (OSError, AttributeError) as error:
            _loaded, why_not = False, str(error)
        _log.debug("the native part of rmcp.torch: %s", why_not or "loaded")
    return _loaded or None


_slow = None  # keeps the operators that native.cpp calls where it knows nothing


def _define_slow():
    global _slow
    if _slow is not None:
        return
    from . import _autograd, _ops
    _slow = torch.library.Library("rmcp_slow", "DEF")
    schema = str(torch.ops.aten.convolution.default._schema)
    _slow.define(schema[schema.index("convolution("):])
    for key in ("CPU", "CUDA"):
        _slow.impl("convolution", _autograd.convolution, f"Autograd{key}")
        _slow.impl("convolution", _autograd.convolution_below_autograd, key)
    for name, function in (("input", _autograd.slow_input_gradient), ("weight", _autograd.slow_weight_gradient)):
        _slow.define(f"{name}_gradient(Tensor grad, Tensor other, int[] size, {_ops.INT_CONF}, bool channels_last)"
                     " -> Tensor")
        _slow.impl(f"{name}_gradient", function, "CompositeImplicitAutograd")


def take(config):
    """Let aten::convolution go through the native part, where it can serve `config`. False: it cannot."""
    global active
    native = None if config.offload or config.timing else library()
    if native is None or ("cuda" in config.device_types and torch.cuda.is_available() and not native.has_streams):
        return False
    _define_slow()
    native.rmcp_native_forget(0)
    native.rmcp_native_take(sum({"cpu": 1, "cuda": 2}[name] for name in config.device_types))
    active = True
    return True


def give_back():
    global active
    if active:
        active = False
        _loaded.rmcp_native_take(0)
        _loaded.rmcp_native_forget(0)


def pause(on):
    """Leave everything to the Python form for a while: report() looks at every call."""
    if active:
        _loaded.rmcp_native_pause(int(on))


def after_fork():
    if _loaded:
        _loaded.rmcp_native_forget(1)


def admit(input, weight, bias, arguments, last, text="", reason=""):
    """A signature that RMCP takes, or leaves to PyTorch for a reason."""
    torch.ops.rmcp_native.admit(input, weight, bias, *arguments, last, text, reason)


def learn(like, slot, sizes, conf, last, layer, problem, pass_, options, text):
    """A pass that has just been executed and may go the short way from now on."""
    torch.ops.rmcp_native.learn(like, slot, *sizes, *conf, last, layer.device.handle.value,
                                ctypes.addressof(problem), pass_, *options, text, layer.spec)


def rows(reset=False):
    """What was counted there: (case, device, algorithm, reason, operation, calls, seconds), then forgotten if asked."""
    found = []
    if _loaded:
        def visit(text, device, algorithm, reason, operation, calls, seconds):
            found.append((text.decode(), device.decode(), algorithm.decode(), reason.decode() or None, operation,
                          calls, None if seconds < 0 else seconds))
        _loaded.rmcp_native_rows(_Visit(visit), int(reset))
    return found
