#!/usr/bin/env python3
"""test_torch_sweep.py: PyTorch's convolutions in RMCP against PyTorch's own, over random calls.

RMCP_SEED repeats the random part; RMCP_CASES changes its length.
"""
import copy
import os
import unittest
import warnings

import torch_support as support
import torch
import torch.nn.functional as F
from torch import nn

import rmcp.torch

N_CASES = int(os.environ.get("RMCP_CASES", 2000))
warnings.filterwarnings("ignore", message="Using padding='same' with even kernel")
warnings.filterwarnings("ignore", message="Input #.* requires gradient and is not a double")


def both(function):
    """function() in PyTorch and in RMCP, with the counters of the latter."""
    expected = function()
    rmcp.torch.reset_stats()
    with rmcp.torch.enabled("cpu", strict=True):
        got = function()
    return expected, got, rmcp.torch.stats()


class Sweep(unittest.TestCase):
    def test_random_calls(self):
        print(f"{N_CASES} random calls: RMCP_SEED={support.SEED}", flush=True)
        judge = support.sweep("cpu", N_CASES)
        print(f"{judge.passes} passes in RMCP", flush=True)
        self.assertGreater(judge.passes, N_CASES)

    def test_modules(self):
        # The arguments reach us as nn modules pass them: padding modes, 'same', output_size.
        modules = (nn.Conv1d(4, 6, 3, padding="same"), nn.Conv2d(4, 6, (3, 2), padding="same", dilation=(1, 3)),
                   nn.Conv2d(4, 6, 3, padding=2, padding_mode="reflect"), nn.Conv3d(4, 4, 2, groups=4, bias=False),
                   nn.ConvTranspose1d(4, 6, 4, stride=3, padding=1), nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2),
                   nn.ConvTranspose3d(4, 2, 2, stride=2, dilation=2))
        for module in modules:
            n = len(module.kernel_size)
            x = torch.randn(2, 4, *(9, 8, 7)[:n])
            with self.subTest(module=str(module)):
                def step(module, x):
                    leaf = x.clone().requires_grad_()
                    output = module(leaf)
                    output.square().sum().backward()
                    return [output.detach(), leaf.grad, *[p.grad.clone() for p in module.parameters()]]
                # float64: the bias gradient of ConvTranspose3d in PyTorch's own float32 is 1e-5 off.
                exact = step(copy.deepcopy(module).double(), x.double())
                rmcp.torch.reset_stats()
                with rmcp.torch.enabled("cpu", strict=True):
                    got = step(module, x)
                self.assertEqual(rmcp.torch.stats().by_pass,
                                 {"forward": 1, "input gradient": 1, "weight gradient": 1})
                for a, b in zip(exact, got):
                    torch.testing.assert_close(b.double(), a, rtol=0, atol=2e-6 * float(a.abs().max()))

    def test_autocast(self):
        layer, x = nn.Conv2d(8, 8, 3), torch.randn(2, 8, 9, 9)
        with rmcp.torch.enabled("cpu", strict=True), torch.autocast("cpu", dtype=torch.bfloat16):
            output = layer(x)
            output.sum().backward()
        self.assertEqual(output.dtype, torch.bfloat16)
        self.assertEqual(layer.weight.grad.dtype, torch.float32)
        torch.testing.assert_close(output.float(), layer(x), rtol=0.05, atol=0.05)

    def test_complex_is_done_in_parts(self):
        x, w = torch.randn(2, 3, 7, 7, dtype=torch.complex64), torch.randn(4, 3, 3, 3, dtype=torch.complex64)
        expected, got, stats = both(lambda: F.conv2d(x, w))
        self.assertEqual(stats.by_pass["forward"], 3)
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


