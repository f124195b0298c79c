#!/usr/bin/env python3
"""rnn_dropout.py: dropout between the layers of a recurrent network through MIOpen's calls, in PyTorch's own order:
masks of the share that was asked for, others each time, the same backward as forward, none in inference.
(Networks without dropout, whose results can be compared, are in sequence_rnn.c.)

usage: MIOPEN=…/libMIOpen.so.1 [HIP=…] rnn_dropout.py; without HIP device memory is the host's, as it is for
RMCP_DEVICE=cpu."""
import ctypes as c
import os
import sys

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

RELU, TANH, LSTM, GRU = range(4)
TYPES = {torch.float32: 1, torch.float16: 0}
library = c.CDLL(os.environ["MIOPEN"])
hip = c.CDLL(os.environ["HIP"], mode=c.RTLD_GLOBAL) if os.environ.get("HIP") else None


def call(name, *arguments):
    status = getattr(library, name)(*arguments)
    if status != 0:
        raise RuntimeError(f"{name}: status {status}")


class Memory:
    """Device memory that holds a tensor; None is a NULL pointer."""

    def __init__(self, tensor):
        self.tensor = None if tensor is None else tensor.detach().contiguous().clone()
        self.pointer, self.own = c.c_void_p(), False
        if self.tensor is None:
            return
        self.bytes = self.tensor.numel() * self.tensor.element_size()
        if not hip:
            self.pointer = c.c_void_p(self.tensor.data_ptr())
            return
        self.own = True
        assert hip.hipMalloc(c.byref(self.pointer), c.c_size_t(max(self.bytes, 1))) == 0
        assert hip.hipMemcpy(self.pointer, c.c_void_p(self.tensor.data_ptr()), c.c_size_t(self.bytes), 1) == 0

    def read(self):
        if hip:
            assert hip.hipDeviceSynchronize() == 0
            assert hip.hipMemcpy(c.c_void_p(self.tensor.data_ptr()), self.pointer, c.c_size_t(self.bytes), 2) == 0
        return self.tensor

    def __del__(self):
        if self.own:
            hip.hipFree(self.pointer)


def room(n):
    return Memory(torch.full((max(n, 1),), 0xff, dtype=torch.uint8))


