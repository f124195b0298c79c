#!/usr/bin/env python3
"""Activations, GLU, PReLU, dropout, margin losses, Adam, rotary embeddings and functions of single
elements against PyTorch in double precision: values and gradients of random problems.

usage: test_torch_elements.py [DEVICE [ROUNDS [SEED]]]"""
import os
import pathlib
import random
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from elements_world import ROUNDING, WORDS, World, close, laid_out, strides, text  # noqa: E402
from philox import kept_elements  # noqa: E402


def numbers(rng, shape, dtype, scale=1.0):
    """Reals that are not 0: there derivatives have a bend."""
    values = torch.tensor([rng.uniform(0.01, 1) * rng.choice((-1, 1)) * scale
                           for _ in range(int(torch.tensor(shape).prod()))], dtype=torch.float64)
    return values.reshape(shape).to(dtype)


def shape_of(rng):
    return [rng.randrange(1, 5), rng.randrange(1, 9), rng.randrange(1, 7), rng.randrange(1, 30)][-rng.randrange(1, 5):]


MODES = {
    "passthru": lambda x, a, b, g: x,
    "logistic": lambda x, a, b, g: torch.sigmoid(x),
    "tanh": lambda x, a, b, g: b * torch.tanh(a * x),
    "relu": lambda x, a, b, g: torch.relu(x),
    "softrelu": lambda x, a, b, g: x.clamp(min=0) + torch.log1p(torch.exp(-x.abs())),
    "abs": lambda x, a, b, g: x.abs(),
    "power": lambda x, a, b, g: (a + b * x).clamp(min=0) ** g,
    "clipped": lambda x, a, b, g: x.clamp(0, a),
    "leaky": lambda x, a, b, g: F.leaky_relu(x, a),
    "elu": lambda x, a, b, g: F.elu(x, a),
    "clamp": lambda x, a, b, g: x.clamp(a, b),
}


def activation(rng, world, dtype):
    mode = rng.choice(tuple(MODES))
    # Bends where no number of a 16-bit type is.
    a, b, g = rng.choice((0.507, 1.003, 2.009)), rng.choice((0.507, 2.503)), rng.choice((0.5, 2.0, 3.0))
    x = numbers(rng, shape_of(rng), dtype, 1 if mode == "power" else rng.choice((1, 5, 30, 100)))
    if mode == "power":
        x = x.abs()
    wide = x.double().requires_grad_()
    y = MODES[mode](wide, a, b, g)
    dy = numbers(rng, x.shape, dtype)
    y.backward(dy.double())
    case = f"act:{text(x.shape)}:{mode}:{WORDS[dtype]}:alpha{a}:beta{b}:gamma{g}"
    x, out, into = laid_out(rng, x), laid_out(rng, torch.zeros_like(x)), laid_out(rng, torch.zeros_like(x))
    world.run(f"{case}:fwd{strides('x', x)}{strides('y', out)}", {"x": x, "y": out})
    close(out, y, dtype, case + ":fwd")
    given = laid_out(rng, y.detach().to(dtype))
    slots = {"dy": dy, "dx": into}
    if mode not in ("passthru", "logistic", "tanh"):
        slots["x"] = x
    if mode in ("logistic", "tanh", "power", "elu"):
        slots["y"] = given
    layouts = "".join(strides(name, tensor) for name, tensor in slots.items())
    world.run(f"{case}:bwd{layouts}", slots)
    # What rounding y did to gradients that are made of it.
    slack = 4 * ROUNDING[dtype] * (1 + given.double().abs() / b) * dy.double().abs() * max(a, 1)
    slack += ROUNDING[dtype] * wide.grad.abs()
    close(into, wide.grad, dtype, case + ":bwd", slack if "y" in slots else 0)


def gate(rng, world, dtype):
    shape = shape_of(rng)
    dim = rng.randrange(len(shape))
    shape[dim] *= 2
    x = numbers(rng, shape, dtype, rng.choice((1, 20, 60)))
    wide = x.double().requires_grad_()
    y = F.glu(wide, dim)
    dy = numbers(rng, y.shape, dtype)
    y.backward(dy.double())
    case = f"glu:{text(shape)}:{WORDS[dtype]}:dim{dim}"
    x, out, dx = laid_out(rng, x), laid_out(rng, torch.zeros(y.shape, dtype=dtype)), laid_out(rng, torch.zeros_like(x))
    world.run(f"{case}:fwd{strides('x', x)}{strides('y', out)}", {"x": x, "y": out})
    close(out, y, dtype, case + ":fwd")
    world.run(f"{case}:bwd{strides('x', x)}{strides('dx', dx)}", {"x": x, "dy": dy, "dx": dx})
    close(dx, wide.grad, dtype, case + ":bwd", 1e-13)  # where 1 - sigmoid is a few units of a double


