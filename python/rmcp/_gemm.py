"""Matrix products as Python objects, over the bare C API of _library."""
import ctypes

from . import _library as c


def parse(text):
    """The Gemm of a case string such as "gemm:m128n64k256:nt:f16:b4"."""
    problem = c.Gemm()
    c.library().rmcp_gemm_parse(text.encode(), problem)
    return problem


def case_string(problem):
    text = ctypes.create_string_buffer(c.CASE_MAX)
    c.library().rmcp_gemm_print(problem, text, c.CASE_MAX)
    return text.value.decode()


class GemmPlan:
    """A matrix product on a device; a context manager, destroyed with the last reference."""

    def __init__(self, device, problem, algorithm=None, **options):
        self.device = device  # must outlive the plan
        self.handle = ctypes.c_void_p()
        self._library = c.library()
        asked = c.PlanOptions(algorithm=algorithm.encode() if algorithm else None, **options)
        self._library.rmcp_gemm_plan(device.handle, problem, asked, self.handle)
        self.workspace_bytes = self._library.rmcp_plan_workspace(self.handle)
        self.algorithm = self._library.rmcp_plan_algorithm(self.handle).decode()

    def execute(self, matrices, stream=None):
        self._library.rmcp_gemm_execute(self.handle, stream, matrices)

    def execute_timed(self, matrices, stream=None):
        """Execute, wait, and return the seconds that the device took."""
        seconds = ctypes.c_double()
        self._library.rmcp_gemm_execute_timed(self.handle, stream, matrices, seconds)
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


def candidates(device, problem):
    """[(algorithm, refusal, estimated seconds)]"""
    library, count = c.library(), ctypes.c_size_t(32)
    found = (c.Candidate * 32)()
    found[0].struct_size = ctypes.sizeof(c.Candidate)
    library.rmcp_gemm_candidates(device.handle, problem, None, found[0], count)
    return [(x.algorithm.decode(), x.refusal.decode(), x.estimated_seconds)
            for x in found[:count.value]]
