"""Executes passes on tensors: devices, plans kept for the next time, memory, streams, offloading.

Outputs and workspace come from PyTorch's allocator on the tensor's device, and the work goes to
PyTorch's current stream. That allocator hands memory freed on a stream only to later work of the
same stream, so workspace may be dropped right after the submission and nothing has to wait.
"""
import atexit
import collections
import os
import threading
import time

import torch

from .. import _library as c
from .._api import Device, Plan, case_string, on_notice
from . import _config, _problem, _stats

MAX_LAYERS = 512  # shapes whose plans are kept
ALIGNMENT = 256   # of workspace, by rmcp.h

OPERATIONS = ("forward", "input gradient", "weight gradient")
# Pass of each operation; those of a transposed convolution in the second row.
PASSES = ((c.CONV_FORWARD, c.CONV_BACKWARD_DATA, c.CONV_BACKWARD_WEIGHTS),
          (c.CONV_BACKWARD_DATA, c.CONV_FORWARD, c.CONV_BACKWARD_WEIGHTS))


class Refused(Exception):
    """RMCP has no plan for this; the message says why."""


_lock = threading.Lock()
_devices = {}                        # spec and threads: Device, or the reason why there is none
_layers = collections.OrderedDict()  # least recently used first
_forked = False
latest = threading.local()           # .ran: case, device, algorithm of this thread's last execution


def _after_fork():
    # Devices and plans belong to the parent's threads and drivers: leave them, start again.
    global _lock, _devices, _layers, _forked
    _lock, _devices, _layers, _forked = threading.Lock(), {}, collections.OrderedDict(), True
    _stats.after_fork()


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
        self.plans = {}

    def plan(self, pass_, effort, nondeterministic):
        key = pass_, effort, nondeterministic
        plan = self.plans.get(key)
        if plan is None:
            problem = self.problem
            if problem.bias and pass_ != c.CONV_FORWARD:
                problem = c.Problem.from_buffer_copy(problem)
                problem.bias = 0
            try:
                plan = Plan(self.device, problem, pass_, effort=effort, nondeterministic=nondeterministic)
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


def _options(on_gpu):
    """Effort and determinism, by PyTorch's own switches."""
    strict = torch.are_deterministic_algorithms_enabled() or torch.backends.cudnn.deterministic
    effort = c.ESTIMATE
    if on_gpu and torch.backends.cudnn.benchmark and not torch.cuda.is_current_stream_capturing():
        effort = c.MEASURE
    return effort, int(not strict)


def _memory(tensor):
    return c.Memory(base=tensor.data_ptr(), offset=0)


def _workspace(n_bytes, like):
    """Aligned memory on the device of `like`: the tensor that owns it, and its place."""
    owner = torch.empty(n_bytes + ALIGNMENT, dtype=torch.uint8, device=like.device)
    start = owner.data_ptr()
    return owner, c.Memory(base=start + -start % ALIGNMENT, offset=0)


def _submit(plan, arrays, like, config):
    """Execute on tensors where they are; returns seconds, or None where that would mean waiting."""
    tensors = c.Tensors(workspace_bytes=plan.workspace_bytes)
    for name, tensor in arrays.items():
        setattr(tensors, name, _memory(tensor))
    if plan.workspace_bytes:
        owner, tensors.workspace = _workspace(plan.workspace_bytes, like)
    if like.device.type == "cpu":
        start = time.perf_counter()
        plan.execute(tensors)
        return time.perf_counter() - start
    stream = torch.cuda.current_stream(like.device).cuda_stream
    if config.timing and not torch.cuda.is_current_stream_capturing():
        return plan.execute_timed(tensors, stream)
    plan.execute(tensors, stream)
    return None


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
                lib.rmcp_copy_to_device(device, None, memory, tensor.data_ptr(), n_bytes)
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


def run(operation, input, weight, output, bias, sizes, conf, last):
    """Execute one operation (an index of OPERATIONS). `input`, `weight`, `output` play the parts of
    the forward call; which of them is written follows from the operation. All are dense in the
    layout that `last` says. `sizes` are those of input and weight. Raises Refused."""
    config = _config.current
    like = output if operation else input
    layer = _layer(like.device, config, *sizes, like.dtype, conf, last, bias is not None)
    transposed = conf[3]
    pass_ = PASSES[transposed][operation]
    plan = layer.plan(pass_, *_options(like.device.type != "cpu"))
    arrays = {"x": output, "y": input} if transposed else {"x": input, "y": output}
    arrays["w"] = weight
    if bias is not None:
        arrays["bias"] = bias
    if config.offload and like.device.type == "cpu":
        seconds = _offload(plan, arrays, ("y", "x", "w")[pass_])
    else:
        seconds = _submit(plan, arrays, like, config)
    name = OPERATIONS[operation]
    row = _stats.count((layer.key, name), lambda: _stats.Row(case_string(layer.problem, pass_), name, layer.spec),
                       plan.algorithm, seconds)
    latest.ran = row and (row.case, row.device, row.algorithm)