def prelu(rng, world, dtype):
    shape = shape_of(rng)
    channels = len(shape) > 1 and rng.random() < 0.6
    x, w = numbers(rng, shape, dtype), numbers(rng, [shape[1] if channels else 1], dtype)
    wide, weights = x.double().requires_grad_(), w.double().requires_grad_()
    y = F.prelu(wide, weights) if len(shape) > 1 else torch.where(wide > 0, wide, weights * wide)
    dy = numbers(rng, shape, dtype)
    y.backward(dy.double())
    case = f"prelu:{text(shape)}:{'channels' if channels else 'shared'}:{WORDS[dtype]}"
    x, dx, dw = laid_out(rng, x), laid_out(rng, torch.zeros_like(x)), torch.zeros_like(w)
    world.run(f"{case}{strides('x', x)}{strides('dx', dx)}", {"x": x, "w": w, "dy": dy, "dx": dx, "dw": dw})
    close(dx, wide.grad, dtype, case + ":dx")
    close(dw, weights.grad, dtype, case + ":dw", 1e-5 * (1 + x.numel() ** 0.5))


def soft_margin(rng, world, dtype):
    shape, reduction = shape_of(rng), rng.choice(("none", "sum", "mean"))
    x, t = numbers(rng, shape, dtype, rng.choice((1, 20))), numbers(rng, shape, dtype).sign()
    wide = x.double().requires_grad_()
    y = F.soft_margin_loss(wide, t.double(), reduction=reduction)
    dy = numbers(rng, shape, dtype)
    each = F.soft_margin_loss(wide, t.double(), reduction="none") / (x.numel() if reduction == "mean" else 1)
    each.backward(dy.double())
    case = f"softmargin:{text(shape)}:{reduction}:{WORDS[dtype]}"
    x, t = laid_out(rng, x), laid_out(rng, t)
    out, dx = torch.zeros(y.shape, dtype=dtype), laid_out(rng, torch.zeros_like(x))
    layout = strides("x", x) + strides("t", t)
    world.run(f"{case}:fwd{layout}", {"x": x, "t": t, "y": out})
    close(out, y, dtype, case + ":fwd", 1e-6 * y.detach().abs() * x.numel() ** 0.5)
    world.run(f"{case}:bwd{layout}{strides('dx', dx)}", {"x": x, "t": t, "dy": dy, "dx": dx})
    close(dx, wide.grad, dtype, case + ":bwd")


def multi_margin(rng, world, dtype):
    rows, classes, p = rng.randrange(1, 70), rng.randrange(1, 60), rng.choice((1, 2))
    reduction, margin = rng.choice(("none", "sum", "mean")), rng.choice((0.5, 1.0, 2.25))
    x, w = numbers(rng, (rows, classes), dtype), numbers(rng, (classes,), dtype).abs()
    t = torch.tensor([rng.randrange(classes) for _ in range(rows)])
    y = F.multi_margin_loss(x.double(), t, p, margin, w.double(), reduction=reduction)
    case = f"multimargin:{rows}x{classes}:{reduction}:{WORDS[dtype]}:p{p}:margin{margin}"
    x, out = laid_out(rng, x), torch.zeros(y.shape, dtype=dtype)
    world.run(case + strides("x", x), {"x": x, "t": t, "w": w, "y": out})
    close(out, y, dtype, case, 1e-5 * (1 + y.detach().abs()))


def adam(rng, world, dtype):
    """Some steps one after the other, parameters and moments in f32 and f64."""
    n, kind = rng.randrange(1, 300), rng.choice(("adam", "adamw"))
    amsgrad, maximize, counted = (rng.random() < 0.5 for _ in range(3))
    lr, decay = rng.choice((0.1, 0.003)), rng.choice((0, 0.05))
    start, scale = numbers(rng, (n,), torch.float32), 2 ** rng.randrange(4)
    wide = torch.nn.Parameter(start.double())
    optimiser = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind](
        [wide], lr=lr, weight_decay=decay, amsgrad=amsgrad, maximize=maximize)
    slots = {"param": start.clone(), "mean": torch.zeros(n), "square": torch.zeros(n)}
    words = [kind] + ["amsgrad"] * amsgrad + ["maximize"] * maximize
    if amsgrad:
        slots["most"] = torch.zeros(n)
    if counted:
        slots.update(step=torch.zeros(1, dtype=torch.int32), scale=torch.tensor([scale], dtype=torch.int32),
                     inf=torch.zeros(1, dtype=torch.uint8), copy=torch.zeros(n, dtype=torch.float16))
        words += ["counted", "amp", "copied", f"grad_{WORDS[dtype]}"]
    for step in range(1, 5):
        grad = numbers(rng, (n,), dtype if counted else torch.float32)
        wide.grad = grad.double() / (scale if counted else 1)
        optimiser.step()
        told = f":number{step}" if step % 2 else ""  # or brought by the execution
        case = f"adam:{n}:f32:{':'.join(words)}:lr{lr}:decay{decay}{told}"
        world.run(case, {**slots, "grad": grad}, scalars=None if told else {"number": step})
        close(slots["param"], wide, torch.float32, case, 3e-5 * lr * step)
    if not counted:
        return
    close(slots["copy"], wide, torch.float16, case + ":copy", 3e-5 * lr * step)
    assert slots["step"].item() == 4, case
    slots["inf"][0] = 1
    before = slots["param"].clone()
    world.run(case, {**slots, "grad": grad})
    assert torch.equal(before, slots["param"]) and slots["step"].item() == 4, f"{case}: not left out"


