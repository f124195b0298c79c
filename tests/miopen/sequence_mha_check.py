"""sequence_mha_check.py: what multi-head attention should have computed, by PyTorch's autograd in double precision."""
import math

import torch

U = 2.0**-24
FIRST = 4  # the number of K among the tensors of a problem
IDS = {name: i + FIRST for i, name in enumerate((
    "K Q V DescaleK DescaleQ DescaleV DescaleS ScaleS ScaleO DropoutProbability DropoutSeed DropoutOffset O AmaxO "
    "AmaxS M ZInv DO DescaleO DescaleDO DescaleDS ScaleDS ScaleDQ ScaleDK ScaleDV DQ DK DV AmaxDQ AmaxDK AmaxDV AmaxDS "
    "Bias").split())}


def philox(counter, key):
    """Four words of Philox4x32-10."""
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = ((b >> 32) ^ counter[1] ^ key[0], b & 0xFFFFFFFF, (a >> 32) ^ counter[3] ^ key[1], a & 0xFFFFFFFF)
        key = (key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF
    return counter


def mask(shape, share, seed, offset):
    """What dropout multiplies each weight by: the numbers are ours, the original has others."""
    count, words = math.prod(shape), []
    low = 2**32 - 1
    for block in range((count + 3) // 4):
        words += philox((block, 0, offset & low, offset >> 32), (seed & low, seed >> 32))
    kept = torch.tensor([word >= int(share * 2**32) for word in words[:count]], dtype=torch.float64)
    return (kept / (1 - share)).reshape(shape)


def check(record, read, worst):
    """[(tensor, largest error in units of the bound)]; read(name, key) is a tensor, a flat one of f32 without a key."""
    kind, f = record["x.type"], read("factors", None)
    factor = lambda name: float(f[IDS[name] - FIRST])
    scale, share, got = float(record["scale"]), float(record["drop"]), []
    q, k, v, do = (read(name, "x") * factor(f"Descale{name.upper()}") for name in ("q", "k", "v", "do"))
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    scores = leaves[0] @ leaves[1].transpose(2, 3) * scale
    if record["bias"] == "1":
        scores = scores + read("bias", "scores")
    if record["causal"] == "1":
        scores = scores.masked_fill(torch.ones(scores.shape[2:]).tril() == 0, -math.inf)
    weights = scores.softmax(3)
    keep = mask(scores.shape, share, int(record["seed"]), int(record["offset"])) if share else torch.ones(scores.shape)
    o = weights * keep @ leaves[2]
    o.backward(do)
    scores, weights, o = scores.detach(), weights.detach(), o.detach()
    most = scores.amax(3, keepdim=True)
    inverse = 1 / (scores - most).exp().sum(3, keepdim=True)
    depth, n = q.shape[3], q.shape[2]
    length, along = U * (2 * math.sqrt(n) + 16), U * (2 * math.sqrt(depth) + 6)

    # What rounding makes of scores, relatively of weights, and of the gradients of scores.
    off = float((q.abs() @ k.abs().transpose(2, 3)).max()) * abs(scale) * along + 2 * U * float(most.abs().max())
    far = float((most - scores).clamp(max=90).max())
    relative = 3 * off + U * (64 + 8 * far + n / 64)
    g = do @ v.transpose(2, 3) * keep
    g_off = do.abs() @ v.abs().transpose(2, 3) * keep * along
    delta = (weights * g).sum(3, keepdim=True)
    ds = weights * (g - delta) * scale
    ds_size = weights * (g.abs() + (weights * g.abs()).sum(3, keepdim=True)) * abs(scale)
    ds_off = ds_size * (3 * relative + length) + weights * abs(scale) * (g_off + (weights * g_off).sum(3, keepdim=True))

    def add(name, want, bound, what="f32", key=None, value=None):
        got.append((name, worst(read(name, key) if value is None else value, want, bound, what)))

    s, back = factor("ScaleS") * factor("DescaleS"), factor("ScaleDS") * factor("DescaleDS")
    add("m", most, torch.full_like(most, off), "f32", "rows")
    add("zinv", inverse, relative * inverse, "f32", "rows")
    products = {
        "o": (o * s, (weights * keep @ v.abs()) * abs(s) * (relative + length), "ScaleO"),
        "dq": (leaves[0].grad * back, (ds_off + length * ds_size) @ k.abs() * abs(back), "ScaleDQ"),
        "dk": (leaves[1].grad * back, (ds_off + length * ds_size).transpose(2, 3) @ q.abs() * abs(back), "ScaleDK"),
        "dv": (leaves[2].grad * s, (weights * keep).transpose(2, 3) @ do.abs() * abs(s) * (relative + length),
               "ScaleDV"),
    }
    for name, (want, bound, last) in products.items():
        add(name, want * factor(last), bound * abs(factor(last)), kind, "x")
    amax = read("amax", None)
    largest = {"o": 0, "weights": 1, "dq": 2, "dk": 3, "dv": 4, "ds": 5}
    pairs = products | {"weights": (weights, relative * weights), "ds": (ds, ds_off)}
    for name, at in largest.items():
        want, bound = pairs[name][:2]
        add("amax-" + name, want.abs().max(), bound.max() + 4 * U * want.abs().max(), value=amax[at])
    return got
