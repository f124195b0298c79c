/* workgroup.c: workgroups, one after the other on each thread, until one runs long. */
#include <stdlib.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/memory/memory.h"
#include "sim/record/hooks.h"

enum {
    /* Instructions of a wave before the next one has its turn. On a card all waves go on from a
     * barrier together, and code that lacks a barrier still reads there what another wave writes
     * only later (rocSOLVER's stebz and stein): the first turns after one are short. */
    TURN = 64,
    SHORT_TURN = 8,
    SHORT_TURNS = 12,
    /* Turns of a workgroup before its thread looks after another: the first time, and once it was
     * seen that workgroups of the kernel run long. */
    FIRST_TURNS = 4096,
    LATER_TURNS = 1024,
};

/* ---- one workgroup ---- */

static void place_workgroup(struct core *core, uint64_t number)
{
    const struct run *run = core->run;
    const struct sim_dispatch *d = run->dispatch;
    core->workgroup[0] = (uint32_t)(number % run->n_groups[0]);
    core->workgroup[1] = (uint32_t)(number / run->n_groups[0] % run->n_groups[1]);
    core->workgroup[2] = (uint32_t)(number / run->n_groups[0] / run->n_groups[1]);
    uint64_t items = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t left = d->grid[i] - (uint64_t)core->workgroup[i] * d->workgroup[i];
        items *= left < d->workgroup[i] ? left : d->workgroup[i];
    }
    core->n_waves = (unsigned)((items + run->n_lanes - 1) / run->n_lanes);
    core->group_bytes = (d->group_bytes + LDS_GRANULE - 1) / LDS_GRANULE * LDS_GRANULE;
    memset(core->lds, 0xd5, core->group_bytes);
    local_begin(core, run->checks & SIM_CHECK_LDS);
    core->watch_lds = core->n_waves > 1 && run->checks & SIM_CHECK_WAITCNT;
    core->watch_memory = core->watch_lds && run->wgp_mode;
    core->crossed = 0;
    for (unsigned i = 0; i < core->n_waves; i++) {
        core->waves[i].stores = core->stores + (size_t)i * MAX_STORES;
        core->waves[i].vgpr = core->vgprs + (size_t)i * run->n_lanes * 256;
        core->waves[i].vgpr_bits = core->vgpr_bits + (size_t)i * run->n_lanes * 256;
        wave_init(&core->waves[i], core, i);
    }
    core->stats.waves += core->n_waves;
    core->stats.workgroups++;
}

/* All waves that are left wait at the barrier: let them go. */
static void open_barrier(struct core *core)
{
    const struct run *run = core->run;
    unsigned n_waiting = 0, n_done = 0;
    struct wave *first = NULL;
    bool differ = false;
    for (unsigned i = 0; i < core->n_waves; i++) {
        struct wave *w = &core->waves[i];
        if (w->state == WAVE_DONE) n_done++;
        if (w->state != WAVE_BARRIER) continue;
        if (first && first->pc != w->pc) differ = true;
        if (!first) first = w;
        n_waiting++;
    }
    if (!first) return;
    if (core->watch_lds) stores_cross(core);
    if (run->checks & SIM_CHECK_BARRIER && (n_done || differ)) {
        struct finding f = { .kind = SIM_BARRIER, .rule = -1, .address = first->pc - 4 };
        const struct op *op = NULL;
        struct page *page = first->page;
        if (page && first->pc - 4 - page->address < 4 * PAGE_WORDS)
            op = atomic_load(&page->ops[(first->pc - 4 - page->address) / 4]);
        if (n_done)
            report(first, op, &f, "%u waves wait at a barrier, %u of the workgroup have ended",
                   n_waiting, n_done);
        else
            report(first, op, &f, "%u waves wait at different barriers", n_waiting);
    }
    local_barrier(core);
    for (unsigned i = 0; i < core->n_waves; i++)
        if (core->waves[i].state == WAVE_BARRIER) core->waves[i].state = WAVE_RUN;
}

/* Whether the caller wants the dispatch to end. */
static bool cancelled(struct run *run)
{
    const struct sim_options *options = &run->sim->options;
    if (!options->cancelled || !options->cancelled(options->context)) return false;
    pthread_mutex_lock(&run->lock);
    run->result->cancelled = true;
    run->result->completed = false;
    pthread_mutex_unlock(&run->lock);
    atomic_store(&run->stop, true);
    return true;
}

/* True when the workgroup has ended, false when it ran for so many turns of its waves. Turns that
 * end at a barrier do not count. */
