#!/usr/bin/env python3
"""test_torch.py: softmax, reductions, k-th values and getitem's gradient against PyTorch's, of drawn problems.

usage: test_torch.py [DEVICE [PROBLEMS [SEED]]], by default 120 problems on the CPU device. PyTorch computes in
double, gradients by its own autograd; NaN and infinities are among the values.
"""
import math
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
from rmcp._case import CasePlan

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
CLOSE = {"f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2}
library = c.library()


class Buffer:
    """A tensor of any strides in device memory."""

    def __init__(self, device, host, tensor):
        self.device, self.host, self.tensor = device, host, tensor
        self.bytes = host.numel() * host.element_size()
        self.memory = c.Memory()
        library.rmcp_buffer_create(device.handle, self.bytes, self.memory)
        library.rmcp_copy_to_device(device.handle, None, self.memory, host.data_ptr(), self.bytes)

    def read(self):
        library.rmcp_copy_to_host(self.device.handle, None, self.host.data_ptr(), self.memory, self.bytes)
        return self.tensor

    def close(self):
        library.rmcp_buffer_destroy(self.device.handle, self.memory)


def place(r, size, dtype, fill):
    """A tensor of the size, packed or with its dimensions in another order and gaps: its memory, itself, and its
    strides as text."""
    packed = r.random() < 0.5
    order = list(range(len(size)))
    if not packed:
        r.shuffle(order)
    strides, step = [0] * len(size), 1 if packed or r.random() < 0.7 else 2
    for d in reversed(order):
        strides[d] = step
        step = step * size[d] + (0 if packed else r.choice((0, 0, 3)))
    last = sum((n - 1) * s for n, s in zip(size, strides))
    memory = torch.full((last + 1,), 7, dtype=dtype)
    tensor = memory.as_strided(size, strides)
    tensor.copy_(fill(size))
    return memory, tensor, "" if packed else "x".join(str(s) for s in strides)


class Call:
    """One case with its tensors by name."""

    def __init__(self, device, r, text):
        self.device, self.r, self.text, self.buffers = device, r, text, {}

    def give(self, name, size, dtype, fill):
        memory, tensor, strides = place(self.r, size, dtype, fill)
        if strides:
            self.text += f":{name}/{strides}"
        self.buffers[name] = Buffer(self.device, memory, tensor)
        return tensor.clone()

    def run(self):
        with CasePlan(self.device, self.text) as plan:
            workspace = c.Memory()
            if plan.workspace_bytes:
                library.rmcp_buffer_create(self.device.handle, plan.workspace_bytes, workspace)
            plan.execute({name: b.memory for name, b in self.buffers.items()}, workspace=workspace)
            self.device.wait()
            results = {name: b.read() for name, b in self.buffers.items()}
            if plan.workspace_bytes:
                library.rmcp_buffer_destroy(self.device.handle, workspace)
        for b in self.buffers.values():
            b.close()
        return results


def draw_size(r, least=1):
    dims = r.randint(least, 5)
    largest = (0, 4000, 300, 40, 14, 8)[dims]
    return [r.randint(1, largest if r.random() < 0.4 else 6) for _ in range(dims)]


def values(r, special=False):
    def fill(size):
        x = torch.tensor(numpy.random.default_rng(r.randrange(1 << 31)).uniform(-3, 3, size), dtype=torch.float64)
        if special and r.random() < 0.3:
            flat = x.view(-1)
            for _ in range(r.randint(1, 3)):
                flat[r.randrange(len(flat))] = r.choice((math.nan, math.inf, -math.inf, 0.0))
        elif r.random() < 0.3:
            x = x.round()  # equals
        return x
    return fill


def zeros(size):
    return torch.zeros(size)


def near(got, want, kind, scale=1.0):
    got, want = got.double(), want.double()
    same = (got == want) | (got.isnan() & want.isnan())
    return bool((same | ((got - want).abs() <= CLOSE[kind] * (want.abs() + scale))).all())


def softmax(device, r):
    size, kind = draw_size(r, 2), r.choice(list(TYPES))
    log, instance = r.random() < 0.4, r.random() < 0.5
    alpha, beta = r.choice(((1, 0), (1, 0), (-2, 0.5), (0.5, 1)))
    word = "log" if log else r.choice(("accurate", "fast"))
    more = f":{word}:{'instance' if instance else 'channel'}:alpha{alpha}:beta{beta}"
    head = f"softmax:{'x'.join(map(str, size))}:{kind}"
    over = (lambda x: (torch.log_softmax if log else torch.softmax)(x.flatten(1), 1).view(size)) if instance else \
        (lambda x: (torch.log_softmax if log else torch.softmax)(x, 1))
    forward = Call(device, r, head + ":fwd" + more)
    x = forward.give("x", size, TYPES[kind], values(r, True)).double()
    y = forward.give("y", size, TYPES[kind], values(r)).double()
    yield forward.text, near(forward.run()["y"], alpha * over(x) + (beta * y if beta else 0), kind)
    backward = Call(device, r, head + ":bwd" + more)
    x = values(r)(size).requires_grad_()
    y = backward.give("y", size, TYPES[kind], lambda _: over(x).detach()).double()
    dy = backward.give("dy", size, TYPES[kind], values(r)).double()
    dx = backward.give("dx", size, TYPES[kind], values(r)).double()
    exact = over(x)
    exact.backward(dy)
    # y was rounded: its error enters, and grows with the sum over a line
    length = x.numel() // size[0] if instance else size[1]
    yield backward.text, near(backward.run()["dx"], alpha * x.grad + (beta * dx if beta else 0), kind,
                              scale=4 * math.sqrt(length) + (length if log else 0))
    if not log:
        plain = y * (dy - (y * dy).flatten(1).sum(1).view([-1] + [1] * (len(size) - 1))) if instance else \
            y * (dy - (y * dy).sum(1, keepdim=True))
        yield backward.text + " (of the rounded y)", \
            near(backward.buffers["dx"].tensor, alpha * plain + (beta * dx if beta else 0), kind)


def reduction(device, r):
    size, kind = draw_size(r), r.choice(list(TYPES))
    over = sorted(r.sample(range(len(size)), r.randint(1, len(size))))
    kept = [1 if d in over else n for d, n in enumerate(size)]
    word = r.choice(("add", "mul", "min", "max", "amax", "avg", "norm1", "norm2", "mul_nonzero", "argmin", "argmax"))
    extreme = word in ("min", "max", "amax", "argmin", "argmax")
    ignore = r.random() < 0.5
    indexed = extreme and (word.startswith("arg") or r.random() < 0.5)
    alpha, beta = (1, 0) if word.startswith("arg") else r.choice(((1, 0), (1, 0), (-2, 0.5)))
    text = f"reduce:{'x'.join(map(str, size))}:{kind}:{word}:over{'x'.join(map(str, over))}"
    text += (":ignore" if ignore else "") + (":indexed" if indexed else "") + f":alpha{alpha}:beta{beta}"
    call = Call(device, r, text)
    a = call.give("a", size, TYPES[kind], values(r, True)).double()
    before = None if word.startswith("arg") else call.give("c", kept, TYPES[kind], values(r)).double()
    if indexed:
        call.give("indices", kept, torch.int32, zeros)
    rest = [d for d in range(len(size)) if d not in over]
    lines = a.permute(rest + over).reshape([kept[d] for d in rest] + [-1])
    counts = ~lines.isnan() if ignore else torch.ones_like(lines, dtype=torch.bool)
    if word in ("amax", "norm1"):
        lines = lines.abs()
    scale, want, places = 1.0, None, None
    if extreme:
        sign = -1 if word in ("min", "argmin") else 1
        seen = torch.where(counts, sign * lines, torch.tensor(-math.inf, dtype=torch.float64))
        top, places = torch.where(seen.isnan(), torch.tensor(math.inf, dtype=torch.float64), seen).max(-1)
        nan = seen.isnan()
        places = torch.stack([first(n, s, k) for n, s, k in
                              zip(nan.reshape(-1, seen.shape[-1]), seen.reshape(-1, seen.shape[-1]),
                                  counts.reshape(-1, seen.shape[-1]))])
        want = sign * torch.where(nan.any(-1), torch.tensor(math.nan, dtype=torch.float64), top)
    elif word in ("mul", "mul_nonzero"):
        counts = counts & (lines != 0) if word == "mul_nonzero" else counts
        want = torch.where(counts, lines, torch.ones_like(lines)).prod(-1)
        scale = lines.shape[-1] * 1e-30
        if float(torch.where(lines.abs() > 1, lines.abs(), torch.ones_like(lines)).prod(-1).max()) > 1e30:
            return  # beyond f32 on the way
        if kind == "f16":
            scale = 0.1
    else:
        squared = lines * lines if word == "norm2" else lines
        kept_terms = torch.where(counts, squared, torch.zeros_like(lines))
        want = kept_terms.sum(-1)
        scale = float(torch.nan_to_num(kept_terms.abs(), posinf=0).sum(-1).max()) * 0.01 + 1
        if word == "avg":
            want, scale = want / lines.shape[-1], scale / lines.shape[-1] + 1
        if word == "norm2":
            want = want.sqrt()
    results = call.run()
    if before is not None:
        want = alpha * want.reshape(kept) + (beta * before if beta else 0)
        if kind == "f16":
            want = torch.where(want.abs() > 65504, torch.sign(want) * math.inf, want)
        yield call.text, near(results["c"], want, kind, scale * (abs(alpha) if alpha else 1))
    if indexed:
        yield call.text + " indices", bool((results["indices"].reshape(-1).long() == places).all())


def first(nan, line, counts):
    """The place of the first NaN, or of the first of the largest; 0 where nothing counts."""
    at = nan if bool(nan.any()) else (line == line.max()) & counts
    return at.nonzero()[0][0] if bool(at.any()) else torch.tensor(0)


def kth(device, r):
    size, kind = draw_size(r), r.choice(list(TYPES))
    along = r.randrange(len(size))
    k = r.randint(1, size[along])
    kept = [1 if d == along else n for d, n in enumerate(size)]
    call = Call(device, r, f"kth:{'x'.join(map(str, size))}:{kind}:over{along}:k{k}")
    x = call.give("x", size, TYPES[kind], values(r, True)).double()
    call.give("y", kept, TYPES[kind], zeros)
    call.give("indices", kept, torch.int64, zeros)
    want = torch.kthvalue(x, k, along, keepdim=True).values
    results = call.run()
    y, places = results["y"].double(), results["indices"]
    taken = x.gather(along, places)
    same = lambda a, b: (a == b) | (a.isnan() & b.isnan())
    yield call.text, bool(same(y, want).all()) and bool(same(taken, want).all())


def getitem(device, r):
    size, kind = draw_size(r), r.choice(list(TYPES))
    begin = r.randrange(len(size))
    n, length = r.randint(1, len(size) - begin), r.choice((1, 5, 40, 300))
    dims = list(range(begin, begin + n))
    call = Call(device, r, f"getitem:{'x'.join(map(str, size))}:{kind}:dims{'x'.join(map(str, dims))}:take{length}")
    indices = []
    for i, d in enumerate(dims):
        index = torch.tensor([r.randrange(-size[d], size[d]) for _ in range(length)], dtype=torch.int32)
        indices.append(call.give(f"i{i}", [length], torch.int32, lambda _: index).long())
    dy = call.give("dy", size[:begin] + [length] + size[begin + n:], TYPES[kind], values(r)).double()
    dx = call.give("dx", size, TYPES[kind], values(r)).double()
    call.give("error", [n], torch.int32, zeros)
    x = torch.zeros(size, dtype=torch.float64, requires_grad=True)
    x[tuple([slice(None)] * begin + indices)].backward(dy)
    results = call.run()
    right = near(results["dx"], dx + x.grad, kind, scale=math.sqrt(length))
    yield call.text, right and not bool(results["error"].any())


def main():
    spec = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    problems = int(sys.argv[2]) if len(sys.argv) > 2 else 120
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    kinds = (softmax, reduction, reduction, kth, getitem)
    checks = failures = 0
    with rmcp.Device(spec) as device:
        for number in range(problems):
            r = random.Random(seed * 1000003 + number)
            for text, right in kinds[number % len(kinds)](device, r):
                checks += 1
                if not right:
                    failures += 1
                    print(f"wrong: {text} (problem {number})")
    print(f"{spec}: {problems} problems with seed {seed}, {checks} checks, {failures} wrong")
    return 1 if failures or checks < problems // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
