#!/usr/bin/env python3
"""Judges what `sequence` computed: PyTorch on the CPU in double precision, from the same inputs.

usage: sequence_check.py [--quiet] FOLDER
FOLDER is what `sequence` wrote: the file `records`, and the raw bytes of tensors. Prints a line for every
sequence that is wrong and one with the sums; exit status 1 after a failure, 77 without PyTorch.

A convolution may differ from the exact sum by 2 u sum|x w| sqrt(length) and the rounding of its type, with
u = 2^-24: the bound that RMCP holds itself to. Other operations have bounds of the same kind.
"""
import math
import os
import sys

try:
    import numpy
    import torch
    import torch.nn.functional as functional
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import sequence_fusion_check
import sequence_mha_check
import sequence_rnn_check

U = 2.0 ** -24
ROUNDING = {"f32": 2.0 ** -24, "f16": 2.0 ** -11, "bf16": 2.0 ** -8}
SMALLEST = {"f32": 2.0 ** -149, "f16": 2.0 ** -24, "bf16": 2.0 ** -133}


def numbers(text):
    return [int(word) for word in text.split(",")]


class Record:
    """One line of records: words KEY=VALUE; a key that comes twice keeps all its values in `all`."""

    def __init__(self, line):
        words = line.split()
        self.kind, self.all = words[0], {}
        for word in words[1:]:
            key, _, value = word.partition("=")
            self.all.setdefault(key, []).append(value)
        self.name = "/".join(self[key] for key in ("client", "case", "pass"))

    def __getitem__(self, key):
        return self.all[key][0]

    def __contains__(self, key):
        return key in self.all

    def calls(self):
        """[(function, status)]"""
        text = self.all.get("calls", [""])[-1]
        pairs = (word.rsplit(":", 1) for word in text.split(",") if word)
        return [(function, int(status)) for function, status in pairs]


def read_records(folder):
    with open(os.path.join(folder, "records"), encoding="utf-8") as file:
        return [Record(line) for line in file if line.strip()]


def read(folder, record, name, key, kind=None):
    """The dump of a tensor, in the shape and strides of KEY, as doubles."""
    kind = kind or record[f"{key}.type"]
    path = os.path.join(folder, f"{record['client']}.{record['case']}.{record['pass']}.{name}")
    with open(path, "rb") as file:
        data = file.read()
    if kind == "bf16":
        raw = numpy.frombuffer(data, dtype=numpy.uint16).astype(numpy.uint32) << 16
        flat = raw.view(numpy.float32)
    else:
        flat = numpy.frombuffer(data, dtype=numpy.float32 if kind == "f32" else numpy.float16)
    flat = torch.from_numpy(flat.astype(numpy.float64))
    if key is None:
        return flat
    return torch.as_strided(flat, numbers(record[f"{key}.dims"]), numbers(record[f"{key}.strides"])).clone()


def worst(got, want, bound, kind):
    """The largest error in units of what is allowed: above 1 is wrong."""
    allowed = bound + (want.abs() + bound) * ROUNDING[kind] + SMALLEST[kind]
    error = (got - want).abs() / allowed
    return math.inf if bool(torch.isnan(got).any()) else float(error.max())


def convolve(record, x, w, y, transposed):
    """The pass of a convolution whose own output is None among x, w, y."""
    spatial = len(numbers(record["pad"]))
    pad, stride, dilation = (numbers(record[key]) for key in ("pad", "stride", "dilation"))
    groups = int(record["groups"])
    mode = {2: (functional.conv2d, functional.conv_transpose2d),
            3: (functional.conv3d, functional.conv_transpose3d)}[spatial]
    shapes = {key: numbers(record[f"{key}.dims"]) for key in "xwy"}

    def forward(x, w):
        if transposed:
            return mode[1](x, w, stride=stride, padding=pad, groups=groups, dilation=dilation)
        return mode[0](x, w, stride=stride, padding=pad, groups=groups, dilation=dilation)

    if y is None:
        return forward(x, w)
    # Gradients by autograd: the convolution is linear in each factor.
    start = torch.zeros(shapes["x"] if x is None else shapes["w"], dtype=torch.float64, requires_grad=True)
    result = forward(start, w) if x is None else forward(x, start)
    result.backward(y)
    return start.grad


