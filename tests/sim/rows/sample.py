"""Cases of image instructions with a sampler: filters, address modes, levels, gathers."""

import math

from case import EXACT, MEAN32, ULP16X2, Case
from image import (PLAIN, SELECTS, SHAPES, Image, addresses, bits32, f32, flags, half, in_registers, of_bits,
                   of_half, ordered, put_old, rng)
from memory import register

WRAP, MIRROR, EDGE, MIRROR_EDGE, HALF, MIRROR_HALF, BORDER, MIRROR_BORDER = range(8)
COMPARE = {0: lambda r, t: False, 1: lambda r, t: r < t, 2: lambda r, t: r == t,
           3: lambda r, t: r <= t, 4: lambda r, t: r > t, 5: lambda r, t: r != t,
           6: lambda r, t: r >= t, 7: lambda r, t: True}


class Sampler:
    def __init__(self, case, unnormalized, mip):
        self.clamp = [rng.randrange(8) for _ in range(3)]
        if unnormalized:
            self.clamp = [rng.choice((EDGE, HALF, BORDER)) for _ in range(3)]
        self.compare, self.border = rng.randrange(8), rng.randrange(3)
        self.mag, self.min = rng.randrange(2), rng.randrange(2)
        self.z, self.mip = rng.randrange(3), mip
        self.unnormalized, self.truncates = unnormalized, rng.random() < 0.3
        self.min_lod, self.max_lod = rng.choice((0, 0, 0.5)), rng.choice((15, 15, 1.25))
        self.bias = rng.choice((0, 0, -0.75, 1.5))
        case.put(1, 12, [
            self.clamp[0] | self.clamp[1] << 3 | self.clamp[2] << 6 | self.compare << 12 |
            int(unnormalized) << 15 | int(self.truncates) << 27,
            int(self.min_lod * 256) | int(self.max_lod * 256) << 12,
            int(self.bias * 256) & 0x3fff | self.mag << 20 | self.min << 22 | self.z << 24 |
            self.mip << 26, self.border << 30])


def bring_inside(i, n, clamp, linear):
    """The texel that a place on an axis means; None: the border."""
    if clamp in (MIRROR_EDGE, MIRROR_HALF, MIRROR_BORDER) and i < 0:
        i = -1 - i
    if clamp == WRAP:
        return i % n
    if clamp == MIRROR:
        return min(i % (2 * n), 2 * n - 1 - i % (2 * n))
    if clamp in (EDGE, MIRROR_EDGE) or (clamp in (HALF, MIRROR_HALF) and not linear):
        return max(0, min(n - 1, i))
    return i if 0 <= i < n else None


def axis(c, n, s, k, linear, offset):
    """[(texel, weight)]"""
    clamp = s.clamp[k]
    if not s.unnormalized:
        if clamp == WRAP:
            c = f32(c - math.floor(c))
        if clamp == MIRROR:
            c = f32(c - 2 * math.floor(c / 2))
        c = f32(c * n)
    if clamp == HALF:
        c = max(0.0, min(float(n), c))
    if clamp == MIRROR_HALF:
        c = max(-float(n), min(float(n), c))
    c = (math.floor if s.truncates and not linear else round)(f32(c * 256)) / 256
    if not linear:
        return [(bring_inside(math.floor(c) + offset, n, clamp, False), 1.0),
                (bring_inside(math.floor(c) + 1 + offset, n, clamp, False), 0.0)]
    c -= 0.5
    i = math.floor(c)
    return [(bring_inside(i + offset, n, clamp, True), 1 - (c - i)),
            (bring_inside(i + 1 + offset, n, clamp, True), c - i)]


def texel(image, s, at, level, reference):
    """Four numbers."""
    outside = None in at
    c = None if outside else image.stored(at, level)
    if c is None:
        one = image.one()
        c = [one if (x == 1 if x < 4 else s.border == 2 or s.border == 1 and k == 3) else 0
             for k, x in enumerate(image.select)]
        if reference is not None:
            c[0] = bits32(float(COMPARE[s.compare](reference, of_bits(c[0]))))
    else:
        if reference is not None:
            c[0] = bits32(float(COMPARE[s.compare](reference, of_bits(c[0]))))
        c = image.selected(c)
    return c


def axes(image, s, at, level, linear, linear_z, offset):
    n = [image.side(k, level) for k in range(3)]
    x = axis(at[0], n[0], s, 0, linear, offset[0])
    y = axis(at[1], n[1], s, 1, linear, offset[1]) if "1D" not in image.shape else [(0, 1.0)]
    z = [(0, 1.0)]
    if image.shape == "3D":
        z = axis(at[2], n[2], s, 2, linear_z, offset[2])
    elif "ARRAY" in image.shape:
        z = [(max(0, min(n[2] - 1, round(at[2]))), 1.0)]
    return x, y, z


