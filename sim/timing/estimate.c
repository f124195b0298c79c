/* estimate.c: which workgroups of a dispatch are kept, and the time of all from those.
 *
 * A dispatch that is short enough is kept and replayed as it is. Of a longer one the first
 * workgroups are kept, enough to fill the card three times if possible, and as many from the middle
 * where that is affordable. Each sample is replayed twice, as a whole and without its last rounds:
 * the difference is what full rounds take, of which the rest of the dispatch is made. The
 * difference of the two samples is told. Where the card cannot even be filled once, a part of its
 * WGPs is replayed, with their share of L2 and memory. */
#include "sim/timing/model.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_STEPS = 32000000, LEAST_GROUPS = 2 };

static const char *const reason_names[] = {
    [TIMING_ISSUE] = "issue",
    [TIMING_DEPENDENCE] = "dependence",
    [TIMING_VALU] = "vector unit busy",
    [TIMING_LDS] = "LDS busy",
    [TIMING_VMEM] = "vector memory busy",
    [TIMING_WAIT_LDS] = "wait for LDS",
    [TIMING_WAIT_SMEM] = "wait for scalar loads",
    [TIMING_WAIT_LOAD] = "wait for loads",
    [TIMING_WAIT_STORE] = "wait for stores",
    [TIMING_BARRIER] = "barrier",
    [TIMING_BRANCH] = "branch",
    [TIMING_FETCH] = "instruction fetch",
};
_Static_assert(sizeof reason_names / sizeof *reason_names == TIMING_N_REASONS, "one each");

const char *timing_reason_name(enum timing_reason reason)
{
    return reason_names[reason];
}

/* ---- choosing ---- */

/* Keep the first workgroups: half of the budget, more when the card is not full by then; all when
 * the rest is little. Then it is known how long one is. */
static enum record_choice choose(void *context, uint64_t number, uint64_t n_total)
{
    struct timing_sampler *s = context;
    const struct sim_recorder *r = s->recorder;
    const enum record_choice other = s->only ? RECORD_SKIP : RECORD_RUN;
    if (!number) {
        const char *limit;
        s->n_first = s->n_middle = s->middle = 0;
        s->full = (uint64_t)s->card->wgps * chip_groups_at_a_time(s->card, r, &limit);
    }
    if (!s->middle) {
        /* Workgroups that run long are under way beside each other, none at its end. */
        const bool many = !r->n_ended && r->n_steps >= s->most_steps / 8;
        const bool over = (many || r->n_steps >= s->most_steps) && number >= LEAST_GROUPS;
        const bool enough = r->n_steps >= s->most_steps / 2 && number >= 3 * s->full;
        const bool rest = number && r->n_steps / number * n_total <= s->most_steps;
        if (!over && (!enough || rest)) {
            s->n_first = number + 1;
            return RECORD_KEEP;
        }
        const bool again = r->n_steps <= s->most_steps * 6 / 10;
        s->n_first = number;
        s->middle = again && n_total / 2 > number ? n_total / 2 : n_total;
        if (s->middle + s->n_first > n_total) s->middle = n_total;
    }
    if (number < s->middle || number >= s->middle + s->n_first) return other;
    s->n_middle = number - s->middle + 1;
    return RECORD_KEEP;
}

void timing_sampler_init(struct timing_sampler *s, struct sim_recorder *recorder,
                         const struct timing_card *card, uint64_t most_steps, bool only)
{
    *s = (struct timing_sampler){ .most_steps = most_steps ? most_steps : DEFAULT_STEPS,
                                  .only = only,
                                  .recorder = recorder,
                                  .card = card };
    recorder->choose = choose;
    recorder->context = s;
}

/* ---- one sample ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* So many WGPs that the sample fills them: all, or fewer when it is short. Two rounds tell what one
 * of them takes without its cold begin; for that a quarter of the card is enough. */
static unsigned wgps_for(const struct timing_card *card, uint64_t n_groups, unsigned at_a_time)
{
    unsigned n = card->wgps;
    while (4 * n > card->wgps && n > 1 && UINT64_C(2) * n * at_a_time > n_groups) n = (n + 1) / 2;
    while (n > 1 && (uint64_t)n * at_a_time > n_groups) n = (n + 1) / 2;
    return n;
}

/* Replay the groups [first, first + n) of the recorder. */
static rmcp_status replay(const struct timing_sampler *s, enum timing_reading reading, size_t first,
                          size_t n, unsigned wgps, struct timing_picture *picture,
                          struct timing_counts *out)
{
    size_t *groups = calloc(n, sizeof *groups);
    if (!groups) return rmcp_fail_memory("a sample", n * sizeof *groups);
    for (size_t i = 0; i < n; i++) groups[i] = first + i;
    const struct replay request = {
        s->card, &s->card->parameters.reading[reading], s->recorder, wgps, groups, n, picture
    };
    const rmcp_status status = chip_replay(&request, out);
    free(groups);
    return status;
}

/* The same of a dispatch whose workgroups all have room at once: as many on each WGP as the one
 * with most of them will have. */
