"""PyTorch's convolutions on RMCP.

    import rmcp.torch
    rmcp.torch.enable()                       # tensors on the GPU
    rmcp.torch.enable(device_types=("cpu",))  # tensors on the CPU
    print(rmcp.torch.stats())

Unchanged models then run every convolution, forward and backward, in RMCP; what RMCP cannot do goes
to PyTorch's own kernel with one warning per reason, or raises with strict=True.
"""
import contextlib

from .. import _library
from . import _config, _engine, _hook, _stats, _status
from ._config import RmcpWarning, Unsupported
from ._modules import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ._report import report
from ._status import Status
from ._traced import adopt_traced

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
           "RmcpWarning", "Status", "Unsupported", "adopt_traced", "disable", "enable", "enabled", "is_enabled",
           "report", "reset_stats", "stats"]


def _checked(device_types, strict, offload, timing):
    if isinstance(device_types, str):
        device_types = (device_types,)
    device_types = tuple(dict.fromkeys(device_types))
    unknown = [name for name in device_types if name not in _hook.DEVICE_TYPES]
    if unknown or not device_types:
        raise ValueError(f"device_types is {device_types!r}; RMCP knows {_hook.DEVICE_TYPES} "
                         "(AMD GPUs are 'cuda' to PyTorch)")
    if offload is not None and device_types != ("cpu",):
        raise ValueError(f"offload={offload!r} is for tensors on the CPU: device_types=('cpu',)")
    if _config.DISABLED:
        return None
    _library.library()  # its absence or its version is news now, not at the first convolution
    if offload is not None:
        try:
            _engine.open_device((offload, 0))
        except _engine.Refused as refused:
            raise RuntimeError(str(refused)) from None
    return _config.Config(device_types, strict, offload, timing)


def enable(device_types=("cuda",), strict=False, offload=None, timing=False):
    """Run the convolutions of tensors on these devices ("cuda", which includes AMD's, and "cpu") in
    RMCP. Enabling again replaces the settings.

    strict:  raise Unsupported where RMCP cannot do a convolution, instead of leaving it to PyTorch.
    offload: tensors stay on the CPU and the convolutions run on this RMCP device, such as "opencl".
    timing:  measure GPU times for stats(), which waits for every convolution.

    Returns a Status: true when convolutions will be caught, with .catches, .native and .problems; what is in
    the way is also warned of. With RMCP_DISABLE=1 in the environment nothing changes, and one warning says so.
    """
    config = _checked(device_types, strict, offload, timing)
    if config is None:
        _config.say_disabled()
        return _status.disabled()
    _hook.install(config)
    return _status.of(config)


def disable():
    """Give convolutions back to PyTorch. Backward passes of results made before still use RMCP."""
    _hook.remove()


@contextlib.contextmanager
def enabled(device_types=("cuda",), strict=False, offload=None, timing=False):
    """A context manager: enable() inside, what was there before outside. Gives the Status."""
    config = _checked(device_types, strict, offload, timing)
    if config is None:
        _config.say_disabled()
        yield _status.disabled()
        return
    before = _hook.install(config)
    try:
        yield _status.of(config, stacklevel=4)  # behind contextlib's frame
    finally:
        if before is None:
            _hook.remove()
        else:
            _hook.install(before)


def is_enabled():
    """Whether convolutions go to RMCP now."""
    return _hook.installed() is not None


def stats():
    """What ran where since the last reset_stats(); print it for a table. Times: wall time on the CPU
    and when offloading; by the GPU's clock with enable(timing=True), else not measured."""
    return _stats.snapshot()


def reset_stats():
    """Start counting anew."""
    _stats.reset()
