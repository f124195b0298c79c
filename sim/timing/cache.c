/* cache.c: caches of lines, and paths with so many bytes a clock. */
#include "sim/timing/model.h"

#include <stdlib.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= UINT64_C(0x7fb5d329728ea185);
    return x ^ x >> 27;
}

bool cache_init(struct cache *c, uint64_t bytes, unsigned line_bytes, double ways)
{
    uint64_t lines = bytes / line_bytes;
    if (lines < 1) lines = 1;
    c->ways = ways < 1 ? 1 : ways > (double)lines ? (unsigned)lines : (unsigned)ways;
    c->sets = lines / c->ways;
    c->clock = 0;
    c->lines = calloc(c->sets * c->ways, sizeof *c->lines);
    return c->lines;
}

void cache_deinit(struct cache *c)
{
    free(c->lines);
    c->lines = NULL;
}

/* Neighbouring lines are in neighbouring sets; large caches fold higher bits in, as chips do. */
static struct cache_line *set_of(const struct cache *c, uint64_t line)
{
    const uint64_t set = c->sets > 256 ? mix(line) % c->sets : line % c->sets;
    return &c->lines[set * c->ways];
}

struct cache_line *cache_find(struct cache *c, uint64_t line)
{
    struct cache_line *set = set_of(c, line);
    for (unsigned i = 0; i < c->ways; i++) {
        if (set[i].tag != line + 1) continue;
        set[i].used = ++c->clock;
        return &set[i];
    }
    return NULL;
}

struct cache_line *cache_put(struct cache *c, uint64_t line, uint32_t *dirty)
{
    struct cache_line *set = set_of(c, line), *oldest = set;
    for (unsigned i = 0; i < c->ways && oldest->tag; i++)
        if (!set[i].tag || set[i].used < oldest->used) oldest = &set[i];
    *dirty = oldest->tag ? oldest->dirty : 0;
    *oldest = (struct cache_line){ .tag = line + 1, .used = ++c->clock };
    return oldest;
}

/* ---- paths ---- */

bool ledger_init(struct ledger *l, double bytes_per_clock)
{
    l->room = (float)(bytes_per_clock * LEDGER_CLOCKS);
    l->pieces = calloc(LEDGER_PIECES, sizeof *l->pieces);
    return l->pieces;
}

void ledger_deinit(struct ledger *l)
{
    free(l->pieces);
    l->pieces = NULL;
}

static struct ledger_piece *piece_of(struct ledger *l, uint32_t number)
{
    struct ledger_piece *p = &l->pieces[number % LEDGER_PIECES];
    if (p->number != number) *p = (struct ledger_piece){ .number = number, .skip = number };
    return p;
}

uint32_t ledger_take(struct ledger *l, uint32_t time, double bytes)
{
    const uint32_t first = time / LEDGER_CLOCKS + 1; /* 0 is no number */
    uint32_t number = first;
    struct ledger_piece *p = piece_of(l, number);
    while (p->bytes >= l->room && number - first < LEDGER_PIECES / 2) {
        number = p->skip > number ? p->skip : number + 1;
        p = piece_of(l, number);
    }
    /* What does not fit goes on in the next pieces. */
    float left = (float)bytes;
    uint32_t last = number;
    for (;;) {
        const float room = l->room - p->bytes, part = left < room ? left : room;
        if (room > 0) p->bytes += part, left -= part;
        if (left <= 0 || last - first >= LEDGER_PIECES - 8) break;
        p->skip = last + 1;
        p = piece_of(l, ++last);
    }
    for (uint32_t i = first; i < number;) { /* the next one finds its way at once */
        struct ledger_piece *passed = piece_of(l, i);
        const uint32_t next = passed->skip > i ? passed->skip : i + 1;
        passed->skip = number;
        i = next;
    }
    return (last - first) * LEDGER_CLOCKS;
}
