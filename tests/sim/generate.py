"""generate.py: writes random kernels that run on a GPU and on the host with the same bits.

A program is a sequence of phases. Between two phases all work-items of a workgroup meet: at a
barrier on the GPU, at the end of a loop over the work-items on the host. Within a phase memory
that one work-item writes is read by no other, except through atomics whose order cannot be seen.
"""
import random

INTEGERS = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"]
REALS = ["f16", "f32", "f64"]
SCALARS = INTEGERS + REALS
VECTORS = {"u8x4": ("u8", 4), "u16x2": ("u16", 2), "u16x4": ("u16", 4), "u32x2": ("u32", 2), "u32x4": ("u32", 4),
           "u64x2": ("u64", 2), "f16x2": ("f16", 2), "f16x4": ("f16", 4), "f32x2": ("f32", 2), "f32x4": ("f32", 4),
           "f64x2": ("f64", 2)}
BINARY = ["add", "sub", "mul", "and", "or", "xor", "andn", "shl", "shr", "min", "max", "addsat", "subsat"]
UNARY_WIDE = ["popcount", "clz", "ctz", "bitreverse", "bswap"]
BLOCKS = [(64, 1, 1), (32, 1, 1), (96, 1, 1), (128, 1, 1), (40, 1, 1), (8, 8, 1), (4, 4, 5), (16, 3, 2), (1, 1, 1),
          (256, 1, 1)]
# The arrays of a workgroup in local memory: name, type, elements of a work-item.
LOCALS = [("word", "u32", 1), ("byte", "u8", 1), ("shorts", "u16", 1), ("wide", "u64", 1), ("real", "f32", 1),
          ("quad", "u32x4", 1), ("pair", "f64", 1)]
SWAPS = [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 31]  # those that programs.h has
ATOMICS = ["add", "or", "xor", "and", "max", "min"]
# Programs that clang compiles wrongly for AMDGPU, or not at all (programs.h hides what is more frequent); another is
# drawn instead.
MISCOMPILED = {
    2979: "of a ^ b in halves of words two are taken for one: operands are exchanged, but not which half of each (-O2)",
    4011: "clang 19 and 21 crash",
    4530: "(a * b << n) + a * b becomes a * b + a * b + n, a dot product of bytes (-O1)",
}


