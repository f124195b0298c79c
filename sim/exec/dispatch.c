/* dispatch.c: makes an executor, and runs a dispatch on the threads of the host. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/exec/exec.h"
#include "sim/memory/memory.h"
#include "sim/record/hooks.h"

enum {
    OWN_SCRATCH_MOST = 64 << 20, /* bytes, if one workgroup for each thread needs no more */
    SHORT_INSTRUCTIONS = 20000,  /* of all waves of a dispatch                            */
};

/* ---- a dispatch ---- */

static uint64_t wave_scratch(const struct sim_dispatch *d, unsigned lanes)
{
    return ((uint64_t)d->private_bytes * lanes + 1023) / 1024 * 1024;
}

static unsigned lanes_of(const struct sim_dispatch *d)
{
    return d->descriptor.properties & CODEOBJ_PROPERTY_WAVE32 ? 32 : 64;
}

static unsigned waves_of(const struct sim_dispatch *d)
{
    uint64_t items = (uint64_t)d->workgroup[0] * d->workgroup[1] * d->workgroup[2];
    return (unsigned)((items + lanes_of(d) - 1) / lanes_of(d));
}

uint64_t sim_scratch_bytes(const struct sim_dispatch *d, unsigned threads)
{
    return wave_scratch(d, lanes_of(d)) * waves_of(d) * threads;
}

/* The buffer descriptor of scratch: swizzled, one work-item's dwords a wave apart. */
static void make_descriptor(struct run *run)
{
    const struct sim_dispatch *d = run->dispatch;
    uint32_t *w = run->descriptor;
    unsigned stride_code = run->n_lanes == 64 ? 3 : 2;
    if (d->scratch_descriptor[3]) {
        memcpy(w, d->scratch_descriptor, sizeof run->descriptor);
    } else {
        w[0] = (uint32_t)run->scratch;
        w[1] = (uint32_t)(run->scratch >> 32 & 0xffff) | 1u << 31; /* swizzled */
        w[2] = run->scratch_bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)run->scratch_bytes;
        /* selectors x y z w, format 32_UINT, lane number added, no bounds but num_records = 0 */
        w[3] = 4 | 5 << 3 | 6 << 6 | 7 << 9 | 20u << 12 | 1u << 23 | 1u << 24 | 2u << 28;
    }
    w[3] = (w[3] & ~(3u << 21)) | stride_code << 21;
}

static rmcp_status check_dispatch(const struct sim_dispatch *d)
{
    uint64_t items = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!d->grid[i] || !d->workgroup[i] || d->workgroup[i] > 1024)
            return rmcp_fail(RMCP_E_ARG, "a dispatch of grid %u and workgroup %u in dimension %u",
                             d->grid[i], d->workgroup[i], i);
        items *= d->workgroup[i];
    }
    if (items > 1024)
        return rmcp_fail(RMCP_E_ARG, "a workgroup of %llu work-items; at most 1024",
                         (unsigned long long)items);
    if (d->group_bytes > LDS_BYTES)
        return rmcp_fail(RMCP_E_ARG, "a workgroup with %u bytes of LDS; at most 65536",
                         d->group_bytes);
    if (d->private_bytes > 1 << 23)
        return rmcp_fail(RMCP_E_ARG, "%u bytes of scratch a work-item; at most 8388608",
                         d->private_bytes);
    if (d->entry & 3)
        return rmcp_fail(RMCP_E_ARG, "an entry point at 0x%llx; a multiple of 4 is needed",
                         (unsigned long long)d->entry);
    return RMCP_OK;
}

/* Scratch of the caller limits the workgroups that are under way at a time; the executor's own is
 * for as many as fit OWN_SCRATCH_MOST, at least one for each thread. */
