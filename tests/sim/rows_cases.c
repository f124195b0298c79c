/* rows_cases.c: reads cases, sets up their memory and compares what became of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

/* ---- the file ---- */

struct reader {
    const uint32_t *at, *end;
    bool ok;
};

static uint32_t next(struct reader *r)
{
    if (r->at == r->end) r->ok = false;
    return r->ok ? *r->at++ : 0;
}

static struct words take(struct reader *r, size_t n)
{
    if ((size_t)(r->end - r->at) < n) r->ok = false;
    if (!r->ok) return (struct words){ NULL, 0 };
    struct words w = { r->at, n };
    r->at += n;
    return w;
}

static struct words take_list(struct reader *r)
{
    size_t n = next(r);
    return take(r, n);
}

/* Text: its words, filled up with zero bytes. */
static const char *take_text(struct reader *r)
{
    struct words w = take_list(r);
    if (!r->ok || !w.n || (w.at[w.n - 1] >> 24) != 0) {
        r->ok = false;
        return "";
    }
    return (const char *)w.at;
}

static unsigned row_id(const char *name, const char *encoding)
{
    static const char *const names[] = { "SOP1",  "SOP2",   "SOPC",   "SOPK",    "SOPP",
                                         "SMEM",  "VOP1",   "VOP2",   "VOPC",    "VOP3",
                                         "VOP3P", "VINTRP", "DS",     "MUBUF",   "MTBUF",
                                         "MIMG",  "FLAT",   "GLOBAL", "SCRATCH", "EXP" };
    for (unsigned id = 1; id < ISA_N_IDS; id++) {
        const struct isa_row *row = isa_row(id);
        if (!strcmp(row->name, name) && !strcmp(names[row->encoding], encoding)) return id;
    }
    return 0;
}

static bool read_items(struct reader *r, struct one_case *c)
{
    c->n_items = next(r);
    if (!r->ok || c->n_items > 10000) return false;
    c->items = calloc(c->n_items + 1, sizeof *c->items);
    if (!c->items) return false;
    for (size_t i = 0; i < c->n_items; i++) {
        struct item *item = &c->items[i];
        static const unsigned rooms[] = { N_VGPRS * 64, N_SGPRS, LDS_SIZE / 4, DATA_WORDS };
        item->what = next(r);
        item->index = next(r);
        item->data = take_list(r);
        if (item->what == WANT_VGPR) item->kinds = take(r, item->data.n);
        unsigned first = (item->what & 3) == PUT_VGPR ? item->index * 64 : item->index;
        if (!r->ok || item->what > WANT_DATA || item->index > 4096 ||
            first + item->data.n > rooms[item->what & 3])
            return false;
    }
    return true;
}

/* Is the row among the instructions of the case? */
static bool has_row(const struct one_case *c)
{
    unsigned chip = c->chip | (c->wave64 ? ISA_WAVE64 : 0);
    for (size_t i = 0; i < c->words.n;) {
        struct isa_inst inst;
        size_t n = isa_decode(chip, c->words.at + i, c->words.n - i, &inst);
        if (n && inst.id == c->id) return true;
        i += n ? n : 1;
    }
    return false;
}

static bool read_case(struct reader *r, struct one_case *c)
{
    const char *name = take_text(r), *encoding = take_text(r);
    c->text = take_text(r);
    c->chip = next(r);
    c->wave64 = next(r);
    c->ends = next(r);
    c->words = take_list(r);
    c->before = take(r, 7).at;
    c->after = take(r, 7).at;
    if (!r->ok || c->chip >= ISA_N_CHIPS || !read_items(r, c)) return false;
    c->id = row_id(name, encoding);
    if (c->id && has_row(c)) return true;
    fprintf(stderr, "sim_rows: %s: no %s %s in it\n", c->text, name, encoding);
    return false;
}

