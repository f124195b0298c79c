"""The C API of librmcp through ctypes: constants, structures, functions, and finding the library.

Names are those of rmcp.h without the prefix (RMCP_F32 is F32, rmcp_conv is Problem);
tests/python/test_ctypes.py compares all of them with what a C compiler sees in the header. The library is
loaded by the first call of library(), not by the import.
"""
import ctypes
import ctypes.util
import os
import pathlib
import threading

from ._version import VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH

OK, E_ARG, E_UNSUPPORTED, E_NOMEM, E_DEVICE, E_LOST, E_IO, E_INTERNAL = range(8)
F32, F16, BF16, I32, I64, U8, U16 = range(7)
NCHW, NHWC = range(2)
CONV_FORWARD, CONV_BACKWARD_DATA, CONV_BACKWARD_WEIGHTS = range(3)
CONV_PASSES = 3
BATCHNORM_TRAIN, BATCHNORM_INFER, BATCHNORM_BACKWARD = range(3)
BATCHNORM_PASSES = 3
SPATIAL, PER_ACTIVATION = range(2)
NO_ACTIVATION, RELU, LEAKY_RELU, CLAMP = range(4)
ESTIMATE, MEASURE = range(2)
ACCURATE, STRICT = range(2)
TENSOR_SET, TENSOR_SCALE, TENSOR_COPY, TENSOR_ADD = range(4)
TENSOR_MULTIPLY, TENSOR_MINIMUM, TENSOR_MAXIMUM, TENSOR_SUM = range(4, 8)
GEMM_NO_BIAS, GEMM_ROW_BIAS, GEMM_COLUMN_BIAS = range(3)
GEMM_PACKED = 2**64 - 1  # -1 in a field of 64 bits
RNN_RELU, RNN_TANH, RNN_LSTM, RNN_GRU = range(4)
RNN_INFER, RNN_TRAIN, RNN_BACKWARD_DATA, RNN_BACKWARD_WEIGHTS = range(4)
RNN_PASSES = 4
RNN_HX, RNN_CX, RNN_HY, RNN_CY, RNN_DHX, RNN_DCX = (1 << bit for bit in range(6))
MAX_DIMS = 3
TENSOR_DIMS = 5
CASE_MAX = 640
NO_WORKSPACE = 2**64 - 1

SONAME = "librmcp.so.0"

TYPE_NAMES = ("f32", "f16", "bf16")
LAYOUT_NAMES = ("nchw", "nhwc")
PASS_NAMES = ("fwd", "bwd_data", "bwd_weights")

_u32, _u64, _i64 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
_space = _i64 * MAX_DIMS
_tensor = _i64 * TENSOR_DIMS


class Struct(ctypes.Structure):
    """A structure of rmcp.h: zero but for its size."""

    def __init__(self, **fields):
        super().__init__(**fields)
        if self._fields_[0][0] == "struct_size":
            self.struct_size = ctypes.sizeof(self)


class Problem(Struct):
    C_NAME = "rmcp_conv"
    _fields_ = [("struct_size", _u32), ("dims", _u32), ("n", _i64), ("c", _i64), ("k", _i64),
                ("groups", _i64), ("input", _space), ("filter", _space), ("pad_begin", _space),
                ("pad_end", _space), ("stride", _space), ("dilation", _space), ("type", _u32),
                ("layout", _u32), ("bias", _u32), ("activation", _u32),
                ("slope", ctypes.c_float), ("clamp_low", ctypes.c_float),
                ("clamp_high", ctypes.c_float), ("reserved", _u32)]


class Shape(Struct):
    C_NAME = "rmcp_conv_info"
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
                ("algorithm", ctypes.c_char_p), ("fixed_weights", Memory),
                ("max_error", ctypes.c_double)]


class Candidate(Struct):
    C_NAME = "rmcp_candidate"
    _fields_ = [("struct_size", _u32), ("chosen", _u32), ("algorithm", ctypes.c_char * 32),
                ("refusal", ctypes.c_char * 160), ("estimated_seconds", ctypes.c_double),
                ("workspace_bytes", _u64), ("error_factor", ctypes.c_double)]


