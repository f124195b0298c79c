#!/usr/bin/env python3
"""test_torch.py: recurrent networks against PyTorch's: values and all gradients of drawn problems.

usage: test_torch.py [DEVICE [PROBLEMS [SEED]]], by default 40 problems on the CPU device. PyTorch computes
in double. Masks of dropout are read from what training left behind, and PyTorch multiplies by the same.
"""
import ctypes
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))
try:
    import numpy
    import torch
    import rmcp_ctypes as rmcp
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from rmcp import _library as c

MODES = ("relu", "tanh", "lstm", "gru")
INFER, TRAIN, BACKWARD, WEIGHTS = range(4)
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
CLOSE = {"f32": 3e-5, "f16": 4e-3, "bf16": 3e-2}
# Our gates in PyTorch's order: i f o g is i f g o there, z r n is r z n.
ORDER = {"relu": (0,), "tanh": (0,), "lstm": (0, 1, 3, 2), "gru": (1, 0, 2)}
library = c.library()


class Buffer:
    """Device memory with a copy on the host; what is not written is NaN."""

    def __init__(self, device, array):
        self.device, self.array = device, numpy.array(array)
        self.memory = c.Memory()
        library.rmcp_buffer_create(device.handle, max(self.array.nbytes, 4), self.memory)
        library.rmcp_copy_to_device(device.handle, None, self.memory, self.array.ctypes.data,
                                    self.array.nbytes)

    def read(self):
        library.rmcp_copy_to_host(self.device.handle, None, self.array.ctypes.data, self.memory,
                                  self.array.nbytes)
        return self.array

    def close(self):
        library.rmcp_buffer_destroy(self.device.handle, self.memory)


def draw(r):
    mode = r.choice(MODES)
    steps = r.randint(1, 9)
    batch = r.choice((1, 2, 3, 5, 8, 9, 20, 70))
    p = dict(mode=mode, steps=steps, batch=batch, input=r.randint(1, 40), hidden=r.randint(1, 40),
             layers=r.randint(1, 3), bi=r.random() < 0.5, bias=r.random() < 0.7,
             type=r.choice(("f32", "f32", "f16", "bf16")), states=r.random() < 0.6,
             drop=r.choice((0, 0, 0.5, 0.25)), batches=None)
    if r.random() < 0.5:
        lengths = sorted((r.randint(1, steps) for _ in range(batch)), reverse=True)
        lengths[0] = steps
        p["batches"] = [sum(length > t for length in lengths) for t in range(steps)]
    return p


