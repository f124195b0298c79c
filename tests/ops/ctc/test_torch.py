#!/usr/bin/env python3
"""test_torch.py: CTC losses and their gradients against PyTorch's, of drawn problems.

usage: test_torch.py [DEVICE [PROBLEMS [SEED]]], by default 60 problems on the CPU device. PyTorch computes in double.
"""
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))
try:
    import torch
    import rmcp_ctypes as rmcp
    import case_torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

NAMES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def draw(r):
    steps, batch, classes = r.randint(1, 60), r.randint(1, 6), r.randint(2, 40)
    blank = r.choice((0, r.randrange(classes)))
    longest = r.randint(0, steps)
    lengths, labels = [], []
    for _ in range(batch):
        length = r.randint(0, longest)
        label = [r.choice([k for k in range(classes) if k != blank]) for _ in range(length)]
        repeats = sum(a == b for a, b in zip(label, label[1:]))
        while length + repeats > steps:
            label.pop()
            length = len(label)
            repeats = sum(a == b for a, b in zip(label, label[1:]))
        labels.append(label)
        lengths.append((r.randint(max(length + repeats, 1), steps), length))
    return dict(steps=steps, batch=batch, classes=classes, blank=blank, longest=longest, labels=labels,
                lengths=lengths, type=r.choice(("f32", "f32", "f16", "bf16")), mode=r.choice(("softmax", "logs")))


def expected(p, x):
    """PyTorch's loss and the gradient of what x is: logits, or logarithms of probabilities, whose gradient MIOpen gives
    for the probabilities."""
    logits = x.double().requires_grad_(True)
    logs = logits.log_softmax(2) if p["mode"] == "softmax" else logits
    targets = torch.tensor([k for label in p["labels"] for k in label], dtype=torch.long)
    loss = torch.nn.functional.ctc_loss(logs, targets, [t for t, _ in p["lengths"]], [n for _, n in p["lengths"]],
                                        blank=p["blank"], reduction="none")
    if p["mode"] == "softmax":
        loss.sum().backward()
        return loss.detach(), logits.grad
    # PyTorch's gradient of logarithms is only right for a softmax behind them: exp(log p) is added to it.
    gradient, = torch.autograd.grad(loss.sum(), logs)
    for n, (steps, _) in enumerate(p["lengths"]):
        gradient[:steps, n] -= logs.detach()[:steps, n].exp()
    return loss.detach(), gradient / logs.detach().exp()


def check(device, p, seed):
    torch.manual_seed(seed)
    dtype = NAMES[p["type"]]
    x = (torch.randn(p["steps"], p["batch"], p["classes"]) * 2).to(dtype)
    if p["mode"] == "logs":
        x = x.float().log_softmax(2).to(dtype)
    targets = torch.zeros(p["batch"], max(p["longest"], 1), dtype=torch.int32)
    for n, label in enumerate(p["labels"]):
        targets[n, :len(label)] = torch.tensor(label, dtype=torch.int32)
    text = (f"ctc:{p['steps']}x{p['batch']}x{p['classes']}:{p['mode']}:{p['type']}:labels{p['longest']}"
            f":blank{p['blank']}")
    ours = case_torch.run(device, text, {"x": x, "targets": targets,
                                         "lengths": torch.tensor(p["lengths"], dtype=torch.int32)},
                          {"loss": (p["batch"],), "dx": x.shape})
    loss, gradient = expected(p, x)
    close = case_torch.CLOSE[dtype]
    worst = max(case_torch.distance(ours["loss"], loss), case_torch.distance(ours["dx"], gradient))
    if not worst <= close:
        print(f"wrong: {text}, seed {seed}: {worst:.2e} beyond {close:.2e}")
    return worst <= close


def main():
    device = rmcp.Device(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(os.environ.get("RMCP_SEED") or random.randrange(10**6))
    print(f"seed {seed}")
    wrong = sum(not check(device, draw(random.Random(seed + i)), seed + i) for i in range(count))
    print(f"{count} problems, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
