"""Cases of memory instructions: scalar, vector, LDS; loads, stores, atomics, typed buffers."""

import random
from fractions import Fraction

from case import Case
from fp import F16, F32, F64, NAN
from valu import M32, s

rng = random.Random(3)
DATA = 0x100008000  # GPU address of the memory of a case
SIZE, LDS_SIZE = 4096, 1024
SHARED = 1 << 48  # aperture of LDS


class Memory:
    """Bytes of the case's memory (what 3) or of LDS (what 2), before and after."""

    def __init__(self, case, what):
        self.what, self.case = what, case
        self.bytes = bytearray(rng.getrandbits(8) for _ in range(SIZE if what == 3 else LDS_SIZE))
        case.put(what, 0, self.words())

    def words(self):
        return [int.from_bytes(self.bytes[i:i + 4], "little") for i in range(0, len(self.bytes), 4)]

    def read(self, at, n):
        return int.from_bytes(self.bytes[at:at + n], "little")

    def write(self, at, n, value):
        self.bytes[at:at + n] = (value & ((1 << 8 * n) - 1)).to_bytes(n, "little")

    def done(self):
        self.case.expect(self.what, 0, self.words())


# ---- atomics ----


def atomic(what, bits, old, data, other=0):
    """The value after; other: comparand, or second operand."""
    mask, f = (1 << bits) - 1, F32 if bits == 32 else F64
    signed = lambda x: s(x, bits)
    return {
        "swap": lambda: data, "wrxchg": lambda: data,
        "cmpswap": lambda: data if old == other else old, "add": lambda: old + data,
        "sub": lambda: old - data, "rsub": lambda: data - old,
        "csub": lambda: max(0, old - data),
        "smin": lambda: min(old, data, key=signed), "umin": lambda: min(old, data),
        "smax": lambda: max(old, data, key=signed), "umax": lambda: max(old, data),
        "and": lambda: old & data, "or": lambda: old | data, "xor": lambda: old ^ data,
        "inc": lambda: 0 if old >= data else old + 1,
        "dec": lambda: data if old == 0 or old > data else old - 1,
        "fcmpswap": lambda: data if f.equal(old, other) else old,
        "fmin": lambda: data if f.less(data, old) else old,
        "fmax": lambda: data if f.less(old, data) else old,
        "fadd": lambda: f.add(old, data),
        "mskor": lambda: old & ~data | other,
        "wrap": lambda: old - data if old >= data else old + other,
    }[what]() & mask


def operand(what, bits):
    """(old, data, other) that make the operation's cases happen."""
    f = F32 if bits == 32 else F64
    if what.startswith("f"):
        numbers = [u for u in f.edges() if not f.is_nan(u) and not f.is_zero(u) and
                   not (what == "fadd" and (f.is_inf(u) or f.is_denormal(u)))]
        old, data, other = (rng.choice(numbers) for _ in range(3))
    else:
        half = 1 << (bits - 1)
        pool = [0, 1, 2, 2 * half - 1, half, half - 1, rng.getrandbits(bits)]
        old, data, other = (rng.choice(pool) if rng.random() < 0.6 else rng.getrandbits(bits)
                            for _ in range(3))
    if rng.random() < 0.5:
        other = old
    if rng.random() < 0.2:
        data = old
    if what == "fadd" and f.add(old, data) == NAN:
        data = old
    return old, data, other


def lane_words(values, n):
    return [[v >> 32 * k & M32 for v in values] for k in range(n)]


def put_lanes(c, first, values, n):
    for k, row in enumerate(lane_words(values, n)):
        c.put(0, first + k, row)


def merged(c, new, old):
    return [a if c.exec >> i & 1 else b for i, (a, b) in enumerate(zip(new, old))]


# ---- where the lanes go ----


