"""python -m rmcp check, and the part of `rmcp check` that needs PyTorch: does it use RMCP, and rightly?

Small networks run through the adapter, forward and backward, and are compared with PyTorch's own results on the CPU;
rmcp.torch.stats() must have counted every convolution. What is in the way is named, with its cure.
"""
import json
import os
import shutil
import subprocess
import sys

from . import _check_obstacles as obstacles
from ._check_obstacles import InTheWay, name_of

HELP = """usage: python -m rmcp check [options]

Runs small networks (residual, depthwise, strided, transposed, 1-D, 3-D; forward and backward) with PyTorch's
convolutions in RMCP, on the GPU if there is one, and compares all results with PyTorch's own on the CPU. Says what is
in the way, and what helps.

options:
  --device D   auto (default), cpu, cuda or hip, also with a number (hip:1), or offload:SPEC: tensors on the CPU,
               convolutions on a device of RMCP (offload:opencl)
  --miopen     check RMCP's MIOpen in the place of AMD's (rmcp run, import rmcp.miopen) instead of rmcp.torch
  --engine     no PyTorch: the same convolutions in RMCP itself, by the rmcp command
  --json       print JSON (schema rmcp.check/1)
  --help       this text

Exit status: 0 right, 1 wrong, not used or something in the way, 2 wrong usage."""

class Report:
    """What becomes JSON, and text."""

    def __init__(self):
        self.fields = {"schema": "rmcp.check/1", "verdict": "in the way", "python": sys.executable, "torch": None,
                       "rmcp": None, "device": None, "convolutions": 0, "expected": 0, "left_to_pytorch": 0,
                       "worst": None, "networks": [], "notes": [], "in_the_way": [], "says": ""}

    def __getattr__(self, name):
        return self.fields[name]

    def set(self, **values):
        self.fields.update(values)

    def add(self, obstacle):
        self.fields["in_the_way"].append({"id": obstacle.id, "what": obstacle.what, "cure": obstacle.cure})

    @property
    def status(self):
        return 0 if self.fields["verdict"] == "right" else 1

    def text(self):
        lines = [self.fields["says"]] if self.fields["says"] else []
        lines += self.fields["notes"]
        for one in self.fields["in_the_way"]:
            lines += [f"in the way: {one['what']}", f"  cure: {one['cure']}"]
        return "\n".join(lines)


# ---- the check itself ----

def run_networks(report, say, device, before, after):
    """All networks; before() and after() stand around what is checked. Returns the names of wrong ones."""
    from . import _check_networks as small
    wrong, worst = [], 0.0
    for network in small.networks():
        data = small.Data(network)
        wanted = small.expected(network, data)
        say(f"network {network.name} on {device}")
        before()
        try:
            found = small.run(network, data, device)
        except Exception as error:
            raise InTheWay("failed", f"the network \"{network.name}\" failed on {device}: {type(error).__name__}: "
                           f"{error}", "rmcp explain may know the message; rmcp doctor looks for causes in the "
                           "machine; rmcp check --engine tries RMCP without PyTorch") from None
        finally:
            after()
        error, where = small.compare(network, found, wanted)
        right = error <= small.BOUND[network.dtype]
        report.networks.append({"name": network.name, "convolutions": network.passes,
                                "difference": error if error != float("inf") else None,
                                "bound": small.BOUND[network.dtype], "right": right})
        report.set(expected=report.expected + network.passes)
        worst = max(worst, error)
        if not right:
            wrong.append(network.name)
            report.add(InTheWay("wrong", f"wrong results: network \"{network.name}\", {where}: {error:.2g} of the "
                                f"largest value, at most {small.BOUND[network.dtype]:.0e} is allowed",
                                "RMCP_CHECK=1 names the convolution; rmcp verify tries every algorithm of the device; "
                                "please report it"))
    report.set(worst=worst if worst != float("inf") else None)
    return wrong


