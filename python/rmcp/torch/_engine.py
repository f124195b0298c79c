"""Executes passes on tensors: devices, plans kept for the next time, memory, streams, offloading.

Outputs and workspace come from PyTorch's allocator on the tensor's device, and the work goes to
PyTorch's current stream. That allocator hands memory freed on a stream only to later work of the
same stream, so workspace may be dropped right after the submission and nothing has to wait.
"""
import atexit
import collections
import ctypes
import os
import threading
import time

import torch

from .. import _library as c
from .._api import Device, Plan, case_string, on_notice
from . import _config, _native, _problem, _stats

MAX_LAYERS = 512  # shapes whose plans are kept
ALIGNMENT = 256   # of workspace, by rmcp.h

OPERATIONS = _stats.OPERATIONS
# Pass of each operation; those of a transposed convolution in the second row.
PASSES = ((c.CONV_FORWARD, c.CONV_BACKWARD_DATA, c.CONV_BACKWARD_WEIGHTS),
          (c.CONV_BACKWARD_DATA, c.CONV_FORWARD, c.CONV_BACKWARD_WEIGHTS))


class Refused(Exception):
    """RMCP has no plan for this; the message says why."""


_lock = threading.Lock()
_devices = {}                        # spec and threads: Device, or the reason why there is none
_layers = collections.OrderedDict()  # least recently used first
_forked = False
latest = threading.local()           # .row: that of this thread's last execution; .reason: of the last refusal


def _after_fork():
    # Devices and plans belong to the parent's threads and drivers: leave them, start again.
    global _lock, _devices, _layers, _forked
    _lock, _devices, _layers, _forked = threading.Lock(), {}, collections.OrderedDict(), True
    _stats.after_fork()
    _native.after_fork()


os.register_at_fork(after_in_child=_after_fork)


_listening = False


def _listen():
    """Have what takes long said; until the interpreter ends, which says nothing any more."""
    global _listening
    if not _listening:
        _listening = True
        on_notice(_config.say_notice)
        atexit.register(on_notice, None)


def device_key(torch_device, config):
    """(spec, threads) of the RMCP device for tensors on `torch_device`."""
    if torch_device.type == "cpu":
        if config.offload:
            return config.offload, 0
        # OpenMP's threads do not survive a fork, and a team of one needs none.
        return "cpu", 1 if _forked else torch.get_num_threads()
    driver = "hip" if getattr(torch.version, "hip", None) else "cuda"
    return f"{driver}:{torch_device.index or 0}", 0


def open_device(key):
    """The device of a key, opened once; raises Refused with the driver's reason."""
    device = _devices.get(key)
    if device is None:
        spec, threads = key
        if _forked and spec != "cpu":
            raise RuntimeError(f"rmcp.torch: the device {spec} cannot be used in a forked process; start it with "
                               "the 'spawn' method (torch.multiprocessing.set_start_method)")
        with _lock:
            device = _devices.get(key)
            if device is None:
                try:
                    device = Device(spec, threads)
                    _listen()
                except c.Error as error:
                    device = f"RMCP cannot open the device {spec}: {error.message}"
                _devices[key] = device
    if isinstance(device, str):
        raise Refused(device)
    return device


class Layer:
    """A layer shape on a device, with its plans."""

    def __init__(self, key, device_key, *arguments):
        self.key = key
        self.spec = device_key[0]
        self.device = open_device(device_key)
        self.problem = _problem.make(*arguments)
        self.plans = {}  # pass and options: plan, or the reason why there is none
        self.rows = {}   # operation: row of the table

    def plan(self, pass_, options):
        key = pass_, options
        plan = self.plans.get(key)
        if plan is None:
            effort, nondeterministic = options
            try:
                plan = Plan(self.device, self.problem, pass_, effort=effort, nondeterministic=nondeterministic)
            except c.Error as error:
                if error.status not in (c.E_ARG, c.E_UNSUPPORTED, c.E_NOMEM):
                    raise
                plan = f"RMCP has no plan for it: {error.message}"
            self.plans[key] = plan
        if isinstance(plan, str):
            raise Refused(plan)
        return plan


def _layer(torch_device, config, *arguments):
    key = (device_key(torch_device, config), *arguments)
    with _lock:
        layer = _layers.get(key)
        if layer is not None:
            _layers.move_to_end(key)
            return layer
    layer = Layer(key, key[0], *arguments)
    with _lock:
        layer = _layers.setdefault(key, layer)
        while len(_layers) > MAX_LAYERS:
            _layers.popitem(last=False)  # a plan in use lives on until its last user is done
    return layer


def clear():
    """Forget all plans and close all devices."""
    with _lock:
        _layers.clear()
        _devices.clear()


_switches = torch.are_deterministic_algorithms_enabled, torch._C._get_cudnn_deterministic, torch._C._get_cudnn_benchmark
# Effort and determinism as a plan takes them, by (measured, deterministic).
_OPTIONS = {(measured, strict): (c.MEASURE if measured else c.ESTIMATE, int(not strict))
            for measured in (False, True) for strict in (False, True)}


def _options(on_gpu):
    """Effort and determinism, by PyTorch's own switches."""
    algorithms, cudnn, benchmark = _switches
    measured = on_gpu and benchmark() and not torch.cuda.is_current_stream_capturing()
    return _OPTIONS[measured, algorithms() or cudnn()]