class Tensors(Struct):
    C_NAME = "rmcp_conv_tensors"
    _fields_ = [("struct_size", _u32), ("reserved", _u32), ("x", Memory), ("w", Memory),
                ("y", Memory), ("bias", Memory), ("workspace", Memory), ("workspace_bytes", _u64)]


class BatchNorm(Struct):
    C_NAME = "rmcp_batchnorm"
    _fields_ = [("struct_size", _u32), ("dims", _u32), ("n", _i64), ("c", _i64), ("input", _space),
                ("type", _u32), ("layout", _u32), ("mode", _u32), ("running", _u32), ("saved", _u32),
                ("activation", _u32), ("slope", ctypes.c_float), ("clamp_low", ctypes.c_float),
                ("clamp_high", ctypes.c_float), ("reserved", _u32), ("epsilon", ctypes.c_double),
                ("momentum", ctypes.c_double)]


class BatchNormTensors(Struct):
    C_NAME = "rmcp_batchnorm_tensors"
    _fields_ = [("struct_size", _u32), ("reserved", _u32), ("x", Memory), ("y", Memory),
                ("dx", Memory), ("dy", Memory), ("scale", Memory), ("bias", Memory),
                ("dscale", Memory), ("dbias", Memory), ("running_mean", Memory),
                ("running_variance", Memory), ("saved_mean", Memory), ("saved_inverse", Memory),
                ("workspace", Memory), ("workspace_bytes", _u64)]


class Tensor(Struct):
    C_NAME = "rmcp_tensor"
    _fields_ = [("struct_size", _u32), ("kind", _u32), ("dims", _u32), ("a_type", _u32),
                ("b_type", _u32), ("c_type", _u32), ("size", _tensor), ("a_size", _tensor),
                ("b_size", _tensor), ("c_size", _tensor), ("a_stride", _tensor),
                ("b_stride", _tensor), ("c_stride", _tensor), ("alpha", ctypes.c_double),
                ("alpha_b", ctypes.c_double), ("beta", ctypes.c_double)]


class TensorOperands(Struct):
    C_NAME = "rmcp_tensor_operands"
    _fields_ = [("struct_size", _u32), ("reserved", _u32), ("a", Memory), ("b", Memory),
                ("c", Memory), ("workspace", Memory), ("workspace_bytes", _u64)]


class Gemm(Struct):
    C_NAME = "rmcp_gemm"
    _fields_ = [("struct_size", _u32), ("type", _u32), ("batch", _i64), ("m", _i64), ("n", _i64),
                ("k", _i64), ("transpose_a", _u32), ("transpose_b", _u32), ("a_pitch", _i64),
                ("b_pitch", _i64), ("c_pitch", _i64), ("a_stride", _i64), ("b_stride", _i64),
                ("c_stride", _i64), ("alpha", ctypes.c_double), ("beta", ctypes.c_double),
                ("bias", _u32), ("activation", _u32), ("slope", ctypes.c_float),
                ("clamp_low", ctypes.c_float), ("clamp_high", ctypes.c_float), ("reserved", _u32)]


class GemmMatrices(Struct):
    C_NAME = "rmcp_gemm_matrices"
    _fields_ = [("struct_size", _u32), ("reserved", _u32), ("a", Memory), ("b", Memory),
                ("c", Memory), ("bias", Memory), ("workspace", Memory), ("workspace_bytes", _u64)]


class SlotInfo(Struct):
    C_NAME = "rmcp_slot_info"
    _fields_ = [("struct_size", _u32), ("type", _u32), ("read", _u32), ("written", _u32), ("bytes", _u64),
                ("name", ctypes.c_char * 32)]


class Slots(Struct):
    C_NAME = "rmcp_slots"
    _fields_ = [("struct_size", _u32), ("count", _u32), ("memory", ctypes.POINTER(Memory)), ("workspace", Memory),
                ("workspace_bytes", _u64), ("n_scalars", _u32), ("reserved", _u32),
                ("scalars", ctypes.POINTER(ctypes.c_double))]


