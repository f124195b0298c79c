#!/usr/bin/env python3
"""test_torch_native.py: the native part of rmcp.torch takes the short way where it may, and only there."""
import copy
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import warnings
import weakref

import torch_support as support
import torch
import torch.nn.functional as F

import rmcp.torch
from rmcp.torch import _native

if not support.NATIVE:
    print("skipped: RMCP_TORCH_NATIVE=1 asks for the native part")
    sys.exit(77)

torch.manual_seed(3)
X, W, B = torch.randn(2, 6, 9, 9), torch.randn(4, 6, 3, 3), torch.randn(4)


def short():
    """Passes that went the short way since the last reset_stats()."""
    return sum(row[5] for row in _native.rows())


def gradients(x, w, b, **arguments):
    leaves = [t.clone().requires_grad_() for t in (x, w, b)]
    output = F.conv2d(*leaves, padding=1, **arguments)
    return [output, *torch.autograd.grad(output.square().sum(), leaves)]


class Short(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", rmcp.torch.RmcpWarning)
        self.assertTrue(rmcp.torch.enable("cpu").native)
        rmcp.torch.reset_stats()

    def tearDown(self):
        rmcp.torch.disable()

    def same(self, got, expected):
        for a, b in zip(got, expected):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-3)

    def warm(self):
        gradients(X, W, B)
        rmcp.torch.reset_stats()

    def test_counts(self):
        rmcp.torch.disable()
        expected = gradients(X, W, B)
        rmcp.torch.enable("cpu")
        for calls in range(1, 4):
            self.same(gradients(X, W, B), expected)
            self.assertEqual(rmcp.torch.stats().by_pass,
                             {"forward": calls, "input gradient": calls, "weight gradient": calls})
            self.assertEqual(short(), 3 * (calls - 1))
        stats = rmcp.torch.stats()
        self.assertEqual(len(stats.rows), 3)  # one for each pass, whichever way it went
        self.assertTrue(all(row.seconds > 0 and row.algorithm for row in stats.rows), stats)
        rmcp.torch.reset_stats()
        self.assertEqual((rmcp.torch.stats().calls, short()), (0, 0))

    def test_no_grad_and_inference_mode(self):
        for mode in (torch.no_grad, torch.inference_mode):
            with mode():
                expected = F.conv2d(X, W, B)
                rmcp.torch.reset_stats()
                output = F.conv2d(X, W, B)
            self.assertTrue(torch.equal(output, expected))
            self.assertEqual((short(), output.requires_grad), (1, False))

    def test_refusals_are_remembered(self):
        x, w = X.double(), W.double()
        expected = gradients(x, w, B.double())
        rmcp.torch.reset_stats()
        self.same(gradients(x, w, B.double()), expected)
        stats = rmcp.torch.stats()
        self.assertEqual((stats.calls, stats.fallbacks, short()), (0, 1, 1))
        self.assertIn("float64", next(iter(stats.reasons)))
        rmcp.torch.enable("cpu", strict=True)
        for _ in range(3):
            with self.assertRaises(rmcp.torch.Unsupported):
                F.conv2d(x, w)

    def test_no_device_is_remembered(self):
        with unittest.mock.patch("rmcp.torch._engine.device_key", lambda _device, _config: ("cuda:977", 0)):
            expected = F.conv2d(X, W)
            self.assertEqual(rmcp.torch.stats().fallbacks, 1)
            F.conv2d(X, W)
        self.assertEqual((rmcp.torch.stats().fallbacks, short()), (2, 1))
        rmcp.torch.disable()
        self.assertTrue(torch.equal(F.conv2d(X, W), expected))

    def test_double_backward(self):
        def second():
            x, w = X[:1, :2, :4, :4].clone().requires_grad_(), W[:2, :2].clone().requires_grad_()
            first = torch.autograd.grad(F.conv2d(x, w).pow(3).sum(), (x, w), create_graph=True)
            return torch.autograd.grad(sum(t.square().sum() for t in first), (x, w))
        rmcp.torch.disable()
        expected = second()
        rmcp.torch.enable("cpu", strict=True)
        for _ in range(3):
            self.same(second(), expected)
        self.assertGreater(short(), 0)

    def test_graph_kept_for_two_backward_passes(self):
        self.warm()
        x, w = X.clone().requires_grad_(), W.clone().requires_grad_()
        output = F.conv2d(x, w, B, padding=1)
        output.sum().backward(retain_graph=True)
        first = x.grad.clone()
        output.sum().backward()
        torch.testing.assert_close(x.grad, 2 * first)
        with self.assertRaises(RuntimeError):
            output.sum().backward()

    def test_modified_input_is_noticed(self):
        self.warm()
        x, w = X.clone().requires_grad_(), W.clone().requires_grad_()
        output = F.conv2d(x, w, B, padding=1)
        with torch.no_grad():
            w.add_(1)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace"):
            output.sum().backward()

    def test_frozen_layers_keep_no_input(self):
        self.warm()
        middle = X.clone().requires_grad_() * 1
        kept = weakref.ref(middle)
        output = F.conv2d(middle, W, B, padding=1)
        del middle
        self.assertIsNone(kept())
        output.sum().backward()
        self.assertEqual(short(), 2)

    def test_saved_tensors_hooks(self):
        self.warm()
        packed = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t.clone(), lambda t: t):
            gradients(X, W, B)
        self.assertGreaterEqual(len(packed), 2)

    def test_gradient_of_another_layout(self):
        x, w = X.clone().requires_grad_(), W.clone().requires_grad_()
        expected = None
        for change in (lambda g: g, lambda g: g.contiguous(memory_format=torch.channels_last),
                       lambda g: torch.stack([g, g], -1)[..., 0]):
            output = F.conv2d(x, w, padding=1)
            got = torch.autograd.grad(output, (x, w), change(torch.ones_like(output)))
            expected = expected or got
            self.same(got, expected)

    def test_subclasses_go_to_pytorch(self):
        class Sub(torch.Tensor):
            pass
        self.warm()
        output = F.conv2d(X.as_subclass(Sub), W, B, padding=1)
        self.assertEqual((rmcp.torch.stats().calls, short()), (0, 0))
        self.assertIs(type(output), Sub)

    def test_forward_mode_goes_to_pytorch(self):
        self.warm()
        import torch.autograd.forward_ad as forward_ad
        with forward_ad.dual_level():
            output = F.conv2d(forward_ad.make_dual(X, torch.ones_like(X)), W, B, padding=1)
            self.assertIsNotNone(forward_ad.unpack_dual(output).tangent)
        self.assertEqual(rmcp.torch.stats().fallbacks, 1)

    def test_modes_see_the_operators(self):
        try:
            from torch.utils._python_dispatch import TorchDispatchMode
        except ImportError:
            self.skipTest("no modes")
        self.warm()
        names = []

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, function, _types, args=(), kwargs=None):
                names.append(str(function))
                return function(*args, **(kwargs or {}))
        with Mode():
            F.conv2d(X, W, B, padding=1)
        self.assertTrue(any("rmcp.conv_forward" in name for name in names), names)
        self.assertFalse(any("rmcp_native" in name for name in names), names)

    def test_traces_are_as_before(self):
        self.warm()
        traced = torch.jit.trace(lambda x: F.conv2d(x, W, B, padding=1), X)
        self.assertIn("rmcp::convolution", str(traced.graph))
        self.assertTrue(torch.equal(traced(X), F.conv2d(X, W, B, padding=1)))

    def test_report_still_sees_everything(self):
        model = torch.nn.Conv2d(6, 4, 3)
        for _ in range(2):
            model(X)
        report = rmcp.torch.report(model, X)
        self.assertEqual(len(report.rows), 3)
        self.assertTrue(all(row["reason"] is None and row["algorithm"] for row in report.rows), report)
        rmcp.torch.reset_stats()
        model(X)
        self.assertEqual(short(), 1)

    def test_settings_count(self):
        self.warm()
        torch.use_deterministic_algorithms(True)
        try:
            gradients(X, W, B)
            gradients(X, W, B)
        finally:
            torch.use_deterministic_algorithms(False)
        threads = torch.get_num_threads()
        try:
            torch.set_num_threads(threads + 1)
            gradients(X, W, B)
            gradients(X, W, B)
        finally:
            torch.set_num_threads(threads)
        self.assertEqual((rmcp.torch.stats().calls, rmcp.torch.stats().fallbacks), (12, 0))
        self.assertEqual(short(), 6)

    def test_timing_and_offload_are_the_python_form(self):
        self.assertFalse(rmcp.torch.enable("cpu", timing=True).native)
        self.assertTrue(rmcp.torch.enable("cpu").native)

    def test_backward_after_disable(self):
        self.warm()
        x = X.clone().requires_grad_()
        output = F.conv2d(x, W, B, padding=1)
        rmcp.torch.disable()
        output.sum().backward()
        self.assertEqual(rmcp.torch.stats().by_pass["input gradient"], 1)

    def test_many_threads(self):
        rmcp.torch.disable()
        shapes = [(1 + i % 3, 6, 9 + i, 9) for i in range(8)]
        inputs = [torch.randn(shape) for shape in shapes]
        expected = [gradients(x, W, B) for x in inputs]
        rmcp.torch.enable("cpu", strict=True)
        failures = []

        def work(first):
            try:
                for i in range(40):
                    at = (first + i) % len(inputs)
                    self.same(gradients(inputs[at], W, B), expected[at])
            except Exception as error:  # noqa: BLE001
                failures.append(error)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(rmcp.torch.stats().calls, 4 * 40 * 3)

    def test_shapes_without_end(self):
        for i in range(1100):
            x = X[:, :, :1 + i % 9, :1 + i // 9 % 9]
            F.conv2d(x.repeat(1 + i // 81, 1, 1, 1), W, padding=1)
        self.assertEqual(rmcp.torch.stats().calls, 1100)

    def test_copies_of_models(self):
        model = torch.nn.Sequential(torch.nn.Conv2d(6, 4, 3), torch.nn.Conv2d(4, 2, 1))
        expected = model(X)
        rmcp.torch.reset_stats()
        self.assertTrue(torch.equal(copy.deepcopy(model)(X), expected))
        self.assertEqual(short(), 2)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_forked_process(self):
        self.warm()
        expected = F.conv2d(X, W, B, padding=1)
        child = os.fork()
        if child == 0:
            try:
                torch.set_num_threads(1)
                for _ in range(2):
                    good = torch.allclose(F.conv2d(X, W, B, padding=1), expected, atol=1e-4)
                os._exit(0 if good else 1)
            except BaseException:  # noqa: BLE001
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Missing(unittest.TestCase):
    """Without it, everything works as before and one line for debugging says why."""

    CODE = ("import logging, sys; logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format='%(message)s')\n"
            "import torch, rmcp.torch; s = rmcp.torch.enable('cpu', strict=True)\n"
            "torch.nn.Conv2d(1, 1, 1)(torch.ones(1, 1, 2, 2)); print(s.native, rmcp.torch.stats().calls)")

    def run_in(self, **environment):
        run = subprocess.run([sys.executable, "-c", self.CODE], capture_output=True, text=True, timeout=120,
                             env={**os.environ, "PYTHONPATH": str(support.ROOT / "python"), **environment})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return [line for line in run.stdout.splitlines() if "native part" in line or line.startswith(("True", "False"))]

    def test_switched_off(self):
        self.assertEqual(self.run_in(RMCP_TORCH_NATIVE="0"),
                         ["the native part of rmcp.torch: RMCP_TORCH_NATIVE=0", "False 1"])

    def test_there(self):
        self.assertEqual(self.run_in(), ["the native part of rmcp.torch: loaded", "True 1"])

    def test_not_built(self):
        with tempfile.TemporaryDirectory() as folder:
            first, last = self.run_in(XDG_CACHE_HOME=folder)
        self.assertRegex(first, "not built for this PyTorch: python -m rmcp.torch build")
        self.assertEqual(last, "False 1")

    def test_damaged(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=folder):
            path = _native.path()
            path.parent.mkdir(parents=True)
            path.write_bytes(b"\x7fELF but not really")
            self.assertEqual(self.run_in(XDG_CACHE_HOME=folder)[-1], "False 1")
            path.chmod(0o777)
            first, last = self.run_in(XDG_CACHE_HOME=folder)
        self.assertRegex(first, "somebody else")
        self.assertEqual(last, "False 1")

    def test_no_compiler(self):
        run = subprocess.run([sys.executable, "-m", "rmcp.torch", "build"], capture_output=True, text=True, timeout=120,
                             env={**os.environ, "PYTHONPATH": str(support.ROOT / "python"), "CXX": "/bin/false"})
        self.assertEqual(run.returncode, 1)
        self.assertIn("not built: /bin/false failed", run.stderr)


if __name__ == "__main__":
    unittest.main()