class Program:
    """One kernel, its functions and its host counterpart, as text."""

    def __init__(self, name, seed):
        self.name = name
        self.random = random.Random(seed)
        self.block = self.random.choice(BLOCKS)
        self.size = self.block[0] * self.block[1] * self.block[2]
        self.groups = self.random.choice([(1, 1, 1), (2, 1, 1), (3, 1, 1), (1, 2, 1), (2, 1, 2)])
        self.functions = []  # (name, result, parameter types)
        self.lines = []
        self.indent = 0
        self.fresh = 0
        # The same slot always gets the same operation, so the order of work-items does not show.
        self.atom_ops = [self.random.choice(ATOMICS) for _ in range(16)]

    # ---- text ----

    def emit(self, text):
        self.lines.append("    " * self.indent + text)

    def name_of(self, stem):
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def chance(self, share):
        return self.random.random() < share

    # ---- expressions ----

    def constant(self, kind):
        r = self.random
        if kind in REALS:
            if self.chance(0.15):
                bits = {"f16": 16, "f32": 32, "f64": 64}[kind]
                cast = "u" + str(bits)
                edge = r.choice([0, 1, 1 << (bits - 1), {16: 0x7c00, 32: 0x7f800000, 64: 0x7ff << 52}[bits],
                                 {16: 0x7e00, 32: 0x7fc00000, 64: 0x7ff8 << 48}[bits], r.getrandbits(bits)])
                return f"from_bits_{kind}(({cast}){edge}ul)"
            return f"({kind}){r.choice([0.0, 1.0, -1.0, 0.5, 2.0, 3.25, -7.0, 100.0, 0.1, -1e-5, 1e4])!r}"
        bits = int(kind[1:])
        value = r.choice([0, 1, 2, 3, 5, 7, 10, 15, 16, 31, 63, (1 << bits) - 1, 1 << (bits - 1),
                          (1 << (bits - 1)) - 1, r.getrandbits(bits), r.getrandbits(bits)])
        return f"({kind}){value & ((1 << bits) - 1)}ul"

    def condition(self, scope, depth):
        r = self.random
        if depth > 0 and self.chance(0.25):
            return f"({self.condition(scope, depth - 1)} {r.choice(['&&', '||'])} {self.condition(scope, depth - 1)})"
        kind = r.choice(SCALARS)
        return (f"({self.scalar(kind, scope, depth - 1)} {r.choice(['<', '>', '<=', '>=', '==', '!='])} "
                f"{self.scalar(kind, scope, depth - 1)})")

    def leaf(self, kind, scope):
        r = self.random
        same = [n for n, t in scope if t == kind]
        if same and self.chance(0.7):
            return r.choice(same)
        if self.chance(0.35):
            return self.constant(kind)
        others = [(n, t) for n, t in scope if t in SCALARS]
        if not others:
            return self.constant(kind)
        name, other = r.choice(others)
        return self.convert(kind, name, other)

    def convert(self, kind, text, other):
        if kind == other:
            return text
        if other in REALS and kind in INTEGERS:
            return f"{kind}_of_{other}({text})"
        return f"({kind})({text})"

    def scalar(self, kind, scope, depth):
        if depth <= 0:
            return self.leaf(kind, scope)
        r = self.random
        e = lambda k=kind: self.scalar(k, scope, depth - 1)
        roll = r.random()
        if roll < 0.12:
            return self.leaf(kind, scope)
        if roll < 0.20:
            return f"({self.condition(scope, depth - 1)} ? {e()} : {e()})"
        if roll < 0.27:
            other = r.choice(SCALARS)
            return self.convert(kind, e(other), other)
        if roll < 0.31:
            vector = r.choice([v for v, (t, _) in VECTORS.items() if t == kind] or [None])
            if vector:
                return f"{self.vector(vector, scope, depth - 1)}.{r.choice('xyzw'[:VECTORS[vector][1]])}"
        if roll < 0.36 and self.functions:
            name, result, parameters = r.choice(self.functions)
            call = f"{name}({', '.join(self.scalar(p, scope, 1) for p in parameters)})"
            return self.convert(kind, call, result)
        if kind in REALS:
            return self.real(kind, e)
        return self.integer(kind, e)

    def integer(self, kind, e):
        r = self.random
        roll = r.random()
        if kind in ("u32", "i32") and self.chance(0.12):
            return f"dot{r.choice('248')}_{kind}({e('u32')}, {e('u32')}, {e()})"
        if roll < 0.60:
            return f"{r.choice(BINARY)}_{kind}({e()}, {e()})"
        if roll < 0.70:
            return f"{r.choice(['div', 'rem'])}_{kind}({e()}, {e()})"
        if roll < 0.76:
            return f"{r.choice(['not', 'neg'])}_{kind}({e()})"
        if roll < 0.84:
            return f"{r.choice(['mad', 'clamp', 'field'])}_{kind}({e()}, {e()}, {e()})"
        if kind in ("u32", "i32", "u64", "i64"):
            if self.chance(0.6):
                return f"{r.choice(UNARY_WIDE)}_{kind}({e()})"
            if kind == "u32":
                return r.choice([f"mulhi_u32({e()}, {e()})", f"mul24_u32({e()}, {e()})", f"perm_u32({e()}, {e()})",
                                 f"sad_u32({e()}, {e()}, {e()})", f"bits_f32({e('f32')})"])
            if kind == "i32":
                return f"mulhi_i32({e()}, {e()})"
            if kind == "u64":
                return r.choice([f"mulwide_u64({e('u32')}, {e('u32')})", f"mulhi_u64({e()}, {e()})",
                                 f"bits_f64({e('f64')})"])
            return f"rotate_{kind}({e()}, {e()})"
        if kind == "i16":
            return f"narrow_i16({e('i32')})"
        if kind == "u16":
            return f"bits_f16({e('f16')})"
        return f"xor_{kind}({e()}, {e()})"

    def real(self, kind, e):
        r = self.random
        roll = r.random()
        if roll < 0.55:
            return f"{r.choice(['add', 'sub', 'mul', 'min', 'max', 'copysign'])}_{kind}({e()}, {e()})"
        if roll < 0.70:
            return f"fma_{kind}({e()}, {e()}, {e()})"
        if roll < 0.78:
            return f"div_{kind}({e()}, {e()})"
        if roll < 0.92:
            operation = r.choice(["neg", "abs", "sqrt", "floor", "ceil", "trunc", "rint", "clamp"])
            return f"{operation}_{kind}({e()})"
        if kind == "f16":
            return f"from_bits_f16({e('u16')})"
        if kind == "f32":
            return r.choice([f"from_bits_f32({e('u32')})", f"ldexp_f32({e()}, {e('i32')})",
                             f"mix_f32({e('f16')}, {e('f16')}, {e()})"])
        return r.choice([f"from_bits_f64({e('u64')})", f"ldexp_f64({e()}, {e('i32')})"])

    def vector(self, kind, scope, depth):
        r = self.random
        element, n = VECTORS[kind]
        same = [name for name, t in scope if t == kind]
        if same and (depth <= 0 or self.chance(0.3)):
            name = r.choice(same)
            if self.chance(0.3):
                return f"{name}.{''.join(r.choice('xyzw'[:n]) for _ in range(n))}"
            return name
        if depth <= 0 or self.chance(0.35):
            return f"(({kind}){{{', '.join(self.scalar(element, scope, max(depth - 1, 0)) for _ in range(n))}}})"
        operations = ["add", "sub", "mul"]
        if element not in REALS:
            operations += ["and", "xor", "or", "shl", "shr", "min", "max", "addsat", "less"]
        return (f"{r.choice(operations)}_{kind}({self.vector(kind, scope, depth - 1)}, "
                f"{self.vector(kind, scope, depth - 1)})")

    def value(self, kind, scope, depth):
        return self.vector(kind, scope, depth) if kind in VECTORS else self.scalar(kind, scope, depth)

    def index(self, scope, size):
        """An index below `size`, of any kind of origin."""
        text = self.scalar("u32", scope, 2)
        return f"({text}) & {size - 1}" if size & (size - 1) == 0 else f"({text}) % {size}"

    # ---- statements ----

    def declare(self, scope, kind=None):
        kind = kind or self.random.choice(SCALARS + list(VECTORS))
        name = self.name_of("v")
        self.emit(f"{kind} {name} = {self.value(kind, scope, 2)};")
        scope.append((name, kind))

    def assign(self, scope, assignable):
        name, kind = self.random.choice(assignable)
        self.emit(f"{name} = {self.value(kind, scope, 3)};")

    def block_of(self, scope, assignable, extra, depth, count, loop):
        self.indent += 1
        inner = list(scope)
        for _ in range(count):
            self.statement(inner, assignable, extra, depth, loop)
        self.use(inner[len(scope):])
        self.indent -= 1

    def use(self, variables):
        """Fold variables into the running hash: what nobody reads the compiler leaves out."""
        for name, kind in variables:
            self.fold_value(name, kind, self.hash)

    def statement(self, scope, assignable, extra, depth, loop=False):
        """`extra`: further statements of this place; `depth`: how deep control flow may still nest."""
        r = self.random
        roll = r.random()
        if depth > 0 and roll < 0.14:
            self.emit(f"if ({self.condition(scope, 2)}) {{")
            self.block_of(scope, assignable, extra, depth - 1, r.randint(1, 3), loop)
            if self.chance(0.5):
                self.emit("} else {")
                self.block_of(scope, assignable, extra, depth - 1, r.randint(1, 3), loop)
            self.emit("}")
        elif depth > 0 and roll < 0.24:
            counter = self.name_of("n")
            limit = r.choice([f"{r.randint(1, 6)}u", f"(({self.scalar('u32', scope, 1)}) & 7)"])
            self.emit(f"for (u32 {counter} = 0, {counter}_end = {limit}; {counter} < {counter}_end; {counter}++) {{")
            self.block_of(scope + [(counter, "u32")], assignable, extra, depth - 1, r.randint(1, 3), True)
            self.emit("}")
        elif depth > 0 and roll < 0.29:
            counter = self.name_of("n")
            self.emit(f"u32 {counter} = ({self.scalar('u32', scope, 1)}) & 15;")
            self.emit(f"while ({counter} && {self.condition(scope, 1)}) {{")
            self.indent += 1
            self.emit(f"{counter} {r.choice(['--', '>>= 1', '&= ' + counter + ' - 1'])};")
            self.indent -= 1
            self.block_of(scope + [(counter, "u32")], assignable, extra, depth - 1, r.randint(1, 2), True)
            self.emit("}")
        elif depth > 0 and roll < 0.36:
            self.emit(f"switch (({self.scalar('u32', scope, 2)}) & 7) {{")
            for case in r.sample(range(8), r.randint(2, 4)):
                self.emit(f"case {case}: {{")
                self.block_of(scope, assignable, extra, depth - 1, r.randint(1, 2), False)
                self.emit("} break;" if self.chance(0.7) else "}")
            self.emit("default: {")
            self.block_of(scope, assignable, extra, depth - 1, 1, False)
            self.emit("}")
            self.emit("}")
        elif loop and roll < 0.40:
            self.emit(f"if ({self.condition(scope, 1)}) {r.choice(['break', 'continue'])};")
        elif extra and roll < 0.66:
            r.choice(extra)(scope)
        elif roll < 0.74:
            self.declare(scope)
        else:
            self.assign(scope, assignable)

    def returning(self, result, scope):
        self.emit(f"return add_{result}({self.scalar(result, scope, 2)}, ({result})(hash & 255));")

    def function(self):
        """A function that is really called: scalars, a structure or a private array as parameters."""
        r = self.random
        name = f"{self.name}_{self.name_of('f')}"
        result = r.choice(SCALARS)
        parameters = [r.choice(SCALARS) for _ in range(r.randint(1, 4))]
        scope = [(f"p{i}", t) for i, t in enumerate(parameters)]
        self.emit(f"NOINLINE {result} {name}({', '.join(f'{t} {n}' for n, t in scope)})")
        self.emit("{")
        self.indent += 1
        assignable = list(scope)
        self.hash = "hash"
        self.emit("u32 hash = 0;")
        for _ in range(2):
            self.declare(scope)
            assignable.append(scope[-1])
        for _ in range(r.randint(2, 4)):
            self.statement(scope, assignable, [], 1)
        self.use(scope[len(parameters):])
        if self.chance(0.3):
            self.emit(f"if ({self.condition(scope, 1)})")
            self.indent += 1
            self.returning(result, scope)
            self.indent -= 1
        self.returning(result, scope)
        self.indent -= 1
        self.emit("}")
        self.functions.append((name, result, parameters))

    # ---- phases ----

    def atomic(self, operation):
        """Of a device most of the time: with the scope of a system some become loops."""
        self.scope = ", __MEMORY_SCOPE_" + self.random.choice(["DEVICE", "DEVICE", ""])
        if self.scope.endswith("_"):
            self.scope = ""
        return f"__{'scoped_' if self.scope else ''}atomic_fetch_{operation}"

    def order(self):
        return "__ATOMIC_" + self.random.choice(["RELAXED", "RELAXED", "ACQ_REL", "SEQ_CST"]) + self.scope

    def memory_statements(self, written, counters):
        """What a phase may do to memory. `written`: the local arrays in which a work-item now changes
        its own element; all others are read anywhere. `counters`: True when they are being counted."""
        r = self.random
        out = []

        def private_store(scope):
            kind, name, size = r.choice([("u32", "p->words", 8), ("u8", "p->bytes", 16), ("f32", "p->reals", 4)])
            self.emit(f"{name}[{self.index(scope, size)}] = {self.scalar(kind, scope, 2)};")

        def private_load(scope):
            kind, name, size = r.choice([("u32", "p->words", 8), ("u8", "p->bytes", 16), ("f32", "p->reals", 4)])
            variable = self.name_of("v")
            self.emit(f"{kind} {variable} = {name}[{self.index(scope, size)}];")
            scope.append((variable, kind))

        def packed(scope):
            """A small array that is written one by one: in registers it shares them with unwritten bytes."""
            kind, size = r.choice([("u8", 16), ("u8", 8), ("u16", 8), ("i16", 4)])
            array, variable, n = self.name_of("a"), self.name_of("v"), self.name_of("n")
            self.emit(f"{kind} {array}[{size}];")
            self.emit(f"u32 {variable} = {self.scalar('u32', scope, 1)};")
            self.emit(f"for (u32 {n} = 0; {n} < {size}; {n}++)")
            self.emit(f"    {array}[({n} * {r.choice([1, 3, 5])}) & {size - 1}] = "
                      f"({kind})({variable} * {n} >> {r.randrange(9)});")
            if self.chance(0.5):
                self.emit(f"{array}[{self.index(scope, size)}] = {self.scalar(kind, scope, 1)};")
            self.emit(f"for (u32 {n} = 0; {n} < {size}; {n}++)")
            self.emit(f"    {variable} = {variable} * 31 + (u32){array}[({variable} + {n}) & {size - 1}];")
            scope.append((variable, "u32"))

        def record(scope):
            kind, field = r.choice([("u32", "word"), ("u8", "byte"), ("u64", "wide"), ("f32", "real")])
            if self.chance(0.3):
                self.emit(f"p->records[{self.index(scope, 4)}] = p->records[{self.index(scope, 4)}];")
            elif self.chance(0.3):
                self.emit(f"p->records[{self.index(scope, 4)}] = {self.name}_record("
                          f"p->records[{self.index(scope, 4)}], {self.scalar('u32', scope, 2)});")
            else:
                self.emit(f"p->records[{self.index(scope, 4)}].{field} = {self.scalar(kind, scope, 2)};")

        def input_load(scope):
            kind = r.choice(["u8", "u16", "u32", "u64", "i8", "i16", "u32x2", "u32x4", "u16x4"])
            variable = self.name_of("v")
            size = {"u8": 4096, "i8": 4096, "u16": 2048, "i16": 2048, "u32": 1024, "u64": 512, "u32x2": 512,
                    "u16x4": 512, "u32x4": 256}[kind]
            uniform = r.choice(["c->turn", "a->word", "c->group"])
            at = f"({uniform} + {r.randrange(size)}u) & {size - 1}" if self.chance(0.3) else self.index(scope, size)
            self.emit(f"{kind} {variable} = ((GLOBAL const {kind} *)c->in)[{at}];")
            scope.append((variable, kind))

        def table_load(scope):
            variable = self.name_of("v")
            self.emit(f"u32 {variable} = {self.name}_table[{self.index(scope, 16)}];")
            scope.append((variable, "u32"))

        def out_store(scope):
            self.emit(f"c->out[c->gid * N_SLOTS + {r.randrange(1, 8)}] = {self.scalar('u32', scope, 3)};")

        def local_store(scope):
            name, kind, _ = r.choice(written)
            self.emit(f"s->{name}[c->lid] = {self.value(kind, scope, 2)};")

        def local_load(scope):
            name, kind, _ = r.choice(readable)
            variable = self.name_of("v")
            where = r.choice([f"(c->lid + {r.randrange(self.size)}u) % {self.size}u",
                              f"(c->lid ^ {r.choice([1, 2, 4, 16])}u) % {self.size}u", self.index(scope, self.size)])
            self.emit(f"{kind} {variable} = s->{name}[{where}];")
            scope.append((variable, kind))

        def local_atomic(scope):
            slot = r.randrange(8)
            kind, name = ("u64", "counters64") if slot >= 4 else ("u32", "counters")
            kind = "i" + kind[1:] if self.atom_ops[slot] in ("max", "min") and slot & 1 else kind
            self.emit(f"(void){self.atomic(self.atom_ops[slot])}((LOCAL {kind} *)&s->{name}[{slot & 3}], "
                      f"{self.scalar(kind, scope, 2)}, {self.order()});")

        def counter_load(scope):
            variable = self.name_of("v")
            self.emit(f"u64 {variable} = s->counters[{self.index(scope, 4)}] + s->counters64[{self.index(scope, 4)}];")
            scope.append((variable, "u64"))

        def global_atomic(scope):
            slot = r.randrange(12)  # 0 … 7: words; 8 … 11: two words each
            kind = "u32" if slot < 8 else "u64"
            at = slot if slot < 8 else 2 * slot - 8
            kind = "i" + kind[1:] if self.atom_ops[slot] in ("max", "min") and slot & 1 else kind
            self.emit(f"(void){self.atomic(self.atom_ops[slot])}((GLOBAL {kind} *)&c->atom[{at}], "
                      f"{self.scalar(kind, scope, 2)}, {self.order()});")

        def own_atomic(scope):
            kind = r.choice(["u32", "u64"])
            variable = self.name_of("v")
            cell = f"(GLOBAL {kind} *)&c->atom[N_ATOMS + 2 * c->gid]"
            if self.chance(0.3):
                self.emit(f"{kind} {variable} = {self.scalar(kind, scope, 1)};")
                self.emit(f"(void)__atomic_compare_exchange_n({cell}, &{variable}, {self.scalar(kind, scope, 2)}, 0, "
                          "__ATOMIC_RELAXED, __ATOMIC_RELAXED);")
            elif self.chance(0.3):
                self.emit(f"{kind} {variable} = __atomic_exchange_n({cell}, {self.scalar(kind, scope, 2)}, "
                          "__ATOMIC_RELAXED);")
            else:
                self.emit(f"{kind} {variable} = {self.atomic(r.choice(ATOMICS + ['sub']))}({cell}, "
                          f"{self.scalar(kind, scope, 2)}, {self.order()});")
            scope.append((variable, kind))

        readable = [a for a in LOCALS if a not in written]
        out += [private_store, private_load, packed, record, input_load, table_load, out_store, local_load,
                global_atomic, own_atomic]
        if written:
            out += [local_store, local_store]
        out.append(local_atomic if counters else counter_load)
        return out

    def phase(self, number, first):
        r = self.random
        self.emit(f"NOINLINE void {self.name}_phase{number}(const struct ctx *c, LOCAL struct {self.name}_shared *s, "
                  f"struct {self.name}_own *p, const struct args *a)")
        self.emit("{")
        self.indent += 1
        scope = [("c->lid", "u32"), ("c->gid", "u32"), ("c->turn", "u32"), ("c->x", "u32"), ("c->y", "u32"),
                 ("p->swapped", "u32"), ("a->word", "u32"), ("a->byte", "u8"), ("a->wide", "u64"),
                 ("a->real", "f32"), ("a->shorts[2]", "u16")]
        assignable = [(f"p->{n}", t) for n, t in self.own]
        scope += assignable
        self.hash, outer = "p->hash", len(scope)
        if first:
            for name, kind, _ in LOCALS:
                self.emit(f"s->{name}[c->lid] = {self.value(kind, scope, 2)};")
            self.emit(f"for (u32 i = c->lid; i < 4; i += {self.size}) {{")
            self.emit("    s->counters[i] = c->in[i];")
            self.emit("    s->counters64[i] = c->in[i + 4];")
            self.emit("}")
        else:
            written = r.sample(LOCALS, r.randint(1, 4))
            extra = self.memory_statements(written, number % 2 == 1)
            if self.chance(0.3):
                self.emit(f"if ({self.condition(scope, 2)}) return;")
            for _ in range(2):
                self.declare(scope)
                assignable.append(scope[-1])
            for _ in range(r.randint(4, 8)):
                self.statement(scope, assignable, extra, 2)
            self.use(scope[outer:])
        self.indent -= 1
        self.emit("}")

    def swap(self, number):
        """A phase in which work-items read each other's registers; all of them take part."""
        self.emit(f"NOINLINE void {self.name}_phase{number}(const struct ctx *c, LOCAL struct {self.name}_shared *s, "
                  f"struct {self.name}_own *p, const struct args *a)")
        self.emit("{")
        masks = self.random.sample(SWAPS, 4)
        self.emit("    p->swapped = " + " * 3 + ".join(f"SWAP(hash, {m})" for m in masks) + ";")
        self.emit("}")

    def fold(self):
        """The last phase: everything the work-item has goes into one word."""
        self.emit(f"NOINLINE void {self.name}_fold(const struct ctx *c, LOCAL struct {self.name}_shared *s, "
                  f"struct {self.name}_own *p, const struct args *a)")
        self.emit("{")
        self.indent += 1
        self.emit("u32 hash = p->hash ^ c->gid ^ p->swapped;")
        for name, kind in self.own + [(f"{n}", k) for n, k, _ in LOCALS]:
            local = (name, kind) not in self.own
            text = f"s->{name}[(c->lid + 1) % {self.size}u]" if local else f"p->{name}"
            self.fold_value(text, kind, "hash")
        self.emit("for (u32 i = 0; i < 8; i++) hash = mix(hash, p->words[i]);")
        self.emit("for (u32 i = 0; i < 16; i++) hash = mix(hash, p->bytes[i]);")
        self.emit("for (u32 i = 0; i < 4; i++) hash = mix(hash, bits_f32(p->reals[i]));")
        self.emit("for (u32 i = 0; i < 4; i++) {")
        self.emit("    hash = mix(mix(hash, p->records[i].word), p->records[i].byte);")
        self.emit("    hash = mix(mix64(hash, p->records[i].wide), bits_f32(p->records[i].real));")
        self.emit("    hash = mix64(mix(hash, s->counters[i]), s->counters64[i]);")
        self.emit("}")
        self.emit("c->out[c->gid * N_SLOTS] = hash;")
        self.indent -= 1
        self.emit("}")

    def fold_value(self, text, kind, target):
        element, n = VECTORS.get(kind, (kind, 1))
        for part in ("." + c for c in "xyzw"[:n]) if n > 1 else [""]:
            bits = f"bits_{element}({text}{part})" if element in REALS else text + part
            self.emit(f"{target} = {'mix64' if element in ('u64', 'i64', 'f64') else 'mix'}({target}, "
                      f"{bits if element in ('u64', 'i64', 'f64') else '(u32)' + bits});")

    # ---- the whole ----

    def write(self):
        r, name = self.random, self.name
        self.own = [(f"m{i}", t) for i, t in enumerate(r.sample(SCALARS, 5) + r.sample(list(VECTORS), 2))]
        self.emit(f"CONSTANT u32 {name}_table[16] = {{{', '.join(str(r.getrandbits(32)) + 'u' for _ in range(16))}}};")
        self.emit(f"struct {name}_shared {{ u32 counters[4]; u64 counters64[4]; "
                  + " ".join(f"{t} {n}[{self.size}];" for n, t, _ in LOCALS) + " };")
        self.emit(f"struct {name}_own {{ {' '.join(f'{t} {n};' for n, t in self.own)} u32 hash, swapped, words[8]; "
                  "u8 bytes[16]; f32 reals[4]; struct args records[4]; };")
        self.emit(f"NOINLINE struct args {name}_record(struct args r, u32 v)")
        self.emit("{")
        self.emit("    r.word += v;")
        self.emit("    r.byte ^= (u8)(v >> 3);")
        self.emit("    r.wide = r.wide * 3 + r.word;")
        self.emit("    return r;")
        self.emit("}")
        for _ in range(r.randint(1, 3)):
            self.function()
        phases = r.randint(3, 6)
        for i in range(phases):
            if i > 0 and self.size % 32 == 0 and self.chance(0.3):
                self.swap(i)
            else:
                self.phase(i, i == 0)
        self.fold()
        order = [f"PHASE({name}_phase0, 0)"]
        i = 1
        while i < phases:
            if i + 1 < phases and self.chance(0.4):
                order += [f"for (u32 t = 0; t < {r.randint(2, 3)}; t++) {{ PHASE({name}_phase{i}, t) "
                          f"PHASE({name}_phase{i + 1}, t) }}"]
                i += 2
            else:
                order += [f"PHASE({name}_phase{i}, 0)"]
                i += 1
        order += [f"PHASE({name}_fold, 0)"]
        self.lines.append(ENTRY.format(name=name, x=self.block[0], y=self.block[1], z=self.block[2], size=self.size,
                                       gx=self.groups[0], gy=self.groups[1], gz=self.groups[2],
                                       body="\n    ".join(order)))
        return "\n".join(self.lines) + "\n"


