#!/usr/bin/env python3
"""test_torch_check.py: RMCP_CHECK, RMCP_DISABLE, notices of a long first use, and one engine in a process.

All of them are read once in a process, so each program here is one of its own. FAKE_HIP names tests/driver's fake HIP
library, which computes one kernel and leaves the results of all others unwritten.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import torch_support as support  # noqa: F401, skips without PyTorch

LIBRARY = os.environ["RMCP_LIBRARY"]
FAKE_HIP = os.environ.get("FAKE_HIP")

BEGIN = """
import warnings, torch, rmcp, rmcp.torch
torch.manual_seed(1)
layers = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.ConvTranspose2d(4, 2, 2))
x = torch.randn(2, 3, 6, 5, requires_grad=True)
def step():
    output = layers(x)
    return [output, *torch.autograd.grad(output.square().sum(), [x, *layers.parameters()])]
expected = step()
def same(got):
    for ours, theirs in zip(got, expected):
        torch.testing.assert_close(ours, theirs)
"""


def python(code, **environment):
    """Output and standard error of a Python of its own, which must succeed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RMCP_")}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300,
                            env={**inherited, "RMCP_LIBRARY": LIBRARY, "PYTHONPATH": str(support.ROOT / "python"),
                                 **environment})
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout, result.stderr


class Check(unittest.TestCase):
    def test_nothing_is_wrong(self):
        for mode in ("1", "full"):
            out, err = python(BEGIN + """
rmcp.torch.enable("cpu", strict=True)
assert rmcp.torch.stats().check is None or rmcp.torch.stats().check.checked == 0
same(step())
for dtype in (torch.bfloat16, torch.float16):
    torch.nn.functional.conv2d(torch.randn(1, 3, 9, 9).to(dtype), torch.randn(4, 3, 3, 3).to(dtype))
stats = rmcp.torch.stats()
assert stats.check.on and stats.check.wrong == 0 and stats.check.skipped == 0, stats
assert stats.check.checked == stats.calls == 8, stats
print(stats)
print(rmcp.torch.report(layers, x.detach()))
""", RMCP_CHECK=mode)
            self.assertIn("RMCP_CHECK: 8 executions compared with the reference, 0 wrong, 0 skipped", out)
            self.assertRegex(out, "6 of 6 passes .*\nRMCP_CHECK: [0-9]+ executions")
            self.assertEqual(err, "")

    def test_data_with_nan(self):
        _out, err = python(BEGIN + """
rmcp.torch.enable("cpu", strict=True)
with torch.no_grad():
    x[0, 1, 2, 3], x[1, 0, 0, 0] = float("nan"), float("inf")
assert step()[0].isnan().any()
check = rmcp.torch.stats().check
assert check.checked == 6 and check.wrong == 0, check
""", RMCP_CHECK="full")
        self.assertEqual(err, "")

    def test_not_asked_for(self):
        for mode in ("", "0"):
            out, err = python(BEGIN + """
rmcp.torch.enable("cpu")
same(step())
assert rmcp.torch.stats().check is None and not rmcp.check().on and rmcp.check().checked == 0
print(rmcp.torch.stats())
""", RMCP_CHECK=mode)
            self.assertNotIn("RMCP_CHECK", out)
            self.assertEqual(err, "")

    def test_in_a_forked_process(self):
        _out, err = python(BEGIN + """
import os
rmcp.torch.enable("cpu", strict=True)
big = torch.randn(8, 16, 40, 40), torch.randn(32, 16, 3, 3)
torch.nn.functional.conv2d(*big)  # OpenMP's threads are at work
child = os.fork()
if child == 0:
    before = rmcp.check().checked
    torch.nn.functional.conv2d(*big)
    os._exit(0 if rmcp.check().checked == before + 1 and rmcp.check().wrong == 0 else 3)
assert os.waitpid(child, 0)[1] == 0
""", RMCP_CHECK="full")
        self.assertEqual(err, "")

    @unittest.skipUnless(FAKE_HIP, "FAKE_HIP names no library")
    def test_wrong_results(self):
        with tempfile.TemporaryDirectory() as folder:
            out, err = python(BEGIN + """
rmcp.torch.enable("cpu", offload="hip", strict=True)
for _ in range(2):
    torch.nn.functional.conv2d(torch.randn(2, 64, 28, 28), torch.randn(64, 64, 3, 3))
check = rmcp.torch.stats().check
assert check.wrong == check.checked == 2, check
print(check.first)
print(rmcp.torch.stats())
""", RMCP_CHECK="1", RMCP_GUARD="0", RMCP_HIP_LIBRARY=FAKE_HIP, RMCP_SYSFS_ROOT=folder,
                              FAKE_HIP_DEVICES="gfx1010 0000:03:00.0")
        line = out.splitlines()[0]
        self.assertRegex(line, "^n2c64h28w28k64r3s3:f32:nchw:fwd on hip, algorithm [a-z0-9_]+: y element 0: "
                               "never written, expected .* within ")
        self.assertEqual(err, f"rmcp: check: {line}\n")  # once for two executions
        self.assertIn(f"2 wrong, 0 skipped; the first: {line}", out)