def check_conv(folder, record):
    which = record["pass"]
    transposed = record["mode"] == "1"
    inputs = {key: None if key == {"forward": "y", "data": "x", "weights": "w"}[which]
              else read(folder, record, key, key) for key in "xwy"}
    out = {"forward": "y", "data": "x", "weights": "w"}[which]
    want = convolve(record, **inputs, transposed=transposed)
    size = convolve(record, **{key: None if value is None else value.abs() for key, value in inputs.items()},
                    transposed=transposed)
    ones = convolve(record, **{key: None if value is None else torch.ones_like(value) for key, value in inputs.items()},
                    transposed=transposed)
    kind = record[f"{out}.type"]
    bound = 2 * U * size * ones.clamp(min=1).sqrt()
    if "bias" in record:
        bias = read(folder, record, "b", None, kind)
        shape = [1, -1] + [1] * (want.dim() - 2)
        # The convolution is rounded before the bias is added.
        bound = bound + (want.abs() + bound) * ROUNDING[kind]
        want = want + bias.reshape(shape)
    if "alpha" in record:
        alpha, beta = float(record["alpha"]), float(record["beta"])
        old = read(folder, record, "old", out)
        # The convolution is rounded before it is scaled.
        bound = abs(alpha) * (bound + (want.abs() + bound) * (ROUNDING[kind] + 2 * U)) + 2 * U * (beta * old).abs()
        want = alpha * want + beta * old
    n_outputs = int(record["outputs"])
    if n_outputs == 0:
        return [("no output", math.inf)]
    return [(f"out{i}", worst(read(folder, record, f"out{i}", out), want, bound, kind)) for i in range(n_outputs)]


def check_norm(folder, record):
    kind = record["x.type"]
    x = read(folder, record, "x", "x")
    channels, epsilon, factor = x.shape[1], float(record["epsilon"]), float(record["factor"])
    axes = [i for i in range(x.dim()) if i != 1]
    shape = [1, -1] + [1] * (x.dim() - 2)
    count = x.numel() // channels
    get = lambda name: read(folder, record, name, None, "f32")
    scale, bias = get("scale").reshape(shape), get("bias").reshape(shape)
    results = []

    def add(name, want, bound, kind_of="f32", key=None):
        got = read(folder, record, name, key, kind_of)
        results.append((name, worst(got, want if key else want.flatten(), bound if key else bound.flatten(), kind_of)))

    length = math.sqrt(count) * 8
    if record["pass"] == "inference":
        mean, variance = get("om").reshape(shape), get("ov").reshape(shape)
        inverse = (variance + epsilon).rsqrt()
        want = (x - mean) * inverse * scale + bias
        add("y", want, 16 * U * ((x.abs() + mean.abs()) * inverse * scale.abs() + bias.abs()), kind, "x")
        return results
    mean = x.mean(axes, keepdim=True)
    variance = x.var(axes, unbiased=False, keepdim=True)
    inverse = (variance + epsilon).rsqrt()
    mean_bound = U * length * x.abs().mean(axes, keepdim=True)
    # A variance as E x^2 - (E x)^2 may lose what the squares cancel.
    variance_bound = U * length * (x * x).mean(axes, keepdim=True)
    inverse_bound = inverse * (variance_bound / (variance + epsilon) + 4 * U)
    add("mean", mean, mean_bound)
    add("inv", inverse, inverse_bound)
    hat = (x - mean) * inverse
    hat_bound = (mean_bound * inverse + (x - mean).abs() * inverse_bound + 8 * U * (x.abs() + mean.abs()) * inverse)
    add("y", hat * scale + bias, hat_bound * scale.abs() + 4 * U * (hat.abs() * scale + bias.abs()), kind, "x")
    if record["pass"] == "training":
        if record["running"] == "1":
            unbiased = variance * count / max(count - 1, 1)
            old_mean, old_variance = get("om").reshape(shape), get("ov").reshape(shape)
            add("nm", (1 - factor) * old_mean + factor * mean, mean_bound + 4 * U * (old_mean.abs() + mean.abs()))
            add("nv", (1 - factor) * old_variance + factor * unbiased,
                2 * variance_bound + 4 * U * (old_variance.abs() + unbiased))
        return results
    dy = read(folder, record, "dy", "x")
    dbias, dscale = dy.sum(axes, keepdim=True), (dy * hat).sum(axes, keepdim=True)
    dbias_bound = U * length * dy.abs().sum(axes, keepdim=True)
    dscale_bound = (dy.abs() * (hat_bound + U * length * hat.abs())).sum(axes, keepdim=True)
    add("dbias", dbias, dbias_bound)
    add("dscale", dscale, dscale_bound)
    inside = dy - dbias / count - hat * dscale / count
    inside_bound = (dbias_bound / count + (hat.abs() * dscale_bound + hat_bound * dscale.abs()) / count
                    + 8 * U * (dy.abs() + dbias.abs() / count + (hat * dscale).abs() / count))
    add("dx", scale * inverse * inside,
        scale.abs() * (inverse * inside_bound + inverse_bound * inside.abs()), kind, "x")
    return results