bool cases_read(struct cases *all, const char *path)
{
    FILE *f = fopen(path, "rb");
    long bytes = -1;
    if (f && !fseek(f, 0, SEEK_END)) bytes = ftell(f);
    if (bytes > 0) all->file = malloc((size_t)bytes);
    bool ok = all->file && !fseek(f, 0, SEEK_SET) &&
              fread(all->file, 1, (size_t)bytes, f) == (size_t)bytes;
    if (f) fclose(f);
    if (!ok) {
        fprintf(stderr, "sim_rows: cannot read %s\n", path);
        return false;
    }
    struct reader r = { all->file, all->file + bytes / 4, true };
    for (unsigned i = 0; i < 2; i++) {
        all->prologue[i] = take_list(&r);
        all->epilogue[i] = take_list(&r);
    }
    size_t n = next(&r);
    all->at = n < 1000000 ? calloc(n + 1, sizeof *all->at) : NULL;
    for (; all->at && all->n < n; all->n++)
        if (!read_case(&r, &all->at[all->n])) break;
    if (all->at && all->n == n && r.at == r.end) return true;
    fprintf(stderr, "sim_rows: %s is damaged at case %zu\n", path, all->n);
    return false;
}

void cases_free(struct cases *all)
{
    for (size_t i = 0; i < all->n; i++) free(all->at[i].items);
    free(all->at);
    free(all->file);
}

/* ---- memory ---- */

static uint32_t *place(uint32_t *state, uint32_t *data, const struct item *item)
{
    switch (item->what & 3) {
    case PUT_VGPR: return state + item->index * 64;
    case PUT_SGPR: return state + SCALARS + item->index;
    case PUT_LDS: return state + LDS + item->index;
    default: return data + item->index;
    }
}

static uint32_t filler(unsigned i)
{
    return 0x5a000000 + i * 0x10001u;
}

void case_begin(struct machine *m, const struct one_case *c)
{
    uint32_t *state = m->memory, *data = m->memory + DATA;
    for (unsigned i = 0; i < 16384; i++) m->memory[i] = filler(i);
    for (unsigned i = 0; i < 7; i++) state[SCALARS + VCC + i] = c->before[i];
    state[SCALARS + VCC + 7] = 0;
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i].what < WANT_VGPR)
            memcpy(place(state, data, &c->items[i]), c->items[i].data.at, c->items[i].data.n * 4);
    memcpy(m->expected, state, sizeof m->expected);
    memcpy(m->expected_data, data, sizeof m->expected_data);
    for (unsigned i = 0; i < 7; i++) m->expected[SCALARS + VCC + i] = c->after[i];
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i].what > WANT_VGPR)
            memcpy(place(m->expected, m->expected_data, &c->items[i]), c->items[i].data.at,
                   c->items[i].data.n * 4);
}

/* ---- comparison ---- */

/* The same number, or one beside it; -0 and 0 are alike. */
static bool near(uint32_t a, uint32_t b, uint32_t sign)
{
    const uint32_t x = a & ~sign, y = b & ~sign;
    return (a ^ b) & sign ? x + y <= 1 : x - y + 1 <= 2;
}

static bool is_quiet16(uint32_t h)
{
    return (h & 0x7e00) == 0x7e00;
}

/* Up to the rounding of each of a few products. */
static bool is_close(uint32_t got, uint32_t want)
{
    float x, y;
    memcpy(&x, &got, sizeof x);
    memcpy(&y, &want, sizeof y);
    return got == want || fabsf(x - y) <= 4e-6f * (1 + fabsf(y));
}

/* The kinds of make.py: how a word of a result is compared. */
static bool is_like(uint32_t got, uint32_t want, uint32_t kind)
{
    switch (kind) {
    case 0: return got == want;
    case 1: return true;
    case 2: return (got & 0x7fc00000) == 0x7fc00000; /* a quiet f32 NaN            */
    case 3: return is_close(got, want);              /* f32: a mean of a few       */
    case 4: return near(got, want, 0x80000000);      /* f32 within 1 ulp           */
    case 5:                                          /* f16 within 1 ulp           */
        return near(got & 0xffff, want & 0xffff, 0x8000) && got >> 16 == want >> 16;
    case 6: return (got & 0x7ff80000) == 0x7ff80000; /* high word of a quiet NaN   */
    case 7: return got - want + 1 <= 2;              /* high word of 2^-20         */
    case 12:                                         /* two f16 within 1 ulp */
        return near(got & 0xffff, want & 0xffff, 0x8000) && near(got >> 16, want >> 16, 0x8000);
    default: /* halves: 1 low, 2 high NaN  */
        return (kind & 1 ? is_quiet16(got) : !((got ^ want) & 0xffff)) &&
               (kind & 2 ? is_quiet16(got >> 16) : !((got ^ want) >> 16));
    }
}

