"""Runs a Python program in this process as if Python had been started with it: python -m rmcp script.py."""
import importlib.machinery
import io
import os
import pkgutil
import runpy
import sys
import types

_kept = []  # our own __main__ lives on beside the program's


def _main_module(path=None, loader=None):
    """A fresh __main__ in the place of ours."""
    _kept.append(sys.modules.get("__main__"))
    module = types.ModuleType("__main__")
    module.__builtins__ = sys.modules["builtins"]
    module.__loader__ = loader
    if path is not None:
        module.__file__, module.__cached__ = path, None
    sys.modules["__main__"] = module
    return module


def _set_path(first):
    """sys.path[0] is the program's; Python left it out if it was told so (-P, -I, PYTHONSAFEPATH)."""
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        sys.path[0] = first


def _code_of(path):
    if path.endswith(".pyc"):
        loader = importlib.machinery.SourcelessFileLoader("__main__", path)
        return loader, loader.get_code("__main__")
    with io.open_code(os.path.abspath(path)) as file:
        source = file.read()
    return importlib.machinery.SourceFileLoader("__main__", path), compile(source, path, "exec", dont_inherit=True)


def _run_script(path):
    if sys.version_info >= (3, 9):
        path = os.path.join(os.getcwd(), path)
    if not os.path.isfile(path) or type(pkgutil.get_importer(path)).__name__ == "zipimporter":
        if not os.path.exists(path):
            sys.stderr.write(f"{sys.executable}: can't open file '{path}': [Errno 2] No such file or "
                             "directory\n")
            raise SystemExit(2)
        sys.path.insert(0, path) if getattr(sys.flags, "safe_path", False) else _set_path(path)
        _main_module()
        runpy._run_module_as_main("__main__", False)  # a folder or a zip file
        return
    _set_path(os.path.dirname(os.path.realpath(path)))
    try:
        loader, code = _code_of(path)
    except OSError as error:
        sys.stderr.write(f"{sys.executable}: can't open file '{path}': [Errno {error.errno}] "
                         f"{error.strerror}\n")
        raise SystemExit(2) from None
    exec(code, _main_module(path, loader).__dict__)


def _run_module(name):
    _main_module()
    runpy._run_module_as_main(name)


def _run_text(source, name, path=None):
    _set_path("")
    code = compile(source, name, "exec", dont_inherit=True)
    exec(code, _main_module(path, importlib.machinery.BuiltinImporter).__dict__)


def _run_stdin():
    if sys.stdin is not None and sys.stdin.isatty():
        import code
        _set_path("")
        code.interact(local=_main_module(loader=importlib.machinery.BuiltinImporter).__dict__, exitmsg="")
    else:
        _run_text(sys.stdin.buffer.read() if sys.stdin else "", "<stdin>", "<stdin>")


def run(kind, program, arguments):
    """Run a program: kind "script", "-m", "-c" or "-"; `program` is its path, name or text. Its exit status and its
    end by a signal become this process's, an exception that it leaves is reported without our part of the stack."""
    sys.argv = [program if kind == "script" else kind, *arguments]
    runners = {"script": _run_script, "-m": _run_module, "-c": lambda text: _run_text(text, "<string>"),
               "-": lambda _program: _run_stdin()}
    try:
        runners[kind](program)
    except SystemExit:
        raise
    except BaseException as error:
        _report(error)
        if isinstance(error, KeyboardInterrupt):
            sys.excepthook = lambda *_: None  # said already; Python ends itself by SIGINT
            raise
        raise SystemExit(1) from None


def _report(error):
    """What Python does with an exception that nobody catches."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    sys.stdout and sys.stdout.flush()
    sys.excepthook(type(error), error, trace)
