/* record.c: keeps what waves execute. */
#include <stdlib.h>
#include <string.h>

#include "sim/record/hooks.h"
#include "sim/state/registers.h"

/* Of all that is kept of a dispatch: a workgroup that waits for another may run for ever. */
#define MOST_BYTES (UINT64_C(2) << 30)
enum { BANKS = 32 }; /* of LDS, for the SIMDs of one compute unit; 4 bytes each */

/* Room for one more; false: no memory, or too much. */
static bool grow(struct sim_recorder *r, void **list, size_t n, size_t *room, size_t size)
{
    if (n < *room) return true;
    const size_t more = *room ? 2 * *room : 256;
    r->bytes += (more - *room) * size;
    void *new = r->bytes > MOST_BYTES ? NULL : realloc(*list, more * size);
    if (!new) {
        r->failed = true;
        return false;
    }
    *list = new;
    *room = more;
    return true;
}

static void free_group(struct record_group *g)
{
    for (unsigned i = 0; i < g->n_waves && g->waves; i++) {
        free(g->waves[i].steps);
        free(g->waves[i].data);
    }
    free(g->waves);
    free(g);
}

void sim_recorder_clear(struct sim_recorder *r)
{
    for (size_t i = 0; i < r->n_groups; i++) free_group(r->groups[i]);
    free(r->groups);
    free(r->insts);
    free(r->keys);
    free(r->values);
    *r = (struct sim_recorder){ .choose = r->choose, .context = r->context };
}

void record_begin_dispatch(struct sim_recorder *r, const struct run *run)
{
    sim_recorder_clear(r);
    r->dispatch = *run->dispatch;
    r->dispatch.kernel = NULL;
    r->n_lanes = run->n_lanes;
    r->n_vgprs = run->n_vgprs;
    r->waves_per_group = run->waves_per_group;
    r->wgp_mode = run->wgp_mode;
    r->n_total = run->n_total;
}

void record_begin(struct core *core, uint64_t number)
{
    struct sim_recorder *r = core->sim->options.recorder;
    core->record = NULL;
    if (r->failed || !grow(r, (void **)&r->groups, r->n_groups, &r->groups_room, sizeof *r->groups))
        return;
    struct record_group *g = calloc(1, sizeof *g);
    if (g) g->waves = calloc(core->n_waves, sizeof *g->waves);
    if (!g || !g->waves) {
        free(g);
        r->failed = true;
        return;
    }
    g->number = number;
    g->n_waves = core->n_waves;
    r->groups[r->n_groups++] = g;
    core->record = g;
}

void record_end(struct core *core)
{
    struct record_group *g = core->record;
    core->record = NULL;
    for (unsigned i = 0; i < g->n_waves; i++) g->n_steps += g->waves[i].n_steps;
    core->sim->options.recorder->n_ended++;
}

/* ---- instructions ---- */

static size_t place_of(const struct sim_recorder *r, uint64_t address)
{
    size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (r->table_size - 1);
    while (r->keys[at] && r->keys[at] != address + 1) at = (at + 1) & (r->table_size - 1);
    return at;
}

static bool grow_table(struct sim_recorder *r)
{
    const size_t size = r->table_size ? 2 * r->table_size : 4096;
    uint64_t *keys = calloc(size, sizeof *keys);
    uint32_t *values = calloc(size, sizeof *values);
    if (!keys || !values) {
        free(keys);
        free(values);
        r->failed = true;
        return false;
    }
    free(r->keys);
    free(r->values);
    r->keys = keys;
    r->values = values;
    r->table_size = size;
    for (size_t i = 0; i < r->n_insts; i++) {
        const size_t at = place_of(r, r->insts[i].address);
        keys[at] = r->insts[i].address + 1;
        values[at] = (uint32_t)i;
    }
    return true;
}

/* The number of an instruction; false: no memory, or too many of them. */
static bool number_of(struct sim_recorder *r, const struct op *op, uint64_t address, uint32_t *out)
{
    if (2 * r->n_insts >= r->table_size && !grow_table(r)) return false;
    const size_t at = place_of(r, address);
    *out = r->values[at];
    if (r->keys[at]) return true;
    if (r->n_insts >= RECORD_INDEX ||
        !grow(r, (void **)&r->insts, r->n_insts, &r->insts_room, sizeof *r->insts)) {
        r->failed = true;
        return false;
    }
    r->insts[r->n_insts] = (struct record_inst){ address, op->inst, op->uses, op->klass };
    r->keys[at] = address + 1;
    r->values[at] = *out = (uint32_t)r->n_insts++;
    return true;
}

static struct record_wave *wave_of(const struct wave *w)
{
    return &w->core->record->waves[w->number];
}

