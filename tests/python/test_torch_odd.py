#!/usr/bin/env python3
"""test_torch_odd.py: tensors that are not the memory they seem to be, saved tensors that come back changed, and
gradients that nobody asked for."""
import contextlib
import io
import unittest
import warnings

import torch_support  # noqa: F401  (paths)
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

import rmcp.torch

torch.manual_seed(6)
X, W, B = torch.randn(2, 4, 9, 8), torch.randn(4, 4, 3, 3), torch.randn(4)


@contextlib.contextmanager
def enabled(**arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyTorch, that vmap of our operators is a loop
        with rmcp.torch.enabled("cpu", **arguments):
            rmcp.torch.reset_stats()
            yield


def leaves():
    return [t.clone().requires_grad_() for t in (X, W, B)]


def negated(tensor):
    """The same values, kept with the other sign."""
    return torch._neg_view(-tensor)


def nothing(tensor):
    """Zeros without memory."""
    return torch._efficientzerotensor(tensor.shape)


class Odd(unittest.TestCase):
    def same(self, call, **passes):
        """`call` gives the same twice (the second time natively where that part is there), all of it in RMCP."""
        expected = call()
        with enabled(strict=True):
            for _ in range(2):
                got = call()
                torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
            by_pass = rmcp.torch.stats().by_pass
            for name, count in passes.items():
                self.assertEqual(by_pass[name.replace("_", " ")], 2 * count, name)


class Tensors(Odd):
    def test_negative_views(self):
        for which in range(3):
            odd = [negated(t) if i == which else t for i, t in enumerate((X, W, B))]
            self.assertTrue(odd[which].is_neg())
            with self.subTest(which=which):
                self.same(lambda: [F.conv2d(*odd)], forward=1)
                self.same(lambda: [F.conv_transpose2d(*odd)], forward=1)
                with torch.inference_mode():
                    self.same(lambda: [F.conv2d(*odd)], forward=1)

    def test_zeros_without_memory(self):
        for which in range(3):
            odd = [nothing(t) if i == which else t for i, t in enumerate((X, W, B))]
            with self.subTest(which=which):
                self.same(lambda: [F.conv2d(*odd)], forward=1)

    def test_odd_gradients(self):
        def gradients(change):
            x, w, b = leaves()
            output = F.conv2d(x, w, b)
            some = torch.linspace(-1, 1, output.numel()).view_as(output)
            return list(torch.autograd.grad(output, (x, w, b), change(some)))

        for change in (negated, nothing):
            with self.subTest(change=change.__name__):
                self.same(lambda: gradients(change), input_gradient=1, weight_gradient=1)

    def test_double_refused(self):
        x, w = negated(X).double(), torch._neg_view(-W.double())
        expected = F.conv2d(x, w)
        with enabled():
            for _ in range(2):
                torch.testing.assert_close(F.conv2d(x, w), expected)
            self.assertEqual(rmcp.torch.stats().fallbacks, 2)

    def test_many_gradients_at_once(self):
        def batched():
            x, w, _ = leaves()
            output = F.conv2d(x, w)
            many = torch.linspace(-1, 1, 3 * output.numel()).view(3, *output.shape)
            return list(torch.autograd.grad(output, (x, w), many, is_grads_batched=True))
        self.same(batched)
        small = X[:1, :, :4, :4]
        functional = torch.autograd.functional
        self.same(lambda: [functional.jacobian(lambda x: F.conv2d(x, W), small, vectorize=True)])
        self.same(lambda: [functional.hessian(lambda x: F.conv2d(x, W).square().sum(), small, vectorize=True)])


class Saved(Odd):
    def test_hooks_that_give_it_back(self):
        def stored():
            x, w, b = leaves()
            with saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
                output = F.conv2d(x, w, b)
            return list(torch.autograd.grad(output.sum(), (x, w, b)))
        self.same(stored, input_gradient=1, weight_gradient=1)

    def test_hooks_that_give_something_else_back(self):
        for change in (lambda t: t.double(), lambda t: t[:1]):
            with enabled():
                for _ in range(2):
                    x, w, b = leaves()
                    F.conv2d(x, w, b).sum().backward()  # from now on natively
                    with saved_tensors_hooks(lambda t: t, change):
                        output = F.conv2d(x, w, b)
                    for wanted in (x, w):
                        with self.assertRaisesRegex(RuntimeError, "rmcp.torch: a saved tensor came back as"):
                            torch.autograd.grad(output.sum(), wanted, retain_graph=True)

    def test_only_what_is_asked_for(self):
        def of(which):
            tensors = leaves()
            return [torch.autograd.grad(F.conv2d(*tensors).square().sum(), tensors[which])[0]]
        self.same(lambda: of(0), input_gradient=1, weight_gradient=0)
        self.same(lambda: of(1), input_gradient=0, weight_gradient=1)
        self.same(lambda: of(2), input_gradient=0, weight_gradient=0)

        def both():
            x, w, b = leaves()
            F.conv2d(x, w, b).square().sum().backward()
            return [x.grad, w.grad, b.grad]
        self.same(both, input_gradient=1, weight_gradient=1)

        def behind():  # gradients of layers in front, and of a leaf that is given
            x, w, b = leaves()
            hidden = F.conv2d(x, w, b).tanh()
            output = F.conv2d(hidden, w, b)
            return [*torch.autograd.grad(output.sum(), (hidden, b), retain_graph=True),
                    torch.autograd.grad(output.square().sum(), x)[0]]
        self.same(behind, input_gradient=3, weight_gradient=0)


class Traced(unittest.TestCase):
    def test_trace_in_inference_mode(self):
        model = nn.Sequential(nn.Conv2d(4, 6, 3, padding=1), nn.ReLU(), nn.ConvTranspose2d(6, 2, 3, stride=2))
        expected = torch.jit.trace(model, X)
        with warnings.catch_warnings(), rmcp.torch.enabled("cpu", strict=True), torch.inference_mode():
            warnings.simplefilter("error", torch.jit.TracerWarning)  # a decision of ours that may not hold
            traced = torch.jit.trace(model, X)
        self.assertEqual(str(traced.inlined_graph).count("= rmcp::convolution("), 2)
        file = io.BytesIO()
        torch.jit.save(traced, file)
        file.seek(0)
        other = torch.randn(3, 4, 5, 17)
        for module in (traced, torch.jit.load(file)):
            with torch.inference_mode():
                torch.testing.assert_close(module(other), expected(other), rtol=1e-4, atol=1e-5)
            x = other.clone().requires_grad_()
            gradient, = torch.autograd.grad(module(x).sum(), x)
            torch.testing.assert_close(gradient, torch.autograd.grad(expected(x).sum(), x)[0], rtol=1e-4, atol=1e-5)

    def test_left_to_pytorch_in_inference_mode(self):
        model = nn.Conv2d(4, 6, 3).double()
        with enabled(), torch.inference_mode():
            traced = torch.jit.trace(model, X.double())
        self.assertIn("aten::_convolution", str(traced.inlined_graph))
        torch.testing.assert_close(traced(X.double()), model(X.double()))


if __name__ == "__main__":
    unittest.main()
