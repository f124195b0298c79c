"""sequence_fusion_check.py: convolution, bias, batch norm and activation one after the other in double precision, from
what `sequence` gave to fusion plans and fused problems."""
import torch
import torch.nn.functional as functional

NO_NORM, INFER, TRAIN, BACKWARD = range(4)
TOLERANCE = {"f32": 2e-5, "f16": 4e-3, "bf16": 3e-2}
EPSILON, FACTOR = 1e-5, 0.1


def activate(x, mode, alpha, beta, gamma):
    return {-1: lambda: x, 0: lambda: x, 1: lambda: torch.sigmoid(x), 2: lambda: beta * torch.tanh(alpha * x),
            3: lambda: x.clamp(min=0), 4: lambda: functional.softplus(x), 5: lambda: x.abs(),
            6: lambda: (alpha + beta * x) ** gamma, 7: lambda: x.clamp(0, alpha),
            8: lambda: torch.where(x > 0, x, alpha * x), 9: lambda: torch.where(x > 0, x, alpha * torch.expm1(x)),
            10: lambda: x.clamp(alpha, beta)}[mode]()


def check(record, read):
    """[(what, error in units of what is allowed)]"""
    norm, mode, activation = (int(record[key]) for key in ("norm", "mode", "activation"))
    numbers = [float(record[key]) for key in ("alpha", "beta", "gamma")]
    tolerance, results = TOLERANCE[record["x.type"]], []

    def add(name, key, want, allowed=tolerance):
        got = read(name, key)
        error = (got - want.reshape(got.shape)).abs().max() / (allowed * (want.abs().max() + 1e-2))
        results.append((name, float("inf") if torch.isnan(got).any() else float(error)))

    x = read("x", "x")
    if "w.dims" in record:
        x = functional.conv2d(x, read("w", "w"), stride=int(record["stride"]), padding=int(record["pad"]),
                              groups=int(record["groups"]))
    if record["bias"] == "1":
        x = x + read("b", "b").reshape(1, -1, 1, 1)
    axes = [0] if mode == 0 else [0, 2, 3]
    count = x.numel() // int(torch.tensor([x.shape[i] for i in range(4) if i not in axes]).prod())
    if norm:
        scale, shift = read("scale", "p"), read("shift", "p")
    if norm == BACKWARD:
        old, mean, inverse = read("old_x", "x"), read("smean", "p"), read("sinv", "p")
        hat = (old - mean) * inverse
        before = (hat * scale + shift).requires_grad_()
        activate(before, activation, *numbers).backward(x)
        dy = before.grad
        dscale, dshift = (dy * hat).sum(axes, keepdim=True), dy.sum(axes, keepdim=True)
        add("dscale", "p", dscale, TOLERANCE["f32"])
        add("dbias", "p", dshift, TOLERANCE["f32"])
        add("y", "y", scale * inverse * (dy - dshift / count - hat * dscale / count))
        return results
    if norm == TRAIN:
        mean, variance = x.mean(axes, keepdim=True), x.var(axes, unbiased=False, keepdim=True)
        add("smean", "p", mean, TOLERANCE["f32"])
        add("sinv", "p", (variance + EPSILON).rsqrt(), TOLERANCE["f32"])
        unbiased = variance * count / (count - 1)
        add("mean", "p", (1 - FACTOR) * read("omean", "p") + FACTOR * mean, TOLERANCE["f32"])
        add("var", "p", (1 - FACTOR) * read("ovar", "p") + FACTOR * unbiased, TOLERANCE["f32"])
    elif norm == INFER:
        mean, variance = read("mean", "p"), read("var", "p")
    if norm:
        x = (x - mean) * (variance + EPSILON).rsqrt() * scale + shift
    add("y", "y", activate(x, activation, *numbers))
    return results
