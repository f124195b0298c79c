/* wave.c: the state a wave starts with, and the loop that executes it. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/record/hooks.h"
#include "sim/state/registers.h"

/* ---- start ---- */

static void put_sgpr(struct wave *w, unsigned *next, uint32_t value)
{
    if (*next >= ISA_VCC_LO) return;
    w->sgpr[*next] = value;
    define_sgprs(w, *next, 1);
    ++*next;
}

static void put_pair(struct wave *w, unsigned *next, uint64_t value)
{
    put_sgpr(w, next, (uint32_t)value);
    put_sgpr(w, next, (uint32_t)(value >> 32));
}

/* User SGPRs in the order that the descriptor's bits stand for, then those of the system. */
static void init_sgprs(struct wave *w)
{
    const struct core *core = w->core;
    const struct run *run = core->run;
    const struct sim_dispatch *d = run->dispatch;
    unsigned properties = d->descriptor.properties, rsrc2 = d->descriptor.rsrc2, next = 0;
    if (properties & CODEOBJ_PROPERTY_PRIVATE_SEGMENT_BUFFER)
        for (unsigned i = 0; i < 4; i++) put_sgpr(w, &next, run->descriptor[i]);
    if (properties & CODEOBJ_PROPERTY_DISPATCH_PTR) put_pair(w, &next, d->packet_address);
    if (properties & CODEOBJ_PROPERTY_QUEUE_PTR) put_pair(w, &next, d->queue_address);
    if (properties & CODEOBJ_PROPERTY_KERNARG_SEGMENT_PTR) put_pair(w, &next, d->kernarg_address);
    if (properties & CODEOBJ_PROPERTY_DISPATCH_ID) put_pair(w, &next, d->dispatch_id);
    if (properties & CODEOBJ_PROPERTY_FLAT_SCRATCH_INIT) put_pair(w, &next, run->scratch);
    if (properties & CODEOBJ_PROPERTY_PRIVATE_SEGMENT_SIZE) put_sgpr(w, &next, d->private_bytes);
    for (unsigned i = 0; i < 3; i++) /* grid workgroup counts: only old objects ask for them */
        if (properties >> (7 + i) & 1) put_sgpr(w, &next, run->n_groups[i]);

    unsigned n_user = rsrc2 >> 1 & 31;
    if (next < n_user) next = n_user;
    for (unsigned i = 0; i < 3; i++)
        if (rsrc2 >> (7 + i) & 1) put_sgpr(w, &next, core->workgroup[i]);
    if (rsrc2 >> 10 & 1) /* first wave, and how many there are */
        put_sgpr(w, &next, (w->number ? 0 : 1u << 31) | core->n_waves);
    if (rsrc2 & 1) put_sgpr(w, &next, (uint32_t)(w->slot - run->scratch));
}

/* Local ids, and the lanes that have a work-item. */
static void init_vgprs(struct wave *w)
{
    const struct core *core = w->core;
    const struct run *run = core->run;
    const struct sim_dispatch *d = run->dispatch;
    uint32_t size[3];
    for (unsigned i = 0; i < 3; i++) { /* the last workgroup of a line may be partial */
        uint64_t first = (uint64_t)core->workgroup[i] * d->workgroup[i];
        uint64_t left = d->grid[i] - first;
        size[i] = left < d->workgroup[i] ? (uint32_t)left : d->workgroup[i];
    }
    /* At most 1024 work-items; divisions are slow, so only the first lane's ids take some. */
    const uint32_t total = size[0] * size[1] * size[2], first = w->number * w->n_lanes;
    uint32_t x = first % size[0], y = first / size[0] % size[1], z = first / size[0] / size[1];
    uint32_t *ids = w->vgpr;
    uint64_t lanes = 0;
    for (unsigned lane = 0; lane < w->n_lanes && first + lane < total; lane++) {
        lanes |= UINT64_C(1) << lane;
        ids[lane] = x;
        ids[w->n_lanes + lane] = y;
        ids[2 * w->n_lanes + lane] = z;
        if (++x < size[0]) continue;
        x = 0;
        if (++y < size[1]) continue;
        y = 0;
        z++;
    }
    unsigned n_ids = (d->descriptor.rsrc2 >> 11 & 3) + 1;
    define_vgprs(w, 0, n_ids < 3 ? n_ids : 3, w->full);
    exec_write(w, lanes);
}

