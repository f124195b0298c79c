"""python -m rmcp: runs Python programs with PyTorch's convolutions in RMCP; check; what can be installed.

    python -m rmcp [--device D] [--stats] [--check] script.py [argument…]
"""
import atexit
import os
import sys

from . import _enabling, _version

HELP = """usage: python -m rmcp [options] script.py [argument…]
       python -m rmcp [options] -m module | -c code | - [argument…]
       python -m rmcp check [options]

Runs a Python program as python does, and lets PyTorch's convolutions run in RMCP from the moment it imports torch.

options:
  --device D              tensors where: auto (default: the GPU; the CPU with a PyTorch for the CPU), cuda
                          (AMD's GPUs, too), cpu, cpu,cuda, or offload:SPEC, a device of RMCP for tensors on the CPU
  --stats                 at the end, say on stderr what ran where
  --check                 compare each convolution with plain loops on the processor (RMCP_CHECK=1); slow
  --install-hook          let RMCP_TORCH=1 (or =D) do the same for every program of this Python, by a .pth file
  --remove-hook           remove that file
  --install-comfyui DIR   put a custom node into the ComfyUI in DIR that enables RMCP there
  --remove-comfyui DIR    remove it
  --version, --help

check: does this PyTorch use RMCP, and rightly? python -m rmcp check --help"""


def _complain(text):
    print(f"rmcp: {text}", file=sys.stderr)
    raise SystemExit(2)


class _Options:
    device, stats, check, action, folder = None, False, False, None, None
    kind, program, arguments = None, None, ()


def _value(words, option):
    if "=" in words[0]:
        value = words.pop(0).split("=", 1)[1]
    else:
        words.pop(0)
        value = words.pop(0) if words else ""
    if not value:
        _complain(f"{option} needs a value; python -m rmcp --help")
    return value


def _parse(words):
    """Options up to the program; what follows that is the program's own."""
    options, words = _Options(), list(words)
    while words and options.kind is None:
        word = words[0]
        name = word.split("=", 1)[0]
        if word in ("-m", "-c", "-") or not word.startswith("-"):
            options.kind = word if word.startswith("-") else "script"
            if word in ("-m", "-c"):
                words.pop(0)
                if not words:
                    _complain(f"{word} needs a value; python -m rmcp --help")
            options.program, options.arguments = words[0], words[1:]
        elif word == "--":
            words.pop(0)
            if not words:
                _complain("which program? python -m rmcp --help")
            options.kind, options.program, options.arguments = "script", words[0], words[1:]
        elif name == "--device":
            options.device = _value(words, name)
        elif word in ("--stats", "--check"):
            setattr(options, word[2:], True)
            words.pop(0)
        elif word in ("--install-hook", "--remove-hook", "--help", "-h", "--version"):
            _set_action(options, words.pop(0))
        elif name in ("--install-comfyui", "--remove-comfyui"):
            _set_action(options, name)
            options.folder = _value(words, name)
        else:
            _complain(f"no option {ascii(word)[1:-1]}; python -m rmcp --help")
    return options


def _set_action(options, action):
    if options.action is not None:
        _complain(f"{options.action} and {action}: only one at a time")
    options.action = action


def _install(action, folder):
    """Returns the exit status."""
    from . import _hooks
    try:
        if action == "--install-hook":
            print(f"wrote {_hooks.install_hook()}\nRMCP_TORCH=1 python train.py uses RMCP now; "
                  "python -m rmcp --remove-hook removes the file")
        elif action == "--remove-hook":
            paths = _hooks.remove_hook()
            print("\n".join(f"removed {path}" for path in paths) or "there is no hook in this Python")
        elif action == "--install-comfyui":
            print(f"wrote {_hooks.install_comfyui(folder)}; ComfyUI uses RMCP from its next start on, if its Python "
                  "has the package rmcp")
        else:
            place = _hooks.remove_comfyui(folder)
            print(f"removed {place}" if place else "there is no node of RMCP")
    except _hooks.Failed as failed:
        print(f"rmcp: {failed}", file=sys.stderr)
        return 1
    return 0


def _say_stats(only_check):
    """At the end of the program, on stderr."""
    adapter = sys.modules.get("rmcp.torch")
    if adapter is None:
        text = "the program did not import torch" if _enabling.armed() else "RMCP was not enabled"
        text = _enabling.failure or text
    elif only_check:
        text = str(adapter.stats().check or "RMCP_CHECK: nothing was executed")
    else:
        text = str(adapter.stats())
    if sys.stderr is not None:
        print(text if text.startswith("RMCP") else f"rmcp: {text}", file=sys.stderr, flush=True)


def main(words):
    if words and words[0] == "check":
        from . import _check
        return _check.main(words[1:])
    options = _parse(words)
    if options.action in ("--help", "-h"):
        print(HELP)
        return 0
    if options.action == "--version":
        print(f"rmcp {_version.TEXT}")
        return 0
    if options.action is not None:
        if options.kind or options.device or options.stats or options.check:
            _complain(f"{options.action} stands alone; python -m rmcp --help")
        return _install(options.action, options.folder)
    if options.kind is None:
        print(HELP, file=sys.stderr)
        return 2
    wish = options.device or os.environ.get("RMCP_TORCH") or "auto"
    try:
        if _enabling.read(wish) is None:
            wish = "auto"  # python -m rmcp is a wish by itself
            if options.device:
                _complain(f"--device is {options.device!r}; python without -m rmcp leaves RMCP out")
    except ValueError as error:
        _complain(f"{'--device' if options.device else 'RMCP_TORCH'}: {error}")
    os.environ["RMCP_TORCH"] = wish  # for Pythons that the program starts, where the hook is installed
    if options.check and os.environ.get("RMCP_CHECK", "0") in ("", "0"):
        os.environ["RMCP_CHECK"] = "1"
    if options.stats or options.check:
        atexit.register(_say_stats, not options.stats)
    _enabling.arm(wish)
    from . import _program
    _program.run(options.kind, options.program, options.arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
