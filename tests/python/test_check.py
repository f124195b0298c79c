"""test_check.py: python -m rmcp check: right, wrong, not used, and each thing that may be in the way.

usage: RMCP_LIBRARY=LIBRMCP RMCP_COMMAND=RMCP test_check.py
"""
import contextlib
import io
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from torch_support import ROOT, rmcp, torch  # skips without PyTorch

from rmcp import _check, _check_networks as small, _check_obstacles as obstacles, _library  # noqa: E402

ROCM = {"version": "2.5.1", "hip": "6.2.41133-dd7f95766", "cuda": None}
# No GPU of the machine that runs this test, whatever it has.
NO_GPU = mock.patch.object(torch.cuda, "is_available", lambda: False)


def check(*words):
    """Exit status and report."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = _check.main([*words, "--json"])
    return status, json.loads(out.getvalue())


def ids(report):
    return [one["id"] for one in report["in_the_way"]]


class TestRight(unittest.TestCase):
    def test_cpu(self):
        status, report = check("--device", "cpu")
        self.assertEqual((status, report["verdict"], report["in_the_way"]), (0, "right", []))
        self.assertEqual(report["device"], "cpu")
        self.assertGreaterEqual(report["convolutions"], 36)  # a few dozen
        self.assertEqual(report["convolutions"], report["expected"])
        self.assertEqual(report["convolutions"], sum(network["convolutions"] for network in report["networks"]))
        self.assertRegex(report["says"], r"^this PyTorch \(.*\) uses RMCP on cpu: \d+ convolutions, compared with the "
                                         "CPU, right$")
        self.assertFalse(rmcp.torch.is_enabled())

    def test_the_engine_has_the_same_convolutions(self):
        check("--device", "cpu")
        cases = {row.case for row in rmcp.torch.stats().rows}
        lines = (ROOT / "data" / "verify-check.txt").read_text().splitlines()
        self.assertEqual(cases, {line for line in lines if not line.startswith("#")})

    def test_all_kinds_are_there(self):
        modules = [module for network in small.networks() for module in network.layers.modules()]
        kinds = {type(module).__name__ for module in modules}
        self.assertLessEqual({"Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"},
                             kinds)
        convolutions = [module for module in modules if hasattr(module, "stride")]
        self.assertTrue(any(one.groups == one.in_channels > 1 for one in convolutions))
        self.assertTrue(any(max(one.stride) > 1 for one in convolutions))
        self.assertTrue(any(max(one.dilation) > 1 for one in convolutions))

    def test_leaves_the_random_numbers_alone(self):
        torch.manual_seed(5)
        wanted = torch.rand(3)
        torch.manual_seed(5)
        small.Data(small.networks()[0])
        self.assertTrue(torch.equal(torch.rand(3), wanted))

    def test_enabled_before(self):
        """As RMCP_TORCH=1 does: the expected values must still be PyTorch's own."""
        expected, states = small.expected, []

        def watched(network, data):
            states.append(rmcp.torch.is_enabled())
            return expected(network, data)

        rmcp.torch.enable("cpu")
        try:
            with mock.patch.object(small, "expected", watched):
                self.assertEqual(check("--device", "cpu")[0], 0)
            self.assertEqual(set(states), {False})
        finally:
            rmcp.torch.disable()

    def test_what_nobody_foresaw_is_an_answer(self):
        with mock.patch.object(small, "networks", side_effect=KeyError("unheard of")):
            status, report = check("--device", "cpu")
        self.assertEqual((status, report["verdict"], ids(report)), (1, "in the way", ["failed"]))
        self.assertIn("unheard of", report["in_the_way"][0]["what"])


class TestWrong(unittest.TestCase):
    """A result that is not right, in any of its tensors, is seen and named."""

    def test_each_tensor(self):
        network = small.networks()[0]
        data = small.Data(network)
        wanted = small.expected(network, data)
        for name, tensor in wanted.items():
            for spoil in (lambda t: t.view(-1)[3:4].add_(1e-3 * float(tensor.abs().max())),
                          lambda t: t.view(-1)[-1:].fill_(float("nan")), lambda t: t.mul_(1.001)):
                found = {key: value.clone().float() for key, value in wanted.items()}
                spoil(found[name])
                error, where = small.compare(network, found, wanted)
                self.assertGreater(error, small.BOUND[network.dtype], name)
                self.assertEqual(where, name)

    def test_one_product_left_out_is_more_than_the_bound(self):
        for network in small.networks():
            data = small.Data(network)
            wanted = small.expected(network, data)
            layer = next(module for module in network.layers.modules() if hasattr(module, "stride"))
            with torch.no_grad():
                layer.weight.view(-1)[0] = 0
            error, _ = small.compare(network, small.expected(network, data), wanted)
            self.assertGreater(error, small.BOUND[network.dtype], network.name)

    def test_verdict(self):
        run = small.run

        def spoiled(network, data, device, dtype=None):
            found = run(network, data, device, dtype)
            if dtype is None and network.name == "depthwise":
                found["result"].view(-1)[0] += 100
            return found

        with mock.patch.object(small, "run", spoiled):
            status, report = check("--device", "cpu")
        self.assertEqual((status, report["verdict"], ids(report)), (1, "wrong", ["wrong"]))
        self.assertIn("WRONG in: depthwise", report["says"])
        self.assertIn('"depthwise", result', report["in_the_way"][0]["what"])

    def test_nan_is_json_too(self):
        run = small.run

        def spoiled(network, data, device, dtype=None):
            found = run(network, data, device, dtype)
            if dtype is None:
                found["result"] = found["result"] * float("nan")
            return found

        with mock.patch.object(small, "run", spoiled):
            status, report = check("--device", "cpu")
        self.assertEqual((status, report["verdict"], report["worst"]), (1, "wrong", None))

    def test_a_network_that_fails(self):
        def fails(network, data, device, dtype=None):
            raise RuntimeError("HIP error: invalid device function")

        with mock.patch.object(small, "expected", lambda *words: {}), mock.patch.object(small, "run", fails):
            status, report = check("--device", "cpu")
        self.assertEqual((status, report["verdict"], ids(report)), (1, "in the way", ["failed"]))
        self.assertIn("invalid device function", report["in_the_way"][0]["what"])