class _Flat(ctypes.Structure):
    """rmcp_conv_tensors with its places as plain numbers."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                *[(name, ctypes.c_uint64) for name in ("x", "x_offset", "w", "w_offset", "y", "y_offset", "bias",
                                                       "bias_offset", "workspace", "workspace_offset",
                                                       "workspace_bytes")]]


_FLAT_BYTES = ctypes.sizeof(_Flat)
assert _FLAT_BYTES == ctypes.sizeof(c.Tensors)
_raw_execute = None  # rmcp_conv_execute without conversions of its arguments


def _executor():
    global _raw_execute
    if _raw_execute is None:
        address = ctypes.cast(c.library().rmcp_conv_execute, ctypes.c_void_p).value
        _raw_execute = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)
    return _raw_execute


def _stream(device):
    return torch._C._cuda_getCurrentRawStream(device.index)


_is_shared = getattr(torch._C, "_is_cow_tensor", None)  # 2.2 and later: memory that is copied when it is written


def _address(tensor):
    """Where a tensor's data is. To ask it of a copy-on-write tensor would copy what is only read here."""
    if _is_shared is None or not _is_shared(tensor):
        return tensor.data_ptr()
    return torch._C._data_address(tensor) + tensor.storage_offset() * tensor.element_size()


def _submit(plan, x, w, y, bias, like, config):
    """Execute on tensors where they are; returns seconds, or None where that would mean waiting."""
    n_bytes, workspace, device = plan.workspace_bytes, 0, like.device
    if n_bytes:
        owner = torch.empty(n_bytes + ALIGNMENT, dtype=torch.uint8, device=device)
        workspace = owner.data_ptr()
        workspace += -workspace % ALIGNMENT
    tensors = _Flat(_FLAT_BYTES, 0, _address(x), 0, _address(w), 0, _address(y), 0,
                    0 if bias is None else _address(bias), 0, workspace, 0, n_bytes)
    execute = _raw_execute or _executor()
    seconds = None
    if device.type == "cpu":
        start = time.perf_counter()
        status = execute(plan.address, None, ctypes.byref(tensors))
        seconds = time.perf_counter() - start
    elif config.timing and not torch.cuda.is_current_stream_capturing():
        return plan.execute_timed(c.Tensors.from_buffer(tensors), _stream(device))
    else:
        status = execute(plan.address, _stream(device), ctypes.byref(tensors))
    if status:
        lib = c.library()
        raise c.Error(status, lib.rmcp_status_name(status).decode(), lib.rmcp_last_error().decode())
    return seconds


def _offload(plan, arrays, written):
    """Execute on another device than the tensors': copy there, compute, copy back."""
    start = time.perf_counter()
    lib, device = c.library(), plan.device.handle
    tensors = c.Tensors(workspace_bytes=plan.workspace_bytes)
    buffers = []

    def buffer(n_bytes):
        memory = c.Memory()
        lib.rmcp_buffer_create(device, n_bytes, memory)
        buffers.append(memory)
        return memory

    try:
        for name, tensor in arrays.items():
            n_bytes = tensor.numel() * tensor.element_size()
            memory = buffer(n_bytes)
            setattr(tensors, name, memory)
            if name != written:
                lib.rmcp_copy_to_device(device, None, memory, _address(tensor), n_bytes)
        if plan.workspace_bytes:
            tensors.workspace = buffer(plan.workspace_bytes)
        plan.execute(tensors)
        output = arrays[written]
        lib.rmcp_copy_to_host(device, None, output.data_ptr(), getattr(tensors, written),
                              output.numel() * output.element_size())
    finally:
        for memory in buffers:
            lib.rmcp_buffer_destroy(device, memory)
    return time.perf_counter() - start


def prepare(operation, like, sizes, conf, last, bias):
    """(layer, plan, pass, options) of one operation on tensors on the device of `like`. Raises Refused."""
    device = like.device
    layer = _layer(device, _config.current, *sizes, like.dtype, conf, last, bias)
    pass_ = PASSES[conf[3]][operation]
    options = _options(device.type != "cpu")
    return layer, layer.plan(pass_, options), pass_, options


def run(operation, input, weight, output, bias, sizes, conf, last):
    """Execute one operation (an index of OPERATIONS). `input`, `weight`, `output` play the parts of
    the forward call; which of them is written follows from the operation. All are dense in the
    layout that `last` says. `sizes` are those of input and weight. Raises Refused."""
    config = _config.current
    like = output if operation else input
    layer, plan, pass_, options = prepare(operation, like, sizes, conf, last, bias is not None)
    x, y = (output, input) if conf[3] else (input, output)
    if config.offload and like.device.type == "cpu":
        arrays = {"x": x, "w": weight, "y": y}
        if bias is not None:
            arrays["bias"] = bias
        seconds = _offload(plan, arrays, ("y", "x", "w")[pass_])
    else:
        seconds = _submit(plan, x, weight, y, bias, like, config)
    _count(layer, operation, pass_, plan.algorithm, seconds)
    if _native.active and _problem.unobserved(input, weight, output):
        slot = 3 if bias is not None else operation
        _native.learn(like, slot, sizes, conf, last, layer, layer.problem, pass_, options,
                      case_string(layer.problem, pass_))


def _count(layer, operation, pass_, algorithm, seconds):
    row = layer.rows.get(operation)
    if row is None or not _stats.count_again(row, algorithm, seconds):
        name = OPERATIONS[operation]
        row = _stats.count((layer.key, name), lambda: _stats.Row(case_string(layer.problem, pass_), name, layer.spec),
                           algorithm, seconds)
        layer.rows[operation] = row
    latest.row = row
