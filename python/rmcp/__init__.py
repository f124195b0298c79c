"""RMCP: convolutions, forward and backward, on whichever device is there.

`import rmcp.torch; rmcp.torch.enable()` gives PyTorch's convolutions to RMCP. This module itself
needs neither PyTorch nor numpy.
"""
from . import _version
from ._api import Check, Device, Plan, case_string, check, devices, on_notice, parse, version
from ._library import Error, LibraryNotFound, VersionMismatch

__version__ = _version.TEXT
__all__ = ["Check", "Device", "Error", "LibraryNotFound", "Plan", "VersionMismatch", "case_string", "check",
           "devices", "on_notice", "parse", "version"]


def load_ipython_extension(ipython):
    """%load_ext rmcp: PyTorch's convolutions run in RMCP from now on, or as soon as torch is imported."""
    import os

    from . import _enabling
    _enabling.arm(os.environ.get("RMCP_TORCH") or "auto")


def unload_ipython_extension(ipython):
    """%unload_ext rmcp: PyTorch's own kernels again."""
    import sys

    from . import _enabling
    _enabling.disarm()
    if "rmcp.torch" in sys.modules:
        sys.modules["rmcp.torch"].disable()