class TestNotUsed(unittest.TestCase):
    def test_nothing_is_enabled(self):
        # Not every PyTorch has half types on the CPU by itself.
        singles = [network for network in small.networks() if network.dtype == torch.float32]
        with mock.patch.object(rmcp.torch, "enable", lambda **words: None), \
                mock.patch.object(small, "networks", lambda: singles):
            status, report = check("--device", "cpu")
        self.assertEqual((status, report["verdict"], report["convolutions"]), (1, "not used", 0))
        self.assertIn("0 of", report["says"])

    def test_refused(self):
        """Convolutions that RMCP leaves to PyTorch, as on a card whose device does not open."""
        with mock.patch.dict(os.environ, {"RMCP_LIBRARY": os.environ["RMCP_LIBRARY"]}):
            code = ("import sys; sys.path.insert(0, sys.argv[1]); import rmcp.torch\n"
                    "from rmcp import _check, _check_networks as small\n"
                    "import torch\n"
                    "small.networks = lambda kept=small.networks: [n for n in kept() if n.name == '1-D'] + "
                    "[small.Network('doubles', torch.nn.Conv2d(2, 2, 3), (1, 2, 5, 5), torch.float64)]\n"
                    "small.BOUND[torch.float64] = 1e-9\n"
                    "sys.exit(_check.main(['--json', '--device', 'cpu']))\n")
            done = subprocess.run([sys.executable, "-c", code, str(ROOT / "python")], stdout=subprocess.PIPE)
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, report["verdict"], ids(report)), (1, "not used", ["refused"]))
        self.assertIn("torch.float64", report["in_the_way"][0]["what"])
        self.assertEqual((report["convolutions"], report["expected"]), (9, 12))

    def test_device_that_is_not_there(self):
        status, report = check("--device", "nosuch")
        self.assertEqual((status, ids(report)), (1, ["device"]))
        self.assertIn("nosuch", report["in_the_way"][0]["what"])


