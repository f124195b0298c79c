"""test_enabling.py: RMCP without editing code: python -m rmcp, the hook for RMCP_TORCH, IPython, ComfyUI's node.

Programs run both ways, by python and by python -m rmcp, and must not see a difference. A torch of a few lines stands
in for PyTorch where only the moment of enabling counts.
"""
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = os.environ.get("RMCP_LIBRARY", str(ROOT / "build" / "librmcp.so"))
HAS_TORCH = importlib.util.find_spec("torch") is not None
CONVOLUTION = "torch.nn.functional.conv2d(torch.ones(1, 3, 8, 8), torch.ones(4, 3, 3, 3))"


class Place(unittest.TestCase):
    """A folder for programs, and an environment with RMCP in it and nothing else of ours."""

    def setUp(self):
        self.folder = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="rmcp enabling ")))
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("RMCP_", "PYTHON"))}
        self.environment.update(RMCP_LIBRARY=LIBRARY, PYTHONPATH=str(ROOT / "python"), PYTHONDONTWRITEBYTECODE="1")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def python(self, *words, stdin="", python=sys.executable, **environment):
        return subprocess.run([python, *map(str, words)], cwd=self.folder, input=stdin, text=True, timeout=300,
                              env={**self.environment, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def good(self, *words, **more):
        done = self.python(*words, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def fake_torch(self):
        """A torch that is imported in an instant, and a stand-in for rmcp.torch that says when it is enabled."""
        self.write("fake/torch/__init__.py", "from . import version\nnames = ['begun']\nnames.append('done')\n")
        self.write("fake/torch/version.py", "cuda = None\nhip = '6.4'\n")
        shutil.copytree(ROOT / "python" / "rmcp", self.folder / "fake" / "rmcp",
                        ignore=shutil.ignore_patterns("torch", "__pycache__"))
        shutil.copy(ROOT / "include" / "rmcp.h", self.folder / "fake" / "rmcp")
        self.write("fake/rmcp/torch.py", """
            import torch
            def enable(**how):
                if torch.__dict__.get("broken"): raise RuntimeError("planted")
                print("enabled", sorted(how.items()), torch.names, flush=True)
        """)
        self.environment["PYTHONPATH"] = str(self.folder / "fake")


class TestPrograms(Place):
    """The same output, messages and exit status as without -m rmcp."""

    def same(self, *words, stdin=""):
        direct, ours = self.python(*words, stdin=stdin), self.python("-m", "rmcp", *words, stdin=stdin)
        self.assertEqual((ours.returncode, ours.stdout, ours.stderr),
                         (direct.returncode, direct.stdout, direct.stderr))
        return ours

    def test_what_a_program_sees(self):
        look = """
            import sys, os
            main = sys.modules["__main__"]
            print(__name__, globals().get("__file__"), __package__, type(__loader__).__name__, __doc__, sys.argv)
            print(sys.path[0], main.__dict__ is globals(), __spec__ and __spec__.name, type(__builtins__).__name__)
            print(sorted(name for name in globals() if name not in ("main", "sys", "os", "__annotations__")))
        """
        self.write("look.py", look)
        self.write("folder/__main__.py", look)
        self.write("package/__init__.py", "")
        self.write("package/__main__.py", look)
        self.write("package/inner.py", look)
        (self.folder / "link.py").symlink_to(self.folder / "folder" / "__main__.py")
        shutil.make_archive(str(self.folder / "packed"), "zip", self.folder / "folder")
        for words in (["look.py"], ["look.py", "-x", "--device", "y z"], [self.folder / "look.py"], ["./look.py"],
                      ["link.py"], ["folder"], ["packed.zip", "1"], ["-m", "package", "-m"], ["-m", "package.inner"],
                      ["-c", textwrap.dedent(look), "-c", "a"]):
            with self.subTest(words=words):
                self.assertEqual(self.same(*words).returncode, 0)
        self.assertEqual(self.same("-", "a", stdin=textwrap.dedent(look)).returncode, 0)

    def test_ends(self):
        ends = {"return": ("pass", 0), "status": ("import sys; sys.exit(7)", 7),
                "message": ("import sys; sys.exit('so long')", 1), "none": ("raise SystemExit", 0),
                "error": ("def f(): raise ValueError('ä')\nf()", 1), "syntax": ("x = (1,\ny = 2\nz = ;", 1),
                "chain": ("try: 1/0\nexcept ZeroDivisionError as e: raise KeyError(1) from e", 1),
                "interrupt": ("raise KeyboardInterrupt", -signal.SIGINT),
                "signal": ("import os; os.kill(os.getpid(), 15)", -signal.SIGTERM),
                "exit": ("import atexit, os; atexit.register(print, 'bye'); print('hi'); raise RuntimeError", 1),
                "hook": ("import sys; sys.excepthook = lambda *e: print('mine', e[0], e[2].tb_lineno)\n1/0", 1),
                "thread": ("import threading, time\n"
                           "threading.Thread(target=lambda: (time.sleep(.2), print('late'))).start()", 0)}
        for name, (text, status) in ends.items():
            self.write(f"ends_{name}.py", text)
            for words in ([f"ends_{name}.py"], ["-m", f"ends_{name}"], ["-c", text]):
                with self.subTest(name=name, words=words[0]):
                    self.assertEqual(self.same(*words).returncode, status)
        self.assertEqual(self.same("nosuch.py").returncode, 2)
        self.assertEqual(self.same("-m", "nosuch").returncode, 1)

    def test_other_kinds_of_files(self):
        self.write("latin.py", "")
        (self.folder / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n")
        self.assertEqual(self.same("latin.py").stdout, "'\\xe9'\n")
        self.good("-c", "import py_compile; py_compile.compile('latin.py', 'latin.pyc')")
        self.assertEqual(self.same("latin.pyc").stdout, "'\\xe9'\n")
        self.assertEqual(self.same("empty folder").returncode, 2)
        (self.folder / "nothing").mkdir()
        self.assertEqual(self.same("nothing").returncode, 1)

    def test_children_find_the_program(self):
        self.write("children.py", """
            import multiprocessing, pickle, sys
            class Thing: pass
            def double(x): return 2 * x
            if __name__ == "__main__":
                pickle.loads(pickle.dumps(Thing()))
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    print(pool.map(double, [1, 2]))
        """)
        self.assertEqual(self.same("children.py").stdout, "[2, 4]\n")

    def test_wrong_usage(self):
        for words, message in (([], "usage:"), (["--nosuch", "x"], "no option --nosuch"),
                               (["--device"], "needs a value"),
                               (["--device", "tpu", "x.py"], "is no device"), (["-c"], "-c needs a value"),
                               (["--device", "0", "x.py"], "--device is '0'"), (["-m"], "-m needs a value"),
                               (["--install-hook", "--remove-hook"], "only one"), (["--"], "which program"),
                               (["--install-hook", "x.py"], "stands alone"), (["--install-comfyui"], "needs a value"),
                               (["--stats=1", "x.py"], "no option --stats=1")):
            with self.subTest(words=words):
                done = self.python("-m", "rmcp", *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(message, done.stderr)
        self.assertIn("usage:", self.good("-m", "rmcp", "--help").stdout)
        self.assertRegex(self.good("-m", "rmcp", "--version").stdout, r"^rmcp \d")


class TestMoment(Place):
    """Enabled when torch is imported: not before, not without, and once."""

    def setUp(self):
        super().setUp()
        self.fake_torch()

    def test_moment(self):
        self.write("late.py", """
            import sys
            assert "torch" not in sys.modules and "rmcp.torch" not in sys.modules
            import importlib.util
            spec = importlib.util.find_spec("torch")
            assert "torch" not in sys.modules and spec.loader.get_filename("torch") == spec.origin
            print("now")
            import torch
            import torch
            assert type(torch.__loader__) is type(torch.__spec__.loader)
            assert "Rmcp" not in type(torch.__loader__).__name__
            assert not [finder for finder in sys.meta_path if "Rmcp" in type(finder).__name__]
        """)
        self.assertEqual(self.good("-m", "rmcp", "late.py").stdout,
                         "now\nenabled [('device_types', ('cuda',))] ['begun', 'done']\n")
        self.assertEqual(self.good("-m", "rmcp", "-c", "print(1)").stdout, "1\n")
        done = self.good("-m", "rmcp", "--stats", "-c", "print(1)")
        self.assertEqual((done.stdout, done.stderr), ("1\n", "rmcp: the program did not import torch\n"))

    def test_devices(self):
        for words, how in ((["--device", "cpu"], "('device_types', ('cpu',))"),
                           (["--device=hip"], "('device_types', ('cuda',))"),
                           (["--device", "cpu,cuda"], "('device_types', ('cpu', 'cuda'))"),
                           (["--device", "offload:opencl:1"], "('device_types', ('cpu',)), ('offload', 'opencl:1')")):
            with self.subTest(words=words):
                self.assertIn(f"enabled [{how}]", self.good("-m", "rmcp", *words, "-c", "import torch").stdout)
        self.assertIn("('cpu',)", self.good("-m", "rmcp", "-c", "import torch", RMCP_TORCH="cpu").stdout)
        self.assertIn("('cuda',)", self.good("-m", "rmcp", "-c", "import torch", RMCP_TORCH="0").stdout)
        self.write("fake/torch/version.py", "cuda = None\n")  # made for the CPU
        self.assertIn("('cpu',)", self.good("-m", "rmcp", "-c", "import torch").stdout)

    def test_what_fails_is_said_and_the_program_goes_on(self):
        self.write("fake/torch/__init__.py", "broken = True\nfrom . import version\n")
        done = self.good("-m", "rmcp", "--stats", "-c", "import torch; print('on')")
        self.assertEqual(done.stdout, "on\n")
        self.assertIn("rmcp: RMCP is not enabled, PyTorch's own kernels do all convolutions: RuntimeError: planted",
                      done.stderr)
        self.write("fake/torch/__init__.py", "raise OSError('libcudart is missing')")
        self.write("twice.py", """
            for attempt in range(2):
                try:
                    import torch
                except OSError as error:
                    print(error)
        """)
        done = self.good("-m", "rmcp", "twice.py")
        self.assertEqual((done.stdout, done.stderr), (2 * "libcudart is missing\n", ""))
        shutil.rmtree(self.folder / "fake" / "torch")
        self.write("none.py", "try:\n    import torch\nexcept ModuleNotFoundError as error:\n    print(error)\n")
        self.assertEqual(self.good("-I" if not HAS_TORCH else "-S", "none.py").stdout, "No module named 'torch'\n")


class TestHook(Place):
    """RMCP_TORCH through a .pth file in a virtual environment."""

    def setUp(self):
        super().setUp()
        done = subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "venv"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            self.skipTest(f"no venv: {done.stdout}")
        self.own = str(self.folder / "venv" / "bin" / "python")
        self.fake_torch()
        self.before = self.files()

    def files(self):
        return sorted(str(path) for path in (self.folder / "venv").rglob("*") if "__pycache__" not in str(path))

    def install(self):
        done = self.good("-m", "rmcp", "--install-hook", python=self.own)
        path = pathlib.Path(done.stdout.splitlines()[0].split(" ", 1)[1])
        self.assertEqual(sorted(set(self.files()) - set(self.before)), [str(path)])
        return path

    def test_install_use_remove(self):
        import_torch = ("-c", f"import sys; sys.path.insert(0, {str(self.folder / 'fake')!r}); "
                              "import torch; print('on')")
        path = self.install()
        self.assertIn(str(self.folder / "venv"), str(path))
        del self.environment["PYTHONPATH"]
        for value, enabled in (("1", "('cuda',)"), ("cpu", "('cpu',)"), ("0", None), ("", None), ("no", None)):
            with self.subTest(value=value):
                done = self.good(*import_torch, python=self.own, RMCP_TORCH=value)
                self.assertEqual((enabled or "") in done.stdout and ("enabled" in done.stdout) == bool(enabled), True)
                self.assertEqual(done.stderr, "")
        self.assertEqual(self.good(*import_torch, python=self.own).stdout, "on\n")
        # Nothing of RMCP, nor what it needs, is imported before torch.
        done = self.good("-c", "import sys; print([m for m in sys.modules if m.startswith(('rmcp', 'ctypes'))])",
                         python=self.own, RMCP_TORCH="1")
        self.assertEqual(done.stdout, "[]\n")
        # python -m rmcp beside the hook: enabled once, as it says.
        done = self.good("-m", "rmcp", "--device", "cpu", "-c", "import torch", python=self.own, RMCP_TORCH="1",
                         PYTHONPATH=str(self.folder / "fake"))
        self.assertEqual(done.stdout.count("enabled"), 1)
        self.assertIn("('cpu',)", done.stdout)
        self.environment["PYTHONPATH"] = str(self.folder / "fake")
        self.good("-m", "rmcp", "--install-hook", python=self.own)  # again: the same
        self.assertIn(f"removed {path}", self.good("-m", "rmcp", "--remove-hook", python=self.own).stdout)
        self.assertEqual(self.files(), self.before)
        self.assertIn("there is no hook", self.good("-m", "rmcp", "--remove-hook", python=self.own).stdout)

    def test_never_breaks_the_start(self):
        path = self.install()
        for what in ("wrong value", "no package", "broken package", "unreadable"):
            with self.subTest(what=what):
                value = "tpu" if what == "wrong value" else "1"
                target = self.folder / "fake" / "rmcp" / "_enabling.py"
                if what == "no package":
                    shutil.move(self.folder / "fake" / "rmcp", self.folder / "away")
                elif what == "broken package":
                    target.parent.mkdir()
                    target.write_text("def (:\n")
                elif what == "unreadable":
                    target.write_bytes(b"\xff\xfe\x00")
                done = self.good("-c", "print('on')", python=self.own, RMCP_TORCH=value)
                self.assertEqual(done.stdout, "on\n")
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn("rmcp: RMCP_TORCH does nothing: ", done.stderr)
                self.assertEqual(self.good("-c", "print('on')", python=self.own).stderr, "")
        self.assertTrue(path.exists())

    def test_what_is_not_ours_stays(self):
        path = self.install()
        path.write_text("import this\n")
        done = self.python("-m", "rmcp", "--install-hook", python=self.own)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is there and not RMCP's", done.stderr)
        self.good("-m", "rmcp", "--remove-hook", python=self.own)
        self.assertEqual(path.read_text(), "import this\n")


class TestNotebook(Place):
    def test_extension(self):
        if importlib.util.find_spec("IPython") is None:
            self.skipTest("IPython is not installed")
        self.fake_torch()
        self.environment["HOME"] = str(self.folder)
        self.write("fake/rmcp/torch.py", "import torch\nstate = []\n"
                   "def enable(**how): print('enabled', how['device_types'])\ndef disable(): print('disabled')\n")
        self.write("cells.ipy", "%load_ext rmcp\nprint('loaded')\nimport torch\n%unload_ext rmcp\n")
        done = self.good("-m", "IPython", "--quick", "--no-term-title", "cells.ipy")
        self.assertEqual(done.stdout.split("\n")[:3], ["loaded", "enabled ('cuda',)", "disabled"], done.stderr)
        self.write("after.ipy", "import torch\nprint('loaded')\n%load_ext rmcp\n")
        done = self.good("-m", "IPython", "--quick", "--no-term-title", "after.ipy")
        self.assertEqual(done.stdout.split("\n")[:2], ["loaded", "enabled ('cuda',)"], done.stderr)


# As ComfyUI loads a custom node: by the path of its folder, under a name made of that, and then its mappings.
LOADER = """
    import importlib.util, json, logging, os, sys
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    import torch
    def load(folder, name):
        spec = importlib.util.spec_from_file_location(name, os.path.join(folder, "__init__.py"))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        assert isinstance(module.NODE_CLASS_MAPPINGS, dict) and getattr(module, "WEB_DIRECTORY", None) is None
        return module
    folder = sys.argv[1]
    old, new = os.path.basename(folder), folder.replace(".", "_x_")
    nodes = load(folder, old if sys.argv[2] == "old" else new)
"""


class TestComfyUI(Place):
    def install(self):
        (self.folder / "ComfyUI" / "custom_nodes").mkdir(parents=True)
        done = self.good("-m", "rmcp", "--install-comfyui", "ComfyUI")
        place = self.folder / "ComfyUI" / "custom_nodes" / "rmcp-comfyui"
        self.assertIn("wrote ComfyUI/custom_nodes/rmcp-comfyui", done.stdout)
        return place

    def test_install_and_remove(self):
        done = self.python("-m", "rmcp", "--install-comfyui", ".")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is no ComfyUI", done.stderr)
        place = self.install()
        self.assertEqual([path.name for path in place.iterdir()], ["__init__.py"])
        self.good("-m", "rmcp", "--install-comfyui", place.parent)
        self.good("-c", f"import py_compile; py_compile.compile({str(place / '__init__.py')!r})")
        self.good("-m", "rmcp", "--remove-comfyui", "ComfyUI")
        self.assertEqual(list(place.parent.iterdir()), [])
        self.assertIn("no node", self.good("-m", "rmcp", "--remove-comfyui", "ComfyUI").stdout)

    def test_node(self):
        if not HAS_TORCH:
            self.skipTest("PyTorch is not installed")
        place = self.install()
        self.write("main.py", textwrap.dedent(LOADER) + textwrap.dedent(f"""
            {CONVOLUTION}
            node = nodes.NODE_CLASS_MAPPINGS["RmcpStatistics"]
            assert set(nodes.NODE_DISPLAY_NAME_MAPPINGS) == set(nodes.NODE_CLASS_MAPPINGS)
            names = {{**node.INPUT_TYPES()["required"], **node.INPUT_TYPES()["optional"]}}
            value = getattr(node(), node.FUNCTION)(**dict.fromkeys(names))
            assert len(value["result"]) == len(node.RETURN_TYPES) and node.IS_CHANGED() != node.IS_CHANGED()
            print(value["result"][0].splitlines()[0])
        """))
        for how in ("old", "new"):
            with self.subTest(how=how):
                done = self.good("main.py", place, how, RMCP_TORCH="cpu")
                self.assertRegex(done.stdout.splitlines()[0], r"^RMCP \d+\.\d+\.\d+: convolutions run in RMCP \(cpu\)$")
                self.assertEqual(done.stdout.splitlines()[-1], "RMCP: 1 convolutions, 0 left to PyTorch's own kernels")
        done = self.good("main.py", place, "new", RMCP_TORCH="0")
        self.assertIn("RMCP_TORCH is 0", done.stdout.splitlines()[0])
        self.assertIn("RMCP: 0 convolutions", done.stdout.splitlines()[-1])
        done = self.good("main.py", place, "new", RMCP_TORCH="cpu", RMCP_DISABLE="1")
        self.assertIn("RMCP_DISABLE is set", done.stdout)
        done = self.good("main.py", place, "new", RMCP_LIBRARY="/nosuch.so")
        self.assertIn("RMCP: not enabled: librmcp was not found", done.stdout.splitlines()[0])
        self.environment["PYTHONPATH"] = ""
        done = self.python("main.py", place, "new")
        self.assertIn("this Python has no package rmcp", done.stdout.splitlines()[0])


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class TestPyTorch(Place):
    """The real one."""

    def test_convolutions_run_in_rmcp(self):
        self.write("net.py", f"import torch\n{CONVOLUTION}\n")
        done = self.good("-m", "rmcp", "--device", "cpu", "--stats", "net.py")
        self.assertIn("RMCP: 1 convolutions, 0 left", done.stderr)
        done = self.good("-m", "rmcp", "--device", "cpu", "--check", "net.py")
        self.assertEqual(done.stderr, "RMCP_CHECK: 1 executions compared with the reference, 0 wrong, 0 skipped\n")
        done = self.good("-m", "rmcp", "--device", "cpu", "--stats", "--check", "net.py")
        self.assertIn("RMCP_CHECK: 1 executions", done.stderr)
        self.assertIn("forward  cpu", done.stderr)
        done = self.good("-m", "rmcp", "--device", "cpu", "--stats", "net.py", RMCP_DISABLE="1")
        self.assertIn("RMCP_DISABLE is set, so RMCP does nothing", done.stderr)
        done = self.good("-m", "rmcp", "net.py", RMCP_LIBRARY="/nosuch.so")
        self.assertIn("rmcp: RMCP is not enabled", done.stderr)


if __name__ == "__main__":
    unittest.main()
