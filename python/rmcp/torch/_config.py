"""What enable() and the environment said, and the warnings and exceptions that follow from it."""
import os
import sys
import threading
import warnings


class RmcpWarning(UserWarning):
    """A convolution goes to PyTorch's own kernel; issued once per reason."""


class Unsupported(RuntimeError):
    """RMCP cannot do a convolution, and strict=True forbids PyTorch's own kernel."""


class Config:
    """The arguments of enable()."""

    def __init__(self, device_types=("cuda",), strict=False, offload=None, timing=False):
        self.device_types = device_types
        self.strict = strict
        self.offload = offload  # spec of the RMCP device that computes for CPU tensors, or None
        self.timing = timing    # measure GPU times, which waits for each convolution


# The latest configuration; it stays after disable(), for backward passes still to come.
current = Config(device_types=())

# RMCP_DISABLE=1: PyTorch's own kernels do everything, whatever the program says.
DISABLED = os.environ.get("RMCP_DISABLE", "") not in ("", "0")

_warned = set()
_lock = threading.Lock()


def replace(config):
    """Make `config` the current one; warnings are given anew. Returns the previous one."""
    global current
    with _lock:
        previous, current = current, config
        _warned.clear()
    return previous


def refused(reason, strict):
    """Raise, or warn the first time; the caller then takes PyTorch's own kernel."""
    if strict:
        raise Unsupported(f"RMCP cannot do this convolution: {reason} (strict=True)")
    with _lock:
        if reason in _warned:
            return
        _warned.add(reason)
    warnings.warn(f"rmcp.torch: PyTorch's own kernel does this convolution: {reason}", RmcpWarning,
                  stacklevel=5)  # the frame that called the convolution


_said_disabled = False


def say_disabled():
    """Warn, once in a process, that enable() changes nothing."""
    global _said_disabled
    with _lock:
        said, _said_disabled = _said_disabled, True
    if not said:
        warnings.warn("rmcp.torch: RMCP_DISABLE is set: PyTorch's own kernels do all convolutions", RmcpWarning,
                      stacklevel=3)


def say_notice(line):
    """What takes long is said on stderr, unless RMCP_LOG=0 asks for silence."""
    if os.environ.get("RMCP_LOG") != "0" and sys.stderr is not None:
        print(f"rmcp: {line}", file=sys.stderr, flush=True)
