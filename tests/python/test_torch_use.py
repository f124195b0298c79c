#!/usr/bin/env python3
"""test_torch_use.py: rmcp.torch as programs use it: modes, tracing, copies, threads, processes, offloading."""
import contextlib
import copy
import io
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import torch_support as support
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

import rmcp
import rmcp.torch

X = torch.randn(2, 3, 12, 12, generator=torch.Generator().manual_seed(1))


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2, groups=2), nn.ReLU(),
                         nn.ConvTranspose2d(8, 4, 3, stride=2, output_padding=1))


@contextlib.contextmanager
def counted(forward=None, **arguments):
    """Enabled and strict inside; `forward` convolutions must have run by the end."""
    rmcp.torch.reset_stats()
    with rmcp.torch.enabled("cpu", strict=True, **arguments):
        yield
    stats = rmcp.torch.stats()
    assert stats.fallbacks == 0, stats
    if forward is not None:
        assert stats.by_pass["forward"] == forward, stats


class Switch(unittest.TestCase):
    def native(self):
        return type(F.conv2d(X.clone().requires_grad_(), torch.randn(4, 3, 3, 3)).grad_fn).__name__

    def test_disable_gives_pytorch_back(self):
        before = self.native()
        for _ in range(3):
            rmcp.torch.enable("cpu")
            rmcp.torch.enable(("cpu", "cuda"), strict=True)  # again, with other settings
            self.assertTrue(rmcp.torch.is_enabled())
            self.assertNotEqual(self.native(), before)
            rmcp.torch.disable()
            rmcp.torch.disable()
            self.assertFalse(rmcp.torch.is_enabled())
            self.assertEqual(self.native(), before)

    def test_context_managers_nest(self):
        with rmcp.torch.enabled("cpu"):
            with rmcp.torch.enabled("cpu", strict=True):
                with self.assertRaises(rmcp.torch.Unsupported):
                    F.conv1d(torch.zeros(1, 1, 4).double(), torch.zeros(1, 1, 2).double())
            self.assertTrue(rmcp.torch.is_enabled())
        self.assertFalse(rmcp.torch.is_enabled())

    def test_backward_after_disable(self):
        layer = nn.Conv2d(3, 4, 3)
        with rmcp.torch.enabled("cpu"):
            output = layer(X)
        rmcp.torch.reset_stats()
        output.sum().backward()
        self.assertEqual(rmcp.torch.stats().by_pass["weight gradient"], 1)

    def test_other_device_types_stay_alone(self):
        rmcp.torch.reset_stats()
        with rmcp.torch.enabled("cuda"):
            F.conv2d(X, torch.randn(4, 3, 3, 3))
        self.assertEqual(rmcp.torch.stats().calls, 0)


class Modes(unittest.TestCase):
    def test_inference_mode_and_no_grad(self):
        model = network()
        expected = model(X)
        for mode in (torch.inference_mode, torch.no_grad):
            with mode(), counted(3):
                got = model(X)
            self.assertFalse(got.requires_grad)
            torch.testing.assert_close(got, expected.detach(), rtol=1e-5, atol=1e-5)

    def test_checkpointing(self):
        from torch.utils.checkpoint import checkpoint
        model, x = network(), X.clone().requires_grad_()
        with counted(6):
            checkpoint(model, x).sum().backward()
        ours = x.grad.clone()
        x.grad = None
        model(x).sum().backward()
        torch.testing.assert_close(ours, x.grad, rtol=1e-4, atol=1e-4)

    def test_frozen_layers_keep_no_input(self):
        layer, x = nn.Conv2d(3, 4, 3), X.clone().requires_grad_()
        layer.weight.requires_grad_(False)
        with counted(1):
            output = layer(x)
        self.assertIsNone(output.grad_fn.saved_tensors[0])
        output.sum().backward()
        self.assertEqual(rmcp.torch.stats().by_pass["weight gradient"], 0)

    def test_modified_input_is_noticed(self):
        x, w = X.clone().requires_grad_(), torch.randn(4, 3, 3, 3, requires_grad=True)
        with counted(1):
            output = F.conv2d(x * 1, w)
            w.data.mul_(2)  # .data hides it, as in PyTorch
            with torch.no_grad():
                w.mul_(2)
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                output.sum().backward()

    def test_forward_mode_is_left_to_pytorch(self):
        import torch.autograd.forward_ad as forward_ad
        w = torch.randn(4, 3, 3, 3)
        with rmcp.torch.enabled("cpu"), warnings.catch_warnings(record=True) as caught, forward_ad.dual_level():
            warnings.simplefilter("always")
            try:
                F.conv2d(forward_ad.make_dual(X, X), w)
            except NotImplementedError:
                pass  # PyTorch's own operator knows no forward mode in this version
        self.assertTrue(any("forward-mode" in str(w.message) for w in caught))


