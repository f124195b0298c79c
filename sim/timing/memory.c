/* memory.c: L1 of the shader arrays, slices of L2, memory channels. */
#include "sim/timing/model.h"

#include <stdlib.h>

enum { LINE = RECORD_LINE_BYTES };

bool memory_init(struct memory *m, const struct timing_card *card, const struct timing_values *v,
                 double share)
{
    *m = (struct memory){ .values = v, .n_slices = card->slices };
    m->n_arrays = (unsigned)(card->arrays * share + 0.999);
    if (!m->n_arrays) m->n_arrays = 1;
    m->dram_latency = (uint32_t)(v->dram_latency_ns * 1e-3 * card->mhz);
    const double dram = card->dram_B_s / (card->mhz * 1e6) * v->dram_efficiency * share;
    m->arrays = calloc(m->n_arrays, sizeof *m->arrays);
    m->slices = calloc(m->n_slices, sizeof *m->slices);
    m->dram = calloc(m->n_slices, sizeof *m->dram);
    bool ok = m->arrays && m->slices && m->dram &&
              cache_init(&m->l2, (uint64_t)((double)card->l2_bytes * share), LINE, v->l2_ways);
    for (unsigned i = 0; i < m->n_arrays && ok; i++)
        ok = cache_init(&m->arrays[i].l1, card->l1_bytes, LINE, v->l1_ways) &&
             ledger_init(&m->arrays[i].path, v->l1_B_clk);
    for (unsigned i = 0; i < m->n_slices && ok; i++)
        ok = ledger_init(&m->slices[i], v->l2_slice_B_clk * share) &&
             ledger_init(&m->dram[i], dram / m->n_slices);
    return ok;
}

void memory_deinit(struct memory *m)
{
    for (unsigned i = 0; i < m->n_arrays && m->arrays; i++) {
        cache_deinit(&m->arrays[i].l1);
        ledger_deinit(&m->arrays[i].path);
    }
    for (unsigned i = 0; i < m->n_slices; i++) {
        if (m->slices) ledger_deinit(&m->slices[i]);
        if (m->dram) ledger_deinit(&m->dram[i]);
    }
    cache_deinit(&m->l2);
    free(m->arrays);
    free(m->slices);
    free(m->dram);
}

/* Which slice of L2 and which channel has a line; chips spread them. */
static unsigned slice_of(const struct memory *m, uint64_t line)
{
    uint64_t x = line;
    x = (x ^ x >> 15) * UINT64_C(0x2c1b3c6d);
    x = (x ^ x >> 12) * UINT64_C(0x297a2d39);
    return (unsigned)((x ^ x >> 15) % m->n_slices);
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void write_back(struct memory *m, unsigned slice, uint32_t dirty, uint32_t time)
{
    if (!dirty) return;
    m->counts->dram_written += dirty;
    m->last = later(m->last, time + ledger_take(&m->dram[slice], time, dirty));
}

/* Latencies are from the instruction to the use of the value, so each level's replaces those before
 * it; what queues take comes on top. */
uint32_t memory_load(struct memory *m, unsigned array, uint64_t line, uint32_t time)
{
    const struct timing_values *v = m->values;
    struct array *a = &m->arrays[array % m->n_arrays];
    uint32_t dirty, queued = ledger_take(&a->path, time, LINE);
    struct cache_line *l1 = cache_find(&a->l1, line);
    if (l1) {
        m->counts->bytes_read[TIMING_L1] += LINE;
        return later(l1->ready, time + queued + (uint32_t)v->l1_latency_clk);
    }
    const unsigned slice = slice_of(m, line);
    queued += ledger_take(&m->slices[slice], time + queued, LINE);
    struct cache_line *l2 = cache_find(&m->l2, line);
    uint32_t done;
    if (l2) {
        m->counts->bytes_read[TIMING_L2] += LINE;
        done = later(l2->ready, time + queued + (uint32_t)v->l2_latency_clk);
    } else {
        m->counts->bytes_read[TIMING_DRAM] += LINE;
        queued += ledger_take(&m->dram[slice], time + queued, LINE);
        done = time + queued + m->dram_latency;
        l2 = cache_put(&m->l2, line, &dirty);
        l2->ready = done;
        write_back(m, slice, dirty, time + queued);
    }
    cache_put(&a->l1, line, &dirty)->ready = done;
    m->last = later(m->last, done);
    return done;
}

uint32_t memory_store(struct memory *m, unsigned array, uint64_t line, unsigned bytes,
                      uint32_t time, uint32_t *queued)
{
    const unsigned slice = slice_of(m, line);
    struct cache_line *l1 = cache_find(&m->arrays[array % m->n_arrays].l1, line);
    struct cache_line *l2 = cache_find(&m->l2, line);
    uint32_t dirty = 0;
    if (l1) l1->tag = 0; /* L1 is for reading only */
    if (bytes > LINE) bytes = LINE;
    *queued = ledger_take(&m->slices[slice], time, bytes < 32 ? 32 : bytes);
    if (!l2) {
        l2 = cache_put(&m->l2, line, &dirty);
        l2->ready = time;
        const uint32_t before = time + *queued;
        if (dirty) *queued += ledger_take(&m->dram[slice], before, 0);
        write_back(m, slice, dirty, before);
    }
    l2->dirty = l2->dirty + bytes > LINE ? LINE : l2->dirty + bytes;
    m->counts->bytes_written += bytes;
    const uint32_t done = time + *queued + (uint32_t)m->values->l2_latency_clk;
    m->last = later(m->last, done);
    return done;
}
