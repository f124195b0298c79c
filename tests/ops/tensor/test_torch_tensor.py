#!/usr/bin/env python3
"""test_torch_tensor.py: tensor operations on the CPU device against PyTorch: random shapes, strides, broadcasts
and types."""
import pathlib
import random
import sys
import unittest

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))
from rmcp import _library as c  # noqa: E402
from rmcp._api import Device  # noqa: E402
from rmcp._tensor import TensorPlan, case_string, describe, parse  # noqa: E402

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
ROUNDING = {torch.float32: 2**-24, torch.float16: 2**-11, torch.bfloat16: 2**-8}
ROUNDS = 400


def draw_tensor(rng, size, dtype, may_repeat):
    """A tensor that broadcasts to `size`, with its dimensions in any order and gaps between rows."""
    own = [1 if may_repeat and rng.random() < 0.3 else n for n in size]
    order = list(range(len(size)))
    if rng.random() < 0.5:
        rng.shuffle(order)
    gap = rng.choice((0, 0, 3))
    base = torch.randn(*(own[i] + (gap if k else 0) for k, i in enumerate(order))).to(dtype)
    for k, i in enumerate(order):
        base = base.narrow(k, 0, own[i])
    return base.permute(*(order.index(i) for i in range(len(size))))


def operand(tensor):
    """(type, size, strides), and where its first element lies."""
    # all-zero strides would mean packed, but then every dimension has size 1 and strides do not count
    return DTYPES.index(tensor.dtype), tuple(tensor.shape), tuple(tensor.stride())


def memory(tensor):
    return c.Memory(base=tensor.data_ptr(), offset=0)


class AgainstTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = Device("cpu")

    @classmethod
    def tearDownClass(cls):
        cls.device.close()

    def run_ours(self, problem, out, a=None, b=None, algorithm=None):
        with TensorPlan(self.device, problem, algorithm) as plan:
            operands = c.TensorOperands(c=memory(out), workspace_bytes=plan.workspace_bytes)
            room = torch.empty(plan.workspace_bytes + 256, dtype=torch.uint8)
            operands.workspace = c.Memory(base=room.data_ptr() + -room.data_ptr() % 256, offset=0)
            if a is not None:
                operands.a = memory(a)
            if b is not None:
                operands.b = memory(b)
            plan.execute(operands)

    def compare(self, problem, out, expected, size, before=None):
        """Within the bound: `size` is what errors are relative to, besides the rounding of the result."""
        bound = ROUNDING[out.dtype] * 1.001 * expected.abs() + 300 * 2**-24 * size + 2**-24
        if not bool(((out.double() - expected).abs() <= bound).all()):
            worst = ((out.double() - expected).abs() - bound).max().item()
            self.fail(f"{case_string(problem)}: {worst} beyond the bound")
        if before is not None:  # gaps
            storage, old = before
            out.copy_(old)
            self.assertTrue(torch.equal(storage.view(torch.int16), self.whole_before.view(torch.int16)),
                            case_string(problem))

    def draw_output(self, rng, size, dtype):
        out = draw_tensor(rng, size, dtype, False)
        # all memory that belongs to it, gaps too
        span = sum((n - 1) * s for n, s in zip(out.shape, out.stride())) + 1
        whole = torch.as_strided(out, (span,), (1,))
        self.whole_before = whole.clone()
        return out, (whole, out.clone())

    def test_elementwise(self):
        rng = random.Random(1)
        torch.manual_seed(1)
        for _ in range(ROUNDS):
            kind = rng.randrange(c.TENSOR_SET, c.TENSOR_SUM)
            size = [rng.choice((1, 2, 3, 5, 8, 17, rng.randrange(1, 60))) for _ in range(rng.randrange(1, 5))]
            common = rng.choice(DTYPES)
            types = [rng.choice(DTYPES) if rng.random() < 0.3 else common for _ in range(3)]
            out, before = self.draw_output(rng, size, types[2])
            scalars = {"alpha": rng.choice((1, -1, 0.5, rng.uniform(-2, 2)))}
            a = b = None
            old = out.double()
            if kind >= c.TENSOR_COPY:
                a = draw_tensor(rng, size, types[0], True)
                scalars["beta"] = rng.choice((0, 0, 1, rng.uniform(-2, 2)))
            if kind >= c.TENSOR_ADD:
                b = draw_tensor(rng, size, types[1], True)
                scalars["alpha_b"] = rng.choice((1, -1, rng.uniform(-2, 2)))
            x = scalars["alpha"] * (a.double() if a is not None else old)
            y = scalars.get("alpha_b", 0) * b.double() if b is not None else None
            expected = {
                c.TENSOR_SET: lambda: torch.full(size, scalars["alpha"], dtype=torch.float64),
                c.TENSOR_SCALE: lambda: x,
                c.TENSOR_COPY: lambda: x,
                c.TENSOR_ADD: lambda: x + y,
                c.TENSOR_MULTIPLY: lambda: x * y,
                c.TENSOR_MINIMUM: lambda: torch.minimum(x, y),
                c.TENSOR_MAXIMUM: lambda: torch.maximum(x, y),
            }[kind]().expand(size)
            magnitude = x.abs() + (y.abs() + (x * y).abs() if y is not None else 0)
            if scalars.get("beta"):
                expected = expected + scalars["beta"] * old
                magnitude = magnitude + (scalars["beta"] * old).abs()
            problem = describe(kind, size, None if a is None else operand(a),
                               None if b is None else operand(b), operand(out), **scalars)
            algorithm = rng.choice((None, "loops", "reference"))
            self.run_ours(problem, out, a, b, algorithm)
            self.compare(problem, out, expected, magnitude, before)

    def test_sums(self):
        rng = random.Random(2)
        torch.manual_seed(2)
        for _ in range(ROUNDS):
            size = [rng.choice((1, 2, 3, 8, 31, rng.randrange(1, 70))) for _ in range(rng.randrange(1, 5))]
            a = draw_tensor(rng, size, rng.choice(DTYPES), False)
            dims = [i for i in range(len(size)) if rng.random() < 0.5]
            kept = [1 if i in dims else n for i, n in enumerate(size)]
            out, before = self.draw_output(rng, kept, rng.choice(DTYPES))
            scalars = {"alpha": rng.choice((1, 0.25, -3)), "beta": rng.choice((0, 1, -0.5))}
            expected = torch.sum(a.double(), dims, keepdim=True) if dims else a.double()
            size_of = torch.sum(a.double().abs(), dims, keepdim=True) if dims else a.double().abs()
            expected = scalars["alpha"] * expected + scalars["beta"] * out.double()
            magnitude = abs(scalars["alpha"]) * size_of + out.double().abs()
            problem = describe(c.TENSOR_SUM, size, operand(a), None, operand(out), **scalars)
            self.run_ours(problem, out, a, algorithm=rng.choice((None, "loops_sum", "reference")))
            self.compare(problem, out, expected, magnitude, before)

    def test_copies_are_pytorchs_bit_by_bit(self):
        rng = random.Random(3)
        for _ in range(ROUNDS // 2):
            size = [rng.randrange(1, 40) for _ in range(rng.randrange(1, 5))]
            a = draw_tensor(rng, size, rng.choice(DTYPES), True)
            out, _before = self.draw_output(rng, size, rng.choice(DTYPES))
            problem = describe(c.TENSOR_COPY, size, operand(a), None, operand(out), alpha=1)
            expected = a.expand(size).to(out.dtype)
            self.run_ours(problem, out, a)
            self.assertTrue(torch.equal(out, expected), case_string(problem))

    def test_conversions_round_as_pytorch_does(self):
        """Every f16 and every bf16 value, and f32 values near all their ties."""
        every = torch.arange(-2**15, 2**15, dtype=torch.int32).to(torch.int16)
        for source in (torch.float16, torch.bfloat16):
            a = every.view(source)
            for target in DTYPES:
                out = torch.empty(a.shape, dtype=target)
                self.run_ours(describe(c.TENSOR_COPY, a.shape, operand(a), None, operand(out), alpha=1), out, a)
                expected = a.to(target)
                same = (out == expected) | (out.isnan() & expected.isnan())
                self.assertTrue(bool(same.all()), (source, target))
            wide = a[a.isfinite()].float()
            near = torch.cat([wide, torch.nextafter(wide, wide + 1), wide * (1 + 2**-9), wide * (1 + 2**-12)])
            out = torch.empty(near.shape, dtype=source)
            self.run_ours(describe(c.TENSOR_COPY, near.shape, operand(near), None, operand(out), alpha=1), out, near)
            self.assertTrue(torch.equal(out, near.to(source)), source)

    def test_broadcasting_by_size_and_by_stride(self):
        a, b = torch.randn(4, 5, 6), torch.randn(5, 1)
        out = torch.empty(4, 5, 6)
        by_size = describe(c.TENSOR_ADD, (4, 5, 6), operand(a), (c.F32, (1, 5, 1), None), operand(out),
                           alpha=1, alpha_b=1)
        by_stride = describe(c.TENSOR_ADD, (4, 5, 6), operand(a), (c.F32, None, (0, 1, 0)), operand(out),
                             alpha=1, alpha_b=1)
        for problem in (by_size, by_stride):
            out.zero_()
            self.run_ours(problem, out, a, b)
            self.assertTrue(torch.equal(out, a + b))

    def test_case_strings(self):
        for text in ("tensor:8x64x56x56:add:f16:b1x64x1x1", "tensor:2x3:copy:f32:c/1x2:beta1"):
            self.assertEqual(case_string(parse(text)), text)
        with self.assertRaisesRegex(c.Error, "the kind is missing"):
            parse("tensor:3")


if __name__ == "__main__":
    unittest.main()
