/* chip.c: workgroups come to WGPs that have room, and the WGPs go on together. */
#include "sim/timing/model.h"

#include <stdlib.h>
#include <string.h>

enum {
    QUANTUM = 64, /* clocks that WGPs run by themselves; less than any memory latency */
    SCALAR_LINE = 64,
    LDS_GRANULE = 512,
};

/* ---- room ---- */

/* Rows of 32 lanes that a wave takes of the registers of its SIMD. */
static unsigned rows_of(const struct timing_values *v, const struct sim_recorder *r)
{
    const unsigned halves = r->n_lanes / 32, granule = (unsigned)v->vgpr_granule;
    return (r->n_vgprs * halves + granule - 1) / granule * granule;
}

static uint32_t lds_of(const struct sim_recorder *r)
{
    return (r->dispatch.group_bytes + LDS_GRANULE - 1) / LDS_GRANULE * LDS_GRANULE;
}

static unsigned least(unsigned a, unsigned b, const char *what, const char **limit)
{
    if (b >= a) return a;
    *limit = what;
    return b;
}

unsigned chip_groups_at_a_time(const struct timing_card *card, const struct sim_recorder *r,
                               const char **limit)
{
    const struct timing_values *v = &card->parameters.reading[TIMING_USED];
    const unsigned pair = r->wgp_mode ? 1 : 2; /* in CU mode a group has one of two units */
    const unsigned simds = N_SIMDS / pair, waves = r->waves_per_group;
    const unsigned rows = rows_of(v, r), deep = rows ? (unsigned)v->simd_vgprs / rows : MOST_WAVES;
    *limit = "waves";
    /* Waves are spread over the SIMDs, a group as a whole. */
    unsigned groups = card->waves_per_simd * simds / waves;
    groups = least(groups, deep * simds / waves, "vgprs", limit);
    if (lds_of(r))
        groups = least(groups, (unsigned)v->lds_kb * 1024 / pair / lds_of(r), "lds", limit);
    if (waves > 1) groups = least(groups, (unsigned)v->barrier_slots / pair, "barriers", limit);
    return groups ? groups * pair : 1;
}

/* ---- placing ---- */

/* The SIMD of a WGP, or of one half of it, with the fewest waves that has room for one more. */
static int simd_for(const struct chip *chip, const struct wgp *wgp, unsigned first, unsigned n,
                    const unsigned more[N_SIMDS])
{
    int best = -1;
    unsigned fewest = UINT32_MAX;
    for (unsigned i = first; i < first + n; i++) {
        const unsigned waves = wgp->simds[i].n_waves + more[i];
        const unsigned rows = wgp->simds[i].vgprs + (more[i] + 1) * chip->vgprs;
        if (waves >= chip->card->waves_per_simd || waves >= MOST_WAVES ||
            rows > chip->values->simd_vgprs || waves >= fewest)
            continue;
        best = (int)i;
        fewest = waves;
    }
    return best;
}

/* Where the waves of a group would go; false: no room. */
static bool fits(const struct chip *chip, const struct wgp *wgp, unsigned half, unsigned n_waves,
                 uint8_t simds[MOST_WAVES])
{
    const bool whole = chip->recorder->wgp_mode;
    const uint32_t lds = lds_of(chip->recorder), most = (uint32_t)chip->values->lds_kb * 1024;
    const uint32_t used = whole ? wgp->lds[0] + wgp->lds[1] : wgp->lds[half];
    unsigned more[N_SIMDS] = { 0 };
    if (used + lds > (whole ? most : most / 2)) return false;
    if (n_waves > 1 && wgp->n_groups >= chip->values->barrier_slots) return false;
    for (unsigned i = 0; i < n_waves; i++) {
        const int s = simd_for(chip, wgp, whole ? 0 : 2 * half, whole ? N_SIMDS : 2, more);
        if (s < 0) return false;
        more[s]++;
        simds[i] = (uint8_t)s;
    }
    return true;
}

static unsigned load_of(const struct wgp *wgp)
{
    unsigned n = 0;
    for (unsigned i = 0; i < N_SIMDS; i++) n += wgp->simds[i].n_waves;
    return n;
}

