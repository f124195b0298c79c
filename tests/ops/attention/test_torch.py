#!/usr/bin/env python3
"""test_torch.py: multi-head attention against PyTorch: values, statistics and all gradients of drawn problems, with
dropout and factors.

usage: test_torch.py [DEVICE [PROBLEMS [SEED]]], by default 40 problems on the CPU device. PyTorch computes in double.
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


FACTORS = ("from_q", "from_k", "from_v", "from_s", "from_do", "from_ds", "to_s", "to_o", "to_ds", "to_dq", "to_dk",
           "to_dv", "drop")


def philox(counter, key):
    """Four words of Philox4x32-10."""
    counter, key = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(b >> 32) ^ counter[1] ^ key[0], b & 0xFFFFFFFF, (a >> 32) ^ counter[3] ^ key[1], a & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def mask(shape, state, share):
    """What dropout multiplies each weight by."""
    count, words = torch.Size(shape).numel(), []
    for block in range((count + 3) // 4):
        words += philox((block, 0, state[2], state[3]), state[:2])
    kept = torch.tensor([word >= int(share * 2**32) for word in words[:count]], dtype=torch.float64)
    return (kept / (1 - share)).reshape(shape)


def check_factors(device, seed):
    """Tensors as a network in eight bits has them, but in other types: t * factor is what is meant."""
    r = random.Random(seed)
    torch.manual_seed(seed)
    name = r.choice(tuple(NAMES))
    n, heads, queries, depth = r.randint(1, 2), r.randint(1, 3), r.randint(2, 20), r.randint(1, 20)
    # with one key all gradients of scores are 0
    keys, causal = r.choice((queries, r.randint(2, 40))), r.random() < 0.4
    scale, share = depth ** -0.5, r.choice((0, 0.1, 0.5))
    f = {word: r.choice((0.5, 1.25, 2.0)) for word in FACTORS} | {"drop": share}
    share = torch.tensor(share, dtype=torch.float32).item()
    state = [r.randrange(2**32) for _ in range(4)]
    stored = torch.tensor([word - 2**32 if word >= 2**31 else word for word in state], dtype=torch.int32)
    q, do = (torch.randn(n, heads, queries, depth).to(NAMES[name]) for _ in range(2))
    k, v = (torch.randn(n, heads, keys, depth).to(NAMES[name]) for _ in range(2))
    given = {"q": q, "k": k, "v": v, "state": stored,
             "factors": torch.tensor([f[word] for word in FACTORS], dtype=torch.float32)}
    text = (f"attention:{n}x{heads}x{queries}x{depth}:{name}:{'causal' if causal else 'full'}:scale{scale}:keys{keys}"
            ":factors")
    rows = (n, heads, queries)
    ours = case_torch.run(device, text + ":fwd:saved", given, {"o": q.shape, "m": rows, "zinv": rows, "amax": (2,)})
    wide = [(t.double() * f[word]).requires_grad_(True) for t, word in ((q, "from_q"), (k, "from_k"), (v, "from_v"))]
    scores = wide[0] @ wide[1].transpose(2, 3) * scale
    if causal:
        scores = scores.masked_fill(torch.ones(queries, keys).tril() == 0, float("-inf"))
    weights = scores.softmax(3)
    weights.retain_grad()
    o = weights * mask(scores.shape, state, share) @ wide[2]
    o.backward(do.double() * f["from_do"])
    most = scores.amax(3)
    s, ds = f["to_s"] * f["from_s"], f["to_ds"] * f["from_ds"]
    expected = {"o": o * s * f["to_o"], "m": most, "zinv": 1 / (scores - most[..., None]).exp().sum(3),
                "amax": torch.stack((weights.max(), (o * s).abs().max()))}
    good = compare(ours, expected, case_torch.CLOSE[NAMES[name]], text, seed)
    given |= {"m": most.detach().float(), "zinv": expected["zinv"].detach().float(), "do": do}
    ours = case_torch.run(device, text + ":bwd", given, {"dq": q.shape, "dk": k.shape, "dv": v.shape, "amax": (4,)})
    # Gradients of the scores, which the products then have.
    gradient = weights * (weights.grad - (weights * weights.grad).sum(3, keepdim=True)) * scale
    means = [t.grad * factor for t, factor in zip(wide, (ds, ds, s))]
    expected = {word: t * f[f"to_{word}"] for word, t in zip(("dq", "dk", "dv"), means)}
    expected["amax"] = torch.stack([gradient.abs().max()] + [t.abs().max() for t in means])
    floor = cancelled(weights.detach(), weights.grad, wide[0].detach(), wide[1].detach(), scale)
    floor = {word: value * ds * f[f"to_{word}"] for word, value in floor.items()}
    return compare(ours, expected, case_torch.CLOSE[NAMES[name]], text, seed, floor) and good


def cancelled(weights, gradients, q, k, scale):
    """What rounding in f32 leaves in dq and dk where gradients of scores cancel; with one key all do."""
    terms = weights * (gradients.abs() + (weights * gradients).sum(3, keepdim=True).abs()) * abs(scale) * 32 * 2.0**-24
    return {"dq": (terms @ k.abs()).max().item(), "dk": (terms.transpose(2, 3) @ q.abs()).max().item()}


def compare(ours, expected, close, text, seed, floor={}):
    good = True
    for name, value in ours.items():
        far = case_torch.distance(value, expected[name].detach())
        if not (far <= close or (value.double() - expected[name]).abs().max() <= floor.get(name, 0)):
            print(f"wrong: {text}, {name}, seed {seed}: {far:.2e} beyond {close:.2e}")
            good = False
    return good


def check(device, seed):
    r = random.Random(seed)
    torch.manual_seed(seed)
    name = r.choice(tuple(NAMES))
    dtype = NAMES[name]
    n, heads, queries, depth = r.randint(1, 3), r.randint(1, 4), r.randint(1, 60), r.randint(1, 40)
    keys = r.choice((queries, r.randint(1, 300)))
    causal, biased, scale = r.random() < 0.4, r.random() < 0.4, r.choice((1.0, depth ** -0.5))
    q, do = (torch.randn(n, heads, queries, depth).to(dtype) for _ in range(2))
    k, v = (torch.randn(n, heads, keys, depth).to(dtype) for _ in range(2))
    bias = torch.randn(n, heads, queries, keys) if biased else None
    text = f"attention:{n}x{heads}x{queries}x{depth}:{name}:{'causal' if causal else 'full'}:scale{scale}:keys{keys}" \
           f":{'bias' if biased else 'unbiased'}"
    given = {"q": q, "k": k, "v": v} | ({"bias": bias} if biased else {})
    rows = (n, heads, queries)
    ours = case_torch.run(device, text + ":fwd:saved", given, {"o": q.shape, "m": rows, "zinv": rows})

    wide = [t.double().requires_grad_(True) for t in (q, k, v)]
    scores = wide[0] @ wide[1].transpose(2, 3) * scale + (bias.double() if biased else 0)
    if causal:
        scores = scores.masked_fill(torch.ones(queries, keys).tril() == 0, float("-inf"))
    most = scores.amax(3)
    weights = scores.softmax(3)
    weights.retain_grad()
    o = weights @ wide[2]
    o.backward(do.double())
    expected = {"o": o, "m": most, "zinv": 1 / (scores - most[..., None]).exp().sum(3)}
    given |= {"m": most.detach().float(), "zinv": expected["zinv"].detach().float(), "do": do}
    ours |= case_torch.run(device, text + ":bwd", given, {"dq": q.shape, "dk": k.shape, "dv": v.shape})
    expected |= {name: t.grad for name, t in zip(("dq", "dk", "dv"), wide)}
    floor = cancelled(weights.detach(), weights.grad, wide[0].detach(), wide[1].detach(), scale)
    return compare(ours, expected, case_torch.CLOSE[dtype], text, seed, floor)


def main():
    device = rmcp.Device(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(os.environ.get("RMCP_SEED") or random.randrange(10**6))
    print(f"seed {seed}")
    wrong = sum(not check(device, seed + i) for i in range(count))
    wrong += sum(not check_factors(device, seed + i) for i in range(count))
    print(f"{2 * count} problems, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
