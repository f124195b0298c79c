"""torch_support.py: what the tests of rmcp.torch share: paths, random cases, the judge.

A case is run in RMCP, in PyTorch, and in PyTorch with float64; the judge compares values with the
last (bound of docs/ARCHITECTURE.md), shapes and strides with the second, and the counters of
rmcp.torch.stats() with the passes that must have run.
"""
import os
import pathlib
import random
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: PyTorch cannot be imported: {error}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("RMCP_LIBRARY", str(ROOT / "build" / "librmcp.so"))
sys.path.insert(0, str(ROOT / "python"))

import rmcp.torch  # noqa: E402

# RMCP_TORCH_NATIVE=1: the tests are about the native part, which must be there; =0: about the Python form.
NATIVE = os.environ.get("RMCP_TORCH_NATIVE") == "1"
if NATIVE:
    from rmcp.torch import _native
    if _native.library() is None:
        print(f"skipped: no native part: {_native.why_not}")
        sys.exit(77)

SEED = int(os.environ.get("RMCP_SEED", random.SystemRandom().randrange(2**32)))
CONVS = ((F.conv1d, F.conv2d, F.conv3d),
         (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d))
ROUNDOFF = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
SMALLEST = {torch.float32: 2.0**-149, torch.float16: 2.0**-24, torch.bfloat16: 2.0**-133}
SUM_FACTOR = 4.0  # of u * sum |a b| * sqrt(length)