/* The WGP of an engine with the fewest waves that has room; NULL: none. */
static struct wgp *wgp_for(struct chip *chip, unsigned engine, unsigned n_waves, unsigned *half,
                           uint8_t simds[MOST_WAVES])
{
    struct wgp *best = NULL;
    unsigned fewest = UINT32_MAX;
    for (unsigned i = 0; i < chip->n_wgps; i++) {
        struct wgp *wgp = &chip->wgps[i];
        const unsigned load = load_of(wgp);
        uint8_t places[MOST_WAVES];
        if (wgp->engine != engine || load >= fewest) continue;
        const unsigned first =
            wgp->lds[0] > wgp->lds[1] || wgp->simds[0].n_waves + wgp->simds[1].n_waves >
                                             wgp->simds[2].n_waves + wgp->simds[3].n_waves;
        unsigned h = first;
        if (!fits(chip, wgp, h, n_waves, places)) {
            h = 1 - first;
            if (chip->recorder->wgp_mode || !fits(chip, wgp, h, n_waves, places)) continue;
        }
        best = wgp;
        fewest = load;
        *half = h;
        memcpy(simds, places, n_waves);
    }
    return best;
}

static rmcp_status start_group(struct chip *chip, struct wgp *wgp, unsigned half,
                               const uint8_t *simds, uint32_t now)
{
    struct group *g = &chip->groups[chip->next++];
    const struct timing_values *v = chip->values;
    const unsigned n = g->record->n_waves;
    g->waves = calloc(n, sizeof *g->waves);
    if (!g->waves) return rmcp_fail_memory("waves", n * sizeof *g->waves);
    uint32_t *free = &chip->engine_free[wgp->engine];
    /* Room was made at some time in the last quantum. */
    const uint32_t made = now > QUANTUM / 2 ? now - QUANTUM / 2 : 0,
                   at = *free > made ? *free : made;
    *free = at + (uint32_t)((double)n / v->dispatch_waves_clk + 0.5);
    g->begin = at + (uint32_t)v->group_start_clk;
    if (g->begin < now) g->begin = now;
    g->n_alive = n;
    g->wgp = (unsigned)(wgp - chip->wgps);
    g->half = half;
    g->lds = lds_of(chip->recorder);
    wgp->lds[half] += g->lds;
    wgp->n_groups++;
    if (chip->picture && g == chip->pictured) picture_begin(chip->picture, n);
    for (unsigned i = 0; i < n; i++) {
        struct twave *w = &g->waves[i];
        w->record = &g->record->waves[i];
        w->group = g;
        w->simd = simds[i];
        wgp->simds[w->simd].vgprs += chip->vgprs;
        wave_start(wgp, w, g->begin + (uint32_t)((double)i / v->dispatch_waves_clk));
    }
    return RMCP_OK;
}

/* Start groups while there is room, engines in turn. */
static rmcp_status place(struct chip *chip, uint32_t now)
{
    while (chip->next < chip->n_groups) {
        uint8_t simds[MOST_WAVES];
        unsigned half = 0, tried = 0;
        struct wgp *wgp = NULL;
        const unsigned n = chip->groups[chip->next].record->n_waves;
        for (; tried < chip->n_engines && !wgp; tried++) {
            wgp = wgp_for(chip, chip->next_engine, n, &half, simds);
            chip->next_engine = (chip->next_engine + 1) % chip->n_engines;
        }
        if (!wgp) return RMCP_OK;
        const rmcp_status status = start_group(chip, wgp, half, simds, now);
        if (status) return status;
    }
    return RMCP_OK;
}

void chip_group_ended(struct chip *chip, struct group *g, uint32_t time)
{
    struct wgp *wgp = &chip->wgps[g->wgp];
    g->end = time;
    wgp->lds[g->half] -= g->lds;
    wgp->n_groups--;
    chip->n_done++;
    free(g->waves);
    g->waves = NULL;
}

/* ---- a replay ---- */

static void chip_deinit(struct chip *chip)
{
    for (unsigned i = 0; i < chip->n_wgps && chip->wgps; i++) {
        struct wgp *wgp = &chip->wgps[i];
        cache_deinit(&wgp->units[0].l0);
        cache_deinit(&wgp->units[1].l0);
        cache_deinit(&wgp->scalar);
        cache_deinit(&wgp->instructions);
    }
    for (size_t i = 0; i < chip->n_groups && chip->groups; i++) free(chip->groups[i].waves);
    memory_deinit(&chip->memory);
    free(chip->wgps);
    free(chip->groups);
    free(chip->insts);
    free(chip->engine_free);
}