static rmcp_status prepare_scratch(struct sim *sim, struct run *run)
{
    const struct sim_dispatch *d = run->dispatch;
    const uint64_t group = sim_scratch_bytes(d, 1), least = group * sim->n_cores;
    run->wave_bytes = wave_scratch(d, run->n_lanes);
    run->scratch = d->scratch_address;
    run->scratch_bytes = d->scratch_bytes;
    run->places = occupancy(run);
    if (d->scratch_bytes) {
        if (d->scratch_bytes < least)
            return rmcp_fail(RMCP_E_ARG, "%llu bytes of scratch; the dispatch needs %llu",
                             (unsigned long long)d->scratch_bytes, (unsigned long long)least);
        if (group && run->places > d->scratch_bytes / group) run->places = d->scratch_bytes / group;
    } else if (group) {
        if (run->places > OWN_SCRATCH_MOST / group) run->places = OWN_SCRATCH_MOST / group;
        if (run->places < sim->n_cores) run->places = sim->n_cores;
        const uint64_t bytes = run->places * group;
        if (sim->scratch_bytes < bytes) {
            free(sim->scratch);
            sim->scratch_bytes = 0;
            sim->scratch = malloc(bytes);
            if (!sim->scratch) return rmcp_fail_memory("scratch", bytes);
            sim->scratch_bytes = bytes;
        }
        memset(sim->scratch, 0xd5, least); /* the rest when a workgroup needs it */
        run->scratch = OWN_SCRATCH;
        run->scratch_bytes = bytes;
    }
    make_descriptor(run);
    return RMCP_OK;
}

static void add_stats(struct run *run, const struct core *core)
{
    struct sim_stats *to = &run->result->stats;
    const struct sim_stats *from = &core->stats;
    for (unsigned i = 0; i < SIM_N_CLASSES; i++) {
        to->instructions[i] += from->instructions[i];
        to->slots[i] += from->instructions[i] * run->n_lanes;
        to->lanes[i] += from->lanes[i];
    }
    to->bytes_loaded += from->bytes_loaded;
    to->bytes_stored += from->bytes_stored;
    to->lds_loaded += from->lds_loaded;
    to->lds_stored += from->lds_stored;
    to->waves += from->waves;
    to->workgroups += from->workgroups;
    for (unsigned i = 0; i < ISA_N_RULES; i++) {
        run->result->acted_out[i] += core->acted_out[i];
        run->result->patterns[i] += core->patterns[i];
        run->result->happened[SIM_PATTERN] += core->patterns[i];
    }
}

/* Add up what the cores of a thread did; those that were made for this dispatch go. */
static void end_cores(struct run *run, struct core *first)
{
    add_stats(run, first);
    for (struct core *core = first->next, *next; core != first; core = next) {
        next = core->next;
        add_stats(run, core);
        core_deinit(core);
        free(core);
    }
}

static struct taken *taken_of(struct sim *sim, const struct run *run)
{
    return &sim->taken[run->dispatch->entry / 64 % N_TAKEN];
}

/* Starting a thread costs as much as some ten thousand instructions. */
static bool was_short(const struct taken *t, const struct run *run)
{
    return t->entry == run->dispatch->entry && t->workgroups >= run->n_total &&
           t->instructions < SHORT_INSTRUCTIONS;
}

static void remember(struct taken *t, const struct run *run)
{
    *t = (struct taken){ run->dispatch->entry, run->n_total, 0 };
    for (unsigned i = 0; i < SIM_N_CLASSES; i++)
        t->instructions += run->result->stats.instructions[i];
}

static void run_threads(struct sim *sim, struct run *run)
{
    unsigned n = sim->n_cores;
    if (run->n_total < n) n = (unsigned)run->n_total;
    if (sim->options.recorder || was_short(taken_of(sim, run), run)) n = 1;
    pthread_t *threads = n > 1 ? calloc(n, sizeof *threads) : NULL;
    unsigned n_started = 0;
    run->most = (run->places + n - 1) / n;
    atomic_store(&run->next_place, sim->n_cores);
    for (unsigned i = 0; i < sim->n_cores; i++) core_begin(&sim->cores[i], run, i);
    /* Fewer threads than wanted is no error: those that there are do the work. */
    while (threads && n_started + 1 < n &&
           !pthread_create(&threads[n_started], NULL, core_thread, &sim->cores[n_started + 1]))
        n_started++;
    core_thread(&sim->cores[0]);
    for (unsigned i = 0; i < n_started; i++) pthread_join(threads[i], NULL);
    free(threads);
    for (unsigned i = 0; i < sim->n_cores; i++) end_cores(run, &sim->cores[i]);
    remember(taken_of(sim, run), run);
}

