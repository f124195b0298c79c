/* forward.cl: local response normalisation, some rows (channels, or lines of an image) a work-item,
 * which share the squares of their windows. */
#include "engine/ops/lrn/kernels/lrn.h"

/* The sum of squares of one row of the window; 0 outside. `at` is where the work-item's first row
 * is. */
INLINE float line(const struct rmcp_lrn_args *p, __global const char *x, const struct spot *s,
                  int row, uint n)
{
    float sum = 0;
    if ((uint)row >= p->rows) return 0;
    const uint at = s->at.x + (uint)(row - (int)s->row) * p->row.x;
    if (!p->within) {
        const float v = load(x, at);
        return v * v;
    }
    UNROLL for (uint i = 0; i < n; i++)
    {
        const int shift = (int)i - (int)p->before;
        if ((uint)((int)s->column + shift) >= p->columns) continue;
        const float v = load(x, at + (uint)shift * p->column.x);
        sum += v * v;
    }
    return sum;
}

INLINE void finish(const struct rmcp_lrn_args *p, const struct spot *s, uint i, float sum,
                   __global const char *x, __global char *y, __global char *scale)
{
    const float value = p->share * sum + p->k;
    store(y, s->at.y + i * p->row.y, load(x, s->at.x + i * p->row.x) * power(value, -p->beta));
    if (p->saved) store_scale(scale, s->at.scale + i * p->row.scale, value);
}

__kernel WORKGROUP(THREADS) void lrn_forward(INPUT(x), OUTPUT(y), OUTPUT(scale),
                                             struct rmcp_lrn_args p)
{
    const uint item = GROUP_ID_X * THREADS + LOCAL_ID;
    if (item >= p.count) return;
    const struct spot s = find_spot(&p, item);
    const int first = (int)s.row - (int)p.before;
    if (p.n == USUAL) {
        float lines[STRIP + USUAL - 1];
        UNROLL for (uint i = 0; i < STRIP + USUAL - 1; i++) lines[i] =
            line(&p, ADDRESS(x), &s, first + (int)i, USUAL);
        UNROLL for (uint i = 0; i < STRIP; i++)
        {
            if (s.row + i >= p.rows) continue;
            float sum = lines[i];
            UNROLL for (uint k = 1; k < USUAL; k++) sum += lines[i + k];
            finish(&p, &s, i, sum, ADDRESS(x), ADDRESS(y), ADDRESS(scale));
        }
        return;
    }
    for (uint i = 0; i < STRIP && s.row + i < p.rows; i++) {
        float sum = 0;
        for (uint k = 0; k < p.n; k++) sum += line(&p, ADDRESS(x), &s, first + (int)(i + k), p.n);
        finish(&p, &s, i, sum, ADDRESS(x), ADDRESS(y), ADDRESS(scale));
    }
}
