"""What enable() will catch, and what is in the way: the Status that it returns, and its warnings."""
import functools
import gc
import warnings

import torch

from . import _config, _engine, _native

BYPASS = "prim::mkldnn_convolution"  # what optimize_for_inference puts in the place of a convolution


class Status:
    """What enable() returns. True when it will catch convolutions.

    .device_types: kinds of tensors whose convolutions go to RMCP now; .catches: those of them that this
    PyTorch can have; .native: whether the native part is in use, and .why_not_native; .problems: what is in the
    way, in sentences.
    """

    def __init__(self, device_types, problems, catches):
        self.device_types = tuple(device_types)
        self.catches = tuple(catches)
        self.problems = tuple(problems)
        self.native = _native.active
        self.why_not_native = "" if _native.active else _native.why_not or "not for timing or offload"

    def __bool__(self):
        return bool(self.catches)

    def __str__(self):
        if self.catches:
            text = f"RMCP takes the convolutions of tensors on {' and '.join(self.catches)}"
            text += " (native part)" if self.native else f" (Python form; native part: {self.why_not_native})"
        else:
            text = "RMCP takes no convolutions"
        return "; ".join([text, *self.problems])

    __repr__ = __str__


def no_gpu():
    """Why this PyTorch has no tensors on a GPU; None: it has."""
    if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
        return f"this PyTorch ({torch.__version__}) is built for the CPU alone"
    if not torch.cuda.is_available():
        kind = "ROCm" if getattr(torch.version, "hip", None) else "CUDA"
        return f"this PyTorch ({torch.__version__}, for {kind}) sees no GPU"
    return None


def _is_bypassed(module):
    """Whether a scripted module holds convolutions that no dispatcher sees."""
    try:
        return module.graph.findNode(BYPASS) is not None
    except (AttributeError, RuntimeError):
        return False  # it has no forward


def name_of(module):
    return getattr(module, "original_name", type(module).__name__)


def bypassed():
    """Names of the modules of torch.jit.optimize_for_inference that are alive."""
    kinds = torch.jit.RecursiveScriptModule
    return sorted({name_of(o) for o in gc.get_objects() if issubclass(type(o), kinds) and _is_bypassed(o)})


def say_bypassed(name):
    return (f"the module {name} was made by torch.jit.optimize_for_inference, which gives its convolutions to oneDNN "
            "behind PyTorch's dispatcher: they pass RMCP by (use torch.jit.freeze)")


_original = None  # torch.jit.optimize_for_inference while ours is in its place


def watch(on):
    """Warn of modules that optimize_for_inference makes while RMCP is enabled for the CPU."""
    global _original
    if on and _original is None:
        _original = original = torch.jit.optimize_for_inference

        @functools.wraps(original)
        def optimize_for_inference(*arguments, **named):
            module = original(*arguments, **named)
            if _is_bypassed(module):
                warnings.warn(f"rmcp.torch: {say_bypassed(name_of(module))}", _config.RmcpWarning, stacklevel=2)
            return module

        torch.jit.optimize_for_inference = optimize_for_inference
    elif not on and _original is not None:
        torch.jit.optimize_for_inference, _original = _original, None


def _slow_cpu(config):
    """Why RMCP's own CPU device is slow; None: it is not."""
    try:
        info = _engine.open_device(_engine.device_key(torch.device("cpu"), config)).describe()
    except _engine.Refused as refused:
        return str(refused)
    if info.why.startswith(b"slow"):
        return "RMCP computes with plain loops on the CPU, which is " + info.why.decode(errors="replace")
    return None


def of(config, stacklevel=3):
    """The Status of a configuration that is in force; warns where something is in the way."""
    problems, catches = [], []
    for kind in config.device_types:
        reason = no_gpu() if kind == "cuda" else None
        if reason is None:
            catches.append(kind)
        else:
            other = "" if "cpu" in config.device_types else "; rmcp.torch.enable('cpu') is for tensors on the CPU"
            problems.append(f"no convolution of tensors on 'cuda' can be caught: {reason}{other}")
    if "cpu" in config.device_types:
        if not config.offload:
            problems += filter(None, [_slow_cpu(config)])
        problems += map(say_bypassed, bypassed())
    for problem in problems:
        warnings.warn(f"rmcp.torch: {problem}", _config.RmcpWarning, stacklevel=stacklevel)
    return Status(config.device_types, problems, catches)


def disabled():
    """The Status while RMCP_DISABLE is set."""
    return Status((), ["RMCP_DISABLE is set: PyTorch's own kernels do all convolutions"], ())