def rotate(rng, world, dtype):
    rows, row = rng.randrange(1, 20), 2 * rng.randrange(1, 60)
    x, cosine, sine = (numbers(rng, s, dtype) for s in ((rows, row), (row,), (row,)))
    wide = x.double().requires_grad_()
    turned = torch.stack((-wide[:, 1::2], wide[:, 0::2]), -1).reshape(rows, row)
    y = wide * cosine.double() + turned * sine.double()
    dy = numbers(rng, (rows, row), dtype)
    y.backward(dy.double())
    case, out, dx = f"rope:{rows}x{row}:{WORDS[dtype]}", torch.zeros_like(x), torch.zeros_like(x)
    world.run(case + ":fwd", {"x": x, "cos": cosine, "sin": sine, "y": out})
    close(out, y, dtype, case + ":fwd", 1e-6)
    world.run(case + ":bwd", {"dy": dy, "cos": cosine, "sin": sine, "dx": dx})
    close(dx, wide.grad, dtype, case + ":bwd", 1e-6)


def dropout(rng, world, dtype):
    shape, rate = shape_of(rng), rng.choice((0, 0.25, 0.5, 0.9, 1))
    x, dy = numbers(rng, shape, dtype), numbers(rng, shape, dtype)
    words = [rng.randrange(2**32) for _ in range(4)]
    state = torch.tensor([word - 2**32 if word >= 2**31 else word for word in words], dtype=torch.int32)
    kept = torch.tensor(kept_elements(words, x.numel(), rate)).reshape(shape)
    mask, out, dx = torch.zeros(x.numel(), dtype=torch.uint8), torch.zeros_like(x), torch.zeros_like(x)
    case, scale = f"dropout:{text(shape)}:{WORDS[dtype]}:drop{rate}", 0 if rate == 1 else 1 / (1 - rate)
    x, out = laid_out(rng, x), laid_out(rng, out)
    layout = strides("x", x) + strides("y", out)
    world.run(f"{case}:fwd:saved:counting{layout}", {"x": x, "y": out, "state": state, "reserve": mask})
    assert torch.equal(mask.reshape(shape).bool(), kept), f"{case}: another mask"
    close(out, x.double() * kept * scale, dtype, case + ":fwd")
    counter = (words[3] * 2**32 + words[2] + 1) % 2**64
    assert [v % 2**32 for v in state.tolist()] == [*words[:2], counter % 2**32, counter >> 32], f"{case}: not counted"
    for word, slots in (("given", {"reserve": mask}), ("drawn:counting", {"state": state})):
        world.run(f"{case}:bwd:{word}", {"dy": dy, "dx": dx, **slots})
        close(dx, dy.double() * kept * scale, dtype, f"{case}:bwd:{word}")


def function(rng, world, dtype):
    """exp, eq and where, one of their tensors broadcast."""
    shape = shape_of(rng)
    a, b = numbers(rng, shape, dtype, rng.choice((1, 20, 80))), numbers(rng, shape, dtype)
    chosen = torch.tensor([rng.randrange(3) for _ in range(a.numel())], dtype=torch.uint8).reshape(shape)
    b = torch.where(chosen.bool(), a, b)[..., :1].expand(shape)
    a, condition = laid_out(rng, a), laid_out(rng, chosen)
    out, equal = laid_out(rng, torch.zeros_like(a)), torch.zeros(shape, dtype=torch.uint8)
    case = f"{text(shape)}:{WORDS[dtype]}{strides('a', a)}"
    world.run(f"exp:{case}{strides('y', out)}", {"a": a, "y": out})
    close(out, a.double().exp(), dtype, "exp:" + case)
    case += strides("b", b)
    conditions = strides("c", condition)
    world.run(f"where:{case}{conditions}{strides('y', out)}", {"a": a, "b": b, "c": condition, "y": out})
    assert torch.equal(out, torch.where(condition.bool(), a, b)), f"where:{case}"
    world.run(f"eq:{case}", {"a": a, "b": b, "y": equal})
    assert torch.equal(equal.bool(), a == b), f"eq:{case}"


CHECKS = (activation, activation, gate, prelu, soft_margin, multi_margin, adam, rotate, dropout, function)


def main():
    spec = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(os.environ.get("RMCP_SEED") or random.randrange(2**32))
    print(f"test_torch_elements.py {spec} {rounds} {seed}")
    with World(spec) as world:
        for i in range(rounds):
            rng = random.Random(f"{seed} {i}")
            CHECKS[i % len(CHECKS)](rng, world, rng.choice(tuple(WORDS)))
        print(f"{rounds} rounds, {world.runs} runs, 0 failures")


if __name__ == "__main__":
    main()
