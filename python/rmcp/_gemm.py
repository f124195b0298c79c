"""Matrix products as Python objects, over the bare C API of _library."""
import ctypes

from . import _library as c
from ._api import AnyPlan


def parse(text):
    """The Gemm of a case string such as "gemm:m128n64k256:nt:f16:b4"."""
    problem = c.Gemm()
    c.library().rmcp_gemm_parse(text.encode(), problem)
    return problem


def case_string(problem):
    text = ctypes.create_string_buffer(c.CASE_MAX)
    c.library().rmcp_gemm_print(problem, text, c.CASE_MAX)
    return text.value.decode()


class GemmPlan(AnyPlan):
    """A matrix product on a device."""
    operation = "gemm"


def candidates(device, problem):
    """[(algorithm, refusal, estimated seconds)]"""
    library, count = c.library(), ctypes.c_size_t(32)
    found = (c.Candidate * 32)()
    found[0].struct_size = ctypes.sizeof(c.Candidate)
    library.rmcp_gemm_candidates(device.handle, problem, None, found[0], count)
    return [(x.algorithm.decode(), x.refusal.decode(), x.estimated_seconds)
            for x in found[:count.value]]
