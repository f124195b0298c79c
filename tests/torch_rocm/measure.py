#!/usr/bin/env python3
"""Runs models and programs on the simulated card, one process a cell, and prints tables; run calls this: measure.py
--help.

A cell that was measured with the same libraries is not run again. What a program printed is kept beside its result."""
import argparse
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import time

MODELS = ["conv2d", "resnet18", "vgg11_bn", "mobilenet_v2", "densenet", "unet", "transformer", "lstm", "gru"]
MODES = ["infer", "sgd", "adam", "autocast"]
# Of strangers.py.
STRANGERS = (
    "alexnet squeezenet1_1 shufflenet_v2_x0_5 mnasnet0_5 googlenet mobilenet_v3_small efficientnet_b0 regnet_y_400mf "
    "resnext convnext vit swin r3d lraspp deeplabv3 fpn bert gpt2 llama t5 hf_vit segformer wav2vec2 mamba"
).split()
WAYS = ["original", "adapter", "dropin"]
RULES = ["vcmpx-exec-war", "vmem-scalar-write", "smem-vector-write", "flat-offset", "inst-prefetch"]
# What Debian's build of MIOpen lacks is made up for in the environment: tests/miopen/original.sh has the reasons.
ORIGINAL = {
    "MIOPEN_EXPERIMENTAL_GCN_ASM_PATH": "/usr/bin/clang-21", "MIOPEN_DEBUG_CONV_WINOGRAD": "0", "MIOPEN_LOG_LEVEL": "3",
    "CCC_OVERRIDE_OPTIONS": "# X-isystem +-DMIO_BN_GFX103X=1",
}  # fmt: skip
WITH_BATCH_NORM = ["resnet18", "vgg11_bn", "mobilenet_v2", "densenet", "unet"]
HERE = os.path.dirname(os.path.abspath(__file__))


def our_kernels():
    names = set()
    for path in glob.glob(f"{HERE}/../../src/**/kernels/*.cl", recursive=True):
        names |= set(re.findall(r"(?m)^__kernel .*?void (\w+)\(", open(path).read()))
    return names


OURS = our_kernels()


def owner_of(kernel):
    """Whose kernel it is, by its name."""
    if kernel in OURS:
        return "RMCP"
    if kernel.startswith("__amd_rocclr") or kernel == "kernel_of_the_runtime":
        return "HIP"
    if re.search(r"at6native|at2cuda|at_cuda|rocprim|thrust|_GLOBAL__N_1\d+softmax", kernel):
        return "PyTorch"
    if re.search(r"^Cijk_|rocblas", kernel):
        return "rocBLAS"
    return "MIOpen"


def patterns_of(reports):
    """Places of each rule in each kernel."""
    places = {}
    found = (re.match(r"pattern: kernel (\S+) on .*?: ([a-z]+(?:-[a-z]+)+): ", text) for text in reports)
    for match in filter(None, found):
        rules = places.setdefault(match[1], {})
        rules[match[2]] = rules.get(match[2], 0) + 1
    return places


