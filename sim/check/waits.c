/* waits.c: loads that are under way, and registers that nothing has written.
 *
 * Results are in the registers at once; what is kept is which of them a program may not know of
 * yet. Both kinds of registers have a bit in wave.*_attention, so that an instruction that touches
 * none of them costs nothing. */
#include "sim/check/check.h"

static uint64_t bit(unsigned n)
{
    return UINT64_C(1) << (n & 63);
}

static void update_vgpr(struct wave *w, unsigned v)
{
    bool plain =
        v < w->n_vgprs && w->vgpr_defined[v] == w->full && !(w->vgpr_pending[v >> 6] & bit(v));
    if (plain)
        w->vgpr_attention[v >> 6] &= ~bit(v);
    else
        w->vgpr_attention[v >> 6] |= bit(v);
}

static void update_sgpr(struct wave *w, unsigned s)
{
    bool plain = w->sgpr_defined[s] == UINT32_MAX && !(w->sgpr_pending[s >> 6] & bit(s));
    if (plain)
        w->sgpr_attention[s >> 6] &= ~bit(s);
    else
        w->sgpr_attention[s >> 6] |= bit(s);
}

void set_vgpr_defined(struct wave *w, unsigned v, uint64_t lanes)
{
    w->vgpr_defined[v] = lanes;
    update_vgpr(w, v);
}

void set_sgpr_defined(struct wave *w, unsigned s, uint32_t bits)
{
    w->sgpr_defined[s] = bits;
    update_sgpr(w, s);
}

void define_vgprs(struct wave *w, unsigned first, unsigned n, uint64_t lanes)
{
    for (unsigned v = first; v < first + n && v < 256; v++)
        set_vgpr_defined(w, v, w->vgpr_defined[v] | lanes);
}

void define_sgprs(struct wave *w, unsigned first, unsigned n)
{
    for (unsigned s = first; s < first + n && s < 128; s++) set_sgpr_defined(w, s, UINT32_MAX);
}

/* ---- counters ---- */

static void set_pending(struct wave *w, const struct pending *p, bool on)
{
    uint64_t *set = p->scalar ? w->sgpr_pending : w->vgpr_pending;
    for (unsigned r = p->first; r < p->first + p->n_regs && r < (p->scalar ? 128u : 256u); r++) {
        if (on)
            set[r >> 6] |= bit(r);
        else
            set[r >> 6] &= ~bit(r);
        if (p->scalar)
            update_sgpr(w, r);
        else
            update_vgpr(w, r);
    }
}

static void retire(struct wave *w, struct wait_queue *q)
{
    struct pending p = q->entry[q->head];
    q->head = (q->head + 1) % MAX_PENDING;
    q->n--;
    set_pending(w, &p, false);
}

static void push(struct wave *w, struct wait_queue *q, const struct pending *p, bool unordered)
{
    if (q->n == MAX_PENDING) retire(w, q); /* the counter is full: the hardware waits by itself */
    q->entry[(q->head + q->n++) % MAX_PENDING] = *p;
    q->n_begun++;
    q->unordered |= unordered;
    if (!p->n_regs) return;
    const uint64_t *set = p->scalar ? w->sgpr_pending : w->vgpr_pending;
    for (unsigned r = p->first; r < p->first + p->n_regs && r < (p->scalar ? 128u : 256u); r++)
        if (set[r >> 6] & bit(r)) q->overlaps = true;
    set_pending(w, p, true);
}

/* An instruction that only counts: a store. Those of FLAT may be to memory or to LDS and count in
 * both. */
void wave_counts(struct wave *w, struct wait_queue *q)
{
    if (w->core->run->checks & SIM_CHECK_WAITCNT) push(w, q, &(struct pending){ 0 }, false);
}

void wave_load_begins(struct wave *w, const struct op *op, unsigned counter, bool unordered)
{
    if (!(w->core->run->checks & SIM_CHECK_WAITCNT)) return;
    struct wait_queue *q = counter == ISA_VMCNT ? &w->vm : &w->lgkm;
    const struct isa_operand *to = op->out ? op->out : op->data;
    struct pending p = { .address = w->pc - op->bytes, .sampler = op->sampler };
    if (to && to->kind == ISA_KIND_VGPR)
        p.first = (uint16_t)(to->reg - ISA_VGPR0);
    else if (to && to->kind == ISA_KIND_REG && to->reg != ISA_NULL)
        p.first = to->reg;
    else
        to = NULL;
    if (to) {
        p.n_regs = to->n_regs;
        p.scalar = to->kind == ISA_KIND_REG;
    }
    push(w, q, &p, unordered);
    /* A flat load counts in both counters, and in both in order. */
    if (op->inst.row->encoding == ISA_FLAT) wave_counts(w, q == &w->vm ? &w->lgkm : &w->vm);
}

void wave_wait(struct wave *w, struct wait_queue *q, unsigned left)
{
    if (q->unordered && left) return;
    while (q->n > left) retire(w, q);
    if (!q->n) q->unordered = false;
    if (!q->overlaps) return;
    /* What was retired may share registers with what is left. */
    for (unsigned i = 0; i < q->n; i++)
        set_pending(w, &q->entry[(q->head + i) % MAX_PENDING], true);
    q->overlaps = q->n;
}