class Ours:
    """All passes of one problem; tensors by name as numpy arrays."""

    def __init__(self, device, p, algorithm):
        self.device, self.p, self.buffers = device, p, {}
        self.algorithm = algorithm
        self.batches = (ctypes.c_int64 * p["steps"])(*(p["batches"] or [p["batch"]] * p["steps"]))
        self.problem = c.Rnn(mode=MODES.index(p["mode"]), steps=p["steps"], batch=p["batch"],
                             input=p["input"], hidden=p["hidden"], layers=p["layers"],
                             bidirectional=p["bi"], bias=p["bias"],
                             type=list(TYPES).index(p["type"]),
                             given=(63 if p["mode"] == "lstm" else 21) if p["states"] else 0,
                             dropout=p["drop"])
        self.problem.batches = ctypes.cast(self.batches, ctypes.POINTER(ctypes.c_int64))
        self.info = c.RnnInfo()
        library.rmcp_rnn_describe(self.problem, self.info)
        text = ctypes.create_string_buffer(640)
        library.rmcp_rnn_print(self.problem, -1, text, 640)
        self.text = text.value.decode()

    def bind(self, name, tensor):
        bits = tensor.contiguous()
        if bits.dtype in (torch.float16, torch.bfloat16):
            bits = bits.view(torch.int16)
        self.buffers[name] = Buffer(self.device, bits.numpy().ravel())

    def fresh(self, name, elements, dtype):
        self.bind(name, torch.full((elements,), float("nan"), dtype=dtype))

    def run(self, pass_):
        plan = ctypes.c_void_p()
        algorithm = self.algorithm.encode() if self.algorithm and pass_ != WEIGHTS else None
        options = c.PlanOptions(algorithm=algorithm)
        library.rmcp_rnn_plan(self.device.handle, self.problem, pass_, options, plan)
        n = library.rmcp_plan_workspace(plan)
        work = Buffer(self.device, numpy.full((n + 3) // 4 + 1, numpy.nan, numpy.float32))
        tensors = c.RnnTensors(workspace=work.memory, workspace_bytes=n)
        for name, buffer in self.buffers.items():
            setattr(tensors, name, buffer.memory)
        library.rmcp_rnn_execute(plan, None, tensors)
        library.rmcp_device_wait(self.device.handle, None)
        library.rmcp_plan_destroy(plan)
        work.close()

    def read(self, name, dtype):
        array = torch.from_numpy(self.buffers[name].read().copy())
        return (array.view(dtype) if dtype != torch.float32 else array).double()

    def close(self):
        for buffer in self.buffers.values():
            buffer.close()


def parameters(p, w):
    """Views into the flat array: {(layer, direction): (Wx, Wh, bx, bh)}, gates in our order."""
    gates, directions, hidden = len(ORDER[p["mode"]]), 1 + p["bi"], p["hidden"]
    at, found = 0, {}
    for layer in range(p["layers"]):
        columns = p["input"] if layer == 0 else directions * hidden
        for which, width in enumerate((columns, hidden)):
            for d in range(directions):
                n = gates * hidden * width
                found.setdefault((layer, d), [None] * 4)[which] = w[at:at + n].view(-1, width)
                at += n
    for layer in range(p["layers"] if p["bias"] else 0):
        for which in (2, 3):
            for d in range(directions):
                found[layer, d][which] = w[at:at + gates * hidden]
                at += gates * hidden
    assert at == w.numel(), (at, w.numel())
    return found


def to_torch(p, matrix):
    parts = matrix.chunk(len(ORDER[p["mode"]]), 0)
    return torch.cat([parts[g] for g in ORDER[p["mode"]]], 0)


def one_layer(p, layer):
    kind = {"relu": torch.nn.RNN, "tanh": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}
    extra = {"nonlinearity": p["mode"]} if p["mode"] in ("relu", "tanh") else {}
    width = p["input"] if layer == 0 else (1 + p["bi"]) * p["hidden"]
    return kind[p["mode"]](width, p["hidden"], 1, bias=p["bias"], bidirectional=p["bi"],
                           **extra).double()


def theirs(p, w, x, states, dy, dstates, masks):
    """PyTorch, layer by layer, so that masks can be ours; returns y, final states and all gradients."""
    flat = w.double().clone().requires_grad_()
    found = parameters(p, flat)
    x = x.double().clone().requires_grad_()
    initial = [s.double().clone().requires_grad_() for s in states]
    directions = 1 + p["bi"]
    value, finals = x, []
    for layer in range(p["layers"]):
        net = one_layer(p, layer)
        values = {}
        for d in range(directions):
            tail = "_reverse" if d else ""
            for name, part in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), found[layer, d]):
                if part is not None:
                    values[f"{name}_l0{tail}"] = to_torch(p, part)
        part = [s[layer * directions:(layer + 1) * directions] for s in initial]
        arguments = (part[0], part[1]) if p["mode"] == "lstm" else part[0]
        sizes = torch.tensor(p["batches"] or [p["batch"]] * p["steps"])
        packed = torch.nn.utils.rnn.PackedSequence(value, sizes)
        for name in values:
            delattr(net, name)
        net._flat_weights = [values[n] for n in net._flat_weights_names]
        out, final = net(packed, arguments)
        finals.append(final if p["mode"] == "lstm" else (final,))
        value = out.data
        if layer < p["layers"] - 1 and masks is not None:
            value = value * masks[layer]
    final = [torch.cat([f[i] for f in finals]) for i in range(len(initial))]
    total = (value * dy.double()).sum()
    for f, g in zip(final, dstates):
        total = total + (f * g.double()).sum()
    total.backward()
    return dict(y=value, finals=final, dx=x.grad, dw=flat.grad, dinitial=[s.grad for s in initial])


