"""rmcp_ctypes.py: the part of rmcp.h that tests and benchmarks written in Python need.

Structures mirror the header field by field (test_ctypes.py compares them with the compiler's
view). The library is the one that RMCP_LIBRARY names, or build/librmcp.so of this source tree.
Tensors are numpy arrays: float32, float16, and uint16 holding the bits of bf16.
"""
import ctypes
import os
import pathlib

import numpy

F32, F16, BF16 = range(3)
NCHW, NHWC = range(2)
FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS = range(3)
NO_ACTIVATION, RELU, LEAKY_RELU, CLAMP = range(4)
ESTIMATE, MEASURE = range(2)
ACCURATE, STRICT = range(2)
MAX_DIMS = 3
CASE_MAX = 640
E_UNSUPPORTED = 2

TYPE_NAMES = ("f32", "f16", "bf16")
LAYOUT_NAMES = ("nchw", "nhwc")
PASS_NAMES = ("fwd", "bwd_data", "bwd_weights")
ARRAY_TYPES = (numpy.float32, numpy.float16, numpy.uint16)

_u32, _u64, _i64 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
_space = _i64 * MAX_DIMS


class Struct(ctypes.Structure):
    """A structure of rmcp.h: zero but for its size."""

    def __init__(self, **fields):
        super().__init__(**fields)
        if self._fields_[0][0] == "struct_size":
            self.struct_size = ctypes.sizeof(self)


class Problem(Struct):
    C_NAME = "rmcp_problem"
    _fields_ = [("struct_size", _u32), ("dims", _u32), ("n", _i64), ("c", _i64), ("k", _i64),
                ("groups", _i64), ("input", _space), ("filter", _space), ("pad_begin", _space),
                ("pad_end", _space), ("stride", _space), ("dilation", _space), ("type", _u32),
                ("layout", _u32), ("bias", _u32), ("activation", _u32),
                ("slope", ctypes.c_float), ("clamp_low", ctypes.c_float),
                ("clamp_high", ctypes.c_float), ("reserved", _u32)]


class Shape(Struct):
    C_NAME = "rmcp_shape"
    _fields_ = [("struct_size", _u32), ("reserved", _u32), ("output", _space), ("x_bytes", _u64),
                ("w_bytes", _u64), ("y_bytes", _u64), ("bias_bytes", _u64),
                ("flops", ctypes.c_double)]


class DeviceOptions(Struct):
    C_NAME = "rmcp_device_options"
    _fields_ = [("struct_size", _u32), ("threads", _u32), ("native_context", ctypes.c_void_p),
                ("native_device", ctypes.c_void_p)]


class DeviceInfo(Struct):
    C_NAME = "rmcp_device_info"
    _fields_ = [("struct_size", _u32), ("usable", _u32), ("spec", ctypes.c_char * 32),
                ("name", ctypes.c_char * 128), ("chip", ctypes.c_char * 64),
                ("driver", ctypes.c_char * 128), ("why", ctypes.c_char * 256),
                ("memory_bytes", _u64), ("compute_units", _u32), ("is_cpu", _u32)]


class Memory(Struct):
    C_NAME = "rmcp_memory"
    _fields_ = [("base", ctypes.c_void_p), ("offset", _u64)]


class PlanOptions(Struct):
    C_NAME = "rmcp_plan_options"
    _fields_ = [("struct_size", _u32), ("effort", _u32), ("accuracy", _u32),
                ("nondeterministic", _u32), ("max_workspace", _u64),
                ("algorithm", ctypes.c_char_p), ("fixed_weights", Memory)]


class Tensors(Struct):
    C_NAME = "rmcp_tensors"
    _fields_ = [("struct_size", _u32), ("reserved", _u32), ("x", Memory), ("w", Memory),
                ("y", Memory), ("bias", Memory), ("workspace", Memory), ("workspace_bytes", _u64)]


STRUCTS = (Problem, Shape, DeviceOptions, DeviceInfo, Memory, PlanOptions, Tensors)


class Error(Exception):
    """A call that did not return RMCP_OK."""

    def __init__(self, status, message):
        super().__init__(f"{library.rmcp_status_name(status).decode()}: {message}")
        self.status = status