/* The load that a register waits for. */
static uint64_t loader_of(const struct wave *w, unsigned reg, bool scalar)
{
    const struct wait_queue *queues[] = { &w->vm, &w->lgkm };
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < queues[k]->n; i++) {
            const struct pending *p = &queues[k]->entry[(queues[k]->head + i) % MAX_PENDING];
            if (p->scalar == scalar && reg >= p->first && reg < p->first + p->n_regs)
                return p->address;
        }
    return 0;
}

/* A load may overwrite what an earlier one of the same counter writes: they return in order, but
 * for those with and without a sampler, which go different ways. */
static bool is_ordered_write(const struct wave *w, const struct op *op, unsigned v)
{
    const bool flat = op->inst.row->encoding == ISA_FLAT;
    const struct wait_queue *q = op->inst.row->flags & ISA_IS_DS ? &w->lgkm : &w->vm;
    const struct wait_queue *other = q == &w->vm ? &w->lgkm : &w->vm;
    bool is_load =
        op->inst.row->flags & (ISA_VMEM | ISA_IS_DS) && op->out && op->out->kind == ISA_KIND_VGPR;
    if (!is_load || q->unordered) return false;
    unsigned first = op->out->reg - (unsigned)ISA_VGPR0;
    if (v < first || v >= first + op->out->n_regs) return false;
    /* not as an address or data at the same time */
    for (unsigned i = 0; i < op->inst.n_operands; i++) {
        const struct isa_operand *o = &op->inst.op[i];
        unsigned r = o->reg - (unsigned)ISA_VGPR0;
        if (o != op->out && o->kind == ISA_KIND_VGPR && v >= r && v < r + o->n_regs) return false;
    }
    for (unsigned i = 0; i < q->n; i++) {
        const struct pending *p = &q->entry[(q->head + i) % MAX_PENDING];
        if (p->sampler != (op->sampler != NULL) && v >= p->first && v < p->first + p->n_regs)
            return false;
    }
    for (unsigned i = 0; i < other->n && !flat; i++) {
        const struct pending *p = &other->entry[(other->head + i) % MAX_PENDING];
        if (!p->scalar && v >= p->first && v < p->first + p->n_regs) return false;
    }
    return true;
}

static void check_pending(struct wave *w, const struct op *op)
{
    for (unsigned v = 0; v < 256; v++) {
        if (!(op->vgpr_used[v >> 6] & w->vgpr_pending[v >> 6] & bit(v))) continue;
        if (is_ordered_write(w, op, v)) continue;
        struct finding f = {
            .kind = SIM_WAITCNT, .rule = -1, .lanes = w->exec, .cause = loader_of(w, v, false)
        };
        report(w, op, &f, "v%u is %s before the load at 0x%llx was waited for", v,
               isa_vgpr_in(op->uses.vgpr_read, v) ? "read" : "written",
               (unsigned long long)f.cause);
        return;
    }
    for (unsigned s = 0; s < 128; s++) {
        if (!(op->sgpr_used[s >> 6] & w->sgpr_pending[s >> 6] & bit(s))) continue;
        struct finding f = { .kind = SIM_WAITCNT, .rule = -1, .cause = loader_of(w, s, true) };
        report(w, op, &f, "s%u is %s before the load at 0x%llx was waited for", s,
               isa_sgpr_in(op->uses.sgpr_read, s) ? "read" : "written",
               (unsigned long long)f.cause);
        return;
    }
}

static bool check_range(struct wave *w, const struct op *op)
{
    uint64_t beyond = 0;
    for (unsigned i = w->n_vgprs / 64; i < 4; i++) {
        const uint64_t first =
            i == w->n_vgprs / 64 ? ~UINT64_C(0) << w->n_vgprs % 64 : ~UINT64_C(0);
        beyond |= op->vgpr_used[i] & first;
    }
    if (!beyond) return true;
    for (unsigned v = w->n_vgprs; v < 256; v++) {
        if (!(op->vgpr_used[v >> 6] & bit(v))) continue;
        struct finding f = { .kind = SIM_BAD_REGISTER, .rule = -1 };
        report(w, op, &f, "v%u of a kernel that was given %u vector registers", v, w->n_vgprs);
        return false;
    }
    return true;
}

void attend(struct wave *w, const struct op *op)
{
    if (op->run == run_illegal) return; /* says so itself */
    if (w->n_vgprs < 256 && !check_range(w, op)) return;
    uint64_t pending = 0;
    for (unsigned i = 0; i < 4; i++) pending |= w->vgpr_pending[i] & op->vgpr_used[i];
    for (unsigned i = 0; i < 2; i++) pending |= w->sgpr_pending[i] & op->sgpr_used[i];
    if (pending) check_pending(w, op);
    if (w->core->run->checks & (SIM_CHECK_REGISTERS | SIM_CHECK_LDS)) undefined_before(w, op);
}