void wave_init(struct wave *w, struct core *core, unsigned number)
{
    const struct run *run = core->run;
    uint32_t *vgpr = w->vgpr;
    uint32_t rsrc1 = run->dispatch->descriptor.rsrc1;
    memset(w, 0, offsetof(struct wave, vm));
    struct wait_queue *const queues[] = { &w->vm, &w->lgkm, &w->vs };
    for (unsigned i = 0; i < 3; i++)
        memset((char *)queues[i] + offsetof(struct wait_queue, head), 0,
               sizeof *queues[i] - offsetof(struct wait_queue, head));
    w->n_delayed = 0;
    w->exec_reader = NULL;
    w->core = core;
    w->vgpr = vgpr;
    w->number = number;
    w->pc = run->dispatch->entry;
    w->n_lanes = run->n_lanes;
    w->n_vgprs = run->n_vgprs;
    w->full = run->n_lanes == 64 ? ~UINT64_C(0) : 0xffffffff;
    /* float mode, dx10_clamp, ieee, fp16 overflow at the places of the MODE register */
    w->mode = (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 |
              (rsrc1 >> 26 & 1) << 23;
    unsigned place = core->number * run->waves_per_group + number;
    w->slot = run->scratch + place * run->wave_bytes;
    w->scratch = w->slot;
    /* Registers hold what others left there: a pattern that is no valid address or small number. */
    memset(w->vgpr, 0xd5, sizeof(uint32_t) * w->n_lanes * w->n_vgprs);
    memset(w->sgpr, 0xd5, sizeof w->sgpr);
    memset(w->vgpr_attention, 0xff, sizeof w->vgpr_attention);
    memset(w->sgpr_attention, 0xff, sizeof w->sgpr_attention);
    if (!(run->checks & SIM_CHECK_REGISTERS)) {
        define_vgprs(w, 0, w->n_vgprs, w->full);
        define_sgprs(w, 0, 128);
    }
    w->sgpr[ISA_NULL] = 0;
    w->sgpr[ISA_EXEC_HI] = 0;
    define_sgprs(w, ISA_NULL, 1);
    define_sgprs(w, ISA_EXEC_LO, 2);
    if (run->has_bugs && (run->checks & SIM_CHECK_PATTERNS || run->act_out))
        w->facts.live = WATCH_ALWAYS;
    init_vgprs(w);
    init_sgprs(w);
}

/* ---- execution ---- */

static inline const struct op *fetch(struct wave *w)
{
    struct page *page = w->page;
    if (page) {
        uint64_t i = (w->pc - page->address) / 4;
        if (i < PAGE_WORDS && !(w->pc & 3)) {
            const struct op *op = atomic_load_explicit(&page->ops[i], memory_order_acquire);
            if (op) return op;
        }
    }
    return code_fetch_slow(w);
}

static inline bool needs_attention(const struct wave *w, const uint64_t vgprs[4],
                                   const uint64_t sgprs[2])
{
    uint64_t hit = 0;
    for (unsigned i = 0; i < 4; i++) hit |= w->vgpr_attention[i] & vgprs[i];
    for (unsigned i = 0; i < 2; i++) hit |= w->sgpr_attention[i] & sgprs[i];
    return hit;
}

/* Can a bundle be executed as one: nothing to report, nothing to remember? */
static inline bool is_quiet(const struct wave *w, const struct valu_bundle *b)
{
    return !(w->facts.live & b->watch) && !needs_attention(w, b->vgpr_used, b->sgpr_used);
}

static void trace(struct wave *w, const struct op *op)
{
    const struct core *core = w->core;
    struct sim_trace t = {
        .inst = &op->inst,
        .address = w->pc - op->bytes,
        .wave = w->number,
        .exec = w->exec,
        .vcc = mask_read(w, ISA_VCC_LO),
        .scc = w->scc,
        .sgpr = w->sgpr,
        .vgpr = w->vgpr,
        .n_vgprs = w->n_vgprs,
        .n_lanes = w->n_lanes,
    };
    memcpy(t.workgroup, core->workgroup, sizeof t.workgroup);
    core->sim->options.trace(core->sim->options.context, &t);
}

static bool runs_away(struct wave *w, const struct op *op)
{
    uint64_t most = w->core->sim->options.max_instructions;
    if (w->n_instructions < most) return false;
    struct finding f = { .kind = SIM_RUNAWAY, .rule = -1 };
    report(w, op, &f, "more than %llu instructions in one wave", (unsigned long long)most);
    return true;
}

void wave_run(struct wave *w, unsigned budget)
{
    struct core *core = w->core;
    struct sim_stats *stats = &core->stats;
    const bool traced = core->sim->options.trace, recorded = core->record;
    const uint64_t most = core->sim->options.max_instructions;
    while (budget-- && w->state == WAVE_RUN) {
        const struct op *op = fetch(w);
        if (!op) {
            w->state = WAVE_DONE;
            return;
        }
        if (op->bundle && !traced && !recorded && is_quiet(w, op->bundle) &&
            w->n_instructions + op->bundle->n <= most) {
            bundle_run(w, op->bundle);
            continue;
        }
        w->pc += op->bytes;
        if (++w->n_instructions > most && runs_away(w, op)) return;
        if (traced && op->decoded) trace(w, op);
        if (recorded && op->decoded) record_step(w, op);
        if (needs_attention(w, op->vgpr_used, op->sgpr_used)) {
            delayed_settle(w, op);
            attend(w, op);
            if (w->state != WAVE_RUN) return;
        }
        stats->instructions[op->klass]++;
        stats->lanes[op->klass] += w->n_active;
        if (w->facts.live & op->watch)
            watch_patterns(w, op); /* runs it, too */
        else
            op->run(w, op);
    }
    if (atomic_load_explicit(&core->run->stop, memory_order_relaxed)) w->state = WAVE_DONE;
}