class ScalarInfo(Struct):
    C_NAME = "rmcp_scalar_info"
    _fields_ = [("struct_size", _u32), ("reserved", _u32), ("value", ctypes.c_double), ("least", ctypes.c_double),
                ("most", ctypes.c_double), ("name", ctypes.c_char * 32)]


class Rnn(Struct):
    C_NAME = "rmcp_rnn"
    _fields_ = [("struct_size", _u32), ("mode", _u32), ("steps", _i64), ("batch", _i64),
                ("input", _i64), ("hidden", _i64), ("layers", _u32), ("bidirectional", _u32),
                ("bias", _u32), ("skip", _u32), ("type", _u32), ("given", _u32),
                ("batches", ctypes.POINTER(_i64)), ("dropout", ctypes.c_double)]


class RnnInfo(Struct):
    C_NAME = "rmcp_rnn_info"
    _fields_ = [("struct_size", _u32), ("directions", _u32), ("gates", _u32), ("reserved", _u32),
                ("rows", _i64), ("x", _i64), ("y", _i64), ("states", _i64), ("w", _i64),
                ("reserve", _i64), ("gradients", _i64), ("flops", ctypes.c_double)]


class RnnTensors(Struct):
    C_NAME = "rmcp_rnn_tensors"
    _fields_ = [("struct_size", _u32), ("reserved", _u32), ("x", Memory), ("w", Memory),
                ("hx", Memory), ("cx", Memory), ("y", Memory), ("hy", Memory), ("cy", Memory),
                ("dx", Memory), ("dw", Memory), ("dhx", Memory), ("dcx", Memory), ("dy", Memory),
                ("dhy", Memory), ("dcy", Memory), ("reserve", Memory), ("gradients", Memory),
                ("state", Memory), ("workspace", Memory), ("workspace_bytes", _u64)]


class CheckInfo(Struct):
    C_NAME = "rmcp_check_info"
    _fields_ = [("struct_size", _u32), ("on", _u32), ("checked", _u64), ("skipped", _u64),
                ("wrong", _u64), ("first", ctypes.c_char * 1024)]


STRUCTS = (Problem, Shape, DeviceOptions, DeviceInfo, Memory, PlanOptions, Candidate, Tensors,
           BatchNorm, BatchNormTensors, Tensor, TensorOperands, Gemm, GemmMatrices, SlotInfo, Slots, ScalarInfo, Rnn,
           RnnInfo, RnnTensors, CheckInfo)

Notice = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)  # rmcp_notice


class Error(RuntimeError):
    """A call that did not return RMCP_OK; .status is its number."""

    def __init__(self, status, name, message):
        super().__init__(f"{name}: {message}")
        self.status = status
        self.message = message


class LibraryNotFound(ImportError):
    """librmcp is nowhere to be found, or what was found does not load."""


class VersionMismatch(ImportError):
    """The librmcp that was found belongs to another version of this package."""


_void, _text, _size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
_pointer, _status = ctypes.POINTER, ctypes.c_int

