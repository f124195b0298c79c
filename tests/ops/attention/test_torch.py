#!/usr/bin/env python3
"""test_torch.py: multi-head attention against PyTorch: values, statistics and all gradients of drawn problems.

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
    o = scores.softmax(3) @ wide[2]
    o.backward(do.double())
    expected = {"o": o, "m": most, "zinv": 1 / (scores - most[..., None]).exp().sum(3)}
    given |= {"m": most.detach().float(), "zinv": expected["zinv"].detach().float(), "do": do}
    ours |= case_torch.run(device, text + ":bwd", given, {"dq": q.shape, "dk": k.shape, "dv": v.shape})
    expected |= {name: t.grad for name, t in zip(("dq", "dk", "dv"), wide)}
    close, good = case_torch.CLOSE[dtype], True
    for name, value in ours.items():
        far = case_torch.distance(value, expected[name].detach())
        if not far <= close:
            print(f"wrong: {text}, {name}, seed {seed}: {far:.2e} beyond {close:.2e}")
            good = False
    return good


def main():
    device = rmcp.Device(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(os.environ.get("RMCP_SEED") or random.randrange(10**6))
    print(f"seed {seed}")
    wrong = sum(not check(device, seed + i) for i in range(count))
    print(f"{count} problems, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
