/* backward.cl: the gradient of local response normalisation, some rows (channels, or lines of an
 * image) a work-item, which share the terms of their windows. */
#include "engine/ops/lrn/kernels/lrn.h"

struct inputs {
    __global const char *x, *y, *scale, *dy;
};

INLINE float term(const struct inputs *in, uint y, uint scale, uint dy)
{
    return load(in->dy, dy) * load(in->y, y) / load_scale(in->scale, scale);
}

/* The sum of one row of the window; 0 outside. */
INLINE float line(const struct rmcp_lrn_args *p, const struct inputs *in, const struct spot *s,
                  int row, uint n)
{
    float sum = 0;
    if ((uint)row >= p->rows) return 0;
    const uint off = (uint)(row - (int)s->row);
    const uint y = s->at.y + off * p->row.y, scale = s->at.scale + off * p->row.scale;
    const uint dy = s->at.dy + off * p->row.dy;
    if (!p->within) return term(in, y, scale, dy);
    UNROLL for (uint i = 0; i < n; i++)
    {
        const uint shift = i - p->before;
        if (s->column + shift >= p->columns) continue;
        sum += term(in, y + shift * p->column.y, scale + shift * p->column.scale,
                    dy + shift * p->column.dy);
    }
    return sum;
}

INLINE void finish(const struct rmcp_lrn_args *p, const struct inputs *in, const struct spot *s,
                   uint i, float sum, __global char *dx)
{
    const float scale = load_scale(in->scale, s->at.scale + i * p->row.scale);
    const float dy = load(in->dy, s->at.dy + i * p->row.dy);
    const float x = load(in->x, s->at.x + i * p->row.x);
    store(dx, s->at.dx + i * p->row.dx, dy * power(scale, -p->beta) - p->share * x * sum);
}

__kernel WORKGROUP(THREADS) void lrn_backward(INPUT(x), INPUT(y), INPUT(scale), INPUT(dy),
                                              OUTPUT(dx), struct rmcp_lrn_args p)
{
    const uint item = GROUP_ID_X * THREADS + LOCAL_ID;
    if (item >= p.count) return;
    const struct spot s = find_spot(&p, item);
    const struct inputs in = { ADDRESS(x), ADDRESS(y), ADDRESS(scale), ADDRESS(dy) };
    const int first = (int)s.row - (int)p.before;
    if (p.n == USUAL) {
        float lines[STRIP + USUAL - 1];
        UNROLL for (uint i = 0; i < STRIP + USUAL - 1; i++) lines[i] =
            line(&p, &in, &s, first + (int)i, USUAL);
        UNROLL for (uint i = 0; i < STRIP; i++)
        {
            if (s.row + i >= p.rows) continue;
            float sum = lines[i];
            UNROLL for (uint k = 1; k < USUAL; k++) sum += lines[i + k];
            finish(&p, &in, &s, i, sum, ADDRESS(dx));
        }
        return;
    }
    for (uint i = 0; i < STRIP && s.row + i < p.rows; i++) {
        float sum = 0;
        for (uint k = 0; k < p.n; k++) sum += line(&p, &in, &s, first + (int)(i + k), p.n);
        finish(&p, &in, &s, i, sum, ADDRESS(dx));
    }
}