# name: result, arguments
FUNCTIONS = {
    "rmcp_last_error": (_text,),
    "rmcp_status_name": (_text, ctypes.c_int),
    "rmcp_version": (_text,),
    "rmcp_on_notice": (None, Notice, _void),
    "rmcp_check_describe": (_status, _pointer(CheckInfo)),
    "rmcp_conv_describe": (_status, _pointer(Problem), _pointer(Shape)),
    "rmcp_conv_parse": (_status, _text, _pointer(Problem), _pointer(ctypes.c_int)),
    "rmcp_conv_print": (_status, _pointer(Problem), ctypes.c_int, _text, _size),
    "rmcp_device_open": (_status, _text, _pointer(DeviceOptions), _pointer(_void)),
    "rmcp_device_close": (None, _void),
    "rmcp_device_describe": (_status, _void, _pointer(DeviceInfo)),
    "rmcp_device_note": (_text, _void),
    "rmcp_device_list": (_status, _pointer(DeviceInfo), _pointer(_size)),
    "rmcp_device_wait": (_status, _void, _void),
    "rmcp_buffer_create": (_status, _void, _u64, _pointer(Memory)),
    "rmcp_buffer_destroy": (None, _void, Memory),
    "rmcp_copy_to_device": (_status, _void, _void, Memory, _void, _u64),
    "rmcp_copy_to_host": (_status, _void, _void, _void, Memory, _u64),
    "rmcp_conv_plan": (_status, _void, _pointer(Problem), ctypes.c_int, _pointer(PlanOptions),
                         _pointer(_void)),
    "rmcp_plan_destroy": (None, _void),
    "rmcp_plan_workspace": (_u64, _void),
    "rmcp_plan_algorithm": (_text, _void),
    "rmcp_conv_candidates": (_status, _void, _pointer(Problem), ctypes.c_int,
                             _pointer(PlanOptions), _pointer(Candidate), _pointer(_size)),
    "rmcp_conv_execute": (_status, _void, _void, _pointer(Tensors)),
    "rmcp_conv_execute_timed": (_status, _void, _void, _pointer(Tensors), _pointer(ctypes.c_double)),
    "rmcp_batchnorm_parse": (_status, _text, _pointer(BatchNorm), _pointer(ctypes.c_int)),
    "rmcp_batchnorm_print": (_status, _pointer(BatchNorm), ctypes.c_int, _text, _size),
    "rmcp_batchnorm_plan": (_status, _void, _pointer(BatchNorm), ctypes.c_int,
                            _pointer(PlanOptions), _pointer(_void)),
    "rmcp_batchnorm_candidates": (_status, _void, _pointer(BatchNorm), ctypes.c_int,
                                  _pointer(PlanOptions), _pointer(Candidate), _pointer(_size)),
    "rmcp_batchnorm_execute": (_status, _void, _void, _pointer(BatchNormTensors)),
    "rmcp_batchnorm_execute_timed": (_status, _void, _void, _pointer(BatchNormTensors),
                                     _pointer(ctypes.c_double)),
    "rmcp_tensor_parse": (_status, _text, _pointer(Tensor)),
    "rmcp_tensor_print": (_status, _pointer(Tensor), _text, _size),
    "rmcp_tensor_plan": (_status, _void, _pointer(Tensor), _pointer(PlanOptions), _pointer(_void)),
    "rmcp_tensor_candidates": (_status, _void, _pointer(Tensor), _pointer(PlanOptions),
                               _pointer(Candidate), _pointer(_size)),
    "rmcp_tensor_execute": (_status, _void, _void, _pointer(TensorOperands)),
    "rmcp_tensor_execute_timed": (_status, _void, _void, _pointer(TensorOperands),
                                  _pointer(ctypes.c_double)),
    "rmcp_rnn_describe": (_status, _pointer(Rnn), _pointer(RnnInfo)),
    "rmcp_rnn_parse": (_status, _text, _pointer(Rnn), _pointer(ctypes.c_int), _pointer(_i64), _size),
    "rmcp_rnn_print": (_status, _pointer(Rnn), ctypes.c_int, _text, _size),
    "rmcp_rnn_plan": (_status, _void, _pointer(Rnn), ctypes.c_int, _pointer(PlanOptions),
                      _pointer(_void)),
    "rmcp_rnn_candidates": (_status, _void, _pointer(Rnn), ctypes.c_int, _pointer(PlanOptions),
                            _pointer(Candidate), _pointer(_size)),
    "rmcp_rnn_execute": (_status, _void, _void, _pointer(RnnTensors)),
    "rmcp_rnn_execute_timed": (_status, _void, _void, _pointer(RnnTensors),
                               _pointer(ctypes.c_double)),
    "rmcp_case_plan": (_status, _void, _text, _pointer(PlanOptions), _pointer(_void)),
    "rmcp_case_candidates": (_status, _void, _text, _pointer(PlanOptions), _pointer(Candidate), _pointer(_size)),
    "rmcp_plan_slot": (_status, _void, _u32, _pointer(SlotInfo)),
    "rmcp_plan_scalar": (_status, _void, _u32, _pointer(ScalarInfo)),
    "rmcp_plan_run": (_status, _void, _void, _pointer(Slots)),
    "rmcp_plan_run_timed": (_status, _void, _void, _pointer(Slots), _pointer(ctypes.c_double)),
    "rmcp_gemm_parse": (_status, _text, _pointer(Gemm)),
    "rmcp_gemm_print": (_status, _pointer(Gemm), _text, _size),
    "rmcp_gemm_plan": (_status, _void, _pointer(Gemm), _pointer(PlanOptions), _pointer(_void)),
    "rmcp_gemm_candidates": (_status, _void, _pointer(Gemm), _pointer(PlanOptions),
                             _pointer(Candidate), _pointer(_size)),
    "rmcp_gemm_execute": (_status, _void, _void, _pointer(GemmMatrices)),
    "rmcp_gemm_execute_timed": (_status, _void, _void, _pointer(GemmMatrices),
                                _pointer(ctypes.c_double)),
}


