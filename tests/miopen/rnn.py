#!/usr/bin/env python3
"""rnn.py: torch.nn.LSTM, GRU and RNN through MIOpen's calls, in PyTorch's own order, against PyTorch on the CPU:
outputs, states and all gradients; the calls with sequence tensors against those; sizes and places of parameters.

usage: MIOPEN=…/libMIOpen.so.1 [HIP=…] rnn.py [NETWORKS [SEED]]; without HIP device memory is the host's, as it is
for RMCP_DEVICE=cpu."""
import ctypes as c
import os
import random
import sys

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

RELU, TANH, LSTM, GRU = range(4)
GATES = {RELU: 1, TANH: 1, LSTM: 4, GRU: 3}
# Where PyTorch puts the gates of its own order for MIOpen.
ORDER = {RELU: (0,), TANH: (0,), LSTM: (0, 1, 3, 2), GRU: (1, 0, 2)}
TYPES = {torch.float32: 1, torch.float16: 0}
library = c.CDLL(os.environ["MIOPEN"])
hip = c.CDLL(os.environ["HIP"], mode=c.RTLD_GLOBAL) if os.environ.get("HIP") else None


def call(name, *arguments):
    status = getattr(library, name)(*arguments)
    if status != 0:
        raise RuntimeError(f"{name}: status {status}")


