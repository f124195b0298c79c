#!/usr/bin/env python3
"""test_torch_gemm.py: matrix products on the CPU device against PyTorch in double precision: random sizes, batches,
strides, transposes, factors, biases and types."""
import os
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
from rmcp._gemm import GemmPlan, candidates, case_string, parse  # noqa: E402

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
ROUNDING = {torch.float32: 2**-24, torch.float16: 2**-11, torch.bfloat16: 2**-8}
ROUNDS = 300


def memory(tensor):
    return c.Memory(base=tensor.data_ptr(), offset=0)


def stored(rng, batch, rows, columns, dtype, shared):
    """(batch, rows, columns) in memory with a gap behind rows and matrices, and its pitch and stride."""
    pitch = max(1, columns) + rng.choice((0, 0, 3))
    stride = 0 if shared else rows * pitch + rng.choice((0, 5))
    room = torch.randn(max(1, batch * max(stride, rows * pitch) + columns)).to(dtype)
    return room, room.as_strided((batch, rows, columns), (stride, pitch, 1)), pitch, stride


class AgainstTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = Device("cpu")

    @classmethod
    def tearDownClass(cls):
        cls.device.close()

    def run_ours(self, problem, algorithm, a, b, out, bias):
        with GemmPlan(self.device, problem, algorithm) as plan:
            room = torch.empty(plan.workspace_bytes + 256, dtype=torch.uint8)
            matrices = c.GemmMatrices(a=memory(a), b=memory(b), c=memory(out), workspace_bytes=plan.workspace_bytes)
            matrices.workspace = c.Memory(base=room.data_ptr() + -room.data_ptr() % 256, offset=0)
            if bias is not None:
                matrices.bias = memory(bias)
            plan.execute(matrices)

    def test_products(self):
        seed = int(os.environ.get("RMCP_SEED") or random.randrange(2**32))
        print(f"seed {seed}")
        rng = random.Random(seed)
        torch.manual_seed(seed)
        algorithms = set()
        for _ in range(ROUNDS):
            batch = rng.choice((1, 1, 2, 5))
            m, n, k = (rng.choice((1, 2, 7, 16, 33, rng.randrange(1, 90))) for _ in range(3))
            dtype = rng.choice(DTYPES)
            turned = [rng.random() < 0.5 for _ in range(2)]
            a_room, a, a_pitch, a_stride = stored(rng, batch, *((k, m) if turned[0] else (m, k)), dtype,
                                                  batch > 1 and rng.random() < 0.3)
            b_room, b, b_pitch, b_stride = stored(rng, batch, *((n, k) if turned[1] else (k, n)), dtype,
                                                  batch > 1 and rng.random() < 0.3)
            c_room, out, c_pitch, c_stride = stored(rng, batch, m, n, dtype, False)
            alpha = rng.choice((1, 1, -0.5, rng.uniform(-2, 2)))
            beta = rng.choice((0, 0, 1, rng.uniform(-2, 2)))
            kind = rng.choice((c.GEMM_NO_BIAS, c.GEMM_ROW_BIAS, c.GEMM_COLUMN_BIAS))
            bias = torch.randn(m if kind == c.GEMM_ROW_BIAS else n).to(dtype) if kind else None
            relu = rng.random() < 0.3
            problem = c.Gemm(type=DTYPES.index(dtype), batch=batch, m=m, n=n, k=k, transpose_a=turned[0],
                             transpose_b=turned[1], a_pitch=a_pitch, b_pitch=b_pitch, c_pitch=c_pitch,
                             a_stride=a_stride, b_stride=b_stride, c_stride=c_stride, alpha=alpha, beta=beta,
                             bias=kind, activation=c.RELU if relu else c.NO_ACTIVATION)
            left = (a.transpose(1, 2) if turned[0] else a).double()
            right = (b.transpose(1, 2) if turned[1] else b).double()
            old, whole = out.double().clone(), c_room.clone()
            expected, size = alpha * (left @ right), abs(alpha) * (left.abs() @ right.abs())
            if beta:
                expected, size = expected + beta * old, size + (beta * old).abs()
            if kind:
                add = bias.double()[:, None] if kind == c.GEMM_ROW_BIAS else bias.double()[None]
                expected, size = expected + add, size + add.abs()
            if relu:
                expected = expected.clamp(min=0)
            for algorithm, refusal, _ in candidates(self.device, problem):
                if refusal:
                    continue
                algorithms.add(algorithm)
                c_room.copy_(whole)
                if not beta:
                    out.fill_(float("nan"))
                self.run_ours(problem, algorithm, a_room, b_room, c_room, bias)
                bound = ROUNDING[dtype] * 1.001 * expected.abs() + 2**-24 * (2 * k**0.5 + 6) * size + 2**-24
                if not bool(((out.double() - expected).abs() <= bound).all()):
                    worst = ((out.double() - expected).abs() - bound).max().item()
                    self.fail(f"{case_string(problem)}, {algorithm}: {worst} beyond the bound")
                out.copy_(old.to(dtype))  # all else must be as it was
                self.assertTrue(torch.equal(c_room.view(torch.int16), whole.view(torch.int16)), case_string(problem))
        self.assertGreaterEqual(len(algorithms), 1)

    def test_case_strings(self):
        for text in ("gemm:m1n2k3:nn:f32", "gemm:m8n9k7:nt:bf16:b4:b/9x0:alpha2:bias_col:relu"):
            self.assertEqual(case_string(parse(text)), text)


if __name__ == "__main__":
    unittest.main()
