"""common.py: what the examples share: images drawn here, a progress bar, a loss curve, the choice of device."""
import argparse
import os
import pathlib
import sys
import time

import torch

_root = pathlib.Path(__file__).resolve().parent.parent.parent
try:
    import rmcp.torch
except ImportError:  # not installed: the one of this source tree
    sys.path.insert(0, str(_root / "python"))
    if (_root / "build" / "librmcp.so").exists():
        os.environ.setdefault("RMCP_LIBRARY", str(_root / "build" / "librmcp.so"))
    import rmcp.torch

SHAPES = ("disc", "square", "cross", "stripes")


def images(count, size=32, generator=None):
    """Random images of four shapes on noise, and which shape each shows."""
    labels = torch.randint(len(SHAPES), (count,), generator=generator)
    axis = torch.arange(size, dtype=torch.float32)
    y, x = axis[:, None], axis[None, :]
    pictures = torch.empty(count, 3, size, size)
    for i, label in enumerate(labels):
        radius = size * (0.15 + 0.15 * torch.rand((), generator=generator))
        cy, cx = size * (0.35 + 0.3 * torch.rand(2, generator=generator))
        dy, dx = (y - cy).abs(), (x - cx).abs()
        mask = {0: dy.square() + dx.square() < radius.square(),
                1: torch.maximum(dy, dx) < radius,
                2: (torch.minimum(dy, dx) < radius * 0.3) & (torch.maximum(dy, dx) < radius),
                3: ((y + x) % 6 < 3) & (torch.maximum(dy, dx) < radius)}[int(label)]
        colour = 0.5 + 0.5 * torch.rand(3, 1, 1, generator=generator)
        pictures[i] = torch.randn(3, size, size, generator=generator) * 0.15 + mask * colour
    return pictures, labels


def arguments(description, steps, batch):
    """The options of every example; switches RMCP on."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu",
                        help="cpu or cuda (AMD's too)")
    parser.add_argument("--offload", help="with --device cpu: run the convolutions on this RMCP device, e.g. opencl")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--curve", default=pathlib.Path(sys.argv[0]).stem + ".png", help="where the loss curve goes")
    options = parser.parse_args()
    rmcp.torch.enable(torch.device(options.device).type, offload=options.offload)
    return options


class Progress:
    """A bar on the terminal; a line now and then in a log."""

    def __init__(self, total):
        self.total, self.start, self.losses = total, time.perf_counter(), []

    def step(self, loss):
        self.losses.append(float(loss))
        done = len(self.losses)
        filled = 30 * done // self.total
        seconds = time.perf_counter() - self.start
        text = (f"[{'#' * filled}{'.' * (30 - filled)}] {done}/{self.total}  loss {self.losses[-1]:.4f}  "
                f"{seconds:.0f} s")
        if sys.stdout.isatty():
            print("\r" + text, end="\n" if done == self.total else "", flush=True)
        elif done == self.total or done % max(1, self.total // 5) == 0:
            print(text, flush=True)


def save_curve(losses, path, title):
    """The loss curve as a PNG; without matplotlib a remark instead."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("no loss curve: matplotlib is not installed")
        return
    figure, axes = pyplot.subplots(figsize=(7, 4))
    axes.plot(range(1, len(losses) + 1), losses)
    axes.set(xlabel="step", ylabel="loss", title=title)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    print(f"loss curve: {path}")


def summary():
    """One line on who did the convolutions."""
    stats = rmcp.torch.stats()
    devices = sorted({row.device for row in stats.rows if row.reason is None})
    print(f"convolutions: {stats.calls} passes in RMCP on {', '.join(devices) or 'no device'}, "
          f"{stats.fallbacks} in PyTorch's own kernels")