class Cell:
    """One program: a model, a mode, a way, and the options of rmcp sim."""

    def __init__(self, arguments, model, mode, way, own_norm=False, sim=(), limit=900, code="",
                 program=()):  # fmt: skip
        self.root, self.folder = arguments.root, arguments.root + "/torch"
        self.model, self.mode, self.way, self.own_norm = model, mode, way, own_norm
        self.sim, self.limit = list(sim), limit
        self.code, self.program = code, list(program)
        words = [model, mode, way] + ["own-norm"] * own_norm + [code] * bool(code)
        words += [re.sub(r"\W+", "_", o) for o in self.sim]
        self.base = f"{self.folder}/results/" + ".".join(words)
        self.state, self.kept = arguments.state, arguments.kept

    def command(self):
        environment = {
            "HOME": "/torch/home", "XDG_CACHE_HOME": "/torch/home/cache", "LD_LIBRARY_PATH": "/torch",
            "RMCP_GUARD": "0",
            "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "RMCP_LIBRARY": "/torch/rmcp/librmcp.so.0",
            "HF_HUB_OFFLINE": "1",
        }  # fmt: skip
        if self.code:
            environment["TORCH_ROCM_LIBRARY"] = f"/torch/{self.code}/libtorch_hip.so"
        if self.code == "repaired":
            environment["ROCBLAS_TENSILE_LIBPATH"] = "/torch/repaired/rocblas"
            environment["LD_LIBRARY_PATH"] = "/torch/repaired:/torch"
        if self.way == "dropin":
            environment["TORCH_ROCM_MIOPEN"] = "/torch/rmcp/libMIOpen.so.1"
        if self.way == "original" or (self.program and self.way == "adapter"):  # whose batch norm is MIOpen's
            environment.update(ORIGINAL, MIOPEN_ENABLE_LOGGING="1")  # its functions by name, to tell which one failed
        words = ["chroot", self.root, "env", "-C", "/torch/rmcp"] + [f"{k}={v}" for k, v in environment.items()]
        words += ["./rmcp", "sim", "--json", "--stats", "--allow-reports"] + self.sim
        if self.code == "repaired":
            words += ["--launches", "/torch/results/" + os.path.basename(self.base) + ".launches"]
        words += ["--", "timeout", str(self.limit)]
        if self.program:
            return words + ["python3", "watch.py", self.way] + self.program
        # Optimizers over lists of tensors are late in order.txt.
        lists = os.path.exists(f"{self.folder}/gfx1010/src_aten_src_ATen_native_hip_ForeachTernaryOp.hip.co")
        options = ["--own-norm"] * self.own_norm + ["--single"] * (not lists)
        return words + ["python3", "cell.py", self.model, self.mode, self.way] + options

    def measure(self):
        try:
            kept = json.load(open(self.base + ".json"))
            if self.kept or kept["state"] == self.state:
                kept["words"] = self.why(open(self.base + ".log", errors="replace").read(), kept)
                return kept
        except (OSError, ValueError, KeyError):
            pass
        if self.kept:
            return {"result": None, "words": "not measured"}
        began = time.time()
        if os.path.exists(self.base + ".launches"):
            os.remove(self.base + ".launches")  # it is appended to
        with open(self.base + ".log", "wb") as log:
            done = subprocess.run(self.command(), stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL)
        text = open(self.base + ".log", errors="replace").read()
        found = {"state": self.state, "status": done.returncode, "seconds": round(time.time() - began, 1)}
        try:
            summary = json.loads(done.stdout)
            found["status"] = summary["program_status"]
            found["kernels"], found["acted_out"] = {}, summary.get("acted_out", {})
            found["names"] = {row["kernel"]: row["dispatches"] for row in summary.get("stats", [])}
            for row in summary.get("stats", []):
                owner = owner_of(row["kernel"])
                found["kernels"][owner] = found["kernels"].get(owner, 0) + row["dispatches"]
            found["findings"] = summary["findings"]
            found["reports"] = summary.get("reports", [])[:40]
            found["patterns"] = patterns_of(summary.get("reports", []))
        except (ValueError, KeyError) as error:
            found["summary"] = f"{type(error).__name__}: {done.stdout[:200]!r}"
        result = re.search(r"(?m)^RESULT (.*)$", text)
        found["result"] = json.loads(result[1]) if result else None
        found["words"] = self.why(text, found)
        with open(self.base + ".json", "w") as file:
            json.dump(found, file, indent=1)
        return found

    def why(self, text, found):
        """What the program died of, in its own words."""
        if found["result"]:
            return ""
        if found["status"] == 124:
            return f"not done after {self.limit} s"
        for pattern in (
            r"torch_rocm: (not compiled: .*)", r"(Memory access fault.*)", r"(HW Exception by GPU.*)",
            r"(HSA_STATUS_ERROR\w*.*)",
            r"(miopenStatus[A-Z]\w+)", r"(?m)^((?:\w+\.)*\w*Error: .*)$",
        ):  # fmt: skip
            match = re.search(pattern, text)
            if match:
                return re.sub(r"\(Agent handle: \w+\) ", "", match[1])[:160]
        return f"status {found['status']}"