class Disable(unittest.TestCase):
    CODE = BEGIN + """
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    before = type(torch.nn.functional.conv2d(x, layers[0].weight).grad_fn).__name__
    rmcp.torch.enable("cpu", strict=True)
    rmcp.torch.enable(("cpu", "cuda"), offload=None)
    with rmcp.torch.enabled("cpu"):
        same(step())
        assert type(torch.nn.functional.conv2d(x, layers[0].weight).grad_fn).__name__ == before
    assert not rmcp.torch.is_enabled()
    layer = rmcp.torch.Conv2d(3, 4, 3)
    own = torch.nn.functional.conv2d(x, layer.weight, layer.bias)
    assert torch.equal(layer(x), own)
    layer(x).sum().backward()
    print(rmcp.torch.report(layers, x.detach()))
    rmcp.torch.disable()
texts = [str(w.message) for w in seen if issubclass(w.category, rmcp.torch.RmcpWarning)]
assert texts == ["rmcp.torch: RMCP_DISABLE is set: PyTorch's own kernels do all convolutions"], texts
stats = rmcp.torch.stats()
assert stats.disabled and stats.calls == 0, stats
print(stats)
try:
    rmcp.torch.enable("xpu")
except ValueError:
    print("wrong arguments are still wrong")
assert "librmcp" not in open("/proc/self/maps").read()
"""

    def test_nothing_changes(self):
        out, _err = python(self.CODE, RMCP_DISABLE="1")
        self.assertIn("RMCP_DISABLE is set: RMCP does nothing", out)
        self.assertIn("RMCP: 0 convolutions, 0 left to PyTorch's own kernels; RMCP_DISABLE is set", out)
        self.assertIn("wrong arguments are still wrong", out)

    def test_not_even_the_library_is_needed(self):
        python(self.CODE, RMCP_DISABLE="1", RMCP_LIBRARY="/nowhere/librmcp.so")

    def test_not_asked_for(self):
        for value in ("", "0"):
            python(BEGIN + """
warnings.simplefilter("error")
rmcp.torch.enable("cpu", strict=True)
same(step())
stats = rmcp.torch.stats()
assert not stats.disabled and stats.calls == 6 and "RMCP_DISABLE" not in str(stats), stats
""", RMCP_DISABLE=value)


@unittest.skipUnless(FAKE_HIP, "FAKE_HIP names no library")
class Notice(unittest.TestCase):
    def run_slowly(self, **environment):
        """What is said when a trial takes five seconds."""
        with tempfile.TemporaryDirectory() as folder:
            command = pathlib.Path(folder, "rmcp")
            command.write_text(f"#!/bin/sh\necho rmcp-trial 1 {support.rmcp.__version__} begin\nsleep 5\n"
                               "echo rmcp-trial 1 good ''\n")
            command.chmod(0o700)
            _out, err = python(BEGIN + """
rmcp.torch.enable("cpu", offload="hip", strict=True)
torch.nn.functional.conv2d(torch.randn(2, 3, 5, 5), torch.randn(4, 3, 3, 3))
""", RMCP_COMMAND=str(command), RMCP_HIP_LIBRARY=FAKE_HIP, RMCP_SYSFS_ROOT=folder, XDG_CACHE_HOME=folder,
                               FAKE_HIP_DEVICES="gfx1010 0000:03:00.0", **environment)
        return err

    def test_is_said(self):
        self.assertRegex(self.run_slowly(), r"^rmcp: first use of [a-z0-9_]+ f32 on hip \(gfx1010\): .*\n$")

    def test_is_not_said(self):
        self.assertEqual(self.run_slowly(RMCP_LOG="0"), "")


MAPS = """
import re
print(sorted(set(re.findall("/.*librmcp.*", open("/proc/self/maps").read()))))
"""


class OneEngine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.copies = []
        for name in ("first", "second"):
            pathlib.Path(self.folder.name, name).mkdir()
            self.copies.append(shutil.copy(LIBRARY, pathlib.Path(self.folder.name, name, "librmcp.so.0")))
        self.copies = [str(path) for path in self.copies]

    def tearDown(self):
        self.folder.cleanup()

    def test_one_that_is_there_is_taken(self):
        out, _err = python(f"import ctypes; other = ctypes.CDLL({self.copies[0]!r})\n" + BEGIN + """
rmcp.torch.enable("cpu", strict=True)
same(step())
assert rmcp.torch.stats().calls == 6
""" + MAPS, RMCP_LIBRARY=self.copies[1])
        self.assertEqual(out.strip(), str([self.copies[0]]))

    def test_ours_is_found_by_others(self):
        out, _err = python(BEGIN + """
import ctypes, os
rmcp.torch.enable("cpu")
ctypes.CDLL("librmcp.so.0", mode=os.RTLD_NOLOAD).rmcp_version
""" + MAPS, RMCP_LIBRARY=self.copies[1])
        self.assertEqual(out.strip(), str([self.copies[1]]))

    def test_another_version_is_not_taken(self):
        other = str(pathlib.Path(self.folder.name, "other.so"))
        for version in ("7.5.3", support.rmcp.__version__):  # of ours, but without most functions
            source = f'const char *rmcp_version(void) {{ return "{version}"; }}'
            subprocess.run([*os.environ.get("CC", "cc").split(), "-shared", "-fPIC", "-x", "c", "-", "-o", other,
                            "-Wl,-soname,librmcp.so.0"], input=source, text=True, check=True)
            out, _err = python(f"import ctypes; other = ctypes.CDLL({other!r})\nimport rmcp; rmcp.devices()" + MAPS,
                               RMCP_LIBRARY=self.copies[1])
            self.assertEqual(out.strip(), str([self.copies[1]]))


if __name__ == "__main__":
    unittest.main()
