"""RMCP: convolutions, forward and backward, on whichever device is there.

`import rmcp.torch; rmcp.torch.enable()` gives PyTorch's convolutions to RMCP. This module itself
needs neither PyTorch nor numpy.
"""
from ._api import Device, Plan, case_string, devices, parse, version
from ._library import Error, LibraryNotFound, VersionMismatch

__version__ = "0.1.0"
__all__ = ["Device", "Error", "LibraryNotFound", "Plan", "VersionMismatch", "case_string", "devices",
           "parse", "version"]
