/* act.cl: activations and their gradients, element by element: of any tensors, or (PACKED) of tensors that are one row
 * each. The mode is the same for all work-items, and memory is the limit: choosing it in the kernel costs nothing. */
#include "engine/kernels/lanes.h"

#include "engine/elements/kernels/args.h"
#include "engine/kernels/functions.h"
#include "engine/kernels/quick.h"

#define NAME act
#define MATH rmcp_act_math
#define TENSORS 4
#define STREAMS(OUT, IN)                                                                      \
    OUT(out, 0, true)                                                                              \
    IN(x, 1, m.reads & RMCP_ACT_READS_X)                                                           \
    IN(y, 2, m.reads & RMCP_ACT_READS_Y)                                                           \
    IN(dy, 3, m.reads & RMCP_ACT_READS_DY)
#define OLD (m.reads & RMCP_ACT_READS_OLD)

INLINE float clip(float x, float low, float high)
{
    const float above = x < low ? low : x;
    return above > high ? high : above;
}

/* n elements v become f(v). */
INLINE void forward(const struct rmcp_act_math *m, float *v, const uint n)
{
    const float alpha = m->alpha, beta = m->beta;
    switch (m->mode) {
#define F(mode, word, reads, forward, backward, y, dx)                                             \
    case RMCP_ACT_##mode: {                                                                        \
        UNROLL for (uint k = 0; k < n; k++)                                                        \
        {                                                                                          \
            const float x = v[k], base = alpha + beta * x;                                         \
            (void)base, (void)x;                                                                   \
            v[k] = forward;                                                                        \
        }                                                                                          \
        break;                                                                                     \
    }
#include "engine/elements/act.inc"
#undef F
    }
}

/* n gradients d of y become those of x. */
INLINE void backward(const struct rmcp_act_math *m, float *d, const float *xs, const float *ys, const uint n)
{
    const float alpha = m->alpha, beta = m->beta;
    switch (m->mode) {
#define F(mode, word, reads, forward, backward, reference, slope)                                  \
    case RMCP_ACT_##mode: {                                                                        \
        const bool flat = beta <= m->least && beta >= -m->least;                                   \
        UNROLL for (uint k = 0; k < n; k++)                                                        \
        {                                                                                          \
            const float dy = d[k], x = xs[k], y = ys[k], base = alpha + beta * x;                  \
            (void)base, (void)x, (void)y, (void)flat;                                                          \
            d[k] = backward;                                                                       \
        }                                                                                          \
        break;                                                                                     \
    }
#include "engine/elements/act.inc"
#undef F
    }
}

INLINE void apply(const struct rmcp_act_math *m, const uint n, float *v, const float *x, const float *y,
                  const float *dy)
{
    if (m->backward) {
        UNROLL for (uint k = 0; k < n; k++) v[k] = dy[k];
        backward(m, v, x, y, n);
    } else {
        UNROLL for (uint k = 0; k < n; k++) v[k] = x[k];
        forward(m, v, n);
    }
    UNROLL for (uint k = 0; k < n; k++) v[k] *= m->scale;
}

INLINE void blend(const struct rmcp_act_math *m, const uint n, float *v, const float *old)
{
    UNROLL for (uint k = 0; k < n; k++) v[k] = m->update * old[k] + v[k];
}

#if PACKED
#include "engine/elements/kernels/packed.h"
#else
#include "engine/elements/kernels/each.h"
#endif