def describe(dtype, sizes):
    name = c.c_void_p()
    call("miopenCreateTensorDescriptor", c.byref(name))
    n, strides, step = len(sizes), [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    call("miopenSetTensorDescriptor", name, TYPES[dtype], n, (c.c_int * n)(*sizes), (c.c_int * n)(*strides))
    return name


class Network:
    """One network as PyTorch's RNN_miopen.cpp sets it up for a call."""

    def __init__(self, handle, mode, hidden, layers, bidirectional, bias, dtype, dropout=None):
        self.handle, self.mode, self.hidden, self.layers = handle, mode, hidden, layers
        self.directions, self.bias, self.dtype = 1 + bidirectional, bias, dtype
        self.name = c.c_void_p()
        call("miopenCreateRNNDescriptor", c.byref(self.name))
        tail = (0, int(bidirectional), mode, int(bias), 0, TYPES[dtype])
        if dropout:
            call("miopenSetRNNDescriptor_V2", self.name, hidden, layers, dropout, *tail)
        else:
            call("miopenSetRNNDescriptor", self.name, hidden, layers, *tail)

    def steps(self, batches, width):
        """A descriptor for each step, as PyTorch makes them."""
        names = [describe(self.dtype, (batch, width, 1)) for batch in batches]
        return (c.c_void_p * len(names))(*names)

    def sizes(self, xs):
        n = len(xs)
        work, reserve, weights = c.c_size_t(), c.c_size_t(), c.c_size_t()
        call("miopenGetRNNWorkspaceSize", self.handle, self.name, n, xs, c.byref(work))
        call("miopenGetRNNTrainingReserveSize", self.handle, self.name, n, xs, c.byref(reserve))
        call("miopenGetRNNParamsSize", self.handle, self.name, c.c_void_p(xs[0]), c.byref(weights), TYPES[self.dtype])
        return work.value, reserve.value, weights.value


def train(network, x, batches, hx, cx, weights, dy, dhy, dcy, reserve_bytes, work_bytes):
    """Forward and both backward passes; returns what each of them wrote."""
    n, lstm = len(batches), network.mode == LSTM
    xs = network.steps(batches, x.shape[-1])
    width = network.directions * network.hidden
    ys = network.steps(batches, width)
    h = describe(x.dtype, (*hx.shape, 1, 1))
    w_name = describe(x.dtype, (weights.numel(), 1, 1))
    none = torch.full_like
    X, HX, CX, W = Memory(x), Memory(hx), Memory(cx if lstm else None), Memory(weights)
    Y = Memory(none(dy, 99.0))
    HY, CY = Memory(none(hx, 99.0)), Memory(none(hx, 99.0) if lstm else None)
    work, reserve = room(work_bytes), room(reserve_bytes)
    size = c.c_size_t
    call("miopenRNNForwardTraining", network.handle, network.name, n, xs, X.pointer, h, HX.pointer, h, CX.pointer,
         w_name, W.pointer, ys, Y.pointer, h, HY.pointer, h, CY.pointer, work.pointer, size(work_bytes),
         reserve.pointer,
         size(reserve_bytes))
    DX, DHX, DCX = Memory(none(x, 99.0)), Memory(none(hx, 99.0)), Memory(none(hx, 99.0) if lstm else None)
    DY, DHY, DCY = Memory(dy), Memory(dhy), Memory(dcy if lstm else None)
    work = room(work_bytes)
    call("miopenRNNBackwardData", network.handle, network.name, n, ys, Y.pointer, ys, DY.pointer, h, DHY.pointer, h,
         DCY.pointer, w_name, W.pointer, h, HX.pointer, h, CX.pointer, xs, DX.pointer, h, DHX.pointer, h, DCX.pointer,
         work.pointer, size(work_bytes), reserve.pointer, size(reserve_bytes))
    DW = Memory(torch.zeros_like(weights))
    call("miopenRNNBackwardWeights", network.handle, network.name, n, xs, X.pointer, h, HX.pointer, ys, Y.pointer,
         w_name, DW.pointer, work.pointer, size(work_bytes), reserve.pointer, size(reserve_bytes))
    YI = Memory(none(dy, 99.0))
    call("miopenRNNForwardInference", network.handle, network.name, n, xs, X.pointer, h, HX.pointer, h, CX.pointer,
         w_name, W.pointer, ys, YI.pointer, h, None, h, None, work.pointer, size(work_bytes))
    read = lambda memory: memory.read() if memory.tensor is not None else None
    return [read(m) for m in (Y, HY, CY, DX, DHX, DCX, DW, YI)]


def dropout(handle):
    states = c.c_size_t()
    call("miopenDropoutGetStatesSize", handle, c.byref(states))
    memory, name = room(states.value), c.c_void_p()
    call("miopenCreateDropoutDescriptor", c.byref(name))
    set_up = (handle, c.c_float(0.25), memory.pointer, states, c.c_ulonglong(5), False, False, 0)
    call("miopenSetDropoutDescriptor", name, *set_up)
    network = Network(handle, RELU, 64, 2, False, False, torch.float32, name)
    batches = [16] * 4
    xs = network.steps(batches, 64)
    work, reserve, weights = network.sizes(xs)
    one = torch.zeros(64, 64)
    one.fill_diagonal_(1)
    zero = torch.zeros(64, 64)
    # Both layers pass on what they get: y shows the mask.
    flat = torch.cat([one, zero, one, zero]).reshape(-1)
    assert weights == flat.numel() * 4
    x, state = torch.ones(64, 64), torch.zeros(2, 16, 64)
    run = lambda: train(network, x, batches, state, state, flat, torch.ones(64, 64), state, state, reserve, work)
    first, second = run(), run()
    call("miopenRestoreDropoutDescriptor", name, *set_up)
    third = run()
    call("miopenSetDropoutDescriptor", name, *set_up)
    again = run()
    for result in (first, second, third, again):
        y, dx, inferred = result[0], result[3], result[7]
        kept = (y != 0).float().mean().item()
        assert abs(kept - 0.75) < 0.05, kept
        assert torch.equal(y[y != 0], torch.full_like(y[y != 0], 1 / 0.75))
        assert torch.equal(dx, y), "another mask backward"
        assert bool((inferred == 1).all())
    assert not torch.equal(first[0], second[0]) and not torch.equal(second[0], third[0])
    assert torch.equal(first[0], again[0])
    call("miopenDestroyRNNDescriptor", network.name)
    call("miopenDestroyDropoutDescriptor", name)


def main():
    handle = c.c_void_p()
    call("miopenCreate", c.byref(handle))
    dropout(handle)
    call("miopenDestroy", handle)
    print("dropout: 0 failures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