def judge(report, where, wrong):
    """The verdict and its sentence."""
    report.set(simulated=bool(os.environ.get("RMCP_SIM_ROOT")) and where.startswith("hip"))  # rmcp sim
    if report.simulated:
        where += " (simulated)"
    name = name_of(report.torch)
    count = f"{report.convolutions} convolutions"
    if wrong:
        report.set(verdict="wrong", says=f"this PyTorch ({name}) uses RMCP on {where}: {count}, compared with the CPU, "
                   "WRONG in: " + ", ".join(wrong))
    elif report.left_to_pytorch or report.convolutions < report.expected:
        report.set(verdict="not used",
                   says=f"this PyTorch ({name}) does not use RMCP for all convolutions: {report.convolutions} of "
                        f"{report.expected} ran in RMCP on {where}")
    else:
        report.set(verdict="in the way" if report.in_the_way else "right",
                   says=f"this PyTorch ({name}) uses RMCP on {where}: {count}, compared with the CPU, right")


def check_adapter(report, wish, say):
    import warnings
    obstacles.check_library(report)
    obstacles.check_disabled()
    say("import torch")
    torch = obstacles.import_torch(report)
    device, arguments = obstacles.choose(wish, torch, report)
    say("enable")
    from . import torch as adapter
    adapter.disable()  # RMCP_TORCH may have enabled it
    adapter.reset_stats()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # refusals are reported below
        try:
            adapter.enable(**arguments)
        except RuntimeError as error:
            raise InTheWay("device", str(error),
                           "rmcp devices lists RMCP's devices and why one is not usable") from None
        adapter.disable()
        if "offload" in arguments:
            report.notes.append(f"tensors are on the CPU, convolutions on {arguments['offload']}")
        wrong = run_networks(report, say, device, lambda: adapter.enable(**arguments), adapter.disable)
    stats = adapter.stats()
    report.set(convolutions=stats.calls, left_to_pytorch=stats.fallbacks)
    devices = list(dict.fromkeys(row.device for row in stats.rows if row.reason is None))
    report.set(device=devices[0] if devices else None)
    for reason, count in stats.reasons.items():
        cannot_open = "cannot open the device" in reason
        report.add(InTheWay("device" if cannot_open else "refused", f"{count} convolutions were refused: {reason}",
                            "rmcp devices tells why" if cannot_open else
                            "rmcp devices shows what first use has found; rmcp plan --explain CASE all reasons"))
    judge(report, " and ".join(devices) or device, wrong)


def check_miopen(report, wish, say):
    import warnings
    from . import _api
    os.environ["RMCP_CHECK"] = os.environ.get("RMCP_CHECK") or "1"  # which also counts
    obstacles.check_library(report)
    obstacles.check_disabled()
    say("import rmcp.miopen")
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        try:
            from . import miopen
        except ImportError as error:
            raise InTheWay("miopen", str(error),
                           "start the program with rmcp run, or import rmcp.miopen first") from None
    say("import torch")
    torch = obstacles.import_torch(report)
    status = miopen.status()
    report.set(miopen=status)
    if not report.torch["hip"]:
        raise InTheWay("no-rocm", f"this PyTorch ({name_of(report.torch)}) has no ROCm and calls no MIOpen",
                       "rmcp check without --miopen is for the adapter, which serves every PyTorch")
    if not status["rmcp"]:
        remark = f" ({remarks[0].message})" if remarks else ""
        raise InTheWay("other-miopen", f"calls reach {status['library'] or 'no MIOpen'}, not RMCP's{remark}",
                       f"rmcp run --python {sys.executable} -- rmcp check --miopen --python {sys.executable}; rmcp run "
                       "--print -- python shows what it would load")
    if not obstacles.sees_gpu(torch):
        raise obstacles.no_gpu(report.torch)
    number = wish.partition(":")[2]
    device = f"cuda:{number or 0}"
    if "rmcp.torch" in sys.modules:
        sys.modules["rmcp.torch"].disable()
    wrong = run_networks(report, say, device, lambda: None, lambda: None)
    checked = _api.check()
    report.set(device=f"hip:{number or 0}", convolutions=checked.checked, left_to_pytorch=0)
    if not checked.checked:
        report.add(InTheWay("other-miopen", f"{status['library']} is loaded, but nothing was executed in it",
                            "torch.backends.cudnn.enabled must be on: PyTorch then calls MIOpen"))
    if checked.wrong:
        report.add(InTheWay("wrong", str(checked), "rmcp verify tries every algorithm of the device; please report it"))
    report.set(expected=0)
    judge(report, f"{report.device} through {status['library']}",
          wrong or (["RMCP_CHECK"] if checked.wrong else []))
    if not checked.checked and report.verdict != "wrong":
        report.set(verdict="not used")