class TestInTheWay(unittest.TestCase):
    def test_disabled(self):
        with mock.patch.dict(os.environ, {"RMCP_DISABLE": "1"}):
            status, report = check()
        self.assertEqual((status, ids(report)), (1, ["disabled"]))
        self.assertIn("unset RMCP_DISABLE", report["in_the_way"][0]["cure"])

    def test_library(self):
        for error, id in ((_library.LibraryNotFound("nowhere"), "librmcp-missing"),
                          (_library.VersionMismatch("old"), "librmcp-version")):
            with mock.patch("rmcp._api.version", side_effect=error):
                status, report = check()
            self.assertEqual((status, ids(report)), (1, [id]))

    def test_torch(self):
        with mock.patch("importlib.util.find_spec", lambda name: None):
            self.assertEqual(ids(check()[1]), ["no-torch"])
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "torch.py").write_text("raise OSError('libroctx64.so: cannot open')\n")
            done = subprocess.run([sys.executable, "-m", "rmcp", "check", "--json"], stdout=subprocess.PIPE,
                                  env={**os.environ, "PYTHONPATH": f"{folder}:{ROOT / 'python'}"})
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, ids(report)), (1, ["torch-broken"]))
        self.assertIn("libroctx64.so: cannot open", report["in_the_way"][0]["what"])

    @NO_GPU
    def test_made_for_the_cpu(self):
        with mock.patch.object(torch.version, "cuda", None), mock.patch.object(torch.version, "hip", None, create=True):
            for wish in ("cuda", "hip:0", "gpu"):
                status, report = check("--device", wish)
                self.assertEqual((status, ids(report)), (1, ["cpu-only-torch"]))
            with mock.patch.object(obstacles, "has_amd_card", lambda: True):
                status, report = check()  # there is a card, and this PyTorch cannot use it
            self.assertEqual((status, ids(report), report["device"]), (1, ["cpu-only-torch"], "cpu"))
            with mock.patch.object(obstacles, "has_amd_card", lambda: False):
                status, report = check()
            self.assertEqual((status, report["in_the_way"], report["device"]), (0, [], "cpu"))
            self.assertIn("no GPU was used", report["notes"][0])

    @NO_GPU
    def test_no_gpu_for_rocm(self):
        with mock.patch.object(torch.version, "hip", ROCM["hip"], create=True), \
                mock.patch.object(obstacles, "no_gpu", lambda torch: obstacles.InTheWay("no-gpu", "none", "get one")):
            status, report = check()
            self.assertEqual((status, report["verdict"], ids(report)), (1, "in the way", ["no-gpu"]))
            self.assertIn("ROCm 6.2", report["says"])
            self.assertEqual(report["convolutions"], report["expected"])  # the CPU's are still told
            self.assertEqual(ids(check("--device", "hip")[1]), ["no-gpu"])

    def test_why_there_is_no_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            device = pathlib.Path(folder)
            why = obstacles.no_gpu(ROCM, folder, {})
            self.assertEqual(why.id, "no-gpu")
            self.assertIn("modprobe amdgpu", why.cure)
            for variable in ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
                for value in ("", "-1"):
                    why = obstacles.no_gpu(ROCM, folder, {variable: value})
                    self.assertEqual((why.id, why.cure), ("gpu-hidden", f"unset {variable}"))
            (device / "dri").mkdir()
            for path in (device / "kfd", device / "dri" / "renderD128"):
                path.touch()
            self.assertEqual(obstacles.no_gpu(ROCM, folder, {"HIP_VISIBLE_DEVICES": "0"}).id, "no-gpu")
            with mock.patch("os.access", lambda path, mode: not path.endswith("kfd")):
                why = obstacles.no_gpu(ROCM, folder, {})
            self.assertEqual(why.id, "no-access")
            self.assertIn("render,video", why.cure)
            self.assertIn("kfd", why.what)
            self.assertNotIn("renderD128", why.what)
        self.assertIn("nvidia-smi", obstacles.no_gpu({"version": "2.5", "hip": None, "cuda": "12.4"}).cure)

    def test_miopen(self):
        done = subprocess.run([sys.executable, "-m", "rmcp", "check", "--miopen", "--json"], stdout=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        report = json.loads(done.stdout)
        if report["torch"]["hip"]:
            self.skipTest("this PyTorch is for ROCm")
        self.assertEqual((done.returncode, ids(report)), (1, ["no-rocm"]))
        self.assertFalse(report["miopen"]["rmcp"])


class TestCommand(unittest.TestCase):
    def usage(self, *words):
        return subprocess.run([sys.executable, "-m", "rmcp", "check", *words], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})

    def test_wrong_usage(self):
        for words, message in ((["--nosuch"], "no option"), (["x"], "too much"), (["--device"], "needs a value"),
                               (["--device="], "needs a value"), (["--device", "cuda:x"], "--device is 'cuda:x'"),
                               (["--device", "cpu:1"], "--device is"), (["--miopen", "--engine"], "only one"),
                               (["--miopen", "--device", "cpu"], "is for GPUs")):
            done = self.usage(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(message, done.stderr)
        self.assertIn("usage:", self.usage("--help").stdout)

    def test_text(self):
        done = self.usage("--device", "cpu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "^this PyTorch .* right\n$")

    def test_without_numpy(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "numpy.py").write_text("raise ModuleNotFoundError(\"No module named 'numpy'\")\n")
            path = os.pathsep.join([folder, str(ROOT / "python")])
            convolution = "import torch; torch.nn.functional.conv2d(torch.ones(1, 2, 5, 5), torch.ones(2, 2, 3, 3))"
            for words, wanted in ((["check", "--device", "cpu"], "right"),
                                  (["--device", "cpu", "--stats", "-c", convolution], "RMCP: 1 convolutions, 0 left")):
                done = subprocess.run([sys.executable, "-m", "rmcp", *words], capture_output=True, text=True,
                                      env={**os.environ, "PYTHONPATH": path})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(wanted, done.stdout + done.stderr)

    def test_engine_is_the_command_s(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder, "rmcp")
            fake.write_text("#!/bin/sh\necho \"$@\"\nexit 1\n")
            fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
            with mock.patch.object(_check, "find_command", lambda: str(fake)), \
                    mock.patch("subprocess.call", lambda words: (print(*words[1:]), 1)[1]):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    self.assertEqual(_check.main(["--engine", "--json", "--device", "hip:0"]), 1)
        self.assertEqual(out.getvalue(), "check --engine --device hip:0 --json\n")
        with mock.patch.object(_check, "find_command", lambda: None), contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(_check.main(["--engine"]), 1)


if __name__ == "__main__":
    unittest.main()