def check_tensor(folder, record):
    a = read(folder, record, "a", "a")
    what, kind = record["what"], record["a.type"]
    alpha, alpha2, beta = (float(record[key]) for key in ("alpha", "alpha2", "beta"))
    key = "b" if what in ("transform", "bias") else "a"
    old = read(folder, record, "old", key)
    if what == "set":
        want, size = torch.full_like(a, alpha), torch.zeros_like(a)
    elif what == "scale":
        want, size = alpha * old, (alpha * old).abs()
    elif what == "transform":
        want, size = alpha * a + beta * old, (alpha * a).abs() + (beta * old).abs()
    elif what == "bias":
        axes = [i for i in range(a.dim()) if i != 1]
        want = alpha * a.sum(axes, keepdim=True)
        size = a.abs().sum(axes, keepdim=True) * math.sqrt(a.numel() / a.shape[1])
    else:
        b = read(folder, record, "b", "b")
        left, right = alpha * a, (alpha2 * b).expand_as(a)
        want = {0: torch.add, 1: torch.mul, 2: torch.minimum, 3: torch.maximum}[int(record["op"])](left, right)
        want, size = want + beta * old, left.abs() + right.abs() + (beta * old).abs()
    # Factors may be rounded to the type before they are used: f16 kernels work in f16.
    steps = 4 * U * size
    return [("c", worst(read(folder, record, "c", key), want, steps, kind))]


def taps(record, index, y_shape, in_windows):
    """Places in the image as indices of places in windows, where the record counts so."""
    window, stride, pad = (numbers(record[key]) for key in ("window", "stride", "pad"))
    places, rest, result = [], index, torch.zeros_like(index)
    for n in reversed(numbers(record["x.dims"])[2:]):
        places.insert(0, rest % n)
        rest = rest // n
    for d, place in enumerate(places):
        shape = [1] * len(y_shape)
        shape[2 + d] = -1
        begin = (torch.arange(y_shape[2 + d]) * stride[d] - pad[d]).reshape(shape)
        result = result * window[d] + place - begin
    return result if in_windows else index


def check_pool(folder, record):
    window, stride, pad = (numbers(record[key]) for key in ("window", "stride", "pad"))
    mode, trains, kind = int(record["mode"]), record["trains"] == "1", record["x.type"]
    x = read(folder, record, "x", "x").requires_grad_()
    deep = len(window) == 3
    if mode == 0:
        want, index = (functional.max_pool3d if deep else functional.max_pool2d)(x, window, stride, pad,
                                                                                 return_indices=True)
    else:
        want = (functional.avg_pool3d if deep else functional.avg_pool2d)(x, window, stride, pad,
                                                                          count_include_pad=mode == 2)
    length = math.prod(window) + 4
    bound = torch.zeros(()) if mode == 0 else length * U * x.detach().abs().max()
    results = [("y", worst(read(folder, record, "y", "y"), want.detach(), bound, kind))]
    if trains and mode == 0:
        type_of = [numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64][int(record["index_type"])]
        path = os.path.join(folder, f"{record['client']}.{record['case']}.{record['pass']}.index")
        with open(path, "rb") as file:
            data = numpy.frombuffer(file.read(), dtype=type_of)[:want.numel()].astype(numpy.int64)
        got = torch.from_numpy(data).reshape(want.shape)
        same = torch.equal(got, taps(record, index, want.shape, record["index_mode"] == "0"))
        results.append(("index", 0 if same else math.inf))
    if trains:
        dy = read(folder, record, "dy", "y")
        want.backward(dy)
        results.append(("dx", worst(read(folder, record, "dx", "x"), x.grad, length * U * dy.abs().max(), kind)))
    return results


