/* access.c: instructions that reach LDS, scalar and vector memory: when their results are there. */
#include "sim/timing/model.h"

enum { LINE = RECORD_LINE_BYTES, SCALAR_LINE = 64, RING = 64 };

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Counters fall in the order in which they were raised. */
void ring_push(struct ring *r, uint32_t done)
{
    if (r->n == RING - 1) { /* wave_start and its like have waited for the oldest */
        r->head++;
        r->n--;
    }
    r->last = later(r->last, done);
    r->done[(r->head + r->n++) % RING] = r->last;
}

/* The next word of a wave's data, 0 when it has no more. */
static uint64_t take(struct twave *w)
{
    return w->data < w->record->n_data ? w->record->data[w->data++] : 0;
}

void issue_lds(struct wgp *wgp, struct twave *w, uint32_t time, uint32_t step)
{
    struct chip *chip = wgp->chip;
    struct unit_pair *cu = &wgp->units[w->simd / 2];
    const uint64_t recorded = step & RECORD_HAS_DATA ? take(w) : 1;
    /* Conflicts were counted for banks that give 128 bytes a clock. */
    const double scaled = (double)recorded * LINE / chip->values->lds_B_clk;
    const uint32_t clocks = scaled < 1 ? 1 : (uint32_t)(scaled + 0.5);
    const uint32_t begin = later(time, cu->lds_free);
    cu->lds_free = begin + clocks;
    chip->counts.busy_lds += clocks;
    ring_push(&w->lgkm, begin + clocks - 1 + (uint32_t)chip->values->lds_latency_clk);
}

void issue_scalar(struct wgp *wgp, struct twave *w, uint32_t time, uint32_t step)
{
    struct chip *chip = wgp->chip;
    const uint64_t word = step & RECORD_HAS_DATA ? take(w) : 0;
    const uint64_t address = word >> 16, bytes = word & 0xffff;
    uint32_t done = time + (uint32_t)chip->values->smem_latency_clk, dirty;
    for (uint64_t line = address / SCALAR_LINE;
         bytes && line <= (address + bytes - 1) / SCALAR_LINE; line++) {
        struct cache_line *hit = cache_find(&wgp->scalar, line);
        if (!hit) {
            hit = cache_put(&wgp->scalar, line, &dirty);
            hit->ready = memory_load(&chip->memory, wgp->array, line * SCALAR_LINE / LINE, time);
        }
        done = later(done, hit->ready);
    }
    w->lgkm.scalar = true;
    ring_push(&w->lgkm, done);
}

/* A line of L0: when its value is there. */
static uint32_t load_line(struct wgp *wgp, struct unit_pair *cu, uint64_t line, unsigned bytes,
                          uint32_t time)
{
    struct chip *chip = wgp->chip;
    const uint32_t hit_time = time + (uint32_t)chip->values->l0_latency_clk;
    struct cache_line *hit = cache_find(&cu->l0, line);
    uint32_t dirty;
    if (hit) {
        chip->counts.l0_hits++;
        chip->counts.bytes_read[TIMING_L0] += bytes;
        return later(hit_time, hit->ready);
    }
    chip->counts.l0_misses++;
    const uint32_t done = memory_load(&chip->memory, wgp->array, line, time);
    cache_put(&cu->l0, line, &dirty)->ready = done;
    return later(hit_time, done);
}

void issue_vmem(struct wgp *wgp, struct twave *w, const struct unit_inst *inst, uint32_t time,
                uint32_t step)
{
    struct chip *chip = wgp->chip;
    const struct timing_values *v = chip->values;
    struct unit_pair *cu = &wgp->units[w->simd / 2];
    const bool store = inst->unit == UNIT_STORE;
    const uint64_t head = step & RECORD_HAS_DATA ? take(w) : 0;
    const unsigned n = head & 0xffff, moved = head >> 16 & 0xffff;
    const double by_bytes = moved / v->l0_B_clk, by_lines = n / v->l0_lines_clk;
    double most = by_bytes > by_lines ? by_bytes : by_lines;
    if (most < 1) most = 1;
    if (!inst->typed) most += v->raw_extra_clk;
    const uint32_t clocks = (uint32_t)(most + 0.999), begin = later(time, cu->vmem_free);
    uint32_t done = begin + (uint32_t)v->l0_latency_clk, back = 0;
    cu->vmem_free = begin + clocks;
    chip->counts.busy_l0 += clocks;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t word = take(w);
        const uint32_t at = begin + (n > 1 ? i * (clocks - 1) / (n - 1) : 0);
        const unsigned bytes = word & 0xffff;
        uint32_t queued;
        if (!store) {
            done = later(done, load_line(wgp, cu, word >> 16, bytes, at));
            continue;
        }
        done = later(done, memory_store(&chip->memory, wgp->array, word >> 16, bytes, at, &queued));
        back = later(back, queued);
    }
    /* A long queue behind stores reaches back to the compute unit. */
    if (back > 4 * LEDGER_CLOCKS) cu->vmem_free += back - 4 * LEDGER_CLOCKS;
    ring_push(store ? &w->vs : &w->vm, done);
}
