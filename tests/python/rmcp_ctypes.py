"""rmcp_ctypes.py: numpy arrays for the Python binding, for tests and benchmarks.

Adds to the package `rmcp` what needs numpy. The library is the one that RMCP_LIBRARY names, or
build/librmcp.so of this source tree. Arrays: float32, float16, and uint16 holding the bits of bf16.
"""
import os
import pathlib
import sys

import numpy

_root = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("RMCP_LIBRARY", str(_root / "build" / "librmcp.so"))
sys.path.insert(0, str(_root / "python"))

from rmcp._api import Device, case_string, output_size, parse  # noqa: E402,F401
from rmcp._api import Plan as BarePlan  # noqa: E402
from rmcp._library import *  # noqa: E402,F401,F403
from rmcp._library import NHWC, Memory, Tensors, library as load  # noqa: E402

library = load()
ARRAY_TYPES = (numpy.float32, numpy.float16, numpy.uint16)


def array_shape(problem, name):
    """The shape of array x, w, y or bias in the problem's layout."""
    if name == "bias":
        return (problem.k,)
    outer, inner, space = {
        "x": (problem.n, problem.c, tuple(problem.input[:problem.dims])),
        "w": (problem.k, problem.c // problem.groups, tuple(problem.filter[:problem.dims])),
        "y": (problem.n, problem.k, output_size(problem)),
    }[name]
    return (outer, *space, inner) if problem.layout == NHWC else (outer, inner, *space)


def aligned_empty(shape, dtype, alignment=256):
    """A numpy array whose first byte is aligned, as workspaces must be."""
    n_bytes = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    raw = numpy.empty(n_bytes + alignment, numpy.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start:start + n_bytes].view(dtype).reshape(shape)


def memory_of(array):
    assert array.flags.c_contiguous
    return Memory(base=array.ctypes.data, offset=0)


class Plan(BarePlan):
    """One pass of a problem on the cpu device, with a workspace of its own; a context manager."""

    def __init__(self, device, problem, pass_, algorithm=None, fixed_weights=None, **options):
        self.fixed_weights = fixed_weights  # kept alive as long as the plan
        if fixed_weights is not None:
            options["fixed_weights"] = memory_of(fixed_weights)
        super().__init__(device, problem, pass_, algorithm, **options)
        self.workspace = aligned_empty((self.workspace_bytes,), numpy.uint8)

    def bind(self, **arrays):
        """Tensors for execute(); the caller keeps the arrays x, w, y, bias alive."""
        tensors = Tensors(workspace_bytes=self.workspace_bytes)
        if self.workspace_bytes:
            tensors.workspace = memory_of(self.workspace)
        for name, array in arrays.items():
            if array is not None:
                setattr(tensors, name, memory_of(array))
        return tensors


def convolve(device, problem, pass_, inputs, fix_weights=False, **options):
    """Plan, execute once and return the array written. `inputs` holds x, w, y, bias as needed."""
    written = ("y", "x", "w")[pass_]
    # Fill with NaN: an element that is never written must not pass for a result.
    output = numpy.empty(array_shape(problem, written), ARRAY_TYPES[problem.type])
    output.view(numpy.uint8)[...] = 0xff
    arrays = {name: array for name, array in inputs.items() if name != written}
    if fix_weights:
        options["fixed_weights"] = arrays.pop("w")
    with Plan(device, problem, pass_, **options) as plan:
        plan.execute(plan.bind(**arrays, **{written: output}))
    return output
