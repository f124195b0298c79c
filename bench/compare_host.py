#!/usr/bin/env python3
"""compare_host.py: what a convolution through rmcp.torch costs the host, against PyTorch alone in the same process.

usage: compare_host.py [--device cpu|cuda] [--form native|python]… [--tiny] [--networks NAME…] [--batch 16]
                       [--size 224] [--json FILE]

Tiny calls: microseconds a call takes until the host is free again, ours and PyTorch's in turn, the least of many
rounds. Networks of torchvision: milliseconds of an inference and of a training step with the device's work, eager,
float32 without TF32, ours and PyTorch's in turn, medians. Each form runs in a process of its own; the native one is
built before if need be. Set RMCP_LIBRARY in a checkout.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
NETWORKS = ("resnet50", "vgg16", "mobilenet_v2", "densenet121", "efficientnet_b0", "squeezenet1_1",
            "shufflenet_v2_x1_0", "convnext_tiny")
BARS = {"forward": 1.1, "forward and backward": 1.2}
MOST_EXTRA = 5e-6  # seconds that a refused convolution may cost more
LEAST_SPEED = 0.95


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda", choices=("cpu", "cuda"))
    parser.add_argument("--form", action="append", choices=("native", "python"), help="both by default")
    parser.add_argument("--tiny", action="store_true", help="only the tiny calls")
    parser.add_argument("--networks", nargs="*", default=NETWORKS)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, help="of the CPU")
    parser.add_argument("--json", help="write all numbers here, too")
    parser.add_argument("--here", choices=("native", "python"), help=argparse.SUPPRESS)
    return parser.parse_args()


def in_turn(prepare, call, rounds):
    """[seconds with RMCP], [seconds without], of call() after prepare(on), in turn."""
    times = ([], [])
    for _ in range(rounds):
        for on in (True, False):
            prepare(on)
            times[not on].append(call())
    return times


class Bench:
    def __init__(self, options):
        import torch
        import rmcp.torch
        self.torch, self.rmcp, self.options = torch, rmcp.torch, options
        self.device = torch.device(options.device)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        if options.threads:
            torch.set_num_threads(options.threads)

    def switch(self, on):
        if on:
            self.rmcp.enable(self.options.device)
        else:
            self.rmcp.disable()

    def wait(self):
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()

    # ---- tiny calls ----

    def tiny(self):
        """{name: (seconds of ours, of PyTorch's)}, each of one call."""
        torch, F = self.torch, self.torch.nn.functional
        x = torch.randn(1, 8, 8, 8, device=self.device)
        w, b, g = torch.randn(8, 8, 3, 3, device=self.device), torch.randn(8, device=self.device), torch.randn_like(x)
        leaves = [t.clone().requires_grad_() for t in (x, w, b)]
        double = [t.double() for t in (x, w, b)]

        def both():
            output = F.conv2d(*leaves, padding=1)
            torch.autograd.grad(output, leaves, g)

        calls = {"forward": lambda: F.conv2d(x, w, b, padding=1), "forward and backward": both,
                 "refused": lambda: F.conv2d(*double, padding=1)}
        return {name: tuple(map(min, in_turn(lambda on, call=call: self.warm(on, call),
                                             lambda call=call: self.timed(call, 50), 6 * self.options.rounds)))
                for name, call in calls.items()}

    def warm(self, on, call):
        self.switch(on)
        for _ in range(5):
            call()
        self.wait()

    def timed(self, call, repeats):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        seconds = (time.perf_counter() - start) / repeats
        self.wait()
        return seconds

    # ---- networks ----

    def network(self, name):
        """{"inference": (ours, PyTorch's), "training": …}, seconds."""
        import torchvision.models as zoo
        torch = self.torch
        torch.manual_seed(0)
        model = getattr(zoo, name)().to(self.device)
        x = torch.randn(self.options.batch, 3, self.options.size, self.options.size, device=self.device)

        def inference():
            with torch.no_grad():
                model(x)

        def training():
            model.zero_grad(set_to_none=True)
            model(x).square().mean().backward()

        result = {}
        for kind, step in (("inference", inference), ("training", training)):
            model.train(kind == "training")

            def prepare(on, step=step):
                self.switch(on)
                for _ in range(2):
                    step()
                self.wait()

            def call(step=step):
                start = time.perf_counter()
                for _ in range(3):
                    step()
                self.wait()
                return (time.perf_counter() - start) / 3
            result[kind] = tuple(map(statistics.median, in_turn(prepare, call, self.options.rounds)))
        left = self.rmcp.stats().fallbacks
        self.rmcp.reset_stats()
        return result, left

    def run(self):
        import warnings
        warnings.simplefilter("ignore")
        torch = self.torch
        status = self.rmcp.enable(self.options.device)
        if self.options.here == "native" and not status.native:
            sys.exit(f"compare_host: no native part: {status.why_not_native}")
        calls = self.tiny()
        self.rmcp.reset_stats()
        name = torch.cuda.get_device_name() if self.device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
        out = {"form": self.options.here, "pytorch": torch.__version__, "device": name, "tiny": calls,
               "networks": {}}
        if not self.options.tiny:
            for network in self.options.networks:
                out["networks"][network] = self.network(network)
        return out


def show(result):
    print(f"\n{result['form']} form, PyTorch {result['pytorch']}, {result['device']}")
    print(f"{'call':22} {'RMCP us':>9} {'PyTorch us':>11} {'ratio':>7}")
    for name, (ours, theirs) in result["tiny"].items():
        bar = ours <= BARS[name] * theirs if name in BARS else ours <= theirs + MOST_EXTRA
        print(f"{name:22} {ours * 1e6:9.1f} {theirs * 1e6:11.1f} {ours / theirs:7.2f}  "
              f"{'' if bar else 'beyond the bar'}")
    if not result["networks"]:
        return
    print(f"{'network':20} {'inference ms':>21} {'speed':>6} {'training ms':>21} {'speed':>6}  left to PyTorch")
    for name, (times, left) in result["networks"].items():
        line = f"{name:20}"
        for kind in ("inference", "training"):
            ours, theirs = times[kind]
            line += f" {ours * 1e3:9.2f} vs {theirs * 1e3:8.2f} {theirs / ours:6.2f}"
            line += "!" if theirs / ours < LEAST_SPEED else " "
        print(f"{line} {left}")


def main():
    options = arguments()
    if options.here:
        print(json.dumps(Bench(options).run()))
        return 0
    forms, results = options.form or ["native", "python"], []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent / "python"),
                                                                os.environ.get("PYTHONPATH", "")])}
    if "native" in forms:
        if subprocess.run([sys.executable, "-m", "rmcp.torch", "status"], env=environment,
                          stdout=subprocess.DEVNULL).returncode:
            subprocess.run([sys.executable, "-m", "rmcp.torch", "build"], env=environment, check=True)
    for form in forms:
        run = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--here", form], stdout=subprocess.PIPE,
                             text=True, env={**environment, "RMCP_TORCH_NATIVE": "0" if form == "python" else "1"})
        if run.returncode:
            return run.returncode
        results.append(json.loads(run.stdout.splitlines()[-1]))
        show(results[-1])
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
