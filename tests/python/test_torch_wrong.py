#!/usr/bin/env python3
"""test_torch_wrong.py: wrong use of the Python package gives clear exceptions; and the tests' judge can fail."""
import contextlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import torch_support as support
import torch
import torch.nn.functional as F

import rmcp.torch


def python(code, path=support.ROOT / "python", cwd="/", **environment):
    """Standard error, or output, of a Python of its own."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("RMCP_LIBRARY", "PYTHONPATH")}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, cwd=cwd,
                            env={**inherited, "PYTHONPATH": str(path), **environment})
    return result.returncode, (result.stdout + result.stderr).strip()


def compile_library(folder, name, source):
    path = pathlib.Path(folder, name)
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)],
                   input=source, text=True, check=True)
    return str(path)


# What a library must begin with to be of this package's version.
OWN = ".".join(rmcp.__version__.split(".")[:2 if rmcp.__version__.startswith("0.") else 1])
ENABLE = "import rmcp.torch; rmcp.torch.enable('cpu')"


class Library(unittest.TestCase):
    def test_no_library(self):
        code, text = python(ENABLE, RMCP_LIBRARY="/nowhere/librmcp.so")
        self.assertEqual(code, 1)
        self.assertRegex(text.splitlines()[-1], "^rmcp._library.LibraryNotFound: librmcp was not found; build it .*"
                                                "/nowhere/librmcp.so")

    def test_import_needs_no_library(self):
        code, text = python("import rmcp, rmcp.torch; print('fine')", RMCP_LIBRARY="/nowhere/librmcp.so")
        self.assertEqual((code, text), (0, "fine"))

    def test_something_else(self):
        with tempfile.TemporaryDirectory() as folder:
            path = compile_library(folder, "librmcp.so", "int other(void) { return 1; }")
            code, text = python('import rmcp; rmcp.version()', RMCP_LIBRARY=path)
        self.assertEqual(code, 1)
        self.assertIn("is not librmcp: it has no rmcp_version", text.splitlines()[-1])

    def test_another_version(self):
        with tempfile.TemporaryDirectory() as folder:
            path = compile_library(folder, "librmcp.so", 'const char *rmcp_version(void) { return "7.5.3"; }')
            code, text = python('import rmcp; rmcp.version()', RMCP_LIBRARY=path)
        self.assertEqual(code, 1)
        self.assertRegex(text.splitlines()[-1], "VersionMismatch: .* is librmcp 7.5.3, but this Python package needs "
                                                rf"{re.escape(OWN)}\.x; install both")

    def test_functions_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = compile_library(folder, "librmcp.so",
                                   f'const char *rmcp_version(void) {{ return "{rmcp.__version__}"; }}')
            code, text = python('import rmcp; rmcp.version()', RMCP_LIBRARY=path)
        self.assertEqual(code, 1)
        self.assertIn("VersionMismatch", text.splitlines()[-1])

    def test_wheel_carries_the_library(self):
        # Installed without a network and without build isolation, then used from elsewhere.
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "source")
            source.mkdir()
            subprocess.run(["cp", "-r", str(support.ROOT / "python"), str(support.ROOT / "include"), str(source)],
                           check=True)
            pip = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-index",
                                  "--no-deps", "--target", folder + "/site", str(source / "python")],
                                 capture_output=True, text=True)
            if "No module named pip" in pip.stderr:
                self.skipTest("pip is not installed")
            self.assertEqual(pip.returncode, 0, pip.stderr)
            code, text = python(ENABLE + "; import torch; torch.nn.Conv1d(1, 1, 2)(torch.ones(1, 1, 3)); "
                                "print(rmcp.__file__, rmcp.__version__, rmcp.torch.stats().calls)",
                                path=folder + "/site")
            self.assertEqual((code, text), (0, f"{folder}/site/rmcp/__init__.py {rmcp.__version__} 1"))
            installed = list(pathlib.Path(folder, "site").glob("rmcp-*.dist-info"))
            self.assertEqual([path.name for path in installed], [f"rmcp-{rmcp.__version__}.dist-info"])
            self.assertTrue(pathlib.Path(folder, "site", "rmcp", "torch", "native.cpp").is_file())


class Calls(unittest.TestCase):
    def test_device_types(self):
        for wrong in ("hip", ("cpu", "xpu"), ()):
            with self.assertRaisesRegex(ValueError, "device_types is .*AMD GPUs are 'cuda'"):
                rmcp.torch.enable(wrong)
        self.assertFalse(rmcp.torch.is_enabled())

    def test_offload(self):
        with self.assertRaisesRegex(ValueError, "tensors on the CPU"):
            rmcp.torch.enable(offload="opencl")
        with self.assertRaisesRegex(RuntimeError, "cannot open the device nonsense:3"):
            rmcp.torch.enable("cpu", offload="nonsense:3")
        self.assertFalse(rmcp.torch.is_enabled())

    def test_types(self):
        for dtype in (torch.int8, torch.int64, torch.float64):
            x, w = torch.ones(1, 1, 4, 4, dtype=dtype), torch.ones(1, 1, 2, 2, dtype=dtype)
            with rmcp.torch.enabled("cpu", strict=True), self.assertRaisesRegex(
                    rmcp.torch.Unsupported, f"the type is {dtype}; RMCP has float32, float16 and bfloat16"):
                F.conv2d(x, w)
        layer = rmcp.torch.Conv2d(1, 1, 2).to(torch.complex64)
        with rmcp.torch.enabled("cpu", strict=True), self.assertRaisesRegex(rmcp.torch.Unsupported, "complex64"):
            layer(torch.ones(1, 1, 4, 4, dtype=torch.complex64))

    def test_mixed_types_are_pytorchs_error(self):
        with rmcp.torch.enabled("cpu"), self.assertRaises(RuntimeError):
            F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2).half())

    def test_tensors_that_live_apart(self):
        # "meta" stands for a GPU; the dispatcher would give such a call to "meta", not to us.
        from rmcp.torch import _autograd
        with self.assertRaisesRegex(
                RuntimeError, "the input is on cpu but the weight is on meta; move the model or the data"):
            _autograd.convolution(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2, device="meta"), None,
                                  [1, 1], [0, 0], [1, 1], False, [0, 0], 1)

    def test_subclasses_go_to_pytorch(self):
        class Labelled(torch.Tensor):
            pass

        x = torch.ones(1, 1, 4, 4).as_subclass(Labelled)
        with rmcp.torch.enabled("cpu"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(float(F.conv2d(x, torch.ones(1, 1, 2, 2)).sum()), 36.0)

    def test_adopt_traced(self):
        with self.assertRaisesRegex(TypeError, "traced or loaded ScriptModule, not Conv1d"):
            rmcp.torch.adopt_traced(torch.nn.Conv1d(1, 1, 1))

    def test_report(self):
        with self.assertRaisesRegex(ValueError, "reference is 'gpu'"):
            rmcp.torch.report(torch.nn.Conv1d(1, 1, 1), torch.ones(1, 1, 1), reference="gpu")


class Judge(unittest.TestCase):
    """The judge of the sweep sees an enable() that does nothing and results that are wrong."""

    def check(self):
        support.sweep("cpu", 3, seed=5)

    def test_sound(self):
        self.check()

    def test_enable_that_does_nothing(self):
        @contextlib.contextmanager
        def nothing(**_arguments):
            yield
        with unittest.mock.patch("rmcp.torch.enabled", nothing), self.assertRaisesRegex(AssertionError, "RMCP did"):
            self.check()

    @unittest.skipIf(support.NATIVE, "what is made wrong here is the Python form")
    def test_wrong_results(self):
        from rmcp.torch import _engine
        run = _engine.run

        def wrong(operation, input, weight, output, *rest):
            run(operation, input, weight, output, *rest)
            (output, input, weight)[operation].mul_(1.01)

        with unittest.mock.patch("rmcp.torch._engine.run", wrong), self.assertRaisesRegex(AssertionError, "times the"):
            self.check()


if __name__ == "__main__":
    unittest.main()