def close(name, ours, expected, tolerance):
    expected = expected.detach().reshape(-1)
    scale = expected.abs().max().item() + 1e-2
    worst = (ours - expected).abs().max().item() if expected.numel() else 0.0
    if not worst <= tolerance * scale:
        return f"{name} is off by {worst:.3g} of {scale:.3g}"
    return None


def check(device, p, seed, algorithm):
    g = torch.Generator().manual_seed(seed)
    dtype, lstm = TYPES[p["type"]], p["mode"] == "lstm"
    ours = Ours(device, p, algorithm)
    info = ours.info
    def normal(*shape, scale=1.0):
        return (torch.randn(shape, generator=g) * scale).to(dtype)
    states_shape = (p["layers"] * (1 + p["bi"]), p["batch"], p["hidden"])
    x, w = normal(info.rows, p["input"]), normal(info.w, scale=0.7 / max(p["hidden"], 4) ** 0.5)
    dy = normal(info.rows, (1 + p["bi"]) * p["hidden"])
    names = ("h", "c") if lstm else ("h",)
    given = p["states"]
    zero = torch.zeros(states_shape, dtype=dtype)
    states = [normal(*states_shape) if given else zero for _ in names]
    dstates = [normal(*states_shape) if given else zero for _ in names]
    old = normal(info.w)
    for name, tensor in (("x", x), ("w", w), ("dy", dy), ("dw", old)):
        ours.bind(name, tensor)
    for name, s, ds in zip(names, states, dstates):
        ours.bind(name + "x", s)
        ours.bind("d" + name + "y", ds)
        ours.fresh(name + "y", s.numel(), dtype)
        ours.fresh("d" + name + "x", s.numel(), dtype)
    ours.fresh("y", dy.numel(), dtype)
    ours.fresh("dx", x.numel(), dtype)
    ours.fresh("reserve", info.reserve, torch.float32)
    ours.fresh("gradients", info.gradients, torch.float32)
    ours.bind("state", torch.tensor([seed, 1, 7, 0], dtype=torch.int32).view(torch.float32))
    for pass_ in (TRAIN, BACKWARD, WEIGHTS):
        ours.run(pass_)
    masks = None
    if p["drop"] and p["layers"] > 1:
        reserve = ours.read("reserve", torch.float32)
        plane, planes = dy.numel(), {"lstm": 7, "gru": 5}.get(p["mode"], 1)
        masks = []
        for layer in range(p["layers"] - 1):
            dropped = reserve[(p["layers"] * planes + layer) * plane:][:plane].view(dy.shape)
            masks.append((dropped != 0).double() / (1 - p["drop"]))
    want = theirs(p, w, x, states, dy, dstates, masks)
    tolerance = CLOSE[p["type"]]
    bad = [close("y", ours.read("y", dtype), want["y"], tolerance),
           close("dx", ours.read("dx", dtype), want["dx"], tolerance),
           close("dw", ours.read("dw", dtype), want["dw"] + old.double(), tolerance)]
    for i, name in enumerate(names if given else ()):
        bad.append(close(name + "y", ours.read(name + "y", dtype), want["finals"][i], tolerance))
        bad.append(close(f"d{name}x", ours.read(f"d{name}x", dtype), want["dinitial"][i], tolerance))
    if masks is None:
        ours.fresh("y", dy.numel(), dtype)
        ours.run(INFER)
        bad.append(close("y of inference", ours.read("y", dtype), want["y"], tolerance))
    text = ours.text
    ours.close()
    return text, [b for b in bad if b]


def main():
    spec = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    problems = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(os.environ.get("RMCP_SEED") or random.randrange(1 << 30))
    print(f"{problems} problems on {spec}, seed {seed}", flush=True)
    device = rmcp.Device(spec)
    failures = 0
    for i in range(problems):
        p = draw(random.Random(seed + i))
        algorithm = (None, "fused", "apart")[i % 3] if spec != "cpu" else None
        text, bad = check(device, p, seed + i, algorithm)
        for line in bad:
            print(f"seed {seed + i}: {text}: {line}")
        failures += bool(bad)
    device.close()
    print(f"{problems} problems, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