def sample_level(image, s, at, level, filter_, offset, reference):
    linear = bool(filter_) and not image.integer
    linear_z = not image.integer and (s.z == 2 if s.z else linear)
    x, y, z = axes(image, s, at, level, linear, linear_z, offset)
    if not linear and not linear_z:
        return texel(image, s, (x[0][0], y[0][0], z[0][0]), level, reference)
    total = [0.0] * 4
    for zi, zw in z:
        for yi, yw in y:
            for xi, xw in x:
                if xw * yw * zw == 0:
                    continue
                c = texel(image, s, (xi, yi, zi), level, reference)
                total = [t + xw * yw * zw * of_bits(v) for t, v in zip(total, c)]
    return [bits32(t) for t in total]


def level_of(s, image, ask, slopes):
    """The level before and behind its limits."""
    if ask["way"] == "l":
        raw = ask["level"]
    elif ask["way"] == "lz":
        raw = 0.0
    else:
        n = [image.side(0, 0), image.side(1, 0) if image.size[1] > 1 else 0,
             image.side(2, 0) if image.shape == "3D" else 0]
        if s.unnormalized:
            n = [1 if k else 0 for k in n]
        longest = max(sum((d * k)**2 for d, k in zip(slope, n)) for slope in slopes)
        raw = (0.5 * math.log2(longest) if longest > 0 else -128) + s.bias + ask.get("bias", 0)
    level = max(min(raw, s.max_lod), s.min_lod)
    if "clamp" in ask:
        level = max(level, ask["clamp"])
    return raw, level


def sampled(image, s, ask, at, slopes):
    raw, level = level_of(s, image, ask, slopes)
    filter_ = s.min if level > 0 else s.mag
    offset, reference = ask.get("offset", (0, 0, 0)), ask.get("reference")
    level = 0 if level < 0 or not s.mip else min(level, image.levels - 1)
    if s.mip != 2 or image.integer:
        return sample_level(image, s, at, int(level + 0.5), filter_, offset, reference)
    low = int(level)
    weight = round((level - low) * 256) / 256
    c = sample_level(image, s, at, low, filter_, offset, reference)
    if weight == 0:
        return c
    d = sample_level(image, s, at, low + 1, filter_, offset, reference)
    return [bits32((1 - weight) * of_bits(a) + weight * of_bits(b)) for a, b in zip(c, d)]


def gathered(image, s, ask, at, slopes, which):
    level = level_of(s, image, ask, slopes)[1]
    level = int((0 if level < 0 or not s.mip else min(level, image.levels - 1)) + 0.5)
    x, y, z = axes(image, s, at, level, True, False, ask.get("offset", (0, 0, 0)))
    y = y * 2 if len(y) == 1 else y
    return [texel(image, s, (x[i][0], y[j][0], z[0][0]), level, ask.get("reference"))[which]
            for i, j in ((0, 1), (1, 1), (1, 0), (0, 0))]


def near_decision(s, image, ask, slopes):
    """Whether the rounding of a logarithm may turn the result: between two filters, levels or weights."""
    if ask["way"] in ("l", "lz"):
        return False
    raw, level = level_of(s, image, ask, slopes)
    return (abs(raw) < 1e-3 or s.mip == 1 and abs(level % 1 - 0.5) < 1e-3 or
            s.mip == 2 and abs(level * 256 % 1 - 0.5) < 0.05)


def parse(name):
    words = name.split("_")[2:]
    return {"c": "c" in words, "o": "o" in words, "g16": "g16" in words,
            "way": next((w for w in words if w in ("l", "lz", "b", "d", "cd")), ""),
            "cl": "cl" in words}


N_GRADIENTS = {"1D": 1, "2D": 2, "3D": 3, "1D_ARRAY": 1, "2D_ARRAY": 2}


def coordinate(size, k, shape, unnormalized):
    """At an edge of texels, or away from it."""
    if k == 2 and shape != "3D":
        return float(rng.randint(-1, size[2]))
    n = size[k]
    beside = rng.choice((1 / 16, 1 / 16, -1 / 1024, -1 / 300))
    x = rng.randint(-8 * n, 16 * n) / 8 + beside if not unnormalized else \
        rng.randint(-8, 8 * n + 8) / 8 + beside
    return f32(x if unnormalized else x / n)


