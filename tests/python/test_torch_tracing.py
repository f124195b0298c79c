#!/usr/bin/env python3
"""test_torch_tracing.py: tracers, modes, transforms and symbols see of RMCP what they can work with."""
import contextlib
import unittest
import warnings

import torch_support  # noqa: F401  (paths)
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

import rmcp.torch

try:
    from torch import func
except ImportError:
    import functorch as func

NEW = hasattr(torch, "compile")
torch.manual_seed(5)
X, W, B = torch.randn(2, 4, 9, 8), torch.randn(4, 4, 3, 3), torch.randn(4)
TYPES = torch.float32, torch.float64  # RMCP's, and one that it leaves to PyTorch


@contextlib.contextmanager
def enabled(**arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # refusals; and of 1.13, that its sizes are symbols
        with rmcp.torch.enabled("cpu", **arguments):
            rmcp.torch.reset_stats()
            yield


class Names(TorchDispatchMode):
    """Operators with "conv" in their names, as a mode sees them."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if "conv" in str(function):
            self.seen.append(str(function))
        return function(*args, **(kwargs or {}))


def of_type(dtype, grad=False):
    return [t.detach().to(dtype).requires_grad_(grad) for t in (X, W, B)]


def names_in(graph):
    return [str(node.target) for node in graph.graph.nodes if "conv" in str(node.target)]


def gradients(x, w, b, **arguments):
    output = F.conv2d(x, w, b, **arguments)
    return [output.detach(), *torch.autograd.grad(output.square().sum(), (x, w, b))]


class Tracing(unittest.TestCase):
    def close(self, got, expected):
        for a, b in zip(got, expected):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-3)

    def test_modes_see_pytorchs_names(self):
        expected = gradients(*of_type(torch.float64, True), padding=1)
        for grad in (False, True):
            with enabled(), Names() as mode:
                leaves = of_type(torch.float64, grad)
                got = gradients(*leaves, padding=1) if grad else [F.conv2d(*leaves, padding=1)]
            self.assertEqual(mode.seen, ["aten.convolution.default"] + ["aten.convolution_backward.default"] * grad)
            self.close(got, expected)
            self.assertEqual((rmcp.torch.stats().calls, rmcp.torch.stats().fallbacks), (0, 1))
        with enabled(strict=True), Names():
            with self.assertRaises(rmcp.torch.Unsupported):
                F.conv2d(*of_type(torch.float64))

    def test_modes_see_ours(self):
        with enabled(strict=True), Names() as mode:
            gradients(*of_type(torch.float32, True))
        self.assertEqual(mode.seen, ["rmcp.conv_forward.default", "rmcp.conv_input_gradient.default",
                                     "rmcp.conv_weight_gradient.default"])
        self.assertEqual(rmcp.torch.stats().calls, 3)

    def test_second_gradients_in_a_mode(self):
        def second(x, w):
            first = torch.autograd.grad(F.conv2d(x, w).pow(3).sum(), (x, w), create_graph=True)
            return torch.autograd.grad(sum(t.square().sum() for t in first), (x, w))
        for dtype in TYPES:
            x, w, _ = of_type(dtype, True)
            expected = second(x, w)
            with enabled(), Names():
                got = second(x, w)
            for a, b in zip(got, expected):
                torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3 * float(b.abs().max()))

    def test_fake_tensors(self):
        from torch._subclasses import FakeTensorMode
        for dtype in TYPES:
            plain = F.conv2d(*of_type(dtype), stride=2)
            with enabled():
                mode = FakeTensorMode()
                fakes = [mode.from_tensor(t) for t in of_type(dtype)]
                with mode:
                    self.assertEqual(F.conv2d(*fakes, stride=2).shape, plain.shape)
                self.assertEqual(F.conv2d(*fakes, stride=2).shape, plain.shape)  # outside of their mode

    def test_symbolic_forward(self):
        for dtype, name in zip(TYPES, ("rmcp.conv_forward.default", "aten.convolution.default")):
            for form in (torch.contiguous_format, torch.channels_last):
                x, w, b = of_type(dtype)
                with enabled():
                    graph = make_fx(lambda x, w, b: F.conv2d(x, w, b, padding=1), tracing_mode="symbolic")(
                        x.contiguous(memory_format=form), w, b)
                self.assertEqual(names_in(graph), [name])
                other = torch.randn(3, 4, 7, 12, dtype=dtype)
                self.close([graph(other, w, b)], [F.conv2d(other, w, b, padding=1)])

    def test_symbolic_with_gradients(self):
        # 1.13 has no symbolic gradients of its own, but a forward pass that could be differentiated.
        for dtype in TYPES:
            x, w, b = of_type(dtype)
            leaf = w.clone().requires_grad_()
            with enabled():
                graph = make_fx(lambda x, w, b: F.conv2d(x, w, b), tracing_mode="symbolic")(x, leaf, b)
                self.close([graph(x[:1], w, b)], [F.conv2d(x[:1], w, b)])
                if NEW:
                    graph = make_fx(lambda x, w, b: torch.autograd.grad(F.conv2d(x, w, b).square().sum(), w)[0],
                                    tracing_mode="symbolic")(x, leaf, b)
                    self.assertEqual(names_in(graph)[0], "rmcp.conv_forward.default" if dtype is torch.float32 else
                                     "aten.convolution.default")
            if NEW:
                expected = torch.autograd.grad(F.conv2d(x[:1], leaf, b).square().sum(), leaf)
                self.close([graph(x[:1], leaf, b)], expected)

    def test_symbolic_after_disable(self):
        trace = make_fx(F.conv2d, tracing_mode="symbolic")
        leaf = W.clone().requires_grad_()
        for _ in range(2):
            with enabled():
                self.assertEqual(names_in(trace(X, W)), ["rmcp.conv_forward.default"])
                trace(X, leaf)
            for weight in (W, leaf):
                self.assertEqual(names_in(trace(X, weight)), ["aten.convolution.default"])

    def test_transforms_fall_back(self):
        x, w = X[:1, :, :5, :5], W
        calls = {
            "grad": lambda: func.grad(lambda x: F.conv2d(x, w).square().sum())(x),
            "vjp": lambda: func.vjp(lambda x: F.conv2d(x, w), x)[1](torch.ones(1, 4, 3, 3))[0],
            "jacrev": lambda: func.jacrev(lambda x: F.conv2d(x, w))(x),
            "jacfwd": lambda: func.jacfwd(lambda x: F.conv2d(x, w))(x),
            "second": lambda: func.grad(lambda w: func.grad(lambda w: F.conv2d(x, w).pow(3).sum())(w).sum())(w),
            "per sample": lambda: func.vmap(func.grad(lambda w, x: F.conv2d(x, w).square().sum()), (None, 0))(
                w, X[:, None])}
        for name, call in calls.items():
            with self.subTest(transform=name):
                expected = call()
                with enabled():
                    for _ in range(2):
                        torch.testing.assert_close(call(), expected, rtol=1e-4, atol=1e-2)
                    self.assertGreater(rmcp.torch.stats().fallbacks, 0)
                with enabled(strict=True), self.assertRaisesRegex(rmcp.torch.Unsupported, "transform"):
                    call()

    def test_vmap_ends_in_a_larger_convolution(self):
        expected = F.conv2d(X, W, B)[:, None]
        with enabled(strict=True):
            self.close([func.vmap(lambda x: F.conv2d(x, W, B))(X[:, None])], [expected])
            self.assertEqual(rmcp.torch.stats().calls, 1)

    @unittest.skipUnless(hasattr(torch, "_lazy_clone"), "this PyTorch has no copy-on-write tensors")
    def test_copy_on_write_is_not_written(self):
        cow = torch._C._is_cow_tensor
        expected = gradients(*of_type(torch.float32, True))
        big = torch.randn(3, *X.shape)
        big[1] = X
        with enabled(strict=True):
            for _ in range(3):  # the first time in Python, then natively where that part is there
                leaves = [torch._lazy_clone(t).requires_grad_() for t in (X, W, B)]
                output = F.conv2d(*leaves)
                grad = torch._lazy_clone(2 * output.detach())
                self.close([output, *torch.autograd.grad(output, leaves, grad)], expected)
                self.assertTrue(all(map(cow, (*leaves, grad))))
                part = torch._lazy_clone(big)[1]  # not at the start of its memory
                self.close([F.conv2d(part, W, B)], expected)
                self.assertTrue(cow(part))


@unittest.skipUnless(NEW, "this PyTorch has no torch.compile")
class Symbols(unittest.TestCase):
    """Numbers that torch.compile makes symbols of, among the arguments."""

    def compiled(self, function, dynamic):
        torch._dynamo.reset()
        return torch.compile(function, backend="aot_eager", dynamic=dynamic, fullgraph=True)

    def check(self, function, values, dtypes=TYPES):
        for dtype in dtypes:
            for dynamic in (None, True):
                with self.subTest(dtype=dtype, dynamic=dynamic), enabled():
                    compiled = self.compiled(function, dynamic)
                    for value in values:
                        w = W.to(dtype).requires_grad_()
                        output = compiled(X.to(dtype), w, value)
                        grad, = torch.autograd.grad(output.square().sum(), w)
                        rmcp.torch.disable()
                        expected = function(X.to(dtype), w, value)
                        torch.testing.assert_close(output, expected, rtol=1e-4, atol=1e-4)
                        torch.testing.assert_close(grad, torch.autograd.grad(expected.square().sum(), w)[0],
                                                   rtol=1e-4, atol=1e-3)
                        rmcp.torch.enable("cpu")

    def test_stride_and_padding(self):
        self.check(lambda x, w, n: F.conv2d(x, w, stride=n, padding=(n, 1)), (1, 2, 3))

    def test_dilation(self):
        self.check(lambda x, w, n: F.conv2d(x, w, padding=3, dilation=(1, n)), (1, 2, 3))

    def test_groups(self):
        self.check(lambda x, w, n: F.conv2d(x, w[:, :4 // n], groups=n), (1, 2, 4))

    def test_transposed(self):
        self.check(lambda x, w, n: F.conv_transpose2d(x, w, stride=n + 1, padding=n, output_padding=n), (1, 2, 3))

    def test_numbers_of_the_module_stay_one_graph(self):
        # Aspect ratios must not be bound: the smallest of two sizes would be a guard.
        torch._dynamo.reset()
        counter = torch._dynamo.testing.CompileCounter()
        with enabled(strict=True):
            compiled = torch.compile(lambda x: F.conv2d(x, W), backend=counter, dynamic=True)
            for size in ((9, 8), (7, 12), (30, 6), (6, 30)):
                x = torch.randn(2, 4, *size)
                torch.testing.assert_close(compiled(x), F.conv2d(x, W), rtol=1e-4, atol=1e-4)
        self.assertEqual(counter.frame_count, 1)

    def test_export(self):
        network = torch.nn.Conv2d(4, 4, 3).requires_grad_(False)
        sizes = {0: torch.export.Dim("n", min=2, max=64), 2: torch.export.Dim("h", min=4, max=4096)}
        for dtype in TYPES:
            with enabled():
                program = torch.export.export(network.to(dtype), (X.to(dtype),), dynamic_shapes={"input": sizes})
                program = program.run_decompositions()
                other = torch.randn(3, 4, 12, 8, dtype=dtype)
                got = program.module()(other)
            self.assertEqual(len(names_in(program.graph_module)), 1)
            self.assertEqual(rmcp.torch.stats().calls, int(dtype is torch.float32))
            torch.testing.assert_close(got, network(other), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
