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