PRELUDE = """#include "programs.h"
#ifdef __OPENCL_C_VERSION__
#define PHASE(function, t) c.turn = t; function(&c, &s, &p, &a); BARRIER();
#else
#define PHASE(function, t) \\
    for (u32 l = 0; l < size; l++) { c[l].turn = t; function(&c[l], &s, &p[l], &a); }
struct program { const char *name; u32 block[3], groups[3]; void (*run)(const u32 *, u32 *, u32 *, struct args); };
#endif
"""
ENTRY = """#ifdef __OPENCL_C_VERSION__
__kernel __attribute__((reqd_work_group_size({x}, {y}, {z})))
void {name}(GLOBAL const u32 *in, GLOBAL u32 *out, GLOBAL u32 *atom, struct args a)
{{
    __local struct {name}_shared s;
    struct {name}_own p = {{ 0 }};
    struct ctx c = {{ in, out, atom, 0, 0, 0, 0, 0, 0, 0 }};
    c.x = __builtin_amdgcn_workitem_id_x();
    c.y = __builtin_amdgcn_workitem_id_y();
    c.z = __builtin_amdgcn_workitem_id_z();
    c.lid = c.x + {x}u * (c.y + {y}u * c.z);
    c.group = __builtin_amdgcn_workgroup_id_x() + {gx}u * (__builtin_amdgcn_workgroup_id_y()
              + {gy}u * __builtin_amdgcn_workgroup_id_z());
    c.gid = c.group * {size}u + c.lid;
    {body}
}}
#else
static void {name}_run(const u32 *in, u32 *out, u32 *atom, struct args a)
{{
    enum {{ size = {size} }};
    static struct {name}_shared s;
    static struct {name}_own p[size];
    static struct ctx c[size];
    for (u32 group = 0; group < {gx}u * {gy}u * {gz}u; group++) {{
    for (u32 l = 0; l < size; l++) {{
        p[l] = (struct {name}_own){{ 0 }};
        c[l] = (struct ctx){{ in, out, atom, l, group * {size}u + l, group, l % {x}u, l / {x}u % {y}u,
                             l / {x}u / {y}u, 0 }};
    }}
    {body}
    }}
}}
const struct program {name}_program = {{ "{name}", {{ {x}, {y}, {z} }}, {{ {gx}, {gy}, {gz} }}, {name}_run }};
#endif
"""


def write_programs(seeds):
    """One source with the programs of the given seeds, named p<seed>, and a table of them."""
    text = PRELUDE + "".join(
        Program(f"p{seed}", seed + 10**6 if seed in MISCOMPILED else seed).write() for seed in seeds)
    rows = ", ".join(f"&p{seed}_program" for seed in seeds)
    return text + f"#ifndef __OPENCL_C_VERSION__\nconst struct program *const programs[] = {{ {rows}, 0 }};\n#endif\n"