class Case:
    """One random call of a convolution with the tensors it takes."""

    def __init__(self, rng, device="cpu", dtypes=(torch.float32,) * 4 + (torch.bfloat16, torch.float16)):
        self.n = n = rng.choice((1, 2, 2, 2, 3))
        self.transposed = rng.random() < 0.35
        self.dtype = rng.choice(dtypes)
        self.device = device
        self.groups = rng.choice((1, 1, 1, 2, 3, "depthwise"))
        self.draw_channels(rng)
        self.kernel = [rng.randint(1, 4) for _ in range(n)]
        self.stride = [rng.randint(1, 3) for _ in range(n)]
        self.dilation = [rng.choice((1, 1, 1, 2, 3)) for _ in range(n)]
        self.padding = [rng.randint(0, 2) for _ in range(n)]
        self.output_padding = [rng.randrange(s) if rng.random() < 0.5 else 0 for s in self.stride]
        self.batch = rng.choice((1, 2, 3))
        self.size = []
        for i in range(n):
            reach = self.dilation[i] * (self.kernel[i] - 1) + 1
            least = max(1, reach - 2 * self.padding[i])
            if self.transposed:
                least = 1 + max(0, 2 * self.padding[i] - reach) // self.stride[i] + 1
            self.size.append(least + rng.randint(0, (25, 8, 4)[n - 1]))
        if not self.transposed and rng.random() < 0.15:
            self.padding = rng.choice(("same", "valid"))
            self.size = [s + d * k for s, d, k in zip(self.size, self.dilation, self.kernel)]
            if self.padding == "same":
                self.stride = [1] * n
        self.bias = rng.random() < 0.6
        self.unbatched = rng.random() < 0.08
        if self.unbatched:
            self.batch = 1
        self.wanted = [rng.random() < 0.75 for _ in range(3)]  # gradients of input, weight, bias
        self.forms = [rng.choice(("plain", "plain", "last", "sliced", "permuted")) for _ in range(2)]
        self.grad_form = rng.choice(("plain", "plain", "last", "sliced", "expanded"))

    def draw_channels(self, rng):
        if self.groups == "depthwise":
            self.groups = rng.randint(2, 9)
            inputs, outputs = 1, rng.randint(1, 2)
        else:
            inputs, outputs = rng.randint(1, 9), rng.randint(1, 9)
        self.c, self.k = inputs * self.groups, outputs * self.groups

    def __repr__(self):
        return f"Case({', '.join(f'{name}={value}' for name, value in vars(self).items())})"

    def tensors(self, generator):
        """input, weight, bias or None; values that the type represents."""
        first, second = (self.c, self.k // self.groups) if self.transposed else (self.k, self.c // self.groups)
        size = [self.c, *self.size] if self.unbatched else [self.batch, self.c, *self.size]
        input = shaped(size, self.forms[0], self, generator)
        weight = shaped([first, second, *self.kernel], self.forms[1], self, generator)
        bias = shaped([self.k], "plain", self, generator) if self.bias else None
        return input, weight, bias

    def call(self, input, weight, bias):
        function = CONVS[self.transposed][self.n - 1]
        if self.transposed:
            return function(input, weight, bias, self.stride, self.padding, self.output_padding, self.groups,
                            self.dilation)
        return function(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)


def shaped(size, form, case, generator):
    """A random tensor with the strides that `form` names."""
    def draw(size):
        values = torch.randn(size, generator=generator, dtype=torch.float32)
        return values.to(case.dtype).to(case.device)

    if form == "expanded":
        return draw([1] * len(size)).expand(size)
    if form == "sliced":
        return draw([*size[:-1], 2 * size[-1] + 1])[..., 1::2]
    if form == "permuted":
        return draw([*size[:-2], size[-1], size[-2]]).transpose(-1, -2)
    tensor = draw(size)
    if form == "last" and len(size) in (4, 5):
        return tensor.contiguous(memory_format=torch.channels_last if len(size) == 4 else torch.channels_last_3d)
    return tensor


def leaves(tensors, wanted, change=lambda t: t):
    """Copies to differentiate with respect to, with the strides kept."""
    copies = []
    for tensor, want in zip(tensors, wanted):
        copies.append(None if tensor is None else change(tensor.detach()).requires_grad_(want))
    return copies


def results(case, tensors, grad):
    """The output and the gradients asked for, as a dictionary."""
    output = case.call(*tensors)
    named = {"output": output}
    asked = {name: t for name, t in zip(("input", "weight", "bias"), tensors) if t is not None and t.requires_grad}
    if asked and output.requires_grad:
        grads = torch.autograd.grad(output, list(asked.values()), grad)
        named.update({"grad " + name: g for name, g in zip(asked, grads)})
    return named


def bounds(case, tensors, grad, expected):
    """Largest difference allowed for each result, element by element."""
    magnitudes = results(case, leaves(tensors, case.wanted, lambda t: t.cpu().double().abs()),
                         grad.cpu().double().abs())
    unit, limits = ROUNDOFF[torch.float32], {}
    for name, magnitude in magnitudes.items():
        # No sum is longer than all products that go into a result.
        length = max(expected["output"].numel(), tensors[0].numel()) * max(1, tensors[1][0].numel())
        summing = SUM_FACTOR * unit * min(length, 2.0**20) ** 0.5 * magnitude
        rounding = ROUNDOFF[case.dtype] * (2 if name == "output" else 1)  # a bias may be added on its own
        limits[name] = summing + rounding * (expected[name].abs() + magnitude * (name == "output")) \
            + SMALLEST[case.dtype]
    return limits


class Judge:
    """Runs cases; enable_args go to rmcp.torch.enabled."""

    def __init__(self, device="cpu", **enable_args):
        self.device = device
        self.arguments = dict(device_types=(torch.device(device).type,), strict=True, **enable_args)
        self.passes = 0

    def ours(self, case, tensors, grad):
        rmcp.torch.reset_stats()
        with rmcp.torch.enabled(**self.arguments) as status:
            if NATIVE and status is not None and "offload" not in self.arguments:
                assert status.native, status.why_not_native
                results(case, leaves(tensors, case.wanted), grad)  # the long way; from now on the short one
                rmcp.torch.reset_stats()
            got = results(case, leaves(tensors, case.wanted), grad)
        self.check_counts(case, got)
        return got

    def check_counts(self, case, got):
        """Every pass ran in RMCP, once: an enable() that does nothing fails here."""
        stats = rmcp.torch.stats()
        empty = got["output"].numel() == 0
        expected = {"forward": int(not empty),
                    "input gradient": int("grad input" in got and not empty),
                    "weight gradient": int("grad weight" in got and not empty)}
        assert stats.by_pass == expected, f"{case}: RMCP did {stats.by_pass}, not {expected}"
        assert stats.fallbacks == 0, f"{case}: {stats.reasons}"
        if NATIVE and "offload" not in self.arguments:
            short = sum(row[5] for row in _native.rows())
            assert short == sum(expected.values()), f"{case}: {short} of {expected} went the short way"
        self.passes += sum(expected.values())

    def check(self, case, generator):
        tensors = case.tensors(generator)
        double = leaves(tensors, case.wanted, lambda t: t.cpu().double())
        with torch.no_grad():
            shape = case.call(*double).shape
        grad = shaped(list(shape), case.grad_form, case, generator)
        got = self.ours(case, tensors, grad)
        expected = results(case, double, grad.cpu().double())
        assert got.keys() == expected.keys(), f"{case}: {got.keys()}"
        limits = bounds(case, tensors, grad, expected)
        for name, value in got.items():
            assert value.dtype == case.dtype and value.shape == expected[name].shape, f"{case}: {name}"
            worst = float(((value.cpu().double() - expected[name]).abs() / limits[name]).max())
            assert worst <= 1, f"{case}: {name} is {worst:.3g} times the bound off"
        self.check_strides(case, tensors, grad, got)

    def check_strides(self, case, tensors, grad, got):
        """The output of a 2-D convolution on the CPU has the strides that PyTorch's own has. Others
        follow the same rule (channels_last where the input or the weight is), which PyTorch's do not
        everywhere. Half types are left out: on the CPU PyTorch before 2.1 has no float16, and its
        bfloat16 stops on machines that announce AMX without describing it."""
        if case.dtype != torch.float32 or case.n != 2 or case.transposed or case.device != "cpu":
            return
        ours, native = got["output"], case.call(*tensors)
        same = all(a == b for a, b, size in zip(ours.stride(), native.stride(), ours.shape) if size > 1)
        assert same, f"{case}: strides {ours.stride()}, PyTorch's {native.stride()}"


def sweep(device, count, seed=SEED, **arguments):
    """Check `count` random cases; returns the judge."""
    rng, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    judge = Judge(device, **arguments)
    for _ in range(count):
        judge.check(Case(rng, device), generator)
    return judge