class Empty(unittest.TestCase):
    """Nothing to compute: as PyTorch does, results, gradients and errors alike."""

    def compare(self, make, *size):
        def run():
            torch.manual_seed(1)
            module = make()
            x = torch.randn(*size, requires_grad=True)
            try:
                output = module(x)
                output.sum().backward()
            except RuntimeError as error:
                return str(error)
            return [output.detach(), x.grad, *[p.grad for p in module.parameters()]]

        expected, got, stats = both(run)
        self.assertEqual((stats.calls, stats.fallbacks), (0, 0))
        self.assertEqual(type(got), type(expected))
        if isinstance(got, str):
            self.assertEqual(got, expected)
            return
        for a, b in zip(expected, got):
            self.assertEqual(b.shape, a.shape)
            self.assertTrue(torch.equal(a, b))

    def test_zero_batch(self):
        self.compare(lambda: nn.Conv1d(3, 4, 3), 0, 3, 9)
        self.compare(lambda: nn.Conv2d(3, 4, 3, padding=1), 0, 3, 8, 8)
        self.compare(lambda: nn.Conv3d(2, 4, 3), 0, 2, 5, 5, 5)
        self.compare(lambda: nn.ConvTranspose2d(3, 4, 3, stride=2), 0, 3, 8, 8)

    def test_empty_space(self):
        self.compare(lambda: nn.Conv2d(3, 4, 3, padding=2), 2, 3, 0, 5)
        self.compare(lambda: nn.Conv2d(3, 4, 3), 2, 3, 2, 5)

    def test_errors_are_those_of_pytorch(self):
        self.compare(lambda: nn.Conv2d(3, 4, 3), 2, 5, 8, 8)
        self.compare(lambda: nn.Conv2d(3, 4, 3), 8)


class SecondOrder(unittest.TestCase):
    """Gradients of gradients. Small integers and a step of 1 are exact in float32, so the checks of
    torch.autograd, which are meant for float64, see our own kernels."""

    CALLS = (
        (F.conv1d, (2, 2, 6), (3, 2, 3), {"padding": 1, "stride": 2}),
        (F.conv2d, (1, 4, 4, 5), (2, 2, 2, 3), {"groups": 2, "padding": (0, 1)}),
        (F.conv2d, (1, 2, 5, 5), (2, 2, 2, 2), {"dilation": 2}),
        (F.conv3d, (1, 1, 3, 3, 3), (2, 1, 2, 2, 2), {}),
        (F.conv_transpose1d, (1, 2, 4), (2, 2, 3), {"stride": 2, "output_padding": 1}),
        (F.conv_transpose2d, (1, 2, 3, 3), (2, 1, 2, 2), {"groups": 2, "padding": 1, "stride": 2}),
    )

    def operands(self, x, w, dtype):
        generator = torch.Generator().manual_seed(support.SEED)
        return [torch.randint(-2, 3, size, generator=generator).to(dtype).requires_grad_() for size in (x, w)]

    def test_gradgradcheck_in_rmcp(self):
        for function, x, w, options in self.CALLS:
            operands = self.operands(x, w, torch.float32)
            bias = torch.zeros(function(*operands, **options).shape[1], requires_grad=True)
            with self.subTest(function=function.__name__, options=options), \
                    rmcp.torch.enabled("cpu", strict=True):
                rmcp.torch.reset_stats()
                call = lambda x, w, b: function(x, w, b, **options)  # noqa: E731
                grad = torch.randint(-2, 3, call(*operands, bias).shape).float().requires_grad_()
                self.assertTrue(torch.autograd.gradcheck(call, [*operands, bias], eps=1.0, atol=1e-3, rtol=0))
                self.assertTrue(torch.autograd.gradgradcheck(call, [*operands, bias], grad, eps=1.0, atol=1e-3,
                                                             rtol=0))
                counts = rmcp.torch.stats().by_pass
                self.assertTrue(all(counts.values()), counts)

    def test_third_order_agrees(self):
        def third(x, w):
            y = F.conv2d(x, w, padding=1).pow(3).sum()
            for _ in range(2):
                gx, gw = torch.autograd.grad(y, (x, w), create_graph=True)
                y = gx.square().sum() + gw.square().sum()
            return torch.autograd.grad(y, (x, w))

        torch.manual_seed(0)
        x = (torch.randn(1, 2, 4, 4) * 0.3).requires_grad_()
        w = (torch.randn(2, 2, 3, 3) * 0.3).requires_grad_()
        expected, got, stats = both(lambda: third(x, w))
        self.assertEqual(stats.fallbacks, 0)
        for a, b in zip(expected, got):
            torch.testing.assert_close(b, a, rtol=1e-3, atol=1e-3 * float(a.abs().max()))

    def test_gradgradcheck_in_double_is_pytorch(self):
        function, x, w, options = self.CALLS[1]
        operands = self.operands(x, w, torch.float64)
        with rmcp.torch.enabled("cpu"), warnings.catch_warnings():
            warnings.simplefilter("ignore", rmcp.torch.RmcpWarning)
            self.assertTrue(torch.autograd.gradgradcheck(lambda x, w: function(x, w, **options), operands))


if __name__ == "__main__":
    unittest.main()
