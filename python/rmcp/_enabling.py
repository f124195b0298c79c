"""Enables rmcp.torch when a program imports torch, and not before.

python -m rmcp arms it, and so does the .pth file of python -m rmcp --install-hook when RMCP_TORCH is set. That one
loads this file at Python's start and by its path: it needs nothing but sys until torch is there.
"""
import sys

ON, OFF = ("1", "yes", "on", "true", "auto"), ("", "0", "no", "off", "false")
_GPU = ("cuda", "gpu", "hip", "rocm")  # AMD's GPUs are "cuda" to PyTorch

failure = None  # why enabling did not work, in one line


def read(text):
    """What RMCP_TORCH or --device says: None for nothing, else the arguments of rmcp.torch.enable(); without
    device_types for what the PyTorch at hand is made for. Raises ValueError."""
    word = text.strip().lower()
    if word in OFF:
        return None
    if word in ON:
        return {}
    if word.startswith("offload:") and word[8:]:
        return {"device_types": ("cpu",), "offload": text.strip()[8:]}
    names = tuple(dict.fromkeys("cuda" if name in _GPU else name for name in word.split(",")))
    if not all(name in ("cpu", "cuda") for name in names):
        raise ValueError(f"{text!r} is no device: auto, cuda (AMD's GPUs, too), cpu, cpu,cuda, or offload: and a "
                         "device of RMCP, such as offload:opencl")
    return {"device_types": names}


def say(line):
    if sys.stderr is not None:
        sys.stderr.write(f"rmcp: {line}\n")


def _rmcp_torch():
    try:
        import rmcp.torch
    except ModuleNotFoundError as error:
        if error.name != "rmcp":
            raise
        sys.path.append(__file__.replace("\\", "/").rsplit("/", 2)[0])  # RMCP lies outside of this Python's folders
        import rmcp.torch
    return rmcp.torch


def enable(arguments):
    """Enable now, as read() said. PyTorch is in the process."""
    arguments = dict(arguments)
    version = sys.modules["torch"].version
    if "device_types" not in arguments:
        on_gpu = getattr(version, "cuda", None) or getattr(version, "hip", None)
        arguments["device_types"] = ("cuda",) if on_gpu else ("cpu",)
    _rmcp_torch().enable(**arguments)


def _try(arguments):
    """The same, for programs that know nothing of RMCP: what fails is said, and they go on."""
    global failure
    try:
        enable(arguments)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
        say(f"RMCP is not enabled, PyTorch's own kernels do all convolutions: {failure}")


class _Loader:
    """torch's own loader, and what follows when it is done."""

    def __init__(self, loader, finder):
        self._loader, self._finder = loader, finder

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._finder.disarm()
        _try(self._finder.arguments)


class RmcpFinder:
    """Finds torch as the others find it, with a loader of ours around its own."""

    def __init__(self, arguments):
        self.arguments, self._searching = arguments, False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self._searching:
            return None
        self._searching = True
        try:
            for finder in list(sys.meta_path):
                find = getattr(finder, "find_spec", None)
                spec = find(name, path, target) if find is not None and finder is not self else None
                if spec is not None:
                    if hasattr(spec.loader, "exec_module"):
                        spec.loader = _Loader(spec.loader, self)
                    return spec
        finally:
            self._searching = False
        return None

    def disarm(self):
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def _waiting():
    """Finders that wait for torch; another copy of this file, by the .pth file, may have armed one."""
    return [finder for finder in sys.meta_path if type(finder).__name__ == "RmcpFinder" and hasattr(finder, "disarm")]


def armed():
    """Whether torch is still waited for."""
    return bool(_waiting())


def disarm():
    """Wait for torch no longer."""
    for finder in _waiting():
        finder.disarm()


def arm(text):
    """Enable as `text` says (read()) when torch is imported: now, if it is there already."""
    arguments = read(text)
    if arguments is None:
        return
    if "torch" in sys.modules:
        _try(arguments)
        return
    disarm()  # the later word counts
    sys.meta_path.insert(0, RmcpFinder(arguments))
