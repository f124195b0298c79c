"""Tensor operations (fill, scale, copy, add …, sum) as Python objects, over the bare C API of _library."""
import ctypes

from . import _library as c


def describe(kind, size, a=None, b=None, out=None, **scalars):
    """A Tensor: a, b and out are (type, size, strides) as rmcp_tensor has them, size and strides None for
    all of `size` and packed."""
    problem = c.Tensor(kind=kind, dims=len(size), **scalars)
    problem.size[:len(size)] = size
    for name, operand in (("a", a), ("b", b), ("c", out)):
        if operand is None:
            continue
        type_, own_size, strides = operand
        setattr(problem, f"{name}_type", type_)
        if own_size is not None:
            getattr(problem, f"{name}_size")[:len(size)] = own_size
        if strides is not None:
            getattr(problem, f"{name}_stride")[:len(size)] = strides
    return problem


def parse(text):
    """The Tensor of a case string such as "tensor:8x64x56x56:add:b1x64x1x1:f16"."""
    problem = c.Tensor()
    c.library().rmcp_tensor_parse(text.encode(), problem)
    return problem


def case_string(problem):
    text = ctypes.create_string_buffer(c.CASE_MAX)
    c.library().rmcp_tensor_print(problem, text, c.CASE_MAX)
    return text.value.decode()


class TensorPlan:
    """A tensor operation on a device; a context manager, destroyed with the last reference."""

    def __init__(self, device, problem, algorithm=None, **options):
        self.device = device  # must outlive the plan
        self.handle = ctypes.c_void_p()
        self._library = c.library()
        asked = c.PlanOptions(algorithm=algorithm.encode() if algorithm else None, **options)
        self._library.rmcp_tensor_plan(device.handle, problem, asked, self.handle)
        self.workspace_bytes = self._library.rmcp_plan_workspace(self.handle)
        self.algorithm = self._library.rmcp_plan_algorithm(self.handle).decode()

    def execute(self, operands, stream=None):
        self._library.rmcp_tensor_execute(self.handle, stream, operands)

    def execute_timed(self, operands, stream=None):
        """Execute, wait, and return the seconds that the device took."""
        seconds = ctypes.c_double()
        self._library.rmcp_tensor_execute_timed(self.handle, stream, operands, seconds)
        return seconds.value

    def close(self):
        handle, self.handle = self.handle, None
        if handle:
            self._library.rmcp_plan_destroy(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "handle", None):
            self.close()
