/* wgp.c: the waves of a WGP: when each may go on, and which of them a SIMD takes. */
#include "sim/timing/model.h"

enum { FETCH_LINE = 64, RING = 64 };

/* ---- when a wave may go on ---- */

static const struct unit_inst *inst_of(const struct chip *chip, uint32_t step)
{
    return &chip->insts[step & RECORD_INDEX];
}

static void not_before(struct twave *w, uint32_t time, enum timing_reason reason)
{
    if (time <= w->ready) return;
    w->ready = time;
    w->reason = (uint8_t)reason;
}

/* The time from which on at most `most` are left; those before are forgotten. */
static uint32_t ring_wait(struct ring *r, unsigned most)
{
    uint32_t time = 0;
    while (r->n > most) {
        time = r->done[r->head++ % RING];
        r->n--;
    }
    return time;
}

static void wait_for(struct twave *w, const struct unit_inst *i)
{
    if (i->wait[0] != NO_WAIT) not_before(w, ring_wait(&w->vm, i->wait[0]), TIMING_WAIT_LOAD);
    if (i->wait[1] != NO_WAIT) {
        not_before(w, ring_wait(&w->lgkm, i->wait[1]),
                   w->lgkm.scalar ? TIMING_WAIT_SMEM : TIMING_WAIT_LDS);
        if (!w->lgkm.n) w->lgkm.scalar = false;
    }
    if (i->wait[2] != NO_WAIT) not_before(w, ring_wait(&w->vs, i->wait[2]), TIMING_WAIT_STORE);
}

/* A counter can count no further: wait for its oldest. */
static void wait_for_room(struct twave *w, const struct unit_inst *i)
{
    if (i->unit == UNIT_LOAD && w->vm.n == RING - 1)
        not_before(w, ring_wait(&w->vm, RING - 2), TIMING_WAIT_LOAD);
    if (i->unit == UNIT_STORE && w->vs.n == RING - 1)
        not_before(w, ring_wait(&w->vs, RING - 2), TIMING_WAIT_STORE);
    if ((i->unit == UNIT_LDS || i->unit == UNIT_SMEM) && w->lgkm.n == RING - 1)
        not_before(w, ring_wait(&w->lgkm, RING - 2), TIMING_WAIT_LDS);
}

static void fetch(struct wgp *wgp, struct twave *w, uint64_t address)
{
    const uint64_t line = address / FETCH_LINE;
    uint32_t dirty;
    if (line == w->fetched) return;
    w->fetched = line;
    struct cache_line *hit = cache_find(&wgp->instructions, line);
    const uint32_t arrives = w->ready + (uint32_t)wgp->chip->values->icache_miss_clk;
    const unsigned ahead = (unsigned)wgp->chip->values->icache_ahead_lines;
    /* Lines behind the one that is asked for come with it, or on the way, when they are missing. */
    for (unsigned i = 1; i <= ahead; i++)
        if (!cache_find(&wgp->instructions, line + i))
            cache_put(&wgp->instructions, line + i, &dirty)->ready = arrives + i;
    if (!hit) {
        hit = cache_put(&wgp->instructions, line, &dirty);
        hit->ready = arrives;
    }
    not_before(w, hit->ready, TIMING_FETCH);
}

/* Find the earliest time of the next instruction, which is not before `time`. */
static void prepare(struct wgp *wgp, struct twave *w, uint32_t time, enum timing_reason reason)
{
    w->ready = time;
    w->reason = (uint8_t)reason;
    if (w->at >= w->record->n_steps) { /* the record ends without an end */
        w->unit = UNIT_END;
        return;
    }
    const struct unit_inst *i = inst_of(wgp->chip, w->record->steps[w->at]);
    w->unit = i->unit;
    fetch(wgp, w, i->address);
    for (unsigned k = 0; k < i->n_read; k++)
        not_before(w, w->registers[i->reg[k]], TIMING_DEPENDENCE);
    if (i->unit == UNIT_WAIT)
        wait_for(w, i);
    else if (i->unit >= UNIT_SMEM && i->unit <= UNIT_STORE)
        wait_for_room(w, i);
}