static bool chip_init(struct chip *chip, const struct replay *replay)
{
    const struct timing_card *card = replay->card;
    const struct timing_values *v = replay->values;
    const double share = (double)replay->n_wgps / card->wgps;
    *chip = (struct chip){ .card = card,
                           .values = v,
                           .recorder = replay->recorder,
                           .n_wgps = replay->n_wgps,
                           .n_groups = replay->n,
                           .picture = replay->picture };
    chip->vgprs = rows_of(v, replay->recorder);
    bool ok = memory_init(&chip->memory, card, v, share);
    chip->memory.counts = &chip->counts;
    chip->n_engines = chip->memory.n_arrays < card->engines ? chip->memory.n_arrays : card->engines;
    chip->wgps = calloc(chip->n_wgps, sizeof *chip->wgps);
    chip->groups = calloc(replay->n, sizeof *chip->groups);
    chip->insts = calloc(replay->recorder->n_insts, sizeof *chip->insts);
    chip->engine_free = calloc(chip->n_engines, sizeof *chip->engine_free);
    ok = ok && chip->wgps && chip->groups && chip->insts && chip->engine_free;
    for (unsigned i = 0; i < chip->n_wgps && ok; i++) {
        struct wgp *wgp = &chip->wgps[i];
        wgp->chip = chip;
        wgp->array = i % chip->memory.n_arrays;
        wgp->engine = wgp->array % chip->n_engines;
        for (unsigned k = 0; k < N_SIMDS; k++) wgp->simds[k].next = FOR_EVER;
        ok = cache_init(&wgp->units[0].l0, card->l0_bytes, RECORD_LINE_BYTES, v->l0_ways) &&
             cache_init(&wgp->units[1].l0, card->l0_bytes, RECORD_LINE_BYTES, v->l0_ways) &&
             cache_init(&wgp->scalar, card->scalar_bytes, SCALAR_LINE, v->scalar_ways) &&
             cache_init(&wgp->instructions, card->icache_bytes, SCALAR_LINE, v->icache_ways);
    }
    for (size_t i = 0; i < replay->n && ok; i++)
        chip->groups[i].record = replay->recorder->groups[replay->groups[i]];
    for (size_t i = 0; i < replay->recorder->n_insts && ok; i++)
        unit_of(&replay->recorder->insts[i], v, &chip->insts[i]);
    if (ok) chip->pictured = &chip->groups[replay->n / 2];
    return ok;
}

static uint32_t next_event(const struct chip *chip)
{
    uint32_t next = FOR_EVER;
    for (unsigned i = 0; i < chip->n_wgps; i++)
        for (unsigned k = 0; k < N_SIMDS; k++)
            if (chip->wgps[i].simds[k].next < next) next = chip->wgps[i].simds[k].next;
    return next;
}

static void finish(struct chip *chip, struct timing_counts *out)
{
    uint32_t end = chip->memory.last;
    double busy = 0; /* WGPs, until the last group of each has ended */
    for (size_t i = 0; i < chip->n_groups; i++) {
        const struct group *g = &chip->groups[i];
        if (g->end > end) end = g->end;
        if (g->end > chip->wgps[g->wgp].last) chip->wgps[g->wgp].last = g->end;
        chip->counts.waves += g->record->n_waves;
    }
    chip->counts.groups = chip->n_groups;
    chip->counts.clocks = end;
    for (unsigned i = 0; i < chip->n_wgps; i++) busy += chip->wgps[i].last;
    chip->counts.tail = end - busy / chip->n_wgps;
    *out = chip->counts;
}

rmcp_status chip_replay(const struct replay *replay, struct timing_counts *out)
{
    struct chip chip;
    rmcp_status status = RMCP_OK;
    uint32_t now = 0;
    if (!chip_init(&chip, replay)) {
        chip_deinit(&chip);
        return rmcp_fail_memory("the model of a card", sizeof chip);
    }
    while (!status && chip.n_done < chip.n_groups) {
        status = place(&chip, now);
        const uint32_t next = next_event(&chip);
        if (status) break;
        if (next >= FOR_EVER - 2 * QUANTUM) {
            status = rmcp_fail(RMCP_E_ARG, "a workgroup with its registers and LDS fits no WGP");
            break;
        }
        if (next > now) now = next;
        for (unsigned i = 0; i < chip.n_wgps; i++) wgp_run(&chip.wgps[i], now, now + QUANTUM);
        now += QUANTUM;
    }
    if (!status) finish(&chip, out);
    chip_deinit(&chip);
    return status;
}