static bool run_workgroup(struct core *core, unsigned turns)
{
    unsigned since_barrier = 0;
    while (turns) {
        const unsigned turn = since_barrier++ < SHORT_TURNS ? SHORT_TURN : TURN;
        bool running = false, waiting = false;
        for (unsigned i = 0; i < core->n_waves; i++) {
            struct wave *w = &core->waves[i];
            if (w->state == WAVE_RUN) wave_run(w, turn);
            running |= w->state == WAVE_RUN;
            waiting |= w->state == WAVE_BARRIER;
        }
        if (running) {
            if (!cancelled(core->run)) turns--;
            continue;
        }
        if (!waiting || atomic_load(&core->run->stop)) return true;
        open_barrier(core);
        since_barrier = 0;
    }
    return false;
}

/* ---- one thread ---- */

void core_begin(struct core *core, struct run *run, unsigned number)
{
    core->sim = run->sim;
    core->run = run;
    core->number = number;
    core->next = core;
    core->busy = false;
    core->record = NULL;
    memset(&core->stats, 0, sizeof core->stats);
    memset(core->patterns, 0, sizeof core->patterns);
    memset(core->acted_out, 0, sizeof core->acted_out);
    memset(core->told, 0, sizeof core->told);
    memset(core->tlb, 0, sizeof core->tlb);
}

bool core_init(struct core *core)
{
    memset(core, 0, sizeof *core);
    core->waves = aligned_alloc(64, sizeof *core->waves * MAX_WAVES);
    core->vgprs = aligned_alloc(64, sizeof(uint32_t) * 32 * 256 * MAX_WAVES);
    core->vgpr_bits = malloc(sizeof(uint32_t) * 32 * 256 * MAX_WAVES);
    core->lds = malloc(LDS_BYTES);
    core->lds_written = malloc(LDS_BYTES);
    core->lds_rest = calloc(LDS_BYTES, sizeof *core->lds_rest);
    core->stores = malloc(sizeof *core->stores * MAX_STORES * MAX_WAVES);
    return core->waves && core->vgprs && core->vgpr_bits && core->lds && core->lds_written &&
           core->lds_rest && core->stores;
}

void core_deinit(struct core *core)
{
    free(core->waves);
    free(core->vgprs);
    free(core->vgpr_bits);
    free(core->lds);
    free(core->lds_written);
    free(core->lds_rest);
    free(core->stores);
}

/* One more core behind this one, with a place of its own in scratch. Without memory for it things
 * go on as they are. */
static bool add_core(struct core *core)
{
    struct run *run = core->run;
    const uint64_t number = atomic_fetch_add(&run->next_place, 1);
    if (number >= run->places) return false;
    struct core *new = aligned_alloc(64, (sizeof *new + 63) / 64 * 64);
    if (!new || !core_init(new)) {
        if (new) core_deinit(new);
        free(new);
        return false;
    }
    core_begin(new, run, (unsigned)number);
    if (run->scratch == OWN_SCRATCH) {
        const uint64_t bytes = run->wave_bytes * run->waves_per_group;
        memset(run->sim->scratch + number * bytes, 0xd5, bytes);
    }
    new->next = core->next;
    core->next = new;
    return true;
}

/* A thread goes round its cores. It begins with one; a workgroup that does not end soon may wait
 * for one that has not started, so then another starts beside it, as many as a card holds. */
void *core_thread(void *argument)
{
    struct core *core = argument;
    struct run *run = core->run;
    struct sim_recorder *recorder = run->sim->options.recorder;
    unsigned n_cores = 1, n_busy = 0, turns = FIRST_TURNS;
    for (; !atomic_load(&run->stop); core = core->next) {
        if (!core->busy) {
            if (atomic_load(&run->next) >= run->n_total && !n_busy) break;
            if (atomic_load(&run->next) >= run->n_total) continue;
            const uint64_t number = atomic_fetch_add(&run->next, 1);
            if (number >= run->n_total) continue;
            const enum record_choice choice =
                recorder ? recorder->choose(recorder->context, number, run->n_total) : RECORD_RUN;
            if (choice == RECORD_SKIP) continue;
            place_workgroup(core, number);
            if (choice == RECORD_KEEP) record_begin(core, number);
            core->busy = true;
            n_busy++;
        }
        if (run_workgroup(core, turns)) {
            if (core->record) record_end(core);
            core->busy = false;
            n_busy--;
            continue;
        }
        turns = LATER_TURNS;
        if (n_cores < run->most && atomic_load(&run->next) < run->n_total && add_core(core))
            n_cores++;
    }
    return NULL;
}