/* VGPRs that the kernel was given, by the granules of rsrc1. */
static unsigned vgprs_of(const struct sim_dispatch *d, unsigned lanes)
{
    unsigned granule = lanes == 32 ? 8 : 4;
    unsigned n = d->n_vgprs ? d->n_vgprs : ((d->descriptor.rsrc1 & 63) + 1) * granule;
    return n < 256 ? n : 256;
}

rmcp_status sim_run(struct sim *sim, const struct sim_dispatch *d, struct sim_result *result)
{
    memset(result, 0, sizeof *result);
    rmcp_status status = check_dispatch(d);
    if (status) return status;
    struct run run = { .sim = sim,
                       .dispatch = d,
                       .result = result,
                       .n_lanes = lanes_of(d),
                       .waves_per_group = waves_of(d),
                       .wgp_mode = d->descriptor.rsrc1 >> 29 & 1,
                       .has_bugs = sim->options.chip != ISA_GFX1030,
                       .checks = sim->options.checks };
    run.n_vgprs = vgprs_of(d, run.n_lanes);
    run.act_out = run.has_bugs ? sim->options.act_out & SIM_ACT_OUT : 0;
    run.n_total = 1;
    for (unsigned i = 0; i < 3; i++) {
        run.n_groups[i] =
            (uint32_t)(((uint64_t)d->grid[i] + d->workgroup[i] - 1) / d->workgroup[i]);
        if (run.n_total > UINT64_MAX / 2 / run.n_groups[i])
            return rmcp_fail(RMCP_E_ARG, "too many workgroups");
        run.n_total *= run.n_groups[i];
    }
    status = prepare_scratch(sim, &run);
    if (status) return status;
    pthread_mutex_init(&run.lock, NULL);
    result->completed = true;
    if (sim->options.recorder) record_begin_dispatch(sim->options.recorder, &run);
    sim->code[run.n_lanes == 64].generation++;
    run_threads(sim, &run);
    free(run.seen);
    pthread_mutex_destroy(&run.lock);
    if (run.status) return rmcp_fail_memory("decoded code", sizeof(struct op));
    return RMCP_OK;
}

/* ---- making one ---- */

void sim_destroy(struct sim *sim)
{
    if (!sim) return;
    for (unsigned i = 0; i < sim->n_cores && sim->cores; i++) core_deinit(&sim->cores[i]);
    free(sim->cores);
    free(sim->scratch);
    code_deinit(&sim->code[0]);
    code_deinit(&sim->code[1]);
    free(sim);
}

rmcp_status sim_create(const struct sim_options *options, const struct sim_memory *memory,
                       struct sim **out)
{
    *out = NULL;
    if ((unsigned)options->chip >= ISA_N_CHIPS)
        return rmcp_fail(RMCP_E_ARG, "chip number %d; known are 0 to %d", (int)options->chip,
                         ISA_N_CHIPS - 1);
    if (options->threads > 1024)
        return rmcp_fail(RMCP_E_ARG, "%u threads; at most 1024", options->threads);
    struct sim *sim = calloc(1, sizeof *sim);
    if (!sim) return rmcp_fail_memory("the simulator", sizeof *sim);
    sim->options = *options;
    sim->memory = *memory;
    sim->lanes = lanes_best();
    if (!sim->options.max_instructions) sim->options.max_instructions = UINT64_C(1) << 33;
    if (!sim->options.shared_base) sim->options.shared_base = UINT64_C(1) << 48;
    if (!sim->options.private_base) sim->options.private_base = UINT64_C(2) << 48;
    code_init(&sim->code[0], options->chip);
    code_init(&sim->code[1], (unsigned)options->chip | ISA_WAVE64);
    long n = options->threads ? (long)options->threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1) n = 1;
    if (n > 1024) n = 1024;
    size_t bytes = sizeof *sim->cores * (size_t)n;
    sim->cores = aligned_alloc(64, (bytes + 63) / 64 * 64);
    bool ok = sim->cores;
    if (ok) memset(sim->cores, 0, bytes);
    for (; ok && sim->n_cores < (unsigned)n; sim->n_cores++)
        ok = core_init(&sim->cores[sim->n_cores]);
    if (!ok) {
        sim_destroy(sim);
        return rmcp_fail_memory("the simulator's threads", bytes);
    }
    *out = sim;
    return RMCP_OK;
}
