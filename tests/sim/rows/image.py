"""Cases of image instructions: loads, stores, atomics, sizes, samples, computed from the descriptors."""

import math
import random
import struct

from case import EXACT, MEAN32, ULP16X2, Case
from memory import DATA, M32, Memory, atomic, operand, packed, register, unpacked

rng = random.Random(19)

# Shapes: number in the instruction, type in the descriptor, coordinates; and how they are named.
SHAPES = {"1D": (0, 8), "2D": (1, 9), "3D": (2, 10), "1D_ARRAY": (4, 12), "2D_ARRAY": (5, 13)}
PLAIN = (4, 5, 6, 7)
# gfx10 number: widths of the components from the lowest bit on, kind
FORMATS = {1: ((8,), "unorm"), 6: ((8,), "sint"), 11: ((16,), "uint"), 13: ((16,), "float"),
           15: ((8, 8), "snorm"), 22: ((32,), "float"), 20: ((32,), "uint"), 29: ((16, 16), "float"),
           56: ((8, 8, 8, 8), "unorm"), 60: ((8, 8, 8, 8), "uint"), 61: ((8, 8, 8, 8), "sint"),
           50: ((10, 10, 10, 2), "unorm"), 71: ((16, 16, 16, 16), "float"),
           69: ((16, 16, 16, 16), "uint"), 133: ((5, 6, 5), "unorm"), 134: ((5, 5, 5, 1), "unorm"),
           135: ((1, 5, 5, 5), "unorm"), 136: ((4, 4, 4, 4), "unorm"), 77: ((32,) * 4, "float")}


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def bits32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def of_bits(u):
    return struct.unpack("<f", struct.pack("<I", u))[0]


def half(x):
    return struct.unpack("<H", struct.pack("<e", x))[0]


def of_half(u):
    return struct.unpack("<e", struct.pack("<H", u))[0]


