"""Floating point by whole numbers: exact values, one rounding, nothing of the host's arithmetic."""

NAN = "nan"  # as a result: any quiet NaN
NEAREST, UP, DOWN, ZERO = 0, 1, 2, 3


class Format:
    """An IEEE binary format of `bits`, `fraction` of them after the point."""

    def __init__(self, bits, fraction):
        self.bits, self.fraction = bits, fraction
        self.sign = 1 << (bits - 1)
        self.e_bits = bits - 1 - fraction
        self.e_max = (1 << self.e_bits) - 1
        self.bias = self.e_max >> 1
        self.inf = self.e_max << fraction
        self.quiet = 1 << (fraction - 1)
        self.max = self.inf - 1
        self.low = 1 - self.bias - fraction  # exponent of the last place of denormals

    def is_nan(self, u):
        return (u & ~self.sign) > self.inf

    def is_snan(self, u):
        return self.is_nan(u) and not u & self.quiet

    def is_inf(self, u):
        return (u & ~self.sign) == self.inf

    def is_zero(self, u):
        return not u & ~self.sign

    def is_denormal(self, u):
        return 0 < (u & ~self.sign) < 1 << self.fraction

    def flush(self, u):
        return u & self.sign if self.is_denormal(u) else u

    def parts(self, u):
        """(negative, m, e) of a number: (-1)**negative * m * 2**e."""
        e = u >> self.fraction & self.e_max
        m = u & ((1 << self.fraction) - 1)
        if e:
            m |= 1 << self.fraction
        return bool(u & self.sign), m, self.low + max(e, 1) - 1

    def make(self, negative, m, e, mode=NEAREST):
        """The number nearest to m * 2**e (by `mode`), with overflow and denormals."""
        s = self.sign if negative else 0
        if m == 0:
            return s
        shift = max(m.bit_length() + e - (self.fraction + 1), self.low) - e
        if shift <= 0:
            q, e = m << -shift, e + shift
        else:
            q, rest, half = m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1)
            e += shift
            away = (mode == UP and not negative) or (mode == DOWN and negative)
            if mode == NEAREST:
                q += rest > half or (rest == half and q & 1)
            else:
                q += bool(rest and away)
            if q.bit_length() > self.fraction + 1:
                q, e = q >> 1, e + 1
        if q >> self.fraction == 0:
            return s | q
        field = e - self.low + 1
        if field >= self.e_max:
            to_max = mode == ZERO or (mode == UP and negative) or (mode == DOWN and not negative)
            return s | (self.max if to_max else self.inf)
        return s | field << self.fraction | (q & ((1 << self.fraction) - 1))

    # ---- arithmetic; NAN when the result is one ----

    def sum_exact(self, x, y, mode):
        """Of two (negative, m, e): the sum, its sign by the rules for zeros."""
        e = min(x[2], y[2])
        total = (-x[1] if x[0] else x[1]) << (x[2] - e)
        total += (-y[1] if y[0] else y[1]) << (y[2] - e)
        if total == 0:
            negative = x[0] if x[0] == y[0] else mode == DOWN
            return negative, 0, e
        return total < 0, abs(total), e

    def add(self, a, b, mode=NEAREST):
        if self.is_nan(a) or self.is_nan(b):
            return NAN
        if self.is_inf(a) or self.is_inf(b):
            if self.is_inf(a) and self.is_inf(b) and a != b:
                return NAN
            return a if self.is_inf(a) else b
        return self.make(*self.sum_exact(self.parts(a), self.parts(b), mode), mode)

    def neg(self, a):
        return a ^ self.sign

    def mul(self, a, b, mode=NEAREST):
        if self.is_nan(a) or self.is_nan(b):
            return NAN
        s = (a ^ b) & self.sign
        if self.is_inf(a) or self.is_inf(b):
            return NAN if self.is_zero(a) or self.is_zero(b) else s | self.inf
        x, y = self.parts(a), self.parts(b)
        return self.make(bool(s), x[1] * y[1], x[2] + y[2], mode)

    def fma_exact(self, a, b, c, mode):
        """NAN, an infinity's bits as a string, or (negative, m, e)."""
        if self.is_nan(a) or self.is_nan(b) or self.is_nan(c):
            return NAN
        s = (a ^ b) & self.sign
        if self.is_inf(a) or self.is_inf(b):
            if self.is_zero(a) or self.is_zero(b) or (self.is_inf(c) and (c & self.sign) != s):
                return NAN
            return ("inf", s)
        if self.is_inf(c):
            return ("inf", c & self.sign)
        x, y = self.parts(a), self.parts(b)
        return self.sum_exact((bool(s), x[1] * y[1], x[2] + y[2]), self.parts(c), mode)

    def fma(self, a, b, c, mode=NEAREST, scale=0):
        r = self.fma_exact(a, b, c, mode)
        if r == NAN:
            return NAN
        if r[0] == "inf":
            return r[1] | self.inf
        return self.make(r[0], r[1], r[2] + scale, mode)

    def order(self, u):
        """A key with -0 below +0."""
        return -(u & ~self.sign) - 1 if u & self.sign else u

    def less(self, a, b):
        """a < b as numbers; false with a NaN."""
        if self.is_nan(a) or self.is_nan(b):
            return False
        if self.is_zero(a) and self.is_zero(b):
            return False
        return self.order(a) < self.order(b)

    def equal(self, a, b):
        if self.is_nan(a) or self.is_nan(b):
            return False
        return a == b or (self.is_zero(a) and self.is_zero(b))

    def to_int(self, u, how=ZERO):
        """A number as a whole one: ZERO, NEAREST, UP or DOWN; None for NaN; infinities are huge."""
        if self.is_nan(u):
            return None
        if self.is_inf(u):
            return -(1 << 200) if u & self.sign else 1 << 200
        n, m, e = self.parts(u)
        if e >= 0:
            return -(m << e) if n else m << e
        q, rest, half = m >> -e, m & ((1 << -e) - 1), 1 << (-e - 1)
        if how == NEAREST:
            q += rest > half or (rest == half and q & 1)
        elif rest and ((how == UP and not n) or (how == DOWN and n)):
            q += 1
        return -q if n else q

    def of_int(self, k, mode=NEAREST):
        return self.make(k < 0, abs(k), 0, mode)

    def round_to_int(self, u, how):
        if self.is_nan(u):
            return NAN
        if self.is_inf(u) or self.is_zero(u):
            return u
        k = self.to_int(u, how)
        return self.make(bool(u & self.sign), abs(k), 0)

    def convert(self, u, other, mode=NEAREST):
        """To another format."""
        if self.is_nan(u):
            return NAN
        s = other.sign if u & self.sign else 0
        if self.is_inf(u):
            return s | other.inf
        n, m, e = self.parts(u)
        return other.make(n, m, e, mode)

    def ldexp(self, u, k, mode=NEAREST):
        if self.is_nan(u):
            return NAN
        if self.is_inf(u) or self.is_zero(u):
            return u
        n, m, e = self.parts(u)
        return self.make(n, m, e + max(-5000, min(5000, k)), mode)

    def edges(self):
        """Numbers that break things."""
        one, f = self.bias << self.fraction, self.fraction
        values = [0, 1, (1 << f) - 1, 1 << f, (1 << f) + 1, one - (1 << f), one, one + 1, one - 1,
                  one + (1 << f), one + (3 << (f - 1)), self.max, self.max - 1, self.inf,
                  self.inf | self.quiet | 5, self.inf | 3, one + (f << f), one + ((f + 1) << f) + 1,
                  one - (f << f), one - ((f + 2) << f) + 3, one + (1 << (f - 1)), 1 << (f - 1),
                  one - (1 << f) + 1, one + (f - 1 << f) + 1, one + (2 << f) + (1 << (f - 2))]
        return [v for v in values] + [v | self.sign for v in values]


F16, F32, F64 = Format(16, 10), Format(32, 23), Format(64, 52)