class Copies(unittest.TestCase):
    def test_state_dict_pickle_deepcopy(self):
        ours = nn.Sequential(rmcp.torch.Conv2d(3, 8, 3, padding="same"), nn.ReLU(),
                             rmcp.torch.ConvTranspose2d(8, 2, 3, stride=2))
        theirs = nn.Sequential(nn.Conv2d(3, 8, 3, padding="same"), nn.ReLU(), nn.ConvTranspose2d(8, 2, 3, stride=2))
        theirs.load_state_dict(ours.state_dict())
        expected = theirs(X)
        for model in (ours, copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
            torch.testing.assert_close(model(X), expected, rtol=1e-5, atol=1e-5)
        with counted(2):
            for model in (copy.deepcopy(theirs), pickle.loads(pickle.dumps(theirs)))[:1]:
                torch.testing.assert_close(model(X), expected, rtol=1e-5, atol=1e-5)

    def test_classes_need_no_enable(self):
        pairs = ((rmcp.torch.Conv1d, nn.Conv1d, {"padding": 1, "stride": 2}),
                 (rmcp.torch.Conv2d, nn.Conv2d, {"padding": "same", "dilation": 3}),
                 (rmcp.torch.Conv3d, nn.Conv3d, {"groups": 2, "bias": False}),
                 (rmcp.torch.ConvTranspose1d, nn.ConvTranspose1d, {"stride": 3, "output_padding": 2}),
                 (rmcp.torch.ConvTranspose2d, nn.ConvTranspose2d, {"dilation": 2}),
                 (rmcp.torch.ConvTranspose3d, nn.ConvTranspose3d, {"padding": 1}))
        for ours, theirs, options in pairs:
            a, b = ours(4, 6, 2, **options), theirs(4, 6, 2, **options)
            b.load_state_dict(a.state_dict())
            self.assertEqual(repr(a), repr(b))
            for batch in ([2], []):
                x = torch.randn(*batch, 4, *(7, 8, 9)[:len(a.kernel_size)])
                rmcp.torch.reset_stats()
                with self.subTest(module=repr(a), batch=batch):
                    torch.testing.assert_close(a(x), b(x), rtol=1e-5, atol=1e-5)
                    self.assertEqual(rmcp.torch.stats().calls, 1)

    def test_class_under_autocast(self):
        layer = rmcp.torch.Conv2d(3, 4, 3)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertEqual(layer(X).dtype, torch.bfloat16)


class Script(unittest.TestCase):
    def save_and_load(self, module):
        file = io.BytesIO()
        torch.jit.save(module, file)
        file.seek(0)
        return torch.jit.load(file)

    def test_traced_while_enabled(self):
        model, x = network(), X.clone().requires_grad_()
        expected = torch.autograd.grad(model(x).square().sum(), [x, *model.parameters()])
        with rmcp.torch.enabled("cpu", strict=True), warnings.catch_warnings():
            for kind in (torch.jit.TracerWarning, rmcp.torch.RmcpWarning):
                warnings.simplefilter("error", kind)
            traced = torch.jit.trace(model, X)
        self.assertIn("rmcp::convolution", str(traced.inlined_graph))
        for module in (traced, self.save_and_load(traced)):
            for _ in range(3):  # the first runs profile, later ones are optimised
                rmcp.torch.reset_stats()
                got = torch.autograd.grad(module(x).square().sum(), [x, *module.parameters()])
                self.assertEqual(rmcp.torch.stats().by_pass,
                                 {"forward": 3, "input gradient": 3, "weight gradient": 3})
                torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)

    def test_traced_by_pytorch_alone(self):
        model = network()
        traced = torch.jit.trace(model, X)
        with counted(3):
            adopted = rmcp.torch.adopt_traced(traced)
            torch.testing.assert_close(adopted(X), traced(X), rtol=1e-5, atol=1e-5)

    def test_scripted(self):
        model = network()
        scripted, expected = torch.jit.script(model), model(X)
        for _ in range(3):
            with counted(3):
                torch.testing.assert_close(scripted(X), expected, rtol=1e-5, atol=1e-5)