void wave_start(struct wgp *wgp, struct twave *w, uint32_t time)
{
    struct simd *s = &wgp->simds[w->simd];
    w->previous = time;
    w->fetched = UINT64_MAX;
    prepare(wgp, w, time, TIMING_ISSUE);
    s->waves[s->n_waves++] = w;
    if (s->next > w->ready) s->next = w->ready;
}

/* ---- barriers and ends ---- */

static void open_barrier(struct wgp *wgp, struct group *g, uint32_t time)
{
    if (!g->n_alive || g->n_waiting < g->n_alive) return;
    const uint32_t open = time + (uint32_t)wgp->chip->values->barrier_clk;
    g->n_waiting = 0;
    for (unsigned i = 0; i < g->record->n_waves; i++) {
        struct twave *w = &g->waves[i];
        if (!w->at_barrier) continue;
        w->at_barrier = false;
        prepare(wgp, w, open, TIMING_BARRIER);
        struct simd *s = &wgp->simds[w->simd];
        if (s->next > w->ready) s->next = w->ready;
    }
}

static void end_wave(struct wgp *wgp, struct simd *s, struct twave *w, uint32_t time)
{
    unsigned i = 0, n = 0;
    for (; i < s->n_waves; i++)
        if (s->waves[i] != w) s->waves[n++] = s->waves[i];
    s->n_waves = n;
    s->vgprs -= wgp->chip->vgprs;
    struct group *g = w->group;
    if (--g->n_alive)
        open_barrier(wgp, g, time);
    else
        chip_group_ended(wgp->chip, g, time);
}

/* ---- issue ---- */

static void add_time(struct chip *chip, const struct twave *w, uint32_t from, uint32_t to,
                     unsigned reason)
{
    if (to <= from) return;
    chip->counts.wave_clocks[reason] += to - from;
    if (chip->picture && w->group == chip->pictured)
        picture_add(chip->picture, (unsigned)(w - w->group->waves), from, to, reason);
}

/* Why a wave that was ready was not taken. */
static enum timing_reason reason_of(unsigned unit)
{
    switch (unit) {
    case UNIT_LDS: return TIMING_LDS;
    case UNIT_LOAD:
    case UNIT_STORE: return TIMING_VMEM;
    default: return TIMING_VALU;
    }
}

static void account(struct chip *chip, const struct twave *w, uint32_t time)
{
    const uint32_t idle = w->previous, ready = w->ready > idle ? w->ready : idle;
    add_time(chip, w, idle, ready < time ? ready : time, w->reason);
    add_time(chip, w, ready, time, reason_of(w->unit));
    chip->counts.wave_clocks[TIMING_ISSUE]++;
    chip->counts.instructions++;
    if (chip->picture && w->group == chip->pictured)
        picture_add(chip->picture, (unsigned)(w - w->group->waves), time, time + 1,
                    TIMING_N_REASONS + w->unit);
}

static void issue_valu(struct chip *chip, struct simd *s, struct twave *w,
                       const struct unit_inst *i, uint32_t time, uint32_t step)
{
    unsigned halves = step >> RECORD_HALVES_SHIFT & RECORD_HALVES;
    if (!halves) halves = 1;
    const unsigned busy = i->unit == UNIT_TRANS ? halves : i->clocks * halves;
    s->valu_free = time + busy;
    if (i->unit == UNIT_TRANS) s->trans_free = time + i->clocks * halves;
    chip->counts.busy_valu += busy;
    if (i->fma) chip->counts.fma_clocks += busy;
    for (unsigned k = 0; k < i->n_write; k++)
        w->registers[i->reg[i->n_read + k]] = time + i->latency;
}