class Image:
    """An image in lines in the memory of a case."""

    def __init__(self, case, shape, fmt, size, select=PLAIN, levels=1, first_level=0, first_layer=0):
        self.shape, self.fmt, self.size, self.select = shape, fmt, size, select
        self.widths, self.kind = FORMATS[fmt]
        self.integer = self.kind in ("uint", "sint")
        self.bytes = sum(self.widths) // 8
        self.levels, self.first_level, self.first_layer = levels, first_level, first_layer
        self.memory = Memory(case, 3)
        if self.kind == "float":  # numbers, and not too different
            for at in range(0, 4096, self.widths[0] // 8):
                x = rng.randint(-64, 64) / 8
                value = half(x) if self.widths[0] == 16 else bits32(x)
                self.memory.write(at, self.widths[0] // 8, value)
            case.put(3, 0, self.memory.words())
        self.case = case
        w, h, d = size
        depth = first_layer + d - 1 if "ARRAY" in shape else d - 1 if shape == "3D" else 0
        word3 = sum(s << 3 * k for k, s in enumerate(select)) | first_level << 12
        word3 |= first_level + levels - 1 << 16 | SHAPES[shape][1] << 28
        self.words = [DATA >> 8 & M32, DATA >> 40 | fmt << 20 | (w - 1 & 3) << 30,
                      w - 1 >> 2 | h - 1 << 14 | 1 << 31, word3, depth | first_layer << 16,
                      first_level + levels - 1 << 4, 0, 0]
        case.put(1, 4, self.words)

    def side(self, k, level):
        if k == 2 and self.shape != "3D":
            return self.size[2]
        return max(1, self.size[k] >> self.first_level + level)

    def lines(self, level):
        texels = 256 // self.bytes
        w, h = max(1, self.size[0] >> level), max(1, self.size[1] >> level)
        return -(-w // texels) * texels, h

    def place(self, at, level=0):
        """Bytes from the beginning; None outside."""
        if level >= self.levels:
            return None
        if any(not 0 <= at[k] < self.side(k, level) for k in range(3)):
            return None
        level += self.first_level
        every = [self.lines(i) for i in range(self.first_level + self.levels)]
        slice_ = sum(p * h for p, h in every)
        before = sum(p * h for p, h in every[level + 1:])
        z = at[2] + self.first_layer
        return (slice_ * z + before + every[level][0] * at[1] + at[0]) * self.bytes

    def one(self):
        return 1 if self.integer else bits32(1.0)

    def selected(self, c):
        return [c[s & 3] if s >= 4 else self.one() if s == 1 else 0 for s in self.select]

    def stored(self, at, level=0):
        """The four components of a texel, before the selection."""
        place = self.place(at, level)
        if place is None:
            return None
        element, c = self.memory.read(place, self.bytes), [0, 0, 0, self.one()]
        shift = 0
        for k, width in enumerate(self.widths):
            c[k] = unpacked(element >> shift & (1 << width) - 1, width, self.kind)
            shift += width
        return c

    def load(self, at, level=0):
        c = self.stored(at, level)
        return self.selected(c if c else [0] * 4)

    def store(self, at, components, level=0):
        place = self.place(at, level)
        if place is None:
            return
        c = [0] * 4
        for k in (3, 2, 1, 0):
            if self.select[k] >= 4:
                c[self.select[k] & 3] = components[k]
        element = shift = 0
        for k, width in enumerate(self.widths):
            element |= packed(c[k], width, self.kind) << shift
            shift += width
        self.memory.write(place, self.bytes, element)


def ordered(shape, at):
    """Coordinates as the instruction has them."""
    x, y, z = at
    return {"1D": [x], "2D": [x, y], "3D": [x, y, z], "1D_ARRAY": [x, z],
            "2D_ARRAY": [x, y, z]}[shape]


def put_addresses(c, columns, a16, first=0):
    """Each lane's words (with a16 the parts are halves), and the number of registers."""
    if a16:
        columns = [[(row[k] & 0xffff) | ((row[k + 1] & 0xffff) << 16 if k + 1 < len(row) else 0)
                    for k in range(0, len(row), 2)] for row in columns]
    for k in range(len(columns[0])):
        c.put(0, first + k, [row[k] for row in columns])
    return len(columns[0])


def sizes(shape):
    return {"1D": (13, 1, 1), "2D": (9, 6, 1), "3D": (7, 3, 2), "1D_ARRAY": (11, 1, 4),
            "2D_ARRAY": (5, 3, 3)}[shape]


def fits(shape, fmt, levels=1):
    w, h, d = sizes(shape)
    texels = 256 // (sum(FORMATS[fmt][0]) // 8)
    return h * d * 256 * (2 if levels > 1 else 1) <= 3840


def lanes_at(c, size):
    """Texels of each lane, some outside."""
    at = []
    for i in range(32):
        p = [rng.randrange(n) for n in size]
        if i % 5 == 0:
            k = rng.choice([k for k in range(3) if size[k] > 1])
            p[k] = size[k] + rng.choice((0, 3))
        at.append(p)
    return at


def flags(shape, mask, d16=False, a16=False, unorm=True, nsa=False):
    return (" dmask:0x%x dim:SQ_RSRC_IMG_%s" % (mask, shape) + (" unorm" if unorm else "") +
            (" a16" if a16 else "") + (" d16" if d16 else ""))


def addresses(first, n, nsa):
    if nsa and n > 1:
        return "[%s]" % ", ".join("v%d" % (first + k) for k in range(n))
    return register(first, n)


def in_registers(values, mask, d16, integer, old):
    """Words of a lane after a load of these four components."""
    v = [values[k] for k in range(4) if mask >> k & 1]
    if not d16:
        return v
    h = [x & 0xffff if integer else half(of_bits(x)) for x in v]
    return [h[k] | (h[k + 1] << 16 if k + 1 < len(h) else 0) for k in range(0, len(h), 2)]


SELECTS = (PLAIN, (6, 5, 4, 7), (4, 0, 0, 1), (5, 6, 7, 4), (4, 4, 4, 1))


def put_old(c, n, first=8):
    old = [[rng.getrandbits(32) for _ in range(32)] for _ in range(n)]
    for k in range(n):
        c.put(0, first + k, old[k])
    return old


def image_load(name, chip):
    mip, raw = "mip" in name, "pck" in name
    for shape in SHAPES:
        for fmt in FORMATS:
            levels = 2 if mip else 1
            if not fits(shape, fmt, levels) or rng.random() < 0.5:
                continue
            c = Case(name, "MIMG", "", chip=chip)
            c.exec = rng.getrandbits(32) | 1
            size = sizes(shape)
            image = Image(c, shape, fmt, size, rng.choice(SELECTS), levels)
            mask, d16 = rng.randint(1, 15), not raw and rng.random() < 0.25
            a16 = rng.random() < 0.25
            if image.kind == "float" and image.widths[0] == 32:
                d16 = False
            at = lanes_at(c, size)
            level = [rng.randrange(levels + 1) if mip else 0 for _ in range(32)]
            columns = [ordered(shape, p) + ([l] if mip else []) for p, l in zip(at, level)]
            n = put_addresses(c, columns, a16)
            words = bin(mask).count("1")
            words = (words + 1) // 2 if d16 else words
            old = put_old(c, words)
            c.text = "%s %s, %s, s[4:11]%s" % (name, register(8, words),
                                               addresses(0, n, rng.random() < 0.5),
                                               flags(shape, mask, d16, a16))
            result = [list(r) for r in old]
            for i in range(32):
                if not c.exec >> i & 1:
                    continue
                if raw:
                    place = image.place(at[i], level[i])
                    values = [0] * 4
                    if place is not None:
                        element = image.memory.read(place, image.bytes)
                        values = [element >> 32 * k & M32 for k in range(4)]
                        if "sgn" in name and image.bytes < 4:
                            sign = 1 << 8 * image.bytes - 1
                            values[0] = (element ^ sign) - sign & M32
                else:
                    values = image.load(at[i], level[i])
                for k, v in enumerate(in_registers(values, mask, d16, image.integer, old)):
                    result[k][i] = v
            for k in range(words):
                c.expect(0, 8 + k, result[k], [ULP16X2 if d16 and not image.integer else EXACT] * 32)
            image.memory.done()
            yield c


def component(image, k):
    width = image.widths[k] if k < len(image.widths) else 8
    if image.integer:
        return rng.getrandbits(rng.choice((4, width, 32)))
    if image.kind == "float":
        return bits32(rng.randint(-64, 64) / 8)
    top = (1 << width) - 1 if image.kind == "unorm" else (1 << width - 1) - 1 if width > 1 else 1
    low = -top if image.kind == "snorm" else -3
    return bits32((rng.randint(low, top + 3) + 0.1) / top)


def image_store(name, chip):
    mip, raw = "mip" in name, "pck" in name
    for shape in SHAPES:
        for fmt in FORMATS:
            levels = 2 if mip else 1
            if not fits(shape, fmt, levels) or rng.random() < 0.5:
                continue
            c = Case(name, "MIMG", "", chip=chip)
            c.exec = rng.getrandbits(32) | 1
            size = sizes(shape)
            select = rng.choice(SELECTS)
            image = Image(c, shape, fmt, size, select, levels)
            mask = rng.randint(1, 15)
            at, seen = lanes_at(c, size), set()
            level = [rng.randrange(levels + 1) if mip else 0 for _ in range(32)]
            for i in range(32):  # each texel once
                key = tuple(at[i]) + (level[i],)
                if key in seen:
                    c.exec &= ~(1 << i)
                seen.add(key)
            columns = [ordered(shape, p) + ([l] if mip else []) for p, l in zip(at, level)]
            n = put_addresses(c, columns, False)
            words = bin(mask).count("1")
            rows = [[component(image, min(k, len(image.widths) - 1)) for _ in range(32)]
                    for k in range(words)]
            d16 = not raw and image.kind == "float" and rng.random() < 0.4
            shown = rows
            if d16:
                h = [[half(of_bits(v)) for v in r] for r in rows] + [[0] * 32]
                shown = [[a | b << 16 for a, b in zip(h[k], h[k + 1])] for k in range(0, words, 2)]
            for k, row in enumerate(shown):
                c.put(0, 8 + k, row)
            c.text = "%s %s, %s, s[4:11]%s" % (name, register(8, len(shown)),
                                               addresses(0, n, rng.random() < 0.5),
                                               flags(shape, mask, d16))
            for i in range(32):
                if not c.exec >> i & 1:
                    continue
                given = iter(rows)
                values = [next(given)[i] if mask >> k & 1 else 0 for k in range(4)]
                place = image.place(at[i], level[i])
                if raw and place is not None:
                    element = sum(v << 32 * k for k, v in enumerate(values))
                    image.memory.write(place, image.bytes, element)
                elif not raw:
                    image.store(at[i], values, level[i])
            image.memory.done()
            yield c


def image_atomic(name, chip):
    kind = name.split("atomic_")[1]
    compares = "cmpswap" in kind
    for k in range(8):
        wide, returns = k % 4 == 3, k & 1
        bits = 64 if wide else 32
        shape = rng.choice(list(SHAPES))
        c = Case(name, "MIMG", "", chip=chip)
        size = {"1D": (32, 1, 1)}.get(shape, (32, 1, 2) if shape == "1D_ARRAY" else
                                      (16, 2, 1) if shape == "2D" else (16, 2, 2))
        FORMATS[62] = ((32, 32), "uint")
        image = Image(c, shape, 62 if wide else 20, size)
        texels = [(x, y, z) for x in range(size[0]) for y in range(size[1]) for z in range(size[2])]
        at = [list(p) for p in rng.sample(texels, 32)]
        at[3][0] = 99  # outside
        words, result = bits // 32, []
        c.exec = rng.getrandbits(32) | 8
        data = []
        for i in range(32):
            old, value, other = operand(kind, bits)
            place = image.place(at[i])
            data.append(value | other << bits if compares else value)
            if place is not None:
                image.memory.write(place, bits // 8, old)
            result.append((place, old, value, other))
        c.put(3, 0, image.memory.words())
        n_data = words * (2 if compares else 1)
        c.put_wide(8, data, n_data)
        n = put_addresses(c, [ordered(shape, p) for p in at], False)
        mask = (1 << n_data) - 1
        c.text = "%s %s, %s, s[4:11]%s%s" % (name, register(8, n_data), addresses(0, n, k & 2),
                                             flags(shape, mask), " glc" if returns else "")
        after = list(data)
        for i, (place, old, value, other) in enumerate(result):
            if not c.exec >> i & 1:
                continue
            if place is not None:
                image.memory.write(place, bits // 8, atomic(kind, bits, old, value, other))
            if returns:
                keep = data[i] >> bits << bits
                after[i] = keep | (old if place is not None else 0)
        for w in range(n_data):
            c.expect(0, 8 + w, [v >> 32 * w & M32 for v in after])
        image.memory.done()
        yield c


def resinfo(name, chip):
    for shape in SHAPES:
        c = Case(name, "MIMG", "", chip=chip)
        size = (300, 1 if "1D" in shape else 40, 1 if shape in ("1D", "2D") else 10)
        image = Image(c, shape, 56, size, levels=5, first_layer=2 if "ARRAY" in shape else 0)
        level = [rng.randrange(6) for _ in range(32)]
        c.put(0, 0, level)
        put_old(c, 4)
        c.text = "%s v[8:11], v0, s[4:11]%s" % (name, flags(shape, 15))
        rows = []
        for l in level:
            s = [image.side(k, l) for k in range(3)] if l < 5 else [0, 0, 0]
            if shape == "1D_ARRAY":
                s[1] = s[2]
            rows.append(s + [5])
        for k in range(4):
            c.expect(0, 8 + k, [r[k] for r in rows])
        image.memory.done()
        yield c


# ---- samplers ----

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
            int(unnormalized) << 15 | int(self.truncates) << 27, int(self.min_lod * 256) | int(self.max_lod * 256) << 12,
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


def near_decision(s, image, ask, at, slopes):
    """Whether rounding may turn the result: between two levels, filters or texels."""
    raw, level = level_of(s, image, ask, slopes)
    if abs(raw) < 1e-3 or s.mip == 1 and abs(level % 1 - 0.5) < 1e-3:
        return ask["way"] not in ("l", "lz")
    if s.mip == 2 and ask["way"] not in ("l", "lz") and level * 256 % 1 - 0.5 < 0.05:
        return abs(level * 256 % 1 - 0.5) < 0.05
    return False


def parse(name):
    words = name.split("_")[2:] if name.startswith("image_sample") else name.split("_")[2:]
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


def sample(name, chip):
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
                if near_decision(s, image, ask, at[i], slopes):
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
                                                   image.integer, old)):
                    result[w][i] = v
            kind = EXACT if image.integer and not asks else ULP16X2 if d16 else MEAN32
            for w in range(words):
                c.expect(0, first + w, result[w], [kind] * 32)
            image.memory.done()
            yield c


def cases(rows):
    result = []
    for row in rows:
        name, encoding, chips = row[0], row[1], row[4]
        if encoding != "MIMG":
            continue
        chip = min(k for k in range(5) if chips >> k & 1)
        make = (image_atomic if "atomic" in name else resinfo if "resinfo" in name else
                image_load if name.startswith("image_load") else
                image_store if name.startswith("image_store") else sample)
        result += make(name, chip)
    return result
