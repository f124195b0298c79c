#!/usr/bin/env python3
"""One cell of the table, in the chroot: cell.py MODEL MODE WAY [--own-norm]; the last line of stdout is JSON.

MODE is infer, sgd, adam (two steps) or autocast (one step with float16 and a GradScaler); WAY is original (MIOpen),
adapter (rmcp.torch) or dropin (our libMIOpen, which the caller loads by TORCH_ROCM_MIOPEN). What the card computed is
held against the CPU in double precision: the relative distance of the outputs and of all gradients in each step, from
the parameters that the card had before it; and of what all steps changed of the parameters, by the card's gradients. So
no step is judged by the rounding of an earlier one. The bound is four times the distance that PyTorch's own float32 on
the CPU has there, and 1e-5 (with autocast two times that of its float16, and 1e-3). A value that lies at the kink of a
ReLU may fall to either side and change gradients by far more: what is beyond the bound is held against four times what
changes on the CPU when the parameters change a little, so that the outputs move as far as the card's ("kink"). Where
the CPU itself is more than 0.25 away, as in float16 through many batch norms over a few pixels, a bound says nothing:
"unjudged" tells so.
--own-norm: batch norms by PyTorch's own kernels. --single: optimizers go through the tensors one by one. --cpu: as if
the CPU were the card, to try this program."""
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
import strangers  # noqa: E402

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


def optimizer_of(parameters):
    if mode == "adam":
        return torch.optim.Adam(parameters, lr=1e-3, foreach=foreach)
    return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, foreach=foreach)


def typed(x, dtype):
    """Words stay whole numbers."""
    return x.to(dtype) if x.is_floating_point() else x


def infer(model, x, device, dtype):
    model = copy.deepcopy(model).to(device, dtype).eval()
    with torch.no_grad():
        return model(typed(x, dtype).to(device))


def step_of(model, x, target, device, half, scaler=None):
    """One forward and backward pass: the outputs; gradients are left in the model."""
    with torch.autocast(device, torch.float16, enabled=half):
        outputs = model(x)
        loss = F.cross_entropy(outputs, target)
    (scaler.scale(loss) if scaler else loss).backward()
    return outputs.detach()


def train(model, x, target):
    """All steps on the card: parameters before each and in the end, outputs, gradients."""
    model, x, target = copy.deepcopy(model).to(CARD), x.to(CARD), target.to(CARD)
    optimizer, half = optimizer_of(model.parameters()), mode == "autocast"
    scaler = torch.amp.GradScaler(CARD, init_scale=256.0, enabled=half)
    steps = []
    for _ in range(1 if half else 2):
        before = [p.detach().cpu().clone() for p in model.parameters()]
        optimizer.zero_grad()
        outputs = step_of(model, x, target, CARD, half, scaler)
        scaler.unscale_(optimizer)
        steps.append((before, outputs.cpu(), [p.grad.cpu().clone() for p in model.parameters()]))
        scaler.step(optimizer)
        scaler.update()
    return steps, [p.detach().cpu() for p in model.parameters()]


def on_host(model, before, x, target, dtype, seed=0, change=0.0):
    """The same step on the CPU, from the same parameters, or from parameters that are changed by up to that part of
    them.

    In autocast, float32 is what the CPU makes of it."""
    model = copy.deepcopy(model).to(dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), before):
            parameter.copy_(value)
            if change:
                parameter.mul_(1 + change * (2 * torch.rand(parameter.shape, generator=generator, dtype=dtype) - 1))
    half = mode == "autocast" and dtype == torch.float32
    if half:  # as on the card: small gradients must not vanish in float16
        scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
        outputs = step_of(model, x, target, "cpu", half, scaler)
        return [outputs], [p.grad / 256 for p in model.parameters()]
    outputs = step_of(model, typed(x, dtype), target, "cpu", half)
    return [outputs], [p.grad for p in model.parameters()]


def nearby(model, before, x, target, far, right):
    """Gradients on the CPU where the outputs have moved as far as the card's, at eight places."""
    change = 2.0**-22
    first, _ = on_host(model, before, x, target, torch.float64, 0, change)
    change *= max(1.0, far / distance(first, right))
    return [on_host(model, before, x, target, torch.float64, seed, change)[1] for seed in range(8)]


def replay(steps, dtype):
    """What the optimizer on the CPU changes of the parameters by the card's gradients."""
    first = [p.to(dtype) for p in steps[0][0]]
    parameters = [p.clone().requires_grad_() for p in first]
    optimizer = optimizer_of(parameters)
    for _, _, gradients in steps:
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = gradient.to(dtype)
        optimizer.step()
    return [p.detach() - q for p, q in zip(parameters, first)]


def bound_of(theirs, what):
    return 2 * theirs + 1e-3 if mode == "autocast" and what != "updates" else 4 * theirs + 1e-5


def within(found, plain, right):
    return distance(found, right) <= bound_of(distance(plain, right), "gradients")


def judge(result, what, found, plain, right, moved=()):
    """Puts the distance into the result, the worst of all steps; moved: what small changes make of it on the CPU."""
    ours, theirs = distance(found, right), distance(plain, right)
    bound = bound_of(theirs, what)
    if moved:
        theirs = max(distance(values, right) for values in moved)
        bound = max(bound, 4 * theirs)
        result["kink"] = True
    result["right"] = result["right"] and ours <= bound
    if theirs > 0.25:
        result.setdefault("unjudged", []).append(f"{what}: the CPU itself is {theirs:.1g} away")
        return
    if what not in result or ours / bound > result[what]["card"] / result[what]["bound"]:
        result[what] = {"card": ours, "cpu": theirs, "bound": bound}


def main():
    model, data = (strangers if name in strangers.TORCHVISION + strangers.TRANSFORMERS else models).make(name)
    torch.manual_seed(2)
    x, target = data()
    if own_norm:
        own_batch_norm()
    if way == "adapter":
        import rmcp.torch

        print(rmcp.torch.enable(CARD), flush=True)
    result = {"model": name, "mode": mode, "way": way, "own_norm": own_norm, "right": True}
    if mode == "infer":
        found = infer(model, x, CARD, torch.float32)
        judge(result, "outputs", [found], *[[infer(model, x, "cpu", t)] for t in (torch.float32, torch.float64)])
    else:
        steps, last = train(model, x, target)
        for before, outputs, gradients in steps:
            plain, right = [on_host(model, before, x, target, t) for t in (torch.float32, torch.float64)]
            judge(result, "outputs", [outputs], plain[0], right[0])
            moved = []
            if not within(gradients, plain[1], right[1]):
                moved = nearby(model, before, x, target, distance([outputs], right[0]), right[0])
            judge(result, "gradients", gradients, plain[1], right[1], moved)
        updates = [p - q for p, q in zip(last, steps[0][0])]
        judge(result, "updates", updates, replay(steps, torch.float32), replay(steps, torch.float64))
    if way == "adapter":
        result["adapter"] = str(rmcp.torch.stats()).splitlines()[0]
    print("RESULT " + json.dumps(result), flush=True)


main()
