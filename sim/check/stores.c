/* stores.c: stores that the other waves of a workgroup cannot rely on, in spite of a barrier.
 *
 * Memory is written at once here. On the chip a barrier holds waves, not memory: what a wave stored
 * is there for the others when the wave has waited for its counter (lgkmcnt for LDS, vscnt for
 * memory, vmcnt for an atomic that returns) and then passed a barrier. So stores are remembered
 * until a barrier opens; those that were not waited for by then are "crossed", until a later
 * barrier finds them waited for, and another wave that reads them meanwhile is told.
 *
 * Without a barrier between store and read nothing is said: flags that waves spin on are legal. In
 * CU mode all waves of a workgroup share one L0 cache, which keeps their order, so only LDS counts.
 */
#include <string.h>

#include "sim/check/check.h"

static const struct wait_queue *queue_of(const struct wave *w, const struct store *s)
{
    return s->counter == ISA_LGKMCNT ? &w->lgkm : s->counter == ISA_VMCNT ? &w->vm : &w->vs;
}

static bool is_waited(const struct wave *w, const struct store *s)
{
    const struct wait_queue *q = queue_of(w, s);
    return s->number < q->n_begun - q->n;
}

void store_begins(struct wave *w, const struct op *op, const struct touch *t, unsigned counter)
{
    struct store *s = &w->stores[w->n_stores++ % MAX_STORES];
    s->instruction = w->pc - op->bytes;
    s->lanes = t->lanes;
    s->counter = (uint8_t)counter;
    s->width = (uint8_t)t->width;
    s->lds = t->lds;
    s->atomic = t->atomic;
    s->crossed = false;
    s->number = queue_of(w, s)->n_begun - 1;
    memcpy(s->at, w->core->address, w->n_lanes * sizeof *s->at);
}

/* The bytes from the lowest to behind the highest. */
static void span_of(uint64_t lanes, const uint64_t *at, unsigned width, uint64_t *low,
                    uint64_t *high)
{
    *low = UINT64_MAX;
    *high = 0;
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t a = at[__builtin_ctzll(rest)];
        if (a < *low) *low = a;
        if (a + width > *high) *high = a + width;
    }
}

/* The stores of a wave that are still in its ring, from `first_store` on. */
static uint64_t oldest_store(const struct wave *w)
{
    uint64_t kept = w->n_stores > MAX_STORES ? w->n_stores - MAX_STORES : 0;
    return w->first_store > kept ? w->first_store : kept;
}

/* Returns whether the wave has crossed stores. */
static bool cross(struct wave *w)
{
    bool any = false;
    w->first_store = oldest_store(w);
    for (uint64_t i = w->first_store; i < w->n_stores; i++) {
        struct store *s = &w->stores[i % MAX_STORES];
        if (is_waited(w, s)) {
            s->crossed = false;
            if (i == w->first_store) w->first_store++;
            continue;
        }
        if (w->state == WAVE_BARRIER && !s->crossed) {
            s->crossed = true;
            span_of(s->lanes, s->at, s->width, &s->low, &s->high);
        }
        any |= s->crossed;
    }
    return any;
}

void stores_cross(struct core *core)
{
    core->crossed = 0;
    for (unsigned i = 0; i < core->n_waves; i++)
        if (cross(&core->waves[i])) core->crossed |= UINT32_C(1) << i;
}

/* Lanes that touch bytes of a store. */
static uint64_t lanes_in(const struct store *s, const struct touch *t, const uint64_t *at)
{
    uint64_t lanes = 0;
    for (uint64_t rest = t->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if (at[lane] >= s->high || at[lane] + t->width <= s->low) continue;
        for (uint64_t others = s->lanes; others; others &= others - 1) {
            uint64_t stored = s->at[__builtin_ctzll(others)];
            if (at[lane] >= stored + s->width || at[lane] + t->width <= stored) continue;
            lanes |= UINT64_C(1) << lane;
            break;
        }
    }
    return lanes;
}

static void tell(struct wave *w, const struct op *op, const struct touch *t,
                 const struct wave *owner, const struct store *s, uint64_t lanes)
{
    static const char *const missing[] = { [ISA_VMCNT] = "s_waitcnt vmcnt(0)",
                                           [ISA_LGKMCNT] = "s_waitcnt lgkmcnt(0)",
                                           [ISA_VSCNT] = "s_waitcnt_vscnt null, 0" };
    uint64_t at = w->core->address[__builtin_ctzll(lanes)];
    struct finding f = { .kind = SIM_WAITCNT,
                         .rule = -1,
                         .lanes = t->scalar ? 0 : lanes,
                         .data_address = at,
                         .cause = s->instruction };
    report(w, op, &f,
           "%u bytes at 0x%llx%s, which wave %u %s at 0x%llx and took through a barrier without %s",
           t->width, (unsigned long long)at, s->lds ? " of LDS" : "", owner->number,
           s->atomic ? "changed" : "stored", (unsigned long long)s->instruction,
           missing[s->counter]);
}

void stores_touched(struct wave *w, const struct op *op, const struct touch *t)
{
    struct core *core = w->core;
    uint64_t low, high;
    span_of(t->lanes, core->address, t->width, &low, &high);
    for (uint32_t rest = core->crossed & ~(UINT32_C(1) << w->number); rest; rest &= rest - 1) {
        const struct wave *owner = &core->waves[__builtin_ctz(rest)];
        for (uint64_t i = oldest_store(owner); i < owner->n_stores; i++) {
            const struct store *s = &owner->stores[i % MAX_STORES];
            if (!s->crossed || s->lds != t->lds || low >= s->high || high <= s->low) continue;
            if (s->atomic && t->atomic) continue; /* in any order */
            uint64_t lanes = lanes_in(s, t, core->address);
            if (!lanes) continue;
            tell(w, op, t, owner, s, lanes);
            return;
        }
    }
}

/* ---- LDS, whose addresses are a row and an offset ---- */

static struct touch lds_touch(struct wave *w, const struct op *op, const uint32_t *base,
                              uint32_t offset)
{
    uint64_t lanes = w->exec;
    uint32_t most = 0;
    for (unsigned i = 0; i < w->n_lanes; i++) {
        const uint32_t at = base[i] + offset; /* wraps */
        w->core->address[i] = at;
        most = at > most ? at : most;
    }
    for (unsigned i = 0; i < w->n_lanes && most >= w->core->group_bytes; i++)
        if (w->core->address[i] >= w->core->group_bytes) lanes &= ~(UINT64_C(1) << i);
    return (struct touch){ .lanes = lanes, .width = op->width, .lds = true, .atomic = op->atomic };
}

void lds_store_begins(struct wave *w, const struct op *op, const uint32_t *base, uint32_t offset)
{
    if (!w->core->watch_lds) return;
    struct touch t = lds_touch(w, op, base, offset);
    store_begins(w, op, &t, ISA_LGKMCNT);
}

void lds_touched(struct wave *w, const struct op *op, const uint32_t *base, uint32_t offset)
{
    if (!w->core->crossed) return;
    struct touch t = lds_touch(w, op, base, offset);
    stores_touched(w, op, &t);
}