class Where:
    """A way to address: text after the data, and the offset in memory of each lane."""

    def __init__(self, c, encoding, align, room, form, what=3):
        self.memory = Memory(c, what)
        size = len(self.memory.bytes)
        n = c.lanes
        step = max(align, room)
        order = list(range(n))
        rng.shuffle(order)
        count = min(n, (size - 256) // step)
        self.at = [128 + step * (order[i] % count) for i in range(n)]
        self.unique = count == n
        self.outside = [False] * n
        offset = 0
        if encoding in ("GLOBAL", "FLAT"):
            high = DATA if what == 3 else SHARED
            if form == "saddr":
                offset = rng.choice((0, 8, -16))
                c.put(1, 2, [DATA & M32, DATA >> 32])
                c.put(0, 0, [a - offset for a in self.at])
                self.text = "v0, %s, s[2:3]"
            else:
                offset = rng.choice((0, 4, -8)) if encoding == "GLOBAL" else 0
                put_lanes(c, 0, [high + a - offset for a in self.at], 2)
                self.text = "v[0:1], %s" + (", off" if encoding == "GLOBAL" else "")
            self.tail = " offset:%d" % offset if offset else ""
        elif encoding in ("MUBUF", "MTBUF"):
            self.buffer(c, form, step)
        self.c = c

    def buffer(self, c, form, step):
        """A descriptor in s[4:7], soffset in s2."""
        self.descriptor = [DATA & M32, DATA >> 32, SIZE, 0x31014fac]
        soffset, offset = rng.choice(((0, 0), (16, 12), (0, 4)))
        soffset, offset = soffset // step * step, offset // step * step
        c.put(1, 2, [soffset])
        if form == "idxen":
            self.descriptor[1] |= step << 16
            self.at = [a - soffset - offset for a in self.at]
            c.put(0, 0, [a // step for a in self.at])
            self.at = [a // step * step + soffset + offset for a in self.at]
            tail = " idxen"
        elif form == "outside":
            c.put(0, 0, [a - soffset - offset + (SIZE if i % 3 == 0 else 0)
                         for i, a in enumerate(self.at)])
            self.outside = [i % 3 == 0 for i in range(c.lanes)]
            tail = " offen"
        else:
            c.put(0, 0, [a - soffset - offset for a in self.at])
            tail = " offen"
        if form == "unbound":  # format 0: no buffer
            self.descriptor[3] &= ~(127 << 12)
            self.outside = [True] * c.lanes
        self.text = "v0, s[4:7], s2"
        self.tail = tail + (" offset:%d" % offset if offset else "")

    def put_descriptor(self, fmt=None):
        if fmt is not None:
            self.descriptor[3] = self.descriptor[3] & ~(127 << 12) | fmt << 12
        self.c.put(1, 4, self.descriptor)

    def instruction(self, name, data, result=None, extra=""):
        """Buffers have the data first, the others the address; loads the result first."""
        if "s[4:7]" in self.text:
            return "%s %s, %s%s%s" % (name, result or data, self.text, extra, self.tail)
        parts = self.text.split(", ")
        operands = []
        if result:
            operands.append(result)
        operands.append(parts[0])
        if data:
            operands.append(data)
        operands += parts[2:] if parts[1] == "%s" else parts[1:]
        return "%s %s%s%s" % (name, ", ".join(operands), self.tail, extra)


WIDTHS = {"ubyte": (1, 0), "sbyte": (1, 1), "byte": (1, 0), "ushort": (2, 0), "sshort": (2, 1),
          "short": (2, 0), "dword": (4, 0), "dwordx2": (8, 0), "dwordx3": (12, 0),
          "dwordx4": (16, 0),
          "b8": (1, 0), "u8": (1, 0), "i8": (1, 1), "b16": (2, 0), "u16": (2, 0), "i16": (2, 1),
          "b32": (4, 0), "b64": (8, 0), "b96": (12, 0), "b128": (16, 0)}


def register(first, n, letter="v"):
    return "%s%d" % (letter, first) if n == 1 else "%s[%d:%d]" % (letter, first, first + n - 1)


def loaded(value, width, signed, name, old):
    """A register after a load of less than its width."""
    if signed:
        value = s(value, 8 * width)
    if "d16_hi" in name:
        return old & 0xffff | (value & 0xffff) << 16
    if "d16" in name:
        return old & 0xffff0000 | value & 0xffff
    return value & M32


def load_store(name, encoding, chip, forms, what=3):
    """Plain loads and stores of the vector kinds."""
    part = name.split("_")[2]
    width, signed = WIDTHS[part]
    words = (width + 3) // 4
    for form in forms:
        for wave64 in (False, True):
            c = Case(name, encoding, "", wave64=wave64, chip=chip)
            if wave64 or rng.random() < 0.5:
                c.exec = rng.getrandbits(c.lanes)
            where = Where(c, encoding, min(width, 4) if width != 12 else 4, width, form, what)
            if encoding == "MUBUF":
                where.put_descriptor()
            rows = [[rng.getrandbits(32) for _ in range(c.lanes)] for _ in range(4)]
            for k, row in enumerate(rows):
                c.put(0, 8 + k, row)
            if "load" in name:
                c.text = where.instruction(name, None, register(8, words))
                result = [list(r) for r in rows]
                for i in range(c.lanes):
                    if not c.exec >> i & 1:
                        continue
                    value = 0 if where.outside[i] else where.memory.read(where.at[i], width)
                    for k in range(words):
                        result[k][i] = (value >> 32 * k & M32 if width >= 4 else
                                        loaded(value, width, signed, name, rows[0][i]))
                for k in range(words):
                    c.expect(0, 8 + k, result[k])
            else:
                c.text = where.instruction(name, register(8, words))
                if not where.unique:
                    continue
                for i in range(c.lanes):
                    if c.exec >> i & 1 and not where.outside[i]:
                        value = sum(rows[k][i] << 32 * k for k in range(words))
                        if "d16_hi" in name:
                            value >>= 16
                        where.memory.write(where.at[i], width, value)
            where.memory.done()
            yield c


def vector_atomic(name, encoding, chip, forms, what=3):
    parts = name.split("_")
    kind, bits = parts[2], 64 if name.endswith("_x2") else 32
    words, compares = bits // 32, "cmpswap" in kind
    for k, form in enumerate(forms):
        for returns in (False, True):
            c = Case(name, encoding, "", wave64=bool(k & 1) and bits == 32, chip=chip)
            c.exec = rng.getrandbits(c.lanes)
            if kind == "csub" and not returns:
                continue
            where = Where(c, encoding, bits // 8, bits // 8, form, what)
            if encoding == "MUBUF":
                where.put_descriptor()
            sets = [operand(kind, bits) for _ in range(c.lanes)]
            for i in range(c.lanes):
                where.memory.write(where.at[i], bits // 8, sets[i][0])
            where.memory.case.put(where.memory.what, 0, where.memory.words())
            data = [d | (o << bits if compares else 0) for _, d, o in sets]
            put_lanes(c, 4, data, words * (1 + compares))
            old_rows = [[rng.getrandbits(32) for _ in range(c.lanes)] for _ in range(words)]
            for w in range(words):
                c.put(0, 8 + w, old_rows[w])
            data_text = register(4, words * (1 + compares))
            if encoding == "MUBUF":
                c.text = where.instruction(name, data_text)
                c.text += " glc" if returns else ""
                result_at = 4
                before = lane_words(data, words)
            else:
                c.text = where.instruction(name, data_text, register(8, words) if returns else None)
                c.text += " glc" if returns else ""
                result_at, before = 8, old_rows
            result = [list(row) for row in before]
            for i in range(c.lanes):
                if not c.exec >> i & 1:
                    continue
                old = 0 if where.outside[i] else where.memory.read(where.at[i], bits // 8)
                for w in range(words):
                    result[w][i] = old >> 32 * w & M32
                if not where.outside[i]:
                    now = atomic(kind, bits, old, *sets[i][1:])
                    where.memory.write(where.at[i], bits // 8, now)
            if returns:
                for w in range(words):
                    c.expect(0, result_at + w, result[w])
            where.memory.done()
            yield c


# ---- typed buffers ----


FORMATS = {1: (1, 8, "unorm"), 2: (1, 8, "snorm"), 5: (1, 8, "uint"), 6: (1, 8, "sint"),
           7: (1, 16, "unorm"), 11: (1, 16, "uint"), 12: (1, 16, "sint"), 13: (1, 16, "float"),
           14: (2, 8, "unorm"), 20: (1, 32, "uint"), 21: (1, 32, "sint"), 22: (1, 32, "float"),
           29: (2, 16, "float"), 23: (2, 16, "unorm"), 56: (4, 8, "unorm"), 57: (4, 8, "snorm"),
           60: (4, 8, "uint"), 61: (4, 8, "sint"), 64: (2, 32, "float"), 65: (4, 16, "unorm"),
           3: (1, 8, "uscaled"), 10: (1, 16, "sscaled"), 58: (4, 8, "uscaled"),
           26: (2, 16, "sscaled"), 30: (3, (11, 11, 10), "unorm"), 31: (3, (11, 11, 10), "snorm"),
           35: (3, (11, 11, 10), "sint"), 36: (3, (11, 11, 10), "float"), 43: (3, (10, 11, 11), "float"),
           41: (3, (10, 11, 11), "uint"),
           44: (4, (2, 10, 10, 10), "unorm"), 49: (4, (2, 10, 10, 10), "sint"),
           50: (4, (10, 10, 10, 2), "unorm"), 52: (4, (10, 10, 10, 2), "uscaled"),
           54: (4, (10, 10, 10, 2), "uint"), 71: (4, 16, "float"), 74: (3, 32, "float"), 77: (4, 32, "float"),
           75: (4, 32, "uint")}


def of_fraction(f, x):
    if x == 0:
        return 0
    n, d = abs(x.numerator), x.denominator
    shift = 200 - n.bit_length() + d.bit_length()
    q, rest = divmod(n << shift, d) if shift >= 0 else divmod(n, d << -shift)
    return f.make(x < 0, q << 1 | bool(rest), -shift - 1)


def unpacked(raw, bits, number):
    """A component as 32 bits."""
    if number in ("uint",):
        return raw
    if number == "sint":
        return s(raw, bits) & M32
    if number == "float" and bits < 16:  # no sign, else the high bits of a half
        return F16.convert(raw << (15 - bits), F32)
    if number == "float":
        return raw if bits == 32 else F16.convert(raw, F32)
    if number == "uscaled":
        return of_fraction(F32, Fraction(raw))
    if number == "sscaled":
        return of_fraction(F32, Fraction(s(raw, bits)))
    if number == "unorm":
        return of_fraction(F32, Fraction(raw, (1 << bits) - 1))
    return of_fraction(F32, max(Fraction(-1), Fraction(s(raw, bits), (1 << (bits - 1)) - 1)))


def packed(word, bits, number):
    """The reverse; halves of a step do not occur in the values chosen."""
    if number == "uint":
        return min(word, (1 << bits) - 1)
    if number == "sint":
        top = (1 << (bits - 1)) - 1
        return max(-top - 1, min(top, s(word, 32))) & ((1 << bits) - 1)
    if number == "float" and bits >= 16:
        return word if bits == 32 else F32.convert(word, F16)
    n, m, e = F32.parts(word)
    x = Fraction(m) * Fraction(2)**e * (-1 if n else 1)
    if number == "float":
        return small_float(x, bits - 5)
    if "scaled" in number:
        low = 0 if number == "uscaled" else -(1 << (bits - 1))
        top = (1 << bits) - 1 if number == "uscaled" else (1 << (bits - 1)) - 1
        return round(max(Fraction(low), min(Fraction(top), x))) & ((1 << bits) - 1)
    low = 0 if number == "unorm" else -1
    x = max(Fraction(low), min(Fraction(1), x))
    top = (1 << bits) - 1 if number == "unorm" else (1 << (bits - 1)) - 1
    return round(x * top) & ((1 << bits) - 1)


def small_float(x, digits):
    """A float without sign, rounded toward zero; 0 of what is negative."""
    if x <= 0:
        return 0
    e = -14
    while x >= Fraction(2)**(e + 1):
        e += 1
    m = int(x * Fraction(2)**(digits - e))
    return m if m < 1 << digits else (e + 15 << digits) + m - (1 << digits)


# What a descriptor makes of the components: 0, 1, or one of those stored.
SELECTS = ((4, 5, 6, 7), (4, 5, 6, 7), (6, 5, 4, 7), (7, 1, 0, 4), (5, 5, 4, 1))


def widths(n, bits):
    return bits if isinstance(bits, tuple) else (bits,) * n


def take(element, n, bits, k):
    """Component k of an element as a number; the first has the lowest bits."""
    w = widths(n, bits)
    return element >> sum(w[:k]) & ((1 << w[k]) - 1)


def typed(name, encoding, chip):
    """tbuffer_* name their format, buffer_*_format have it in the descriptor."""
    components = len(name.rsplit("_", 1)[1])
    d16, load = "d16" in name, "load" in name
    for fmt, (n, bits, number) in FORMATS.items():
        if (not load and n != components) or (load and n < components and n != 1):
            continue
        if d16 and number in ("uint", "sint"):
            continue
        c = Case(name, encoding, "", chip=chip)
        c.exec = rng.getrandbits(32)
        size = sum(widths(n, bits)) // 8
        where = Where(c, encoding, min(4, size), size, "offen")
        select = rng.choice(SELECTS)
        where.descriptor[3] = where.descriptor[3] & ~0xfff | sum(x << 3 * k for k, x in enumerate(select))
        where.put_descriptor(fmt if encoding == "MUBUF" else None)
        halves = d16 and "d16_hi" not in name
        words = (components + 1) // 2 if halves else components
        rows = [[rng.getrandbits(32) for _ in range(32)] for _ in range(4)]
        if not load:
            for k in range(words):
                for i in range(32):
                    rows[k][i] = store_word(number, widths(n, bits)[k], d16)
        elif number == "float" and isinstance(bits, tuple):
            for i in range(32):  # numbers
                element = where.memory.read(where.at[i], 4)
                for k in range(n):
                    element &= ~(1 << sum(bits[:k + 1]) - 1)
                where.memory.write(where.at[i], 4, element)
            c.put(3, 0, where.memory.words())
        elif number == "float":
            for i in range(32):
                for k in range(n):
                    f = F16 if bits == 16 else F32
                    # numbers that are normal as halves, too
                    value = f.make(bool(rng.getrandbits(1)), 1024 + rng.getrandbits(9),
                                   rng.randint(-12, 4))
                    where.memory.write(where.at[i] + k * bits // 8, bits // 8, value)
            c.put(3, 0, where.memory.words())
        for k, row in enumerate(rows):
            c.put(0, 8 + k, row)
        tail = " format:%d" % fmt if encoding == "MTBUF" else ""
        c.text = where.instruction(name, register(8, words), extra=tail)
        result = [list(r) for r in rows]
        for i in range(32):
            if not c.exec >> i & 1:
                continue
            if load:
                element = where.memory.read(where.at[i], size)
                values = [unpacked(take(element, n, bits, k), widths(n, bits)[k], number)
                          for k in range(n)]
                one = 1 if number in ("uint", "sint") else 0x3f800000
                values += [one if k == 3 else 0 for k in range(n, 4)]
                values = [values[x & 3] if x >= 4 else one if x else 0 for x in select[:components]]
                if d16:
                    values = [F32.convert(v, F16) for v in values]
                place_components(result, i, values, d16, name)
            else:
                element, w, given = 0, widths(n, bits), {}
                for k in range(4):
                    if select[k] >= 4:
                        given.setdefault(select[k] & 3, component(rows, i, k, d16, name)
                                         if k < components else 0)
                for k in range(n):
                    element |= packed(given.get(k, 0), w[k], number) << sum(w[:k])
                where.memory.write(where.at[i], size, element)
        for k in range(words):
            c.expect(0, 8 + k, result[k])
        where.memory.done()
        yield c


def store_word(number, bits, d16):
    """A word to be stored: away from halves between two steps."""
    if d16:
        if number == "float":
            return rng.getrandbits(10) | 0x3000 | 0xb123 << 16
        return F16.of_int(rng.randint(-1, 1)) | F16.of_int(rng.randint(0, 1)) << 16
    if number in ("uint", "sint"):
        return rng.getrandbits(32)
    if number == "float":
        return F32.make(bool(rng.getrandbits(1)), rng.getrandbits(11), rng.randint(-14, 3))
    if "scaled" in number:
        return of_fraction(F32, Fraction(rng.randint(-3, 70000)) + Fraction(1, 8))
    top = (1 << bits) - 1 if number == "unorm" else (1 << (bits - 1)) - 1
    k = rng.randint(-top, top) if number == "snorm" else rng.randint(-3, top + 3)
    return of_fraction(F32, Fraction(k, top) + Fraction(1, 10 * top))


def component(rows, i, k, d16, name):
    if not d16:
        return rows[k][i]
    h = rows[0][i] >> 16 if "d16_hi" in name else rows[k // 2][i] >> 16 * (k & 1) & 0xffff
    return F16.convert(h, F32)


def place_components(result, i, values, d16, name):
    if not d16:
        for k, v in enumerate(values):
            result[k][i] = v
    elif "d16_hi" in name:
        result[0][i] = result[0][i] & 0xffff | values[0] << 16
    else:
        for k in range(0, len(values), 2):
            high = values[k + 1] if k + 1 < len(values) else 0
            result[k // 2][i] = values[k] | high << 16


# ---- scratch ----


def scratch(name, encoding, chip):
    """Stored and loaded again; each lane has its own bytes."""
    width, signed = WIDTHS[name.split("_")[2]]
    words = (width + 3) // 4
    for form in ("vaddr", "saddr"):
        c = Case(name, encoding, "", chip=chip)
        at = 16 + 4 * rng.randrange(8)
        c.put(0, 0, [at] * 32)
        c.put(1, 2, [at])
        text = ("v0, %s, off" if form == "vaddr" else "off, %s, s2")
        rows = [[rng.getrandbits(32) for _ in range(32)] for _ in range(4)]
        old = [[rng.getrandbits(32) for _ in range(32)] for _ in range(4)]
        for k in range(4):
            c.put(0, 4 + k, rows[k])
            c.put(0, 8 + k, old[k])
        full = "scratch_store_dwordx4 " + text % "v[4:7]"
        wait = "; s_waitcnt vmcnt(0); s_waitcnt_vscnt null, 0x0; "
        address, rest = text.split(", %s")
        if "load" in name:
            c.text = full + wait + "%s %s, %s%s offset:%d" % (
                name, register(8, words), address, rest, 0 if width > 2 else width)
            result = [list(r) for r in old]
            for i in range(32):
                value = sum(rows[k][i] << 32 * k for k in range(4))
                value >>= 0 if width > 2 else 8 * width
                for k in range(words):
                    result[k][i] = (value >> 32 * k & M32 if width >= 4 else loaded(
                        value & ((1 << 8 * width) - 1), width, signed, name, old[0][i]))
        else:
            store = "%s %s, %s%s offset:%d" % (name, address, register(8, words), rest,
                                               0 if width > 2 else width)
            c.text = (full + wait + store + wait +
                      "scratch_load_dwordx4 v[8:11], %s%s" % (address, rest))
            result = [[], [], [], []]
            for i in range(32):
                value = sum(rows[k][i] << 32 * k for k in range(4))
                data = sum(old[k][i] << 32 * k for k in range(4)) >> (16 if "d16_hi" in name else 0)
                shift = 0 if width > 2 else 8 * width
                mask = ((1 << 8 * width) - 1) << shift
                value = value & ~mask | data << shift & mask
                for k in range(4):
                    result[k].append(value >> 32 * k & M32)
        for k in range(4 if "store" in name else words):
            c.expect(0, 8 + k, result[k])
        yield c


def addtid(name, encoding, chip):
    c = Case(name, encoding, "", chip=chip)
    c.exec = rng.getrandbits(32)
    memory = Memory(c, 3)
    c.put(1, 2, [DATA & M32, DATA >> 32])
    row = [rng.getrandbits(32) for _ in range(32)]
    c.put(0, 8, row)
    c.text = "%s v8, s[2:3] offset:64" % name
    if "load" in name:
        c.expect(0, 8, merged(c, [memory.read(64 + 4 * i, 4) for i in range(32)], row))
    else:
        for i in range(32):
            if c.exec >> i & 1:
                memory.write(64 + 4 * i, 4, row[i])
    memory.done()
    yield c


# ---- scalar memory ----


def smem(name, encoding, chip):
    quiet = {"s_gl1_inv": "", "s_dcache_inv": "", "s_dcache_wb": "",
             "s_dcache_discard": " s[2:3], 0x0", "s_dcache_discard_x2": " s[2:3], 0x0"}
    if name in quiet:
        yield Case(name, encoding, name + quiet[name], chip=chip)
        return
    if name in ("s_memtime", "s_memrealtime"):
        c = Case(name, encoding, name + " s[12:13]; s_waitcnt lgkmcnt(0); "
                 "s_cmp_lg_u64 s[12:13], 0; s_cselect_b32 s12, 7, 0; s_mov_b32 s13, 0", chip=chip)
        c.want["scc"] = 1
        c.expect(1, 12, [7, 0])
        yield c
        return
    if name == "s_get_waveid_in_workgroup":
        c = Case(name, encoding, name + " s12; s_waitcnt lgkmcnt(0)", chip=chip)
        c.expect(1, 12, [0])
        yield c
        return
    if "atomic" in name:
        yield from scalar_atomic(name, encoding, chip)
        return
    words = int(name.rsplit("x", 1)[1]) if "dwordx" in name else 1
    for form in ("imm", "reg") + (("outside",) if "buffer" in name else ()):
        c = Case(name, encoding, "", chip=chip)
        memory = Memory(c, 3)
        at = 64 * (1 + rng.randrange(4))
        offset, scale = at, 64 if "scratch" in name else 1
        base = "s[4:7]" if "buffer" in name else "s[2:3]"
        limit = SIZE if form != "outside" else at + 4 * (words // 2)
        if "buffer" in name:
            c.put(1, 4, [DATA & M32, DATA >> 32, limit, 0x31016fac])
        else:
            c.put(1, 2, [DATA & M32, DATA >> 32])
        offset_text = "0x%x" % offset
        if form == "reg":
            c.put(1, 8, [at // scale])
            offset_text = "s8"
        # the highest registers of the window
        target = register(32 - max(words, 4), words, "s") if words < 16 else "s[16:31]"
        first = 32 - max(words, 4) if words < 16 else 16
        c.text = "%s %s, %s, %s" % (name, target, base, offset_text)
        values = [rng.getrandbits(32) for _ in range(words)]
        c.put(1, first, values)
        if "load" in name:
            c.text += "; s_waitcnt lgkmcnt(0)"
            c.expect(1, first, [memory.read(at + 4 * k, 4) if at + 4 * k < limit else 0
                                for k in range(words)])
        else:
            for k in range(words):
                if at + 4 * k < limit:
                    memory.write(at + 4 * k, 4, values[k])
            memory.done()
        yield c


def scalar_atomic(name, encoding, chip):
    bits = 64 if name.endswith("_x2") else 32
    kind = name.split("atomic_")[1].replace("_x2", "")
    words, compares = bits // 32, kind == "cmpswap"
    for k in range(6):
        c = Case(name, encoding, "", chip=chip)
        memory = Memory(c, 3)
        old, data, other = operand(kind, bits)
        memory.write(128, bits // 8, old)
        c.put(3, 0, memory.words())
        n = words * (1 + compares)
        value = data | other << bits if compares else data
        c.put(1, 12, [value >> 32 * w for w in range(n)])
        if "buffer" in name:
            c.put(1, 4, [DATA & M32, DATA >> 32, SIZE, 0x31016fac])
            base = "s[4:7]"
        else:
            c.put(1, 2, [DATA & M32, DATA >> 32])
            base = "s[2:3]"
        c.text = "%s %s, %s, 0x80%s; s_waitcnt lgkmcnt(0)" % (
            name, register(12, n, "s"), base, " glc" if k & 1 else "")
        memory.write(128, bits // 8, atomic(kind, bits, old, data, other))
        memory.done()
        if k & 1:
            c.expect(1, 12, [old >> 32 * w for w in range(words)])
        yield c


def cases(rows):
    import lds
    result = []
    for row in rows:
        name, encoding, chips = row[0], row[1], row[4]
        chip = min(k for k in range(5) if chips >> k & 1)
        if encoding == "SMEM":
            result += smem(name, encoding, chip)
        elif encoding == "DS":
            result += lds.cases_of(name, encoding, chip)
        elif "_gl0_inv" in name or "_gl1_inv" in name:
            result.append(Case(name, encoding, name, chip=chip))
        elif "addtid" in name:
            result += addtid(name, encoding, chip)
        elif encoding == "MTBUF" or "_format_" in name:
            result += typed(name, encoding, chip)
        elif encoding == "SCRATCH":
            result += scratch(name, encoding, chip)
        elif encoding in ("GLOBAL", "FLAT", "MUBUF"):
            forms = {"GLOBAL": ("vaddr", "saddr"), "FLAT": ("vaddr",),
                     "MUBUF": ("offen", "idxen", "outside")}[encoding]
            make = vector_atomic if "atomic" in name else load_store
            if encoding == "MUBUF" and make == load_store:
                forms += ("unbound",)
            result += make(name, encoding, chip, forms)
            if encoding == "FLAT":
                result += make(name, encoding, chip, forms, 2)
    return [c for c in result if c.text]
