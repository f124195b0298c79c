"""Cases of LDS instructions."""

import random

from case import Case
from memory import (LDS_SIZE, WIDTHS, Memory, atomic, lane_words, loaded, merged, operand,
                    put_lanes, register)
from valu import M32

rng = random.Random(4)
KINDS = {"min_i": "smin", "max_i": "smax", "min_u": "umin", "max_u": "umax", "cmpst_b": "cmpswap",
         "cmpst_f": "fcmpswap", "min_f": "fmin", "max_f": "fmax", "add_f": "fadd",
         "wrxchg_b": "swap"}


def spread(c, step, low=64):
    """A place of its own for every lane."""
    order = list(range(c.lanes))
    rng.shuffle(order)
    return [low + step * k for k in order]


def plain(name, encoding, chip):
    """Reads and writes of one place."""
    part = [p for p in name.split("_") if p in WIDTHS][0]
    width, signed = WIDTHS[part]
    words = (width + 3) // 4
    for wave64 in ((False, True) if width < 12 else (False,)):
        for masked in (False, True):
            c = Case(name, encoding, "", wave64=wave64, chip=chip)
            if masked:
                c.exec = rng.getrandbits(c.lanes)
            memory = Memory(c, 2)
            step = width if width != 12 else 16
            at = spread(c, step)
            at = [a % (LDS_SIZE - 16) // step * step for a in at]
            unique = len(set(at)) == c.lanes
            offset = min(at) if rng.random() < 0.5 else 0
            c.put(0, 0, [a - offset for a in at])
            rows = [[rng.getrandbits(32) for _ in range(c.lanes)] for _ in range(4)]
            for k, row in enumerate(rows):
                c.put(0, 8 + k, row)
            tail = " offset:%d" % offset if offset else ""
            if "read" in name:
                c.text = "%s %s, v0%s" % (name, register(8, words), tail)
                result = [list(r) for r in rows]
                for i in range(c.lanes):
                    value = memory.read(at[i], width)
                    for k in range(words):
                        result[k][i] = (value >> 32 * k & M32 if width >= 4 else
                                        loaded(value, width, signed, name, rows[0][i]))
                for k in range(words):
                    c.expect(0, 8 + k, merged(c, result[k], rows[k]))
            else:
                if not unique:
                    continue
                c.text = "%s v0, %s%s" % (name, register(8, words), tail)
                for i in range(c.lanes):
                    if c.exec >> i & 1:
                        value = sum(rows[k][i] << 32 * k for k in range(words))
                        memory.write(at[i], width, value >> (16 if "d16_hi" in name else 0))
            memory.done()
            yield c


def two(name, encoding, chip):
    """ds_read2, ds_write2, ds_wrxchg2: two offsets in units of the width, or of 64 widths."""
    bits = 64 if "b64" in name else 32
    width, words = bits // 8, bits // 32
    unit = width * (64 if "st64" in name else 1)
    for masked in (False, True):
        c = Case(name, encoding, "", chip=chip)
        if masked:
            c.exec = rng.getrandbits(32)
        memory = Memory(c, 2)
        offsets = (0, 1) if "st64" in name else (2, 40)
        if "st64" in name and bits == 32:
            offsets = (1, 2)
        at = [width * k for k in range(32)]
        rng.shuffle(at)
        c.put(0, 0, at)
        data = [[rng.getrandbits(bits) for _ in range(32)] for _ in range(2)]
        put_lanes(c, 2, data[0], words)
        put_lanes(c, 4, data[1], words)
        rows = [[rng.getrandbits(32) for _ in range(32)] for _ in range(2 * words)]
        for k, row in enumerate(rows):
            c.put(0, 8 + k, row)
        result = register(8, 2 * words)
        sources = "%s, %s" % (register(2, words), register(4, words))
        text = {"r": "%s, v0" % result, "w": "v0, " + sources}[name[3]]
        if "wrxchg" in name:
            text = "%s, v0, %s" % (result, sources)
        c.text = "%s %s offset0:%d offset1:%d" % (name, text, *offsets)
        got = [list(row) for row in rows]
        for i in range(32):
            if not c.exec >> i & 1:
                continue
            for p in (0, 1):
                place = at[i] + offsets[p] * unit
                value = memory.read(place, width)
                for w in range(words):
                    got[p * words + w][i] = value >> 32 * w & M32
                if "read" not in name:
                    memory.write(place, width, data[p][i])
        if "write" not in name:
            for k, row in enumerate(got):
                c.expect(0, 8 + k, row)
        memory.done()
        yield c


def exchange(name, encoding, chip):
    """ds_condxchg32: each half is written when its highest bit says so, without that bit."""
    c = Case(name, encoding, "%s v[8:9], v0, v[2:3] offset:8" % name, chip=chip)
    memory = Memory(c, 2)
    at = spread(c, 8)
    data = [rng.getrandbits(64) for _ in range(32)]
    c.put(0, 0, [a - 8 for a in at])
    put_lanes(c, 2, data, 2)
    old = [memory.read(a, 8) for a in at]
    for i, a in enumerate(at):
        for half in (0, 1):
            d = data[i] >> 32 * half & M32
            if d >> 31:
                memory.write(a + 4 * half, 4, d & 0x7fffffff)
    for k, row in enumerate(lane_words(old, 2)):
        c.expect(0, 8 + k, row)
    memory.done()
    yield c


def atomics(name, encoding, chip):
    body = name[3:].replace("_rtn", "")
    bits = int(body[-2:])
    kind = KINDS.get(body[:-2], body.rsplit("_", 1)[0])
    words, returns = bits // 32, "_rtn" in name
    second = kind in ("cmpswap", "fcmpswap", "mskor", "wrap")
    for wave64 in (False, True):
        c = Case(name, encoding, "", wave64=wave64, chip=chip)
        c.exec = rng.getrandbits(c.lanes)
        memory = Memory(c, 2)
        at = spread(c, bits // 8)
        sets = [operand(kind, bits) for _ in range(c.lanes)]
        for i in range(c.lanes):
            memory.write(at[i], bits // 8, sets[i][0])
        c.put(2, 0, memory.words())
        c.put(0, 0, [a - 16 for a in at])
        # compare-and-store has the comparand first
        first = [(o if "cmpswap" in kind else d) for _, d, o in sets]
        other = [(d if "cmpswap" in kind else o) for _, d, o in sets]
        put_lanes(c, 2, first, words)
        put_lanes(c, 4, other, words)
        rows = [[rng.getrandbits(32) for _ in range(c.lanes)] for _ in range(words)]
        for k, row in enumerate(rows):
            c.put(0, 8 + k, row)
        operands = ([register(8, words)] if returns else []) + ["v0", register(2, words)]
        if second:
            operands.append(register(4, words))
        c.text = "%s %s offset:16" % (name, ", ".join(operands))
        for i in range(c.lanes):
            if c.exec >> i & 1:
                memory.write(at[i], bits // 8, atomic(kind, bits, *sets[i]))
        if returns:
            for k, row in enumerate(lane_words([t[0] for t in sets], words)):
                c.expect(0, 8 + k, merged(c, row, rows[k]))
        memory.done()
        yield c


def counter(name, encoding, chip):
    """ds_append, ds_consume: the number of active lanes."""
    for wave64 in (False, True):
        c = Case(name, encoding, "%s v8 offset:8" % name, wave64=wave64, chip=chip)
        c.exec, c.m0 = rng.getrandbits(c.lanes), 128
        memory = Memory(c, 2)
        row = [rng.getrandbits(32) for _ in range(c.lanes)]
        c.put(0, 8, row)
        old, n = memory.read(136, 4), bin(c.exec).count("1")
        memory.write(136, 4, old + n if "append" in name else old - n)
        c.expect(0, 8, merged(c, [old] * c.lanes, row))
        memory.done()
        yield c


def thread_addresses(name, encoding, chip):
    c = Case(name, encoding, "%s v8 offset:32" % name, chip=chip)
    c.exec, c.m0 = rng.getrandbits(32), 64
    memory = Memory(c, 2)
    row = [rng.getrandbits(32) for _ in range(32)]
    c.put(0, 8, row)
    if "read" in name:
        c.expect(0, 8, merged(c, [memory.read(96 + 4 * i, 4) for i in range(32)], row))
    else:
        for i in range(32):
            if c.exec >> i & 1:
                memory.write(96 + 4 * i, 4, row[i])
    memory.done()
    yield c


def permutes(name, encoding, chip):
    """Between the lanes of each half of 32."""
    modes = (0x8000 | 0x1b, 0x041f, 0x0010 | 7 << 5 | 3 << 10, 0xc000 | 5 << 5,
             0xe000, 0xe000 | 3, 0xe000 | 0x15, 0xe000 | 31)
    for k in range(8 if "swizzle" in name else 4):
        c = Case(name, encoding, "", wave64=bool(k & 1), chip=chip)
        c.exec = rng.getrandbits(c.lanes) if k else (1 << c.lanes) - 1
        data = [rng.getrandbits(32) for _ in range(c.lanes)]
        row = [rng.getrandbits(32) for _ in range(c.lanes)]
        index = [rng.getrandbits(9) for _ in range(c.lanes)]
        c.put(0, 0, index)
        c.put(0, 2, data)
        c.put(0, 8, row)
        on = lambda i: c.exec >> i & 1
        result = [0] * c.lanes
        if "swizzle" in name:
            c.text = "%s v8, v2 offset:%d" % (name, modes[k])
        else:
            c.text = "%s v8, v0, v2 offset:4" % name
        for i in range(c.lanes):
            half, j = i & 32, i & 31
            if "swizzle" in name:
                m = modes[k]
                if m >= 0xe000:  # FFT: bits reversed, but for those of the mask
                    other = int("{:05b}".format(j)[::-1], 2) >> bin(m & 31).count("1") | j & m & 31
                elif m >= 0xc000:
                    other = (j + (m >> 5 & 31)) & 31
                elif m >= 0x8000:
                    other = (j & ~3) + (m >> 2 * (j & 3) & 3)
                else:
                    other = ((j & (m & 31)) | (m >> 5 & 31)) ^ (m >> 10 & 31)
            else:
                other = (index[i] + 4) // 4 % 32
            if "ds_permute" in name:
                if on(i):
                    result[half + other] = data[i]
            else:
                result[i] = data[half + other] if on(half + other) else 0
        c.expect(0, 8, merged(c, result, row))
        yield c


def cases_of(name, encoding, chip):
    if name == "ds_nop":
        return [Case(name, encoding, "ds_nop", chip=chip)]
    if name in ("ds_append", "ds_consume"):
        make = counter
    elif "addtid" in name:
        make = thread_addresses
    elif "permute" in name or "swizzle" in name:
        make = permutes
    elif "condxchg" in name:
        make = exchange
    elif "read2" in name or "write2" in name or "wrxchg2" in name:
        make = two
    elif "read" in name or "write" in name:
        make = plain
    else:
        make = atomics
    return list(make(name, encoding, chip))
