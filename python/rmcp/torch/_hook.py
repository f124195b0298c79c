"""Registers and unregisters RMCP in PyTorch's dispatcher."""
import sys
import threading

import torch

from . import _autograd, _config, _native, _ops, _status

DEVICE_TYPES = ("cpu", "cuda")

_operators = _ops.define()
for _key in ("CPU", "CUDA"):
    _operators.impl("convolution", _autograd.named_convolution, f"Autograd{_key}")
    _operators.impl("convolution", _autograd.named_convolution_below_autograd, _key)


def _convolution_relu(input, weight, bias, stride, padding, dilation, groups):
    zeros = [0] * (input.dim() - 2)
    return torch.ops.aten.convolution(input, weight, bias, stride, padding, dilation, False, zeros, groups).relu_()


def _convolution_add_relu(input, weight, other, alpha, bias, *rest):
    stride, padding, dilation, groups = rest
    zeros = [0] * (input.dim() - 2)
    output = torch.ops.aten.convolution(input, weight, bias, stride, padding, dilation, False, zeros, groups)
    return output.add_(other, alpha=1 if alpha is None else alpha).relu_()


# What torch.jit.optimize_for_inference makes of convolutions on a GPU.
_FUSED = {"cudnn_convolution_relu": _convolution_relu, "cudnn_convolution_add_relu": _convolution_add_relu,
          "miopen_convolution_relu": _convolution_relu, "miopen_convolution_add_relu": _convolution_add_relu}

_lock = threading.RLock()
_override = None  # the library object that holds aten::convolution; None: not enabled


def _forget_compiled():
    """What torch.compile made or looked up in the other state must not be used again."""
    # Which kernel serves which key is remembered here, and a kernel that is gone is not missed.
    operator = torch.ops.aten.convolution.default
    cache = getattr(operator, "_dispatch_cache", None)
    if cache is not None:
        cache.clear()
    for key in [name for name in vars(operator) if name[0].isupper()]:  # 1.13: attributes by the keys' names
        delattr(operator, key)
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()


def _tag_cache(on):
    """Keep compiled code with RMCP apart from that without in PyTorch's cache on disk, whose key
    knows nothing of overridden operators."""
    try:
        import torch.compiler.config as compiler
        tag = compiler.cache_key_tag
    except (ImportError, AttributeError):
        return  # this PyTorch has no such cache, or it can be told nothing
    compiler.cache_key_tag = tag.replace("+rmcp", "") + ("+rmcp" if on else "")


def _unregister():
    global _override
    library, _override = _override, None
    if library is None:
        return
    _native.give_back()
    _status.watch(False)
    if hasattr(library, "_destroy"):
        library._destroy()
    del library  # its destructor gives aten::convolution back
    _tag_cache(False)
    _forget_compiled()


def install(config):
    """Put RMCP in the place of aten::convolution; returns the configuration it replaces, or None."""
    global _override
    with _lock:
        before = _config.current if _override is not None else None
        _unregister()
        _config.replace(config)
        _autograd.forget()
        library = torch.library.Library("aten", "IMPL")
        if not _native.take(config):
            for name in config.device_types:
                library.impl("convolution", _autograd.convolution, f"Autograd{name.upper()}")
                library.impl("convolution", _autograd.convolution_below_autograd, name.upper())
        if "cuda" in config.device_types:
            for name, kernel in _FUSED.items():
                if hasattr(torch.ops.aten, name):
                    library.impl(name, kernel, "CUDA")
        _status.watch("cpu" in config.device_types)
        _override = library
        _tag_cache(True)
        _forget_compiled()
        return before


def remove():
    """Give aten::convolution back to PyTorch."""
    with _lock:
        _unregister()


def installed():
    """The configuration in force, or None."""
    with _lock:
        return _config.current if _override is not None else None