def cases_of(name, chip):
    what = parse(name)
    gathers, asks = "gather4" in name, name == "image_get_lod"
    for shape in SHAPES:
        if gathers and shape in ("1D", "3D", "1D_ARRAY"):
            continue
        for k in range(3):
            c = Case(name, "MIMG", "", chip=chip)
            fmt = rng.choice((22, 56, 29, 50, 71, 1)) if not what["c"] else rng.choice((22, 1))
            if k == 2 and not what["c"]:
                fmt = rng.choice((60, 20))
            size = {"1D": (16, 1, 1), "2D": (8, 4, 1), "3D": (8, 2, 2), "1D_ARRAY": (16, 1, 3),
                    "2D_ARRAY": (4, 4, 2)}[shape]
            unnormalized = k == 1 and what["way"] in ("l", "lz")
            levels = 1 if unnormalized else rng.choice((1, 2))
            while not 256 * sum(max(1, size[1] >> l) for l in range(levels)) * size[2] <= 3840:
                levels = 1
            c.exec = rng.getrandbits(32) | 1
            image = Image(c, shape, fmt, size, rng.choice(SELECTS) if not what["c"] else PLAIN, levels)
            s = Sampler(c, unnormalized, 0 if unnormalized else rng.randrange(3))
            a16 = rng.random() < 0.2 and not asks
            at = []
            for i in range(32):
                at.append([coordinate(size, n, shape, unnormalized) for n in range(3)])
                if what["way"] in ("", "b"):  # lanes in fours have slopes of no wild length
                    at[i] = [f32(at[i - i % 4][n] + (i % 4) * 0.11 / size[n]) if n < 2 or shape == "3D"
                             else at[i - i % 4][n] for n in range(3)] if i % 4 else at[i]
            if a16:
                at = [[of_half(half(x)) for x in p] for p in at]
            asked, columns = [], []
            n_g = N_GRADIENTS[shape]
            for i in range(32):
                ask, row = {"way": what["way"]}, []
                if what["o"]:
                    ask["offset"] = [rng.randint(-9, 9) for _ in range(3)]
                    row.append(sum((o & 63) << 8 * n for n, o in enumerate(ask["offset"])))
                if what["way"] == "b":
                    ask["bias"] = rng.choice((-1.5, 0.25, 1.0))
                    row.append(half(ask["bias"]) if a16 else bits32(ask["bias"]))
                if what["c"]:
                    ask["reference"] = rng.randint(-64, 64) / 8 if fmt == 22 else rng.random()
                    ask["reference"] = f32(ask["reference"])
                    row.append(bits32(ask["reference"]))
                if what["way"] in ("d", "cd"):
                    ask["slopes"] = [[rng.choice((0.03125, 0.125, 0.5, 0.0625)) for _ in range(n_g)]
                                     for _ in range(2)]
                    for slope in ask["slopes"]:
                        if what["g16"]:
                            h = [half(x) for x in slope] + [0]
                            row += [h[n] | h[n + 1] << 16 for n in range(0, n_g, 2)]
                        else:
                            row += [bits32(x) for x in slope]
                parts = ordered(shape, at[i])
                if what["way"] == "l":
                    ask["level"] = rng.choice((-1.0, 0.0, 0.25, 0.75, 3.0))
                    parts.append(ask["level"])
                if what["cl"]:
                    ask["clamp"] = rng.choice((0.0, 0.75, 0.25))
                    parts.append(ask["clamp"])
                if a16:
                    h = [half(x) for x in parts] + [0]
                    row += [h[n] | h[n + 1] << 16 for n in range(0, len(parts), 2)]
                else:
                    row += [bits32(x) for x in parts]
                asked.append(ask)
                columns.append(row)
            n = len(columns[0])
            if n > 11:
                continue
            for w in range(n):
                c.put(0, w, [row[w] for row in columns])
            first = 12
            mask = 1 << rng.randrange(4) if gathers else rng.randint(1, 15)
            d16 = not gathers and not asks and not image.integer and rng.random() < 0.2
            words = 4 if gathers else bin(mask).count("1")
            words = (words + 1) // 2 if d16 else words
            old = put_old(c, words, first)
            c.text = "%s %s, %s, s[4:11], s[12:15]%s" % (
                name, register(first, words), addresses(0, n, rng.random() < 0.4),
                flags(shape, mask, d16, a16, unorm=False))
            result = [list(r) for r in old]
            for i in range(32):
                if not c.exec >> i & 1:
                    continue
                ask = asked[i]
                slopes = [list(x) + [0] * (3 - n_g) for x in ask["slopes"]] if "slopes" in ask else [
                    [f32(at[i | bit][n] - at[i & ~bit][n]) for n in range(3)] for bit in (1, 2)]
                if "1D" in shape:
                    slopes = [[x[0], 0, 0] for x in slopes]
                if near_decision(s, image, ask, slopes):
                    c.exec &= ~(1 << i)
                    continue
                if asks:
                    raw, level = level_of(s, image, ask, slopes)
                    values = [bits32(level), bits32(raw), 0, 0]
                elif gathers:
                    values = gathered(image, s, ask, at[i], slopes, mask.bit_length() - 1)
                else:
                    values = sampled(image, s, ask, at[i], slopes)
                for w, v in enumerate(in_registers(values, 15 if gathers else mask, d16,
                                                   image.integer)):
                    result[w][i] = v
            kind = EXACT if image.integer and not asks else ULP16X2 if d16 else MEAN32
            for w in range(words):
                c.expect(0, first + w, result[w], [kind] * 32)
            image.memory.done()
            yield c
