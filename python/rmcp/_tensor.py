"""Tensor operations (fill, scale, copy, add …, sum) as Python objects, over the bare C API of _library."""
import ctypes

from . import _library as c
from ._api import AnyPlan


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


class TensorPlan(AnyPlan):
    """A tensor operation on a device."""
    operation = "tensor"