def missing_call(cell):
    """The MIOpen function in which the original failed, and what its compiler or itself said, by its log."""
    if not os.path.exists(cell.base + ".log"):
        return ""
    before, error, after = open(cell.base + ".log", errors="replace").read().partition("MIOpen Error: ")
    if not error:
        return ""
    calls = re.findall(r"miopenStatus_t (miopen\w+)\(", before)
    compiler = re.findall(r"(?m)^\S+?:\d+:\d+: (error: .*)$", before)
    said = compiler[0] if compiler else after.splitlines()[0]
    return f"in {calls[-1] if calls else 'MIOpen'}: `{said[:120]}`".replace("|", "/")


def show(found):
    """A cell's text: verdict, distance from double precision, kernels, reports."""
    if not found["result"]:
        return "**" + found["words"].replace("|", "/") + "**"
    result = found["result"]
    worst = max((v for k, v in result.items() if isinstance(v, dict)), key=lambda v: v["card"] / v["bound"])
    kernels = ", ".join(f"{n} {owner}" for owner, n in sorted(found.get("kernels", {}).items()) if owner != "HIP")
    verdict = "right" if result["right"] else "**WRONG**"
    verdict += "".join(f" (not judged: {text})" for text in result.get("unjudged", []))
    return f"{verdict}, {worst['card']:.1e} (CPU {worst['cpu']:.1e}); {kernels}; {found.get('findings', '?')} reports"


def say(arguments, text):
    if not arguments.kept:
        print(text, file=sys.stderr, flush=True)


def table_of_models(arguments):
    rows, failed = [], False
    for model in arguments.models:
        for mode in arguments.modes:
            if model in ("lstm", "gru") and mode == "autocast":
                continue  # the CPU has no LSTM in float16 to compare with
            cells = []
            for way in arguments.ways:
                reason = skip_reason(model, way)
                if reason:
                    cells.append("skipped: " + reason)
                    continue
                # The adapter takes convolutions only: batch norm is PyTorch's own there.
                cell = Cell(arguments, model, mode, way, own_norm=way == "adapter", limit=arguments.limit)
                found = cell.measure()
                text = show(found)
                if way == "original" and not (found["result"] and found["result"]["right"]):
                    text += " " + missing_call(cell)
                    if model in WITH_BATCH_NORM:
                        again = Cell(arguments, model, mode, way, own_norm=True, limit=arguments.limit)
                        text += f"; with PyTorch's own batch norm: {show(again.measure())} {missing_call(again)}"
                elif way != "original":
                    failed |= not (found["result"] and found["result"]["right"])
                cells.append(text)
                say(arguments, f"{model} {mode} {way}: {text}")
            rows.append(f"| {model} | {mode} | " + " | ".join(cells) + " |")
    print("| model | mode | " + " | ".join(arguments.ways) + " |\n|---|---|" + "---|" * len(arguments.ways))
    print("\n".join(rows))
    return failed


def failed_parts(text):
    """What around.py's parts say that failed, shorter: by the function that is missing, where one is."""
    parts = []
    for name, why in re.findall(r"(?m)^FAILED (\w+): (.*)$", text):
        missing = re.search(r"torch_rocm: not compiled: ([\w:~]+)", why)
        parts.append(f"{name} ({'not compiled: ' + missing[1] if missing else why[:120]})")
    return parts