def _present():
    """A librmcp that the process has already, such as MIOpen's stand-in brings one, or None."""
    if not hasattr(os, "RTLD_NOLOAD"):
        return None
    try:
        return ctypes.CDLL(SONAME, mode=os.RTLD_NOLOAD)
    except OSError:
        return None


def _candidates():
    """Where librmcp may be, best first."""
    named = os.environ.get("RMCP_LIBRARY")
    if named:
        return [named]  # who names one wants no other
    here = pathlib.Path(__file__).resolve().parent
    # In a wheel; in the tarball, whose folders python and lib are neighbours.
    carried = [folder / SONAME for folder in (here / "native" / "lib", here.parents[1] / "lib")]
    return [*(str(path) for path in carried if path.is_file()), SONAME, "librmcp.so"]


def _prefer_system():
    """Packages carry GCC's OpenMP for systems without it. Where the system has one, it comes first: what else the
    process loads was built with that, and of two of the same name only the first is loaded."""
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError:
        pass


def _open():
    tried = []
    _prefer_system()
    for name in _candidates():
        try:
            return name, ctypes.CDLL(name)
        except OSError as error:
            tried.append(f"{name} ({error})")
    raise LibraryNotFound("librmcp was not found; build it (./setup.sh build) and set RMCP_LIBRARY to "
                          "build/librmcp.so, or install it. Tried: " + "; ".join(tried))


def _check_version(name, lib):
    try:
        lib.rmcp_version.restype = _text
        version = lib.rmcp_version().decode()
    except AttributeError:
        raise LibraryNotFound(f"{name} is not librmcp: it has no rmcp_version") from None
    # Before 1.0 a minor version may change the interface; after it only a major one may.
    wanted = f"{VERSION_MAJOR}.{VERSION_MINOR}." if VERSION_MAJOR == 0 else f"{VERSION_MAJOR}."
    if not version.startswith(wanted):
        raise VersionMismatch(f"{name} is librmcp {version}, but this Python package needs {wanted}x; "
                              "install both from the same release or set RMCP_LIBRARY to the right one")


def _declare(lib, name):
    def check(code, _function, _arguments):
        if code:
            raise Error(code, lib.rmcp_status_name(code).decode(), lib.rmcp_last_error().decode())
        return code

    for function_name, (result, *arguments) in FUNCTIONS.items():
        try:
            function = getattr(lib, function_name)
        except AttributeError:
            raise VersionMismatch(f"{name} has no {function_name}: it is another version of librmcp") from None
        function.restype, function.argtypes = result, arguments
        if result is _status:
            function.errcheck = check


_lock = threading.Lock()
_loaded = None


def _load():
    """One engine in a process: the one that is there, if it is of our version; else our own."""
    lib = _present()
    if lib is not None:
        try:
            _check_version(SONAME, lib)
            _declare(lib, SONAME)
            return lib
        except ImportError:
            pass
    name, lib = _open()
    _check_version(name, lib)
    _declare(lib, name)
    return lib


def library():
    """librmcp, loaded and declared; raises LibraryNotFound or VersionMismatch."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load()
    return _loaded


def loaded():
    """librmcp if library() has been called, else None."""
    return _loaded
