#!/usr/bin/env python3
"""One cell of the table, in the chroot: cell.py MODEL MODE WAY [--own-norm]; the last line of stdout is JSON.

MODE is infer, sgd, adam (two steps) or autocast (one step with float16 and a GradScaler); WAY is original (MIOpen),
adapter (rmcp.torch) or dropin (our libMIOpen, which the caller loads by TORCH_ROCM_MIOPEN). What the card computed is held
against the CPU in double precision: the relative distance of outputs and of all gradients of the first step, and of what
all steps changed of the parameters. The bound is four times the distance that PyTorch's own float32
on the CPU has, and 1e-5 (with autocast two times that of its float16, and 1e-3).
--own-norm: batch norms by PyTorch's own kernels. --single: optimizers go through the tensors one by one. --cpu: as if the CPU were the card, to try this program."""
import copy
import json
import sys

own_norm, on_cpu = "--own-norm" in sys.argv, "--cpu" in sys.argv
foreach = False if "--single" in sys.argv else None  # None: PyTorch's choice
name, mode, way = [a for a in sys.argv[1:] if not a.startswith("--")]
if not on_cpu:
    sys.path.insert(0, "/torch/rmcp/python")
    import card  # noqa: F401  before torch
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import models  # noqa: E402

torch.set_num_threads(1)
CARD = "cpu" if on_cpu else "cuda"


def vector(tensors):
    return torch.cat([t.detach().cpu().double().flatten() for t in tensors])


def distance(found, right):
    found, right = vector(found), vector(right)
    if not torch.isfinite(found).all():
        return float("inf")
    return ((found - right).norm() / right.norm().clamp_min(1e-300)).item()


def own_batch_norm():
    """PyTorch's own kernels for batch norm, MIOpen for the rest."""
    theirs = F.batch_norm

    def batch_norm(*args, **options):
        with torch.backends.cudnn.flags(enabled=False):
            return theirs(*args, **options)

    F.batch_norm = batch_norm


def compute(model, x, target, device, dtype):
    """Outputs, gradients of the first step, what all steps changed of the parameters."""
    first = [p.detach().to(dtype) for p in model.parameters()]
    model, x, target = copy.deepcopy(model).to(device, dtype), x.to(device, dtype), target.to(device)
    if mode == "infer":
        model.eval()
        with torch.no_grad():
            return {"outputs": [model(x)]}
    half = mode == "autocast" and dtype == torch.float32
    if mode == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=foreach)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=foreach)
    scaler = torch.amp.GradScaler(device, init_scale=256.0, enabled=half)
    found = {}
    for step in range(1 if mode == "autocast" else 2):
        optimizer.zero_grad()
        with torch.autocast(device, torch.float16, enabled=half):
            outputs = model(x)
            loss = F.cross_entropy(outputs, target)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if step == 0:
            found = {"outputs": [outputs], "gradients": [p.grad.clone() for p in model.parameters()]}
        scaler.step(optimizer)
        scaler.update()
    found["updates"] = [p.cpu() - q for p, q in zip(model.parameters(), first)]
    return found


def main():
    model, data = models.make(name)
    torch.manual_seed(2)
    x, target = data()
    right = compute(model, x, target, "cpu", torch.float64)
    plain = compute(model, x, target, "cpu", torch.float32)
    print("on the CPU: done", flush=True)
    if own_norm:
        own_batch_norm()
    if way == "adapter":
        import rmcp.torch

        print(rmcp.torch.enable(CARD), flush=True)
    found = compute(model, x, target, CARD, torch.float32)
    result = {"model": name, "mode": mode, "way": way, "own_norm": own_norm, "right": True}
    for what, values in found.items():
        theirs, ours = distance(plain[what], right[what]), distance(values, right[what])
        bound = 4 * theirs + 1e-5 if mode != "autocast" else 2 * theirs + 1e-3
        result[what] = {"card": ours, "cpu": theirs, "bound": bound}
        result["right"] = result["right"] and ours <= bound
    if way == "adapter":
        text = str(rmcp.torch.stats()).splitlines()[0]
        result["adapter"] = text
    print("RESULT " + json.dumps(result), flush=True)


main()