static bool differs(const struct machine *m, const struct one_case *c, const char *what,
                    unsigned index, unsigned lane, uint32_t got, uint32_t want)
{
    if (m->quiet) return false;
    printf("%s (%s%s): %s%u lane %u is 0x%08x, not 0x%08x; mode 0x%x\n", c->text,
           isa_chip_name(c->chip), c->wave64 ? " wave64" : "", what, index, lane, (unsigned)got,
           (unsigned)want, (unsigned)c->before[6]);
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i].what == PUT_VGPR && lane < c->items[i].data.n)
            printf("    v%u = 0x%08x\n", (unsigned)c->items[i].index,
                   (unsigned)c->items[i].data.at[lane]);
    return false;
}

static bool compare_vgprs(const struct machine *m, const struct one_case *c)
{
    const unsigned lanes = c->wave64 ? 64 : 32;
    for (unsigned v = 0; v < N_VGPRS; v++) {
        const struct item *wanted = NULL;
        for (size_t i = 0; i < c->n_items; i++)
            if (c->items[i].what == WANT_VGPR && c->items[i].index == v) wanted = &c->items[i];
        for (unsigned lane = 0; lane < lanes; lane++) {
            uint32_t got = m->memory[OUT + v * 64 + lane], want = m->expected[v * 64 + lane];
            uint32_t kind = 0;
            if (wanted && lane < wanted->data.n) {
                want = wanted->data.at[lane];
                kind = wanted->kinds.at[lane];
            }
            if (!is_like(got, want, kind)) return differs(m, c, "v", v, lane, got, want);
        }
    }
    return true;
}

/* A program that ended in the case has stored nothing. */
static bool is_untouched(const struct machine *m, const struct one_case *c)
{
    for (unsigned i = 0; i < STATE_WORDS; i++)
        if (m->memory[OUT + i] != filler(OUT + i))
            return differs(m, c, "stored word ", i, 0, m->memory[OUT + i], filler(OUT + i));
    return true;
}

bool case_end(struct machine *m, const struct one_case *c)
{
    static const char *const scalars[] = { "vcc_lo", "vcc_hi", "exec_lo", "exec_hi",
                                           "m0",     "scc",    "mode" };
    const uint32_t *out = m->memory + OUT, *data = m->memory + DATA;
    if (c->ends) return is_untouched(m, c);
    if (!compare_vgprs(m, c)) return false;
    for (unsigned i = 0; i < N_SGPRS; i++)
        if (out[SCALARS + i] != m->expected[SCALARS + i])
            return differs(m, c, "s", i, 0, out[SCALARS + i], m->expected[SCALARS + i]);
    for (unsigned i = 0; i < 7; i++) {
        if (i == 3 && !c->wave64) continue;
        uint32_t got = out[SCALARS + VCC + i], want = m->expected[SCALARS + VCC + i];
        if (got != want) return differs(m, c, scalars[i], 0, 0, got, want);
    }
    for (unsigned i = 0; i < LDS_SIZE / 4; i++)
        if (out[LDS + i] != m->expected[LDS + i])
            return differs(m, c, "LDS word ", i, 0, out[LDS + i], m->expected[LDS + i]);
    for (unsigned i = 0; i < DATA_WORDS; i++)
        if (data[i] != m->expected_data[i])
            return differs(m, c, "memory word ", i, 0, data[i], m->expected_data[i]);
    return true;
}