def refused(name, *arguments):
    return getattr(library, name)(*arguments) != 0


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

    def places(self, x, element):
        """[(offset, elements)] in PyTorch's order of parameters; checks as PyTorch does that gates follow each other."""
        found, linear = [], 2 * GATES[self.mode]
        shape = describe(self.dtype, (1, 1))
        for layer in range(self.layers * self.directions):
            for kind in ("Param", "Bias") if self.bias else ("Param",):
                expected = None
                for i in range(linear):
                    offset, n = c.c_size_t(), c.c_size_t()
                    call(f"miopenGetRNNLayer{kind}Offset", self.name, layer, x, i, shape, c.byref(offset))
                    if kind == "Param":
                        call("miopenGetRNNLayerParamSize", self.handle, self.name, layer, x, i, c.byref(n))
                    else:
                        call("miopenGetRNNLayerBiasSize", self.handle, self.name, layer, i, c.byref(n))
                    elements = n.value // element
                    if i in (0, linear // 2):
                        found.append((offset.value, elements * linear // 2))
                    else:
                        assert offset.value == expected, (layer, kind, i, offset.value, expected)
                    expected = offset.value + elements
        return found


def fill_weights(network, places, parameters, elements, dtype):
    flat = torch.zeros(elements, dtype=dtype)
    for (offset, n), parameter in zip(places, parameters):
        parts = parameter.detach().chunk(GATES[network.mode], 0)
        flat[offset:offset + n] = torch.cat([parts[g] for g in ORDER[network.mode]]).reshape(-1)
    return flat


def gradients_of(network, places, parameters, flat):
    found = []
    for (offset, n), parameter in zip(places, parameters):
        parts = flat[offset:offset + n].view(parameter.shape).chunk(GATES[network.mode], 0)
        back = [None] * len(parts)
        for part, g in zip(parts, ORDER[network.mode]):
            back[g] = part
        found.append(torch.cat(back))
    return found


def close(name, ours, theirs, tolerance):
    theirs = theirs.detach().to(torch.float64)
    worst = (ours.to(torch.float64).reshape(theirs.shape) - theirs).abs().max().item()
    scale = theirs.abs().max().item() + 1e-2
    if not worst <= tolerance * scale:
        raise AssertionError(f"{name} is off by {worst:.3g} of {scale:.3g}")


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
    call("miopenRNNForwardTraining", network.handle, network.name, n, xs, X.pointer, h, HX.pointer, h, CX.pointer, w_name,
         W.pointer, ys, Y.pointer, h, HY.pointer, h, CY.pointer, work.pointer, size(work_bytes), reserve.pointer,
         size(reserve_bytes))
    DX, DHX, DCX = Memory(none(x, 99.0)), Memory(none(hx, 99.0)), Memory(none(hx, 99.0) if lstm else None)
    DY, DHY, DCY = Memory(dy), Memory(dhy), Memory(dcy if lstm else None)
    work = room(work_bytes)
    call("miopenRNNBackwardData", network.handle, network.name, n, ys, Y.pointer, ys, DY.pointer, h, DHY.pointer, h,
         DCY.pointer, w_name, W.pointer, h, HX.pointer, h, CX.pointer, xs, DX.pointer, h, DHX.pointer, h, DCX.pointer,
         work.pointer, size(work_bytes), reserve.pointer, size(reserve_bytes))
    DW = Memory(torch.zeros_like(weights))
    call("miopenRNNBackwardWeights", network.handle, network.name, n, xs, X.pointer, h, HX.pointer, ys, Y.pointer, w_name,
         DW.pointer, work.pointer, size(work_bytes), reserve.pointer, size(reserve_bytes))
    YI = Memory(none(dy, 99.0))
    call("miopenRNNForwardInference", network.handle, network.name, n, xs, X.pointer, h, HX.pointer, h, CX.pointer, w_name,
         W.pointer, ys, YI.pointer, h, None, h, None, work.pointer, size(work_bytes))
    read = lambda memory: memory.read() if memory.tensor is not None else None
    return [read(m) for m in (Y, HY, CY, DX, DHX, DCX, DW, YI)]


def draw(r):
    steps, batch = r.randint(1, 6), r.choice((1, 2, 3, 7, 20))
    lengths = sorted((r.randint(1, steps) for _ in range(batch)), reverse=True)
    lengths[0] = steps
    return dict(mode=r.randrange(4), input=r.randint(1, 20), hidden=r.randint(1, 20), layers=r.randint(1, 3),
                bidirectional=r.random() < 0.5, bias=r.random() < 0.7,
                lengths=lengths if r.random() < 0.5 else [steps] * batch,
                dtype=torch.float16 if r.random() < 0.2 else torch.float32)


def check(handle, p, seed):
    torch.manual_seed(seed)
    mode, dtype = p["mode"], p["dtype"]
    kind = {RELU: torch.nn.RNN, TANH: torch.nn.RNN, LSTM: torch.nn.LSTM, GRU: torch.nn.GRU}[mode]
    extra = {"nonlinearity": ("relu", "tanh")[mode]} if mode < LSTM else {}
    net = kind(p["input"], p["hidden"], p["layers"], bias=p["bias"], bidirectional=p["bidirectional"], batch_first=True,
               **extra)
    for parameter in net.parameters():
        parameter.data = parameter.data.to(dtype).float()
    net = net.double()
    batch, steps = len(p["lengths"]), p["lengths"][0]
    directions = 1 + p["bidirectional"]
    padded = torch.randn(batch, steps, p["input"]).to(dtype)
    packed = pack_padded_sequence(padded, p["lengths"], batch_first=True)
    x, batches = packed.data, packed.batch_sizes.tolist()
    state = (p["layers"] * directions, batch, p["hidden"])
    hx, cx, dhy, dcy = (torch.randn(state).to(dtype) for _ in range(4))
    dy = torch.randn(x.shape[0], directions * p["hidden"]).to(dtype)
    # PyTorch's own.
    theirs_x, theirs_h, theirs_c = (t.double().requires_grad_() for t in (x, hx, cx))
    arguments = (theirs_h, theirs_c) if mode == LSTM else theirs_h
    out, final = net(PackedSequence(theirs_x, packed.batch_sizes), arguments)
    hn, cn = final if mode == LSTM else (final, None)
    total = (out.data * dy.double()).sum() + (hn * dhy.double()).sum()
    (total + (cn * dcy.double()).sum() if mode == LSTM else total).backward()
    # Ours, as PyTorch calls it.
    network = Network(handle, mode, p["hidden"], p["layers"], p["bidirectional"], p["bias"], dtype)
    xs = network.steps(batches, p["input"])
    work, reserve, weights = network.sizes(xs)
    element = padded.element_size()
    rows, units = x.shape[0], p["layers"] * p["hidden"] * directions
    if dtype == torch.float32:  # as the original asks for
        scale = {LSTM: 6, GRU: 4}.get(mode, 1)
        assert work == scale * rows * units * 4, (work, scale * rows * units * 4)
        assert reserve == {LSTM: 7, GRU: 8}.get(mode, 2) * rows * units * 4, reserve
    assert weights == sum(t.numel() for t in net.parameters()) * element, weights
    places = network.places(c.c_void_p(xs[0]), element)
    # net.parameters() has, for each layer and direction, Wx, Wh, bx, bh.
    flat = fill_weights(network, places, list(net.parameters()), weights // element, dtype)
    y, hy, cy, dx, dhx, dcx, dw, inferred = train(network, x, batches, hx, cx, flat, dy, dhy, dcy, reserve, work)
    tolerance = 3e-5 if dtype == torch.float32 else 5e-3
    close("y", y, out.data, tolerance)
    close("y of inference", inferred, out.data, tolerance)
    close("hy", hy, hn, tolerance)
    close("dx", dx, theirs_x.grad, tolerance)
    close("dhx", dhx, theirs_h.grad, tolerance)
    if mode == LSTM:
        close("cy", cy, cn, tolerance)
        close("dcx", dcx, theirs_c.grad, tolerance)
    for i, (ours, parameter) in enumerate(zip(gradients_of(network, places, list(net.parameters()), dw),
                                              net.parameters())):
        close(f"gradient of parameter {i}", ours, parameter.grad, tolerance)
    sequences(network, p, padded, hx, cx, flat, y, hy, dy, dhy, dcy, dx, dw, packed.batch_sizes)
    call("miopenDestroyRNNDescriptor", network.name)


def sequences(network, p, padded, hx, cx, flat, y, hy, dy, dhy, dcy, dx, dw, batch_sizes):
    """The same with sequence tensors, in each layout: the same numbers, and 0.5 where there are none."""
    lstm, dtype, size = network.mode == LSTM, padded.dtype, c.c_size_t
    batch, steps, width = len(p["lengths"]), p["lengths"][0] + 1, network.directions * network.hidden
    spread = lambda t: torch.cat([pad_packed_sequence(PackedSequence(t, batch_sizes), batch_first=True)[0],
                                  torch.zeros(batch, 1, t.shape[-1], dtype=dtype)], 1)
    marker = c.c_float(0.5)
    h = describe(dtype, (*hx.shape,))
    present = torch.arange(steps)[None, :] < torch.tensor(p["lengths"])[:, None]
    for layout in (1, 2, 3):
        names = []
        for w in (p["input"], width):
            name = c.c_void_p()
            call("miopenCreateSeqTensorDescriptor", c.byref(name))
            pad = c.byref(marker) if dtype == torch.float32 else None
            call("miopenSetRNNDataSeqTensorDescriptor", name, TYPES[dtype], layout, steps, batch, w,
                 (c.c_int * batch)(*p["lengths"]), pad)
            names.append(name)
        form = {1: lambda t: t, 2: lambda t: spread(t).transpose(0, 1).contiguous(), 3: spread}[layout]
        packed_x = pack_padded_sequence(padded, p["lengths"], batch_first=True).data
        X, Y, HX, W = (Memory(t) for t in (form(packed_x), form(y) * 0 + 99, hx, flat))
        CX, HY = Memory(cx if lstm else None), Memory(torch.full_like(hx, 99.0))
        work, reserve = size(), size()
        call("miopenGetRNNTempSpaceSizes", network.handle, network.name, names[0], 0, c.byref(work), c.byref(reserve))
        space, kept = room(work.value), room(reserve.value)
        spaces = (space.pointer, work, kept.pointer, reserve)
        weights = size(flat.numel() * flat.element_size())
        call("miopenRNNForward", network.handle, network.name, 0, names[0], X.pointer, h, HX.pointer, HY.pointer, h,
             CX.pointer, None, names[1], Y.pointer, W.pointer, weights, *spaces)
        DX, DY, DHY = Memory(form(packed_x) * 0 + 99), Memory(form(dy)), Memory(dhy)
        DCY, DW = Memory(dcy if lstm else None), Memory(torch.zeros_like(flat))
        call("miopenRNNBackwardSeqData", network.handle, network.name, names[1], Y.pointer, DY.pointer, h, HX.pointer,
             DHY.pointer, None, h, CX.pointer, DCY.pointer, None, names[0], DX.pointer, W.pointer, weights, *spaces)
        call("miopenRNNBackwardWeightsSeqTensor", network.handle, network.name, names[0], X.pointer, h, HX.pointer,
             names[1], Y.pointer, DW.pointer, weights, *spaces)
        for what, ours, want in (("y", Y.read(), y), ("dx", DX.read(), dx)):
            if layout == 1:
                assert torch.equal(ours.view(want.shape), want), (layout, what)
                continue
            rows = ours.transpose(0, 1) if layout == 2 else ours
            assert torch.equal(rows[present], spread(want)[present]), (layout, what)
            gap = 0.5 if dtype == torch.float32 else 0.0
            assert bool((rows[~present] == gap).all()), (layout, what, "gaps")
        assert torch.equal(HY.read(), hy), (layout, "hy")
        assert torch.equal(DW.read(), dw), (layout, "dw")
        for name in names:
            call("miopenDestroySeqTensorDescriptor", name)


def dropout(handle):
    """Masks: about the share that was asked for, others each time, the same backward as forward."""
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


def parameters(handle):
    """What is set is what is got, at the offset that is told; without biases nothing is done."""
    network = Network(handle, GRU, 5, 2, True, True, torch.float32)
    x = describe(torch.float32, (3, 7))
    weights = c.c_size_t()
    call("miopenGetRNNParamsSize", handle, network.name, x, c.byref(weights), 1)
    w, shape = Memory(torch.zeros(weights.value // 4)), describe(torch.float32, (1, 1))
    call("miopenGetRNNParamsDescriptor", handle, network.name, x, shape, 1)
    for layer, i, n in ((0, 0, 35), (1, 4, 25), (2, 1, 50), (3, 5, 25)):
        values, back, offset = Memory(torch.randn(n)), Memory(torch.zeros(n)), c.c_size_t()
        call("miopenGetRNNLayerParamOffset", network.name, layer, x, i, shape, c.byref(offset))
        call("miopenSetRNNLayerParam", handle, network.name, layer, x, shape, w.pointer, i, shape, values.pointer)
        call("miopenGetRNNLayerParam", handle, network.name, layer, x, shape, w.pointer, i, shape, back.pointer)
        assert torch.equal(values.read(), back.read())
        assert torch.equal(w.read()[offset.value:offset.value + n], values.read())
        values, back = Memory(torch.randn(5)), Memory(torch.zeros(5))
        call("miopenGetRNNLayerBiasOffset", network.name, layer, x, i, shape, c.byref(offset))
        call("miopenSetRNNLayerBias", handle, network.name, layer, x, shape, w.pointer, i, shape, values.pointer)
        call("miopenGetRNNLayerBias", handle, network.name, layer, x, shape, w.pointer, i, shape, back.pointer)
        assert torch.equal(values.read(), back.read())
    assert refused("miopenGetRNNLayerParamOffset", network.name, 4, x, 0, shape, c.byref(offset))
    assert refused("miopenGetRNNLayerParamOffset", network.name, 0, x, 6, shape, c.byref(offset))
    assert refused("miopenSetRNNDescriptor", network.name, 5, 2, 0, 0, 9, 0, 0, 1)
    assert refused("miopenSetRNNDescriptor", network.name, 5, 2, 0, 0, 2, 0, 0, 5)
    call("miopenDestroyRNNDescriptor", network.name)
    assert refused("miopenDestroyRNNDescriptor", network.name)


def main():
    networks = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    print(f"{networks} networks, seed {seed}", flush=True)
    handle = c.c_void_p()
    call("miopenCreate", c.byref(handle))
    parameters(handle)
    dropout(handle)
    for i in range(networks):
        p = draw(random.Random(seed + i))
        try:
            check(handle, p, seed + i)
        except (AssertionError, RuntimeError) as error:
            print(f"seed {seed + i}: {p}: {error}")
            return 1
    call("miopenDestroy", handle)
    print(f"{networks} networks, parameters, dropout and sequence tensors: 0 failures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