static void issue(struct wgp *wgp, struct simd *s, struct twave *w, uint32_t time)
{
    struct chip *chip = wgp->chip;
    account(chip, w, time);
    w->previous = time + 1;
    if (w->unit == UNIT_END) {
        end_wave(wgp, s, w, time);
        return;
    }
    const uint32_t step = w->record->steps[w->at++];
    const struct unit_inst *i = inst_of(chip, step);
    uint32_t next = time + 1;
    enum timing_reason reason = TIMING_ISSUE;
    switch (i->unit) {
    case UNIT_VALU:
    case UNIT_TRANS: issue_valu(chip, s, w, i, time, step); break;
    case UNIT_SALU:
        for (unsigned k = 0; k < i->n_write; k++)
            w->registers[i->reg[i->n_read + k]] = time + i->latency;
        break;
    case UNIT_SMEM: issue_scalar(wgp, w, time, step); break;
    case UNIT_LDS: issue_lds(wgp, w, time, step); break;
    case UNIT_LOAD:
    case UNIT_STORE: issue_vmem(wgp, w, i, time, step); break;
    case UNIT_BRANCH:
        if (w->at < w->record->n_steps &&
            inst_of(chip, w->record->steps[w->at])->address != i->address + i->bytes) {
            next = time + (uint32_t)chip->values->branch_clk;
            reason = TIMING_BRANCH;
        }
        break;
    case UNIT_BARRIER:
        if (w->group->record->n_waves < 2) break;
        w->at_barrier = true;
        w->ready = FOR_EVER;
        w->group->n_waiting++;
        open_barrier(wgp, w->group, time);
        return;
    default: break;
    }
    prepare(wgp, w, next, reason);
}

/* When the unit of a wave's next instruction takes it; `taken` are those of this clock. */
static uint32_t unit_free(const struct wgp *wgp, const struct simd *s, const struct twave *w)
{
    const struct timing_values *v = wgp->chip->values;
    const struct unit_pair *cu = &wgp->units[w->simd / 2];
    uint32_t queue;
    switch (w->unit) {
    case UNIT_VALU: return s->valu_free;
    case UNIT_TRANS: return s->valu_free > s->trans_free ? s->valu_free : s->trans_free;
    case UNIT_LDS:
        queue = (uint32_t)v->lds_queue_clk;
        return cu->lds_free > queue ? cu->lds_free - queue : 0;
    case UNIT_LOAD:
    case UNIT_STORE:
        queue = (uint32_t)v->vmem_queue_clk;
        return cu->vmem_free > queue ? cu->vmem_free - queue : 0;
    default: return 0;
    }
}

/* Pipes of a SIMD that take one instruction a clock: vector, scalar, LDS, vector memory, others. */
static unsigned pipe_of(unsigned unit)
{
    static const uint8_t pipes[N_UNITS] = {
        [UNIT_VALU] = 1, [UNIT_TRANS] = 1,   [UNIT_SALU] = 2,  [UNIT_SMEM] = 2,
        [UNIT_LDS] = 4,  [UNIT_LOAD] = 8,    [UNIT_STORE] = 8, [UNIT_BRANCH] = 16,
        [UNIT_WAIT] = 0, [UNIT_BARRIER] = 0, [UNIT_END] = 0,   [UNIT_OTHER] = 0,
    };
    return pipes[unit];
}

/* One clock of a SIMD: for each pipe the oldest wave that is ready. */
static void simd_run(struct wgp *wgp, struct simd *s, uint32_t time)
{
    struct twave *ready[MOST_WAVES];
    unsigned n = 0, taken = 0;
    uint32_t next = FOR_EVER;
    for (unsigned i = 0; i < s->n_waves; i++) {
        struct twave *w = s->waves[i];
        if (w->ready > time) {
            if (w->ready < next) next = w->ready;
            continue;
        }
        const unsigned pipe = pipe_of(w->unit);
        const uint32_t free = taken & pipe ? time + 1 : unit_free(wgp, s, w);
        if (free > time) {
            if (free < next) next = free;
            continue;
        }
        taken |= pipe;
        ready[n++] = w;
    }
    s->next = next;
    for (unsigned i = 0; i < n; i++) issue(wgp, s, ready[i], time); /* may change s->waves */
    if (n) s->next = time + 1;
}

void wgp_run(struct wgp *wgp, uint32_t from, uint32_t until)
{
    uint32_t time = from;
    while (time < until) {
        uint32_t next = FOR_EVER;
        for (unsigned i = 0; i < N_SIMDS; i++)
            if (wgp->simds[i].next <= time) simd_run(wgp, &wgp->simds[i], time);
        for (unsigned i = 0; i < N_SIMDS; i++)
            if (wgp->simds[i].next < next) next = wgp->simds[i].next;
        time = next > time ? next : time + 1;
    }
}