def table_of_programs(arguments):
    """programs.txt's, judged by watch.py."""
    rows, failed = [], False
    for line in open(f"{HERE}/programs.txt"):
        name, *program = line.split("#")[0].split() or [None]
        if not name or (arguments.programs != "all" and name not in arguments.programs.split(",")):
            continue
        program[0] = f"/torch/{'rmcp' if program[0] == 'around.py' else 'examples'}/{program[0]}"
        cells = []
        for way in arguments.ways:
            cell = Cell(arguments, name, "program", way, limit=arguments.limit, program=program)
            found = cell.measure()
            text, result = "**" + found["words"].replace("|", "/") + "**", found["result"]
            if result:
                kernels = ", ".join(f"{n} {owner}" for owner, n in sorted(found["kernels"].items()) if owner != "HIP")
                text = "right"
                if not result["right"]:
                    text = "**WRONG**: " + ", ".join(f"{k}: {v}" for k, v in result["wrong"].items())
                text += f", {result['judged']} operations judged; {kernels}; {found['findings']} reports"
                parts = failed_parts(open(cell.base + ".log", errors="replace").read())
                text += "".join(f"; **failed**: {part}" for part in parts)
                failed |= not result["right"] and way != "original"
            cells.append(text.replace("|", "/"))
            say(arguments, f"{name} {way}: {text}")
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    print("| program | " + " | ".join(arguments.ways) + " |\n|---|" + "---|" * len(arguments.ways))
    print("\n".join(rows))
    return failed


def skip_reason(model, way):
    if model not in ("lstm", "gru") or way == "original":
        return ""
    if way == "adapter":
        return "the adapter has convolutions only"
    functions = open(f"{HERE}/../../src/dropin/miopen/functions.txt").read()
    has_training = "miopenRNNForwardTraining 6.4.3 yes" in functions
    return "" if has_training else "the drop-in has no miopenRNNForwardTraining yet"


