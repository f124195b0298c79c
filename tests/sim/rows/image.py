"""Cases of image instructions: loads, stores, atomics, sizes; sample.py has those with a sampler."""

import random
import struct

from case import EXACT, ULP16X2, Case
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


def put_addresses(c, columns, a16):
    """Each lane's words (with a16 the parts are halves), and the number of registers."""
    if a16:
        columns = [[(row[k] & 0xffff) | ((row[k + 1] & 0xffff) << 16 if k + 1 < len(row) else 0)
                    for k in range(0, len(row), 2)] for row in columns]
    for k in range(len(columns[0])):
        c.put(0, k, [row[k] for row in columns])
    return len(columns[0])


def sizes(shape):
    return {"1D": (13, 1, 1), "2D": (9, 6, 1), "3D": (7, 3, 2), "1D_ARRAY": (11, 1, 4),
            "2D_ARRAY": (5, 3, 3)}[shape]


def fits(shape, levels=1):
    h, d = sizes(shape)[1:]
    return h * d * 256 * (2 if levels > 1 else 1) <= 3840


def lanes_at(size):
    """Texels of each lane, some outside."""
    at = []
    for i in range(32):
        p = [rng.randrange(n) for n in size]
        if i % 5 == 0:
            k = rng.choice([k for k in range(3) if size[k] > 1])
            p[k] = size[k] + rng.choice((0, 3))
        at.append(p)
    return at


def flags(shape, mask, d16=False, a16=False, unorm=True):
    return (" dmask:0x%x dim:SQ_RSRC_IMG_%s" % (mask, shape) + (" unorm" if unorm else "") +
            (" a16" if a16 else "") + (" d16" if d16 else ""))


def addresses(first, n, nsa):
    if nsa and n > 1:
        return "[%s]" % ", ".join("v%d" % (first + k) for k in range(n))
    return register(first, n)


def in_registers(values, mask, d16, integer):
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
            if not fits(shape, levels) or rng.random() < 0.5:
                continue
            c = Case(name, "MIMG", "", chip=chip)
            c.exec = rng.getrandbits(32) | 1
            size = sizes(shape)
            image = Image(c, shape, fmt, size, rng.choice(SELECTS), levels)
            mask, d16 = rng.randint(1, 15), not raw and rng.random() < 0.25
            a16 = rng.random() < 0.25
            if image.kind == "float" and image.widths[0] == 32:
                d16 = False
            at = lanes_at(size)
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
                for k, v in enumerate(in_registers(values, mask, d16, image.integer)):
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
            if not fits(shape, levels) or rng.random() < 0.5:
                continue
            c = Case(name, "MIMG", "", chip=chip)
            c.exec = rng.getrandbits(32) | 1
            size = sizes(shape)
            select = rng.choice(SELECTS)
            image = Image(c, shape, fmt, size, select, levels)
            mask = rng.randint(1, 15)
            at, seen = lanes_at(size), set()
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


def cases(rows):
    import sample
    result = []
    for row in rows:
        name, encoding, chips = row[0], row[1], row[4]
        if encoding != "MIMG":
            continue
        chip = min(k for k in range(5) if chips >> k & 1)
        make = (image_atomic if "atomic" in name else resinfo if "resinfo" in name else
                image_load if name.startswith("image_load") else
                image_store if name.startswith("image_store") else sample.cases_of)
        result += make(name, chip)
    return result
