/* lanes.c: fused multiply-adds of whole registers, and rows to and from memory of a workgroup. */
#include "sim/math/lanes.h"

#include <string.h>

#include "sim/math/valu_impl.h"

static inline void fma_rows(uint32_t *vgprs, const unsigned n, const struct step *step)
{
    for (const struct step *end = step + step->n_fma; step < end; step++) {
        const struct lanes_fma f = step->fma;
        uint32_t *d = vgprs + (size_t)f.d * n;
        const uint32_t *a = vgprs + (size_t)f.a * n, *b = vgprs + (size_t)f.b * n;
        const uint32_t *c = vgprs + (size_t)f.c * n;
        VALU_LANES d[i] = of_f32(fmaf(as_f32(a[i]), as_f32(b[i]), as_f32(c[i])));
    }
}

static void multiply_add(uint32_t *vgprs, unsigned n, const struct step *step)
{
    if (n == 32)
        fma_rows(vgprs, 32, step);
    else
        fma_rows(vgprs, 64, step);
}

static struct lanes_span span(const uint32_t *row, unsigned n, uint32_t offset, uint32_t top)
{
    uint32_t least = UINT32_MAX, most = 0, bits = 0;
    n &= 96;
    for (unsigned i = 0; i < n; i++) {
        const uint32_t at = row[i] < top ? row[i] : top;
        bits |= at + offset;
        most = at > most ? at : most;
        least = at < least ? at : least;
    }
    return (struct lanes_span){ least, most, bits };
}

static uint64_t outside(const uint64_t *address, unsigned n, uint64_t first, uint64_t most)
{
    uint64_t all = 0;
    n &= 96;
    for (unsigned i = 0; i < n; i++) all |= (uint64_t)(address[i] - first > most);
    if (!all) return 0;
    all = 0;
    for (unsigned i = 0; i < n; i++) all |= (uint64_t)(address[i] - first > most) << i;
    return all;
}

typedef uint32_t v4 __attribute__((vector_size(16)));

/* Four vectors of four words, turned over their diagonal. */
static inline void transpose(v4 x[4])
{
#ifdef __clang__
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (v4){ i, j, k, l })
#endif
    const v4 ab_low = SHUFFLE(x[0], x[1], 0, 4, 1, 5), ab_high = SHUFFLE(x[0], x[1], 2, 6, 3, 7);
    const v4 cd_low = SHUFFLE(x[2], x[3], 0, 4, 1, 5), cd_high = SHUFFLE(x[2], x[3], 2, 6, 3, 7);
    x[0] = SHUFFLE(ab_low, cd_low, 0, 1, 4, 5);
    x[1] = SHUFFLE(ab_low, cd_low, 2, 3, 6, 7);
    x[2] = SHUFFLE(ab_high, cd_high, 0, 1, 4, 5);
    x[3] = SHUFFLE(ab_high, cd_high, 2, 3, 6, 7);
#undef SHUFFLE
}

static void gather(uint32_t *rows, unsigned n, const uint8_t *from, const uint32_t *at,
                   unsigned words)
{
    uint32_t own[64];
    n &= 96;
    if (words == 4) {
        memcpy(own, at, n * sizeof *own);
        for (unsigned i = 0; i < n; i += 4) {
            v4 x[4];
            for (unsigned k = 0; k < 4; k++) memcpy(&x[k], from + own[i + k], 16);
            transpose(x);
            for (unsigned k = 0; k < 4; k++) memcpy(rows + (size_t)k * n + i, &x[k], 16);
        }
    } else if (words == 2) {
        memcpy(own, at, n * sizeof *own);
        for (unsigned i = 0; i < n; i++) {
            uint32_t pair[2];
            memcpy(pair, from + own[i], 8);
            rows[i] = pair[0];
            rows[n + i] = pair[1];
        }
    } else {
        for (unsigned i = 0; i < n; i++) memcpy(&rows[i], from + at[i], 4);
    }
}

static void scatter(uint8_t *to, const uint32_t *at, const uint32_t *rows, unsigned n,
                    unsigned words)
{
    n &= 96;
    if (words == 4) {
        for (unsigned i = 0; i < n; i += 4) {
            v4 x[4];
            for (unsigned k = 0; k < 4; k++) memcpy(&x[k], rows + (size_t)k * n + i, 16);
            transpose(x);
            for (unsigned k = 0; k < 4; k++) memcpy(to + at[i + k], &x[k], 16);
        }
    } else if (words == 2) {
        for (unsigned i = 0; i < n; i++) {
            const uint32_t pair[2] = { rows[i], rows[n + i] };
            memcpy(to + at[i], pair, 8);
        }
    } else {
        for (unsigned i = 0; i < n; i++) memcpy(to + at[i], &rows[i], 4);
    }
}

const struct lanes FN(lanes) = { multiply_add, span, outside, gather, scatter };