static rmcp_status sample_round(const struct timing_sampler *s, enum timing_reading reading,
                                size_t first, size_t n, struct timing_picture *picture,
                                double *clocks, struct timing_result *out)
{
    const size_t each = (size_t)((s->recorder->n_total + s->card->wgps - 1) / s->card->wgps);
    const size_t wgps = n / each ? n / each : 1;
    out->wgps = wgps < s->card->wgps ? (unsigned)wgps : s->card->wgps;
    if (n > each * out->wgps) n = each * out->wgps;
    const rmcp_status status = replay(s, reading, first, n, out->wgps, picture, &out->counts);
    *clocks = out->counts.clocks * (n < each ? (double)each / (double)n : 1);
    return status;
}

/* Clocks of the whole dispatch from a sample. */
static rmcp_status sample(const struct timing_sampler *s, enum timing_reading reading, size_t first,
                          size_t n, struct timing_picture *picture, double *clocks,
                          struct timing_result *out)
{
    const struct sim_recorder *r = s->recorder;
    const bool whole = n == r->n_total;
    const unsigned at_a_time = chip_groups_at_a_time(s->card, r, &out->limit);
    const unsigned wgps = whole ? s->card->wgps : wgps_for(s->card, n, at_a_time);
    const size_t slots = (size_t)wgps * at_a_time;
    /* The groups that this part of the card has in all. */
    const double all = (double)r->n_total * wgps / s->card->wgps;
    struct timing_counts fewer;
    out->wgps = wgps;
    out->groups_at_a_time = at_a_time;
    if (!whole && r->n_total <= (uint64_t)s->card->wgps * at_a_time)
        return sample_round(s, reading, first, n, picture, clocks, out);
    if (!whole && n >= slots) { /* the last round as full as it will be, or whole rounds */
        const size_t over = (n - (size_t)all % slots) % slots;
        n = n >= over + 2 * slots ? n - over : n - n % slots;
    }
    rmcp_status status = replay(s, reading, first, n, wgps, picture, &out->counts);
    *clocks = out->counts.clocks;
    if (status || whole) return status;
    if (n < 2 * slots) {
        *clocks *= all / (double)n;
        return status;
    }
    const size_t least = slots + n % slots;
    status = replay(s, reading, first, least, wgps, NULL, &fewer);
    if (!status) *clocks += (all - (double)n) * (*clocks - fewer.clocks) / (double)(n - least);
    return status;
}

/* ---- the dispatch ---- */

static void set_shares(const struct timing_card *card, struct timing_result *out)
{
    const struct timing_counts *c = &out->counts;
    const struct timing_values *v = &card->parameters.reading[TIMING_USED];
    const double clocks = c->clocks > 0 ? c->clocks : 1, wgps = out->wgps;
    const double share = wgps / card->wgps, read = c->bytes_read[TIMING_DRAM] + c->dram_written;
    double waves = 0;
    for (unsigned i = 0; i < TIMING_N_REASONS; i++) waves += c->wave_clocks[i];
    out->waves_per_simd = waves / (clocks * wgps * N_SIMDS);
    out->peak_fma = c->fma_clocks / (clocks * wgps * N_SIMDS);
    out->peak_valu = c->busy_valu / (clocks * wgps * N_SIMDS);
    out->peak_lds = c->busy_lds / (clocks * wgps * 2);
    out->peak_l0 = c->busy_l0 / (clocks * wgps * 2);
    out->peak_l2 = (c->bytes_read[TIMING_L2] + c->bytes_read[TIMING_DRAM] + c->bytes_written) /
                   (clocks * card->slices * v->l2_slice_B_clk * share);
    out->peak_dram = read / (clocks * card->dram_B_s / (card->mhz * 1e6) * share);
}

static rmcp_status reading(const struct timing_sampler *s, enum timing_reading which,
                           struct timing_picture *picture, struct timing_result *out)
{
    const size_t n_first = s->n_first;
    double clocks[2] = { 0 };
    struct timing_result other;
    rmcp_status status = sample(s, which, 0, n_first, picture, &clocks[0], out);
    out->clocks = clocks[0];
    out->sampled = n_first != s->recorder->n_total;
    if (!status && out->sampled && s->n_middle == s->n_first) {
        status = sample(s, which, n_first, s->n_middle, NULL, &clocks[1], &other);
        out->clocks = (clocks[0] + clocks[1]) / 2;
        const double apart = clocks[0] - clocks[1];
        out->spread = out->clocks > 0 ? (apart < 0 ? -apart : apart) / 2 / out->clocks : 0;
    }
    out->seconds =
        out->clocks / (s->card->mhz * 1e6) + s->card->parameters.reading[which].kernel_us * 1e-6;
    return status;
}

rmcp_status timing_estimate(const struct timing_sampler *s, bool ranges,
                            struct timing_picture *picture, struct timing_result *out)
{
    const struct sim_recorder *r = s->recorder;
    const double start = now();
    struct timing_result other;
    memset(out, 0, sizeof *out);
    out->limit = "";
    if (r->failed) return rmcp_fail_memory("the record of a dispatch", r->bytes);
    if (!r->n_groups || s->n_first + s->n_middle != r->n_groups || !s->n_first)
        return rmcp_fail(RMCP_E_ARG, "the record of the dispatch is not whole");
    rmcp_status status = reading(s, TIMING_USED, picture, out);
    if (!status) set_shares(s->card, out);
    if (!status && ranges) {
        status = reading(s, TIMING_FAST, NULL, &other);
        out->fast_seconds = other.seconds;
        if (!status) status = reading(s, TIMING_SLOW, NULL, &other);
        out->slow_seconds = other.seconds;
    }
    out->replay_seconds = now() - start;
    return status;
}
