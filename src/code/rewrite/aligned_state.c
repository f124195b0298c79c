/* aligned_state.c: facts modulo 256 and sets of lanes: arithmetic, joining, changes of EXEC. */
#include "code/rewrite/aligned_state.h"

#include <string.h>

/* ---- facts ---- */

static unsigned bits_of(fact f)
{
    return f >> 8;
}

static fact make(unsigned bits, unsigned value)
{
    if (bits > FACT_BITS) bits = FACT_BITS;
    return (fact)(bits << 8 | (value & ((1u << bits) - 1)));
}

/* How many zeros it ends with at least. */
static unsigned zeros_of(fact f)
{
    return f & 255 ? (unsigned)__builtin_ctz(f & 255) : bits_of(f);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

fact fact_of(uint32_t number)
{
    return make(FACT_BITS, number & 255);
}

fact fact_join(fact a, fact b)
{
    unsigned bits = least(bits_of(a), bits_of(b)), differ = (a ^ b) & ((1u << bits) - 1);
    return make(differ ? (unsigned)__builtin_ctz(differ) : bits, a & 255);
}

fact fact_add(fact a, fact b)
{
    return make(least(bits_of(a), bits_of(b)), (a & 255u) + (b & 255u));
}

fact fact_sub(fact a, fact b)
{
    return make(least(bits_of(a), bits_of(b)), (a & 255u) - (b & 255u));
}

/* (x + 2^m i) (y + 2^n k): the terms with i and k end with as many zeros as x and y add. */
fact fact_mul(fact a, fact b)
{
    unsigned bits = least(bits_of(a) + zeros_of(b), bits_of(b) + zeros_of(a));
    return make(bits, (a & 255u) * (b & 255u));
}

fact fact_shl(fact a, fact by)
{
    if (bits_of(by) < 5) return make(zeros_of(a), 0);
    return make(bits_of(a) + (by & 31), (a & 255u) << (by & 31));
}

fact fact_shr(fact a, fact by)
{
    unsigned n = by & 31;
    if (bits_of(by) < 5 || bits_of(a) <= n) return 0;
    return make(bits_of(a) - n, (a & 255u) >> n);
}

/* One bit after the other, as long as they are known; `decides` is what one side alone decides. */
static fact bitwise(fact a, fact b, unsigned result, unsigned decides)
{
    unsigned n = 0;
    for (; n < FACT_BITS; n++) {
        bool in_a = n < bits_of(a), in_b = n < bits_of(b);
        if (!(in_a && in_b) && !(in_a && (a >> n & 1) == decides) &&
            !(in_b && (b >> n & 1) == decides))
            break;
    }
    return make(n, result);
}

fact fact_and(fact a, fact b)
{
    return bitwise(a, b, a & b & 255u, 0);
}

fact fact_or(fact a, fact b)
{
    return bitwise(a, b, (a | b) & 255u, 1);
}

fact fact_xor(fact a, fact b)
{
    return make(least(bits_of(a), bits_of(b)), (a ^ b) & 255u);
}

fact fact_not(fact a)
{
    return make(bits_of(a), ~(unsigned)a & 255u);
}

/* ---- sets of lanes ---- */

mask mask_join(mask a, mask b)
{
    if (!a || !b) return 0;
    if (a == b) return a;
    return (mask)(MASK_WITHIN | least(a & MASK_LEVEL, b & MASK_LEVEL));
}

/* The sets inside of `level` are gone: what was one of them is a part of it. */
static void leave(struct aligned_state *s, unsigned level)
{
    for (unsigned i = 0; i < N_SCALAR_REGS; i++)
        if (s->masks[i] && (s->masks[i] & MASK_LEVEL) > level)
            s->masks[i] = (mask)(MASK_WITHIN | level);
    s->level = (uint8_t)level;
}

static void push(struct aligned_state *s)
{
    memcpy(s->vectors[s->level + 1], s->vectors[s->level], sizeof s->vectors[0]);
    s->level++;
}

void aligned_forget(struct aligned_state *s)
{
    memset(s->masks, 0, sizeof s->masks);
    memset(s->scalars, 0, sizeof s->scalars);
    memset(s->vectors[0], 0, sizeof s->vectors[0]);
    s->is_reached = true;
    s->level = 0;
}

void aligned_set_exec(struct aligned_state *s, mask m)
{
    if (!m) { /* may be anything */
        memset(s->masks, 0, sizeof s->masks);
        memset(s->vectors[0], 0, sizeof s->vectors[0]);
        s->level = 0;
        return;
    }
    const unsigned level = m & MASK_LEVEL;
    if (m & MASK_IS) {
        leave(s, level);
    } else if (level + 1 < N_LEVELS) {
        leave(s, level);
        push(s);
    } else { /* no room for one more: EXEC takes the place of the innermost set */
        leave(s, level - 1);
        s->level = (uint8_t)level;
    }
}

void aligned_write(struct aligned_state *s, unsigned v, fact f)
{
    for (unsigned i = 0; i < s->level; i++) s->vectors[i][v] = fact_join(s->vectors[i][v], f);
    s->vectors[s->level][v] = f;
}

bool aligned_join(struct aligned_state *to, const struct aligned_state *from)
{
    if (!to->is_reached) {
        *to = *from;
        return true;
    }
    bool changed = to->level < from->level;
    while (to->level < from->level) push(to); /* two sets may be the same */
    for (unsigned i = 0; i <= to->level; i++) {
        const fact *facts = from->vectors[least(i, from->level)];
        for (unsigned v = 0; v < 256; v++) {
            fact f = to->vectors[i][v];
            if (f == facts[v]) continue;
            to->vectors[i][v] = fact_join(f, facts[v]);
            changed |= to->vectors[i][v] != f;
        }
    }
    for (unsigned i = 0; i < N_SCALAR_REGS; i++) {
        fact f = fact_join(to->scalars[i], from->scalars[i]);
        mask m = mask_join(to->masks[i], from->masks[i]);
        changed |= f != to->scalars[i] || m != to->masks[i];
        to->scalars[i] = f;
        to->masks[i] = m;
    }
    return changed;
}