static void put(struct wave *w, uint64_t word)
{
    struct record_wave *to = wave_of(w);
    struct sim_recorder *r = w->core->sim->options.recorder;
    if (!to->n_steps || !grow(r, (void **)&to->data, to->n_data, &to->data_room, sizeof *to->data))
        return;
    to->steps[to->n_steps - 1] |= RECORD_HAS_DATA;
    to->data[to->n_data++] = word;
}

/* ---- LDS ---- */

/* Clocks of lanes that go at the same time: different dwords of one bank one after the other. */
static unsigned conflicts(const uint32_t *dword, unsigned n)
{
    uint32_t seen[BANKS][MAX_LANES];
    uint8_t count[BANKS] = { 0 };
    unsigned most = n > 0;
    for (unsigned i = 0; i < n; i++) {
        const unsigned bank = dword[i] % BANKS;
        unsigned k = 0;
        while (k < count[bank] && seen[bank][k] != dword[i]) k++;
        if (k < count[bank] || k == MAX_LANES) continue;
        seen[bank][count[bank]++] = dword[i];
        if (count[bank] > most) most = count[bank];
    }
    return most;
}

/* One place of each lane: so many lanes go at a time as make 128 bytes. */
static unsigned lds_clocks(const struct wave *w, const struct op *op, const uint32_t *base,
                           uint32_t offset)
{
    const unsigned words = op->width > 4 ? (op->width + 3u) / 4 : 1;
    const unsigned at_a_time = words == 1 ? 32 : words == 2 ? 16 : 8;
    unsigned clocks = 0;
    for (unsigned first = 0; first < w->n_lanes; first += at_a_time) {
        uint32_t dword[MAX_LANES];
        unsigned n = 0;
        for (unsigned lane = first; lane < first + at_a_time; lane++)
            for (unsigned k = 0; k < words && w->exec >> lane & 1; k++)
                dword[n++] = (base[lane] + offset) / 4 + k;
        clocks += conflicts(dword, n);
    }
    return clocks;
}

static void record_local(struct wave *w, const struct op *op)
{
    const unsigned halves = w->n_lanes / 32;
    uint64_t clocks = 0;
    if (op->address && op->width && op->n_places) {
        const uint32_t *base = vgpr_row(w, op->address->reg - ISA_VGPR0);
        for (unsigned p = 0; p < op->n_places; p++)
            clocks += lds_clocks(w, op, base, op->offset[p]);
    }
    put(w, clocks ? clocks : halves); /* permutations, counters: no banks */
}

void record_step(struct wave *w, const struct op *op)
{
    struct sim_recorder *r = w->core->sim->options.recorder;
    struct record_wave *to = wave_of(w);
    uint32_t number;
    if (r->failed || !number_of(r, op, w->pc - op->bytes, &number)) return;
    const unsigned halves = ((uint32_t)w->exec != 0) + (w->exec >> 32 != 0);
    if (!grow(r, (void **)&to->steps, to->n_steps, &to->steps_room, sizeof *to->steps)) return;
    to->steps[to->n_steps++] = number | halves << RECORD_HALVES_SHIFT;
    r->n_steps++; /* at once: workgroups that run long have others beside them */
    if (op->inst.row->flags & ISA_IS_DS) record_local(w, op);
}

/* ---- memory ---- */

struct lines {
    uint64_t word[256];
    unsigned n;
};

static void touch(struct lines *lines, uint64_t address, unsigned bytes)
{
    while (bytes) {
        const uint64_t line = address / RECORD_LINE_BYTES;
        unsigned part = (unsigned)(RECORD_LINE_BYTES - address % RECORD_LINE_BYTES);
        if (part > bytes) part = bytes;
        unsigned i = lines->n; /* neighbours are mostly in the last one */
        while (i && lines->word[i - 1] >> 16 != line) i--;
        if (i)
            lines->word[i - 1] += part;
        else if (lines->n < 256)
            lines->word[lines->n++] = line << 16 | part;
        address += part;
        bytes -= part;
    }
}

void record_lanes(struct wave *w, uint64_t lanes, unsigned step, unsigned width)
{
    struct lines lines = { .n = 0 };
    uint64_t moved = 0;
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        const uint64_t address = w->core->address[__builtin_ctzll(rest)];
        moved += width;
        if (step == 4)
            touch(&lines, address, width);
        else
            for (unsigned k = 0; k < width; k += 4)
                touch(&lines, address + (uint64_t)(k / 4) * step, width - k < 4 ? width - k : 4);
    }
    put(w, lines.n | moved << 16 | (uint64_t)(step != 4) << 32);
    for (unsigned i = 0; i < lines.n; i++) put(w, lines.word[i]);
}

void record_scalar(struct wave *w, uint64_t address, unsigned bytes)
{
    put(w, address << 16 | bytes);
}