def story(arguments):
    """gfx1030's code on the RX 5600 XT, by rules that are acted out, then natively with ours."""
    kinds = [("native gfx1010, drop-in", "dropin", [], False), ("override, no effect acted out", "original", [], True)]
    kinds += [(f"override, {r}", "original", [f"--act-out={r}:p={arguments.chance}:seed=1"], True) for r in RULES]
    kinds += [("override, drop-in, all of data", "dropin", [f"--act-out=data:p={arguments.chance}:seed=1"], True)]
    print("| program | " + " | ".join(arguments.models) + " |\n|---|" + "---|" * len(arguments.models))
    for name, way, options, override in kinds:
        cells = []
        for model in arguments.models:
            options_here = (["--override", "10.3.0", "--checks=-patterns"] if override else []) + options
            cell = Cell(arguments, model, arguments.modes[0], way, False, options_here, arguments.limit)
            found = cell.measure()
            cells.append(show(found) + acted_out(found))
            say(arguments, f"{name} {model}: {cells[-1]}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def where(arguments):
    """Whose kernels have the patterns, in the code that a model executes under the override; nothing is acted out."""
    print("\n| model, way | whose | kernels with a pattern | places |\n|---|---|---|---|")
    for model in arguments.models:
        for way in ("original", "dropin"):
            cell = Cell(arguments, model, arguments.modes[0], way, False, ["--override", "10.3.0"], arguments.limit)
            found = cell.measure()
            for owner in ("MIOpen", "rocBLAS", "PyTorch", "HIP", "RMCP"):
                names = [name for name in found.get("names", {}) if owner_of(name) == owner]
                rules = {}
                for name, places in found.get("patterns", {}).items():
                    for rule, n in places.items() if owner_of(name) == owner else ():
                        rules[rule] = rules.get(rule, 0) + n
                n_with = len({name for name in found.get("patterns", {}) if owner_of(name) == owner})
                text = ", ".join(f"{rule} {n}" for rule, n in sorted(rules.items())) or "none"
                if names:
                    print(f"| {model}, {way} | {owner} | {n_with} of {len(names)} | {text} |", flush=True)


def repaired(arguments):
    """PyTorch and rocBLAS with code for gfx1030 alone: as it is, under the override, and repaired; with the drop-in."""
    failed, launches = False, []
    ways = [
        ("as it is", "gfx1030-only", []),
        ("under the override", "gfx1030-only",
         ["--override", "10.3.0", "--checks=-patterns", "--act-out=data:p=1:seed=1"]),
        ("repaired, no override", "repaired", ["--act-out=all:p=1:seed=1"]),
    ]
    print("| model | mode | " + " | ".join(name for name, *_ in ways) + " |\n|---|---|" + "---|" * len(ways))
    for model in arguments.models:
        for mode in arguments.modes:
            if model in ("lstm", "gru") and mode == "autocast":
                continue  # the CPU has no LSTM in float16 to compare with
            cells = []
            for name, code, options in ways:
                cell = Cell(arguments, model, mode, "dropin", False, options, arguments.limit, code)
                found = cell.measure()
                text = show(found) + acted_out(found)
                if code == "repaired":
                    launches.append(cell.base + ".launches")
                    failed |= not (found["result"] and found["result"]["right"] and not found["findings"])
                cells.append(text)
                say(arguments, f"{model} {mode} {name}: {text}")
            print(f"| {model} | {mode} | " + " | ".join(cells) + " |", flush=True)
    return bool(strange_launches(arguments, launches)) or failed


def strange_launches(arguments, files):
    """Kernels that were launched, and are neither repaired, nor ours, nor the runtime's own; says what there were."""
    folder = f"{arguments.root}/torch/repaired"
    with open(folder + "/launches", "wb") as all_of_them:
        for path in filter(os.path.exists, files):
            all_of_them.write(open(path, "rb").read())
    code = [folder + name for name in ("/libtorch_hip.so", "/librocblas.so.4", "/rocblas")]
    text = subprocess.run([arguments.launched, folder + "/launches"] + code, capture_output=True, text=True).stdout
    others = [line.split()[2].removesuffix(".kd") for line in text.splitlines() if line.startswith("other: ")]
    strange = [name for name in others if name not in OURS]
    said = text.splitlines()[-1] if text else "nothing is known of the launches"
    print(f"\n{said}; of the others {len(others) - len(strange)} are RMCP's")
    print("\n".join(sorted(set(strange))))
    return strange or not text


def acted_out(found):
    acted = ", ".join(f"{rule} {n} times" for rule, n in found.get("acted_out", {}).items() if n)
    return f"; acted out {acted}" if acted else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", help="the chroot")
    parser.add_argument("--models", default=",".join(MODELS), help='or "strangers": those of strangers.py')
    parser.add_argument("--programs", help='in place of models: names of programs.txt, or "all"')
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--kept", action="store_true", help="what was measured, with whichever libraries; run nothing")
    parser.add_argument("--limit", type=int, default=900, help="seconds for one program")
    parser.add_argument("--story", action="store_true", help="the table of gfx1030's code under the override")
    parser.add_argument("--repaired", action="store_true", help="the table of gfx1030's code, repaired by rmcp repair")
    parser.add_argument("--launched", help="tests/repair/launched, for --repaired")
    parser.add_argument("--chance", default="0.01", help="how often a rule is acted out")
    arguments = parser.parse_args()
    if arguments.models == "strangers":
        arguments.models = ",".join(STRANGERS)
    for name in ("models", "modes", "ways"):
        setattr(arguments, name, getattr(arguments, name).split(","))
    digest = hashlib.sha256()
    built = "repaired/libtorch_hip.so" if arguments.repaired else "libtorch_hip.so"
    for name in (built, "rmcp/rmcp", "rmcp/sim/driver/librmcp-sim.so", "rmcp/librmcp.so.0", "rmcp/libMIOpen.so.1",
                 "rmcp/cell.py", "rmcp/models.py", "rmcp/strangers.py", "rmcp/watch.py", "rmcp/around.py",
                 "rmcp/card.py"):  # fmt: skip
        digest.update(open(f"{arguments.root}/torch/{name}", "rb").read())
    arguments.state = digest.hexdigest()
    if arguments.story:
        story(arguments)
        where(arguments)
        return
    if arguments.programs:
        sys.exit(int(table_of_programs(arguments)))
    sys.exit(int(repaired(arguments) if arguments.repaired else table_of_models(arguments)))


if __name__ == "__main__":
    main()