class Numbers(unittest.TestCase):
    def test_stats(self):
        model = network()
        with counted(6):
            model(X).sum().backward()
            model(X)
        stats = rmcp.torch.stats()
        self.assertEqual(stats.calls, 11)
        text = str(stats)
        self.assertIn("RMCP: 11 convolutions, 0 left", text)
        self.assertIn("n2c3h12w12k8r3s3p1:f32:nchw:fwd:bias", text)
        for row in stats.rows:
            self.assertTrue(row.device == "cpu" and row.algorithm and row.seconds > 0, row)
        rmcp.torch.reset_stats()
        self.assertEqual(rmcp.torch.stats().calls, 0)

    def test_fallbacks_are_counted_and_warned_of_once(self):
        x, w = X.double(), torch.randn(4, 3, 3, 3).double()
        rmcp.torch.reset_stats()
        with rmcp.torch.enabled("cpu"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                got = F.conv2d(x, w)
        self.assertTrue(torch.equal(got, F.conv2d(x, w)))
        self.assertEqual([w.category for w in caught], [rmcp.torch.RmcpWarning])
        self.assertIn("float64", str(caught[0].message))
        stats = rmcp.torch.stats()
        self.assertEqual((stats.calls, stats.fallbacks), (0, 3))
        self.assertIn("float64", str(stats))

    def test_report(self):
        report = rmcp.torch.report(network(), X)
        self.assertEqual(len(report.rows), 9)
        self.assertEqual([row["layer"] for row in report.rows[::3]], ["0", "2", "4"])
        self.assertTrue(all(row["reason"] is None and row["seconds"] > 0 and row["pytorch_seconds"] > 0
                            for row in report.rows))
        self.assertLess(report.worst, 1e-5)
        self.assertIn("9 of 9 passes", str(report))
        self.assertFalse(rmcp.torch.is_enabled())
        double = rmcp.torch.report(network().double(), X.double(), reference="cpu")
        self.assertTrue(all("float64" in row["reason"] for row in double.rows))

    def test_shapes_without_end(self):
        from rmcp.torch import _engine
        w = torch.randn(2, 1, 3)
        with counted(_engine.MAX_LAYERS + 50), torch.no_grad():
            for i in range(_engine.MAX_LAYERS + 50):
                F.conv1d(torch.zeros(1, 1, 3 + i), w)
        self.assertLessEqual(len(_engine._layers), _engine.MAX_LAYERS)


class Threads(unittest.TestCase):
    def test_many_threads(self):
        model = network()
        expected = [model(X + i).detach() for i in range(8)]
        wrong = []

        def work(i):
            for _ in range(10):
                x = (X + i).requires_grad_()
                output = model(x)
                if not torch.allclose(output, expected[i], rtol=1e-4, atol=1e-4):
                    wrong.append(i)

        with counted(240):
            threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(wrong, [])


class Blurred(Dataset):
    """Images that a convolution prepares in the DataLoader's worker."""

    def __len__(self):
        return 8

    def __getitem__(self, i):
        x = torch.full((1, 3, 40, 40), float(i))
        before = rmcp.torch.stats().calls
        y = F.conv2d(x, torch.ones(3, 1, 3, 3), groups=3)[0]
        return y, rmcp.torch.stats().calls - before


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Processes(unittest.TestCase):
    def test_dataloader_workers(self):
        with counted():
            F.conv2d(torch.zeros(1, 3, 40, 40), torch.ones(3, 1, 3, 3), groups=3)  # the parent has used OpenMP
            batches = list(DataLoader(Blurred(), batch_size=4, num_workers=2, timeout=60))
        for n, (values, calls) in enumerate(batches):
            self.assertEqual(calls.tolist(), [1] * 4)
            for i in range(4):
                self.assertTrue(bool((values[i] == 9.0 * (4 * n + i)).all()))

    def test_forked_child_may_not_use_a_gpu(self):
        from rmcp.torch import _engine
        read, write = os.pipe()
        if os.fork() == 0:
            try:
                _engine.open_device(("opencl", 0))
            except RuntimeError as error:
                os.write(write, str(error).encode())
            os._exit(0)
        os.wait()
        os.close(write)
        self.assertIn("forked", os.read(read, 1000).decode())

    @unittest.skipUnless(torch.distributed.is_available(), "this PyTorch has no torch.distributed")
    def test_two_processes_learn_like_one(self):
        script = str(support.ROOT / "tests" / "python" / "torch_ddp.py")
        port = str(free_port())
        environment = dict(os.environ, OMP_NUM_THREADS="1", USE_LIBUV="0", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)

        def start(*command, **more):
            return subprocess.Popen([sys.executable, *command], env={**environment, **more}, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)

        def losses(process):
            output, errors = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, errors)
            line, = [line for line in output.splitlines() if "losses " in line]
            return [float(word) for word in line.split("losses ")[1].split()]

        one = losses(start(script))
        if torch.__version__.endswith("+debian"):
            # torchrun of Debian's 2.6 wants a libuv that it was built without: start what it would start.
            first, second = [start(script, WORLD_SIZE="2", RANK=rank) for rank in "01"]
            two = losses(first)
            second.communicate(timeout=60)
        else:
            with tempfile.TemporaryDirectory() as logs:
                # Redirected and copied: torchrun of 1.13 stops under Python 3.11 when asked for neither.
                two = losses(start("-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", port,
                                   "--redirects", "1", "--tee", "1", "--log_dir", logs, script))
        for a, b in zip(one, two):
            self.assertAlmostEqual(a, b, delta=1e-5)
        self.assertEqual(len(two), 6)