# ---- the command ----

def find_command():
    """The rmcp program: in this package, beside librmcp, or in PATH; None: nowhere."""
    named = os.environ.get("RMCP_LIBRARY", "")
    here = os.path.dirname(os.path.realpath(__file__))
    places = [here, os.path.join(here, "native", "bin"), os.path.dirname(os.path.realpath(named)) if named else "",
              os.path.dirname(sys.executable)]
    for place in places:
        path = os.path.join(place, "rmcp")
        if place and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return shutil.which("rmcp")


def run_engine(device, as_json):
    command = find_command()
    if not command:
        print("rmcp check: the rmcp command, which has this part, is neither in the package nor in PATH",
              file=sys.stderr)
        return 1
    words = [command, "check", "--engine", *(["--device", device] if device != "auto" else []),
             *(["--json"] if as_json else [])]
    sys.stdout.flush()
    return subprocess.call(words)


def _complain(text):
    print(f"rmcp check: {text}; python -m rmcp check --help", file=sys.stderr)
    raise SystemExit(2)


def _parse(words):
    flags, device, words = set(), "auto", list(words)
    while words:
        word = words.pop(0)
        if word in ("--help", "-h"):
            print(HELP)
            raise SystemExit(0)
        if word in ("--json", "--miopen", "--engine", "--stages"):
            flags.add(word[2:])
        elif word.split("=", 1)[0] == "--device":
            device = word[9:] if "=" in word else words.pop(0) if words else ""
            if not device:
                _complain("--device needs a value")
        else:
            _complain(f"no option {ascii(word)[1:-1]}" if word.startswith("-") else f"{ascii(word)} is too much")
    kind, colon, number = device.partition(":")
    if kind in ("auto", "cpu", "cuda", "hip", "gpu") and colon and (kind in ("auto", "cpu") or not number.isdigit()):
        _complain(f"--device is {device!r}: auto, cpu, cuda:N, hip:N or offload:SPEC")
    if kind == "offload" and not number:
        _complain("--device offload: needs a device: offload:opencl")
    if {"miopen", "engine"} <= flags:
        _complain("--miopen and --engine: only one at a time")
    if "miopen" in flags and kind not in ("auto", "cuda", "hip", "gpu"):
        _complain(f"--miopen is for GPUs, --device is {device!r}")
    return flags, device


def main(words):
    flags, device = _parse(words)
    if "engine" in flags:
        return run_engine(device, "json" in flags)
    report = Report()

    def say(stage):
        if "stages" in flags:  # for rmcp check, which tells how far it came if this process ends
            print(f"# {stage}", flush=True)

    try:
        (check_miopen if "miopen" in flags else check_adapter)(report, device, say)
    except InTheWay as obstacle:
        report.add(obstacle)
    except Exception as error:  # of PyTorch, or ours: in no case no answer
        report.add(InTheWay("failed", f"{type(error).__name__}: {error}",
                            "rmcp doctor looks for causes in the machine; rmcp check --engine tries RMCP without "
                            "PyTorch"))
    if not report.says:
        name = f"this PyTorch ({name_of(report.torch)}) does not use RMCP" if report.torch else "RMCP is not used"
        report.set(says=name)
    print(json.dumps(report.fields, indent=None if "stages" in flags else 2) if "json" in flags else report.text())
    return report.status