def _load():
    default = pathlib.Path(__file__).resolve().parent.parent / "build" / "librmcp.so"
    lib = ctypes.CDLL(os.environ.get("RMCP_LIBRARY", str(default)))
    pointer, status = ctypes.POINTER, ctypes.c_int
    void, text = ctypes.c_void_p, ctypes.c_char_p

    def check(code, _function, _arguments):
        if code:
            raise Error(code, lib.rmcp_last_error().decode())
        return code

    def declare(name, result, *arguments):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
        if result is status:
            function.errcheck = check

    declare("rmcp_last_error", text)
    declare("rmcp_status_name", text, ctypes.c_int)
    declare("rmcp_version", text)
    declare("rmcp_problem_shape", status, pointer(Problem), pointer(Shape))
    declare("rmcp_problem_parse", status, text, pointer(Problem), pointer(ctypes.c_int))
    declare("rmcp_problem_print", status, pointer(Problem), ctypes.c_int, text, ctypes.c_size_t)
    declare("rmcp_device_open", status, text, pointer(DeviceOptions), pointer(void))
    declare("rmcp_device_close", None, void)
    declare("rmcp_device_describe", status, void, pointer(DeviceInfo))
    declare("rmcp_plan_create", status, void, pointer(Problem), ctypes.c_int,
            pointer(PlanOptions), pointer(void))
    declare("rmcp_plan_destroy", None, void)
    declare("rmcp_plan_workspace", _u64, void)
    declare("rmcp_plan_algorithm", text, void)
    declare("rmcp_execute", status, void, void, pointer(Tensors))
    return lib


library = _load()


def parse(text):
    """The problem of a case string, and its pass: None when it names none."""
    problem, pass_ = Problem(), ctypes.c_int()
    library.rmcp_problem_parse(text.encode(), problem, pass_)
    return problem, None if pass_.value < 0 else pass_.value


def case_string(problem, pass_):
    text = ctypes.create_string_buffer(CASE_MAX)
    library.rmcp_problem_print(problem, pass_, text, CASE_MAX)
    return text.value.decode()


def output_size(problem):
    shape = Shape()
    library.rmcp_problem_shape(problem, shape)
    return tuple(shape.output[:problem.dims])


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


class Device:
    """An open device; a context manager."""

    def __init__(self, spec="cpu", threads=0):
        self.handle = ctypes.c_void_p()
        library.rmcp_device_open(spec.encode(), DeviceOptions(threads=threads), self.handle)

    def describe(self):
        info = DeviceInfo()
        library.rmcp_device_describe(self.handle, info)
        return info

    def close(self):
        library.rmcp_device_close(self.handle)
        self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Plan:
    """One pass of a problem on the cpu device, with a workspace of its own; a context manager."""

    def __init__(self, device, problem, pass_, algorithm=None, fixed_weights=None, **options):
        self.fixed_weights = fixed_weights  # kept alive as long as the plan
        asked = PlanOptions(algorithm=algorithm.encode() if algorithm else None, **options)
        if fixed_weights is not None:
            asked.fixed_weights = memory_of(fixed_weights)
        self.handle = ctypes.c_void_p()
        library.rmcp_plan_create(device.handle, problem, pass_, asked, self.handle)
        self.workspace_bytes = library.rmcp_plan_workspace(self.handle)
        self.workspace = aligned_empty((self.workspace_bytes,), numpy.uint8)
        self.algorithm = library.rmcp_plan_algorithm(self.handle).decode()

    def bind(self, **arrays):
        """Tensors for execute(); the caller keeps the arrays x, w, y, bias alive."""
        tensors = Tensors(workspace_bytes=self.workspace_bytes)
        if self.workspace_bytes:
            tensors.workspace = memory_of(self.workspace)
        for name, array in arrays.items():
            if array is not None:
                setattr(tensors, name, memory_of(array))
        return tensors

    def execute(self, tensors):
        library.rmcp_execute(self.handle, None, tensors)

    def close(self):
        library.rmcp_plan_destroy(self.handle)
        self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


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
