#!/usr/bin/env python3
"""test_torch_compile.py: torch.compile with RMCP: the operators are in the graph, and the graph is right."""
import shutil
import sys
import unittest

import torch_support  # noqa: F401  (paths)
import torch
import torch.nn.functional as F
from torch import nn

import rmcp.torch

if not hasattr(torch, "compile"):
    print("skipped: this PyTorch has no torch.compile")
    sys.exit(77)

BACKENDS = ["eager", "aot_eager"] + (["inductor"] if shutil.which("g++") else [])


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, groups=2),
                         nn.ConvTranspose2d(8, 4, 3, stride=2, output_padding=1))


def step(function, model, x):
    model.zero_grad()
    output = function(x)
    output.square().mean().backward()
    return [output.detach(), *[p.grad.clone() for p in model.parameters()]]


class Compile(unittest.TestCase):
    def check(self, backend, form=torch.contiguous_format, dynamic=None):
        model = network()
        x = torch.randn(2, 3, 16, 16).contiguous(memory_format=form)
        expected = step(model, model, x)
        compiled = torch.compile(model, backend=backend, dynamic=dynamic)
        with rmcp.torch.enabled("cpu", strict=True):
            for _ in range(2):
                rmcp.torch.reset_stats()
                got = step(compiled, model, x)
                self.assertEqual(rmcp.torch.stats().by_pass,
                                 {"forward": 3, "input gradient": 2, "weight gradient": 3})
                for a, b in zip(expected, got):
                    torch.testing.assert_close(b, a, rtol=1e-4, atol=1e-4)
        rmcp.torch.reset_stats()
        step(compiled, model, x)  # compiled anew without RMCP
        self.assertEqual(rmcp.torch.stats().calls, 0)

    def test_backends(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.check(backend)

    @unittest.skipUnless("inductor" in BACKENDS, "no C++ compiler")
    def test_inductor_need_not_guess(self):
        import torch._inductor.config
        with torch._inductor.config.patch(implicit_fallbacks=False):
            self.check("inductor", torch.channels_last)

    def test_channels_last(self):
        self.check("aot_eager", torch.channels_last)

    def test_dynamic_shapes(self):
        model = network()
        with rmcp.torch.enabled("cpu", strict=True):
            compiled = torch.compile(model, backend="aot_eager", dynamic=True)
            for size in (16, 17, 20):
                x = torch.randn(2, 3, size, size)
                rmcp.torch.reset_stats()
                got = step(compiled, model, x)
                self.assertEqual(rmcp.torch.stats().by_pass["weight gradient"], 3)
                for a, b in zip(step(model, model, x), got):
                    torch.testing.assert_close(b, a, rtol=1e-3, atol=1e-3)

    def test_one_graph(self):
        # fullgraph: nothing of ours breaks the graph, not even the classes.
        model = nn.Sequential(rmcp.torch.Conv2d(3, 4, 3, padding="same"), nn.ReLU(),
                              rmcp.torch.ConvTranspose2d(4, 2, 2))
        x = torch.randn(2, 3, 9, 9)
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        torch.testing.assert_close(compiled(x), model(x))
        with rmcp.torch.enabled("cpu", strict=True):
            torch.testing.assert_close(torch.compile(network().eval(), backend="aot_eager", fullgraph=True)(x),
                                       network().eval()(x))

    def test_fallback_in_a_graph(self):
        x, w = torch.randn(1, 2, 5, 5).double(), torch.randn(2, 2, 3, 3).double().requires_grad_()
        expected, = torch.autograd.grad(F.conv2d(x, w).sum(), w)
        with rmcp.torch.enabled("cpu"), self.assertWarns(rmcp.torch.RmcpWarning):
            output = torch.compile(lambda w: F.conv2d(x, w), backend="aot_eager")(w)
            got, = torch.autograd.grad(output.sum(), w)
        torch.testing.assert_close(got, expected)

    def test_opcheck(self):
        if not hasattr(torch.library, "opcheck"):
            self.skipTest("this PyTorch has no opcheck")
        x, w, b = torch.randn(2, 4, 7, 7), torch.randn(6, 2, 3, 3), torch.randn(6)
        conf = [2, 2], [1, 1], [1, 1], False, [0, 0], 2
        y = F.conv2d(x, w, b, *conf[:3], groups=2)
        for last in (False, True):
            torch.library.opcheck(torch.ops.rmcp.conv_forward.default, (x, w, b, *conf, last))
            torch.library.opcheck(torch.ops.rmcp.conv_input_gradient.default, (y, w, list(x.shape), *conf, last))
            torch.library.opcheck(torch.ops.rmcp.conv_weight_gradient.default, (y, x, list(w.shape), *conf, last))
        torch.library.opcheck(torch.ops.rmcp.convolution.default, (x.requires_grad_(), w.requires_grad_(), b, *conf))


if __name__ == "__main__":
    unittest.main()