class Examples(unittest.TestCase):
    def test_a_few_steps_of_each(self):
        folder = support.ROOT / "examples" / "pytorch"
        programs = sorted(path.name for path in folder.glob("*.py") if path.name != "common.py")
        self.assertEqual(len(programs), 4)
        for program in programs:
            with self.subTest(program=program), tempfile.TemporaryDirectory() as output:
                curve = output + "/curve.png"
                run = subprocess.run([sys.executable, str(folder / program), "--device", "cpu", "--steps", "2",
                                      "--batch", "4", "--curve", curve], capture_output=True, text=True, timeout=300)
                if "No module named 'torchvision'" in run.stderr:
                    continue
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("2/2", run.stdout)
                self.assertRegex(run.stdout, "convolutions: [1-9][0-9]* passes in RMCP on cpu, 0 in PyTorch's own")
                if "matplotlib is not installed" not in run.stdout:
                    with open(curve, "rb") as file:
                        self.assertEqual(file.read(4), b"\x89PNG")


def has_opencl():
    return any(info.usable and info.spec.startswith(b"opencl") for info in rmcp.devices())


@unittest.skipUnless(has_opencl(), "no OpenCL device here")
class Offload(unittest.TestCase):
    def test_random_calls(self):
        judge = support.sweep("cpu", 40, offload="opencl")
        self.assertGreater(judge.passes, 40)

    def test_resnet18(self):
        try:
            import torchvision.models as zoo
        except ImportError:
            self.skipTest("no torchvision")
        torch.manual_seed(0)
        model = zoo.resnet18(num_classes=10).eval()  # batch normalisation with fixed numbers: no chaos
        x = torch.randn(1, 3, 64, 64)

        def step(model, x):
            model.zero_grad()
            output = model(x)
            output.square().sum().backward()
            return [output.detach(), *[p.grad.clone() for p in model.parameters()]]

        exact = step(copy.deepcopy(model).double(), x.double())
        theirs = step(copy.deepcopy(model), x)
        rmcp.torch.reset_stats()
        with rmcp.torch.enabled("cpu", strict=True, offload="opencl"):
            ours = step(model, x)
        stats = rmcp.torch.stats()
        self.assertEqual(stats.by_pass, {"forward": 20, "input gradient": 19, "weight gradient": 20})
        self.assertEqual({row.device for row in stats.rows}, {"opencl"})

        def distance(values):
            return max(float((a.double() - b).norm() / b.norm()) for a, b in zip(values, exact))

        self.assertLessEqual(distance(ours), 10 * distance(theirs) + 1e-5)


if __name__ == "__main__":
    unittest.main()
