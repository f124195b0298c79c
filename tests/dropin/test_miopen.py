#!/usr/bin/env python3
"""test_miopen.py: `import rmcp.miopen` before toy PyTorches of every kind, which tell what they reached.

usage: RMCP_LIBRARY=LIBRMCP test_miopen.py FOLDER, which check_import.sh has filled
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

TOYS = pathlib.Path(sys.argv.pop(1)).resolve()
PACKAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "python"


def run(kind, program, **environment):
    """What a program says in a Python that has the PyTorch of this kind."""
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith(("RMCP_", "LD_", "PYTHON", "HSA_"))}
    clean.update(PYTHONPATH=f"{TOYS / kind}:{PACKAGE}", RMCP_MIOPEN_LIBRARY=str(TOYS / "toys/ours"),
                 RMCP_LIBRARY=os.environ["RMCP_LIBRARY"], PYTHONDONTWRITEBYTECODE="1")
    clean.update(environment)
    clean = {key: value for key, value in clean.items() if value is not None}
    # Without site: no PyTorch of the system.
    return subprocess.run([sys.executable, "-S", "-c", program], env=clean, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)


TELL = """
import json, os
import rmcp.miopen
try:
    import torch
except ImportError:
    pass
print(json.dumps(rmcp.miopen.status()))
"""


class Miopen(unittest.TestCase):
    def tell(self, kind, **environment):
        result = run(kind, TELL, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        *words, report = result.stdout.splitlines()
        return "\n".join(words), json.loads(report), result.stderr

    def test_wheel(self):
        for now in (None, "1"):
            words, report, complaint = self.tell("wheel", LD_BIND_NOW=now)
            self.assertEqual(words, "reached ours")
            self.assertEqual(complaint, "")
            library = str(TOYS / "toys/ours/wheel/libMIOpen.so")
            # The bundled one is not even loaded.
            self.assertEqual(report, {"library": library, "rmcp": True, "loaded": [library],
                                      "original": str(TOYS / "wheel/torch/lib/libMIOpen.so")})

    def test_therock(self):
        words, report, complaint = self.tell("therock")
        self.assertEqual(words, "reached ours.1")
        self.assertEqual(complaint, "")
        self.assertTrue(report["rmcp"])
        self.assertEqual(report["library"], str(TOYS / "toys/ours/libMIOpen.so.1"))
        self.assertEqual(len(report["loaded"]), 2)  # torch loads its own by path; nothing calls it
        self.assertRegex(report["original"], "_rocm_sdk_libraries_gfx101X_dgpu/lib/libMIOpen.so.1$")

    def test_distribution(self):
        words, report, _ = self.tell("distribution", LD_LIBRARY_PATH=str(TOYS / "system"))
        self.assertEqual(words, "reached ours.1")
        self.assertEqual(report["original"], str(TOYS / "system/libMIOpen.so.1"))
        self.assertEqual(len(report["loaded"]), 1)

    def test_too_late(self):
        result = run("wheel", "import torch\nimport rmcp.miopen")
        self.assertEqual(result.returncode, 1)
        self.assertIn("TooLate", result.stderr)
        self.assertIn("restart the kernel", result.stderr)
        # The same can be asked, and the program goes on.
        result = run("wheel", "import torch\ntry:\n import rmcp.miopen\nexcept ImportError: print('late')")
        self.assertIn("late", result.stdout)

    def test_without_rocm(self):
        for kind, words in (("cpu", "PyTorch 2.6.0+cpu in "), ("empty", "no PyTorch")):
            _, report, complaint = self.tell(kind)
            self.assertIn("MiopenWarning", complaint)
            self.assertIn(words, complaint)
            self.assertIn("nothing is replaced", complaint)
            self.assertEqual(report, {"library": None, "rmcp": False, "loaded": [], "original": None})

    def test_disabled(self):
        words, report, complaint = self.tell("wheel", RMCP_DISABLE="1")
        self.assertEqual((words, complaint), ("reached bundled", ""))
        self.assertFalse(report["rmcp"])
        self.assertEqual(self.tell("wheel", RMCP_DISABLE="0")[0], "reached ours")

    def test_preloaded(self):
        library = str(TOYS / "toys/ours/wheel/libMIOpen.so")
        words, report, complaint = self.tell("wheel", LD_PRELOAD=library)
        self.assertEqual((words, complaint), ("reached ours", ""))
        self.assertEqual(report["loaded"], [library])

    def test_installed(self):
        """Ours in the place of the bundled one: nothing is loaded in front of it but the same again."""
        site = TOYS / "installed"
        shutil.copytree(TOYS / "wheel", site)
        lib = site / "torch/lib"
        (lib / "rmcp").mkdir()
        (lib / "libMIOpen.so").rename(lib / "rmcp/libMIOpen.so.original")
        (lib / "libMIOpen.so.rmcp-original").symlink_to("rmcp/libMIOpen.so.original")
        shutil.copy(TOYS / "toys/ours/wheel/libMIOpen.so", lib / "libMIOpen.so")
        words, report, _ = self.tell("installed")
        self.assertEqual(words, "reached ours")
        self.assertTrue(report["rmcp"])
        self.assertEqual(report["original"], str(lib / "libMIOpen.so.rmcp-original"))
        # Late is early enough then.
        result = run("installed", "import torch\nimport rmcp.miopen\nprint(rmcp.miopen.status()['rmcp'])")
        self.assertIn("True", result.stdout, result.stderr)

    def test_named_wrongly(self):
        for named in ("/nowhere", str(TOYS / "empty")):
            result = run("wheel", "import rmcp.miopen", RMCP_MIOPEN_LIBRARY=named)
            self.assertEqual(result.returncode, 1)
            self.assertIn("NotFound", result.stderr)
            self.assertIn(named, result.stderr)

    def test_beside_librmcp(self):
        """As in the build folder, as installed, as in a wheel of ours: found by where librmcp is."""
        for below in ("src/dropin/miopen", "rmcp", "."):
            folder = TOYS / "places" / below.replace("/", "-")
            shutil.copytree(TOYS / "toys/ours", folder / below, dirs_exist_ok=True)
            shutil.copy(os.environ["RMCP_LIBRARY"], folder / "librmcp.so.0")
            words, report, _ = self.tell("wheel", RMCP_MIOPEN_LIBRARY=None, RMCP_LIBRARY=str(folder / "librmcp.so.0"))
            self.assertEqual(words, "reached ours")
            self.assertEqual(os.path.realpath(report["library"]),
                             os.path.realpath(folder / below / "wheel/libMIOpen.so"))

    def test_without_librmcp(self):
        result = run("wheel", "import rmcp.miopen", RMCP_LIBRARY="/nowhere/librmcp.so")
        self.assertEqual(result.returncode, 1)
        self.assertIn("librmcp was not found", result.stderr)


if __name__ == "__main__":
    unittest.main()