def check_lrn(folder, record):
    n, mode, kind = int(record["n"]), int(record["mode"]), record["x.type"]
    alpha, beta, k = (float(record[key]) for key in ("alpha", "beta", "k"))
    x = read(folder, record, "x", "x").requires_grad_()
    less, more = (n - 1) // 2, n // 2
    if mode == 0:
        mean = functional.avg_pool2d(functional.pad(x * x, (less, more, less, more)), n, 1)
    else:
        square = (x * x).reshape(x.shape[0], 1, x.shape[1], -1)
        mean = functional.avg_pool2d(functional.pad(square, (0, 0, less, more)), (n, 1), 1).reshape(x.shape)
    scale = k + alpha * mean
    want = x * scale ** -beta
    # The original computes all of it in f16, when that is the type.
    bound = want.detach().abs() * (200 * U if kind == "f32" else 8 * ROUNDING[kind])
    results = [("y", worst(read(folder, record, "y", "x"), want.detach(), bound, kind))]
    if record["trains"] == "1":
        dy = read(folder, record, "dy", "x")
        want.backward(dy)
        size = (dy * scale.detach() ** -beta).abs() + 2 * alpha * beta * x.detach().abs() * (
            want.detach() * dy / scale.detach()).abs().max()
        results.append(("dx", worst(read(folder, record, "dx", "x"), x.grad, 400 * U * size, kind)))
    return results


def check_rnn(folder, record):
    judge = sequence_rnn_check.check if record.kind == "rnn" else sequence_rnn_check.check_parameters
    return judge(record, lambda name, key: read(folder, record, name, key, record["x.type"]))


def check_softmax(folder, record):
    x, kind = read(folder, record, "dy" if record["pass"] == "backward" else "x", "x"), record["x.type"]
    given, log = read(folder, record, "given", "x"), record["algorithm"] == "2"
    axes = [1] if record["mode"] == "1" else [1, 2, 3]
    if record["pass"] == "forward":
        want = x - x.logsumexp(axes, keepdim=True)
        want, bound = (want, 16 * U * (want.abs() + 1)) if log else (want.exp(), 16 * U * want.exp())
    else:
        factor = given.exp() if log else given
        total = (x if log else x * given).sum(axes, keepdim=True)
        size = (x.abs() if log else (x * given).abs()).sum(axes, keepdim=True)
        want = x - factor * total if log else factor * (x - total)
        bound = 8 * U * (x.abs() + factor.abs() * size) * math.sqrt(math.prod(x.shape[a] for a in axes))
    return [("out", worst(read(folder, record, "out", "x"), want, bound, kind))]


def check_fusion(folder, record):
    return sequence_fusion_check.check(record, lambda name, key: read(folder, record, name, key))


def check_mha(folder, record):
    return sequence_mha_check.check(
        record, lambda name, key: read(folder, record, name, key, None if key else "f32"), worst)


CHECKS = {"mha": check_mha, "fusion": check_fusion, "softmax": check_softmax, "conv": check_conv, "norm": check_norm,
          "tensor": check_tensor, "rnn": check_rnn, "parameters": check_rnn, "pool": check_pool, "lrn": check_lrn}


def verdict(folder, record):
    """(how it ended, largest error in units of the bound): "right", "wrong …", "status …", "died …"."""
    if "died" in record:
        return f"died {record['died']}", None
    failed = [f"{function}:{status}" for function, status in record.calls() if status]
    if "open" in record:
        failed.append(f"Create:{record['open']}")
    if failed:
        return "status " + ",".join(failed), None
    bad = [f"{key}={','.join(record.all[key])}"
           for key in ("guard", "changed", "device", "fallback", "other_workspace") if key in record]
    if bad:
        return "wrong " + " ".join(bad), None
    if record.kind not in CHECKS:
        return "right", None
    errors = CHECKS[record.kind](folder, record)
    largest = max(error for _, error in errors)
    if largest > 1:
        return "wrong " + " ".join(f"{name}:{error:.3g}" for name, error in errors if error > 1), largest
    return "right", largest


def main():
    arguments = [word for word in sys.argv[1:] if word != "--quiet"]
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    n_right = n_wrong = 0
    largest = 0.0
    for record in read_records(arguments[0]):
        if record.kind == "hostile":
            continue
        said, error = verdict(arguments[0], record)
        if said == "right":
            n_right += 1
            largest = max(largest, error or 0)
            if "--quiet" not in sys.argv:
                print(f"{record.name}: right, {error or 0:.3f} of the bound")
        else:
            n_wrong += 1
            print(f"FAIL: {record.name}: {said}")
    print(f"{n_right} right, {n_wrong} wrong, largest error {largest:.3f} of the bound")
    return 1 if n_wrong or not n_right else 0


if __name__ == "__main__":
    sys.exit(main())
