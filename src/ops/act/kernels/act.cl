/* act.cl: activations and their gradients, element by element. The mode is the same for all work-items, and memory is
 * the limit: choosing it in the kernel costs nothing. */
#include "ops/tensor/kernels/lanes.h"

#define TENSORS 4 /* the one that is written, x, y, dy */
#include "kernels/functions.h"
#include "kernels/stream.h"
#include "ops/act/kernels/args.h"

/* v becomes f(v). A NaN fails every comparison and so stays NaN. */
INLINE void forward_lanes(const struct rmcp_act_math *m, float *v)
{
    const float alpha = m->alpha, beta = m->beta;
    if (m->mode == RMCP_ACT_LOGISTIC) {
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = sigmoid_of(v[i]);
    } else if (m->mode == RMCP_ACT_TANH) {
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = beta * tanh_of(alpha * v[i]);
    } else if (m->mode == RMCP_ACT_RELU) {
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = v[i] < 0 ? 0 : v[i];
    } else if (m->mode == RMCP_ACT_SOFTRELU) {
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = softplus_of(v[i]);
    } else if (m->mode == RMCP_ACT_ABS) {
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = as_float(as_uint(v[i]) & 0x7fffffffu);
    } else if (m->mode == RMCP_ACT_POWER) {
        UNROLL for (uint i = 0; i < LANES; i++) {
            const float base = alpha + beta * v[i];
            v[i] = base <= m->least ? 0 : pow_of(base, m->gamma);
        }
    } else if (m->mode == RMCP_ACT_CLIPPED) {
        UNROLL for (uint i = 0; i < LANES; i++) {
            const float low = v[i] < 0 ? 0 : v[i];
            v[i] = low > alpha ? alpha : low;
        }
    } else if (m->mode == RMCP_ACT_LEAKY) {
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = v[i] > 0 ? v[i] : v[i] * alpha;
    } else if (m->mode == RMCP_ACT_ELU) {
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = v[i] > 0 ? v[i] : alpha * expm1_of(v[i]);
    } else if (m->mode == RMCP_ACT_CLAMP) {
        UNROLL for (uint i = 0; i < LANES; i++) {
            const float low = v[i] < alpha ? alpha : v[i];
            v[i] = low > beta ? beta : low;
        }
    }
}

/* d, the gradient of y, becomes that of x. */
INLINE void backward_lanes(const struct rmcp_act_math *m, float *d, const float *x, const float *y)
{
    const float alpha = m->alpha, beta = m->beta;
    if (m->mode == RMCP_ACT_LOGISTIC) {
        UNROLL for (uint i = 0; i < LANES; i++) d[i] = d[i] * y[i] * (1.0f - y[i]);
    } else if (m->mode == RMCP_ACT_TANH) {
        const bool flat = beta <= m->least && beta >= -m->least;
        UNROLL for (uint i = 0; i < LANES; i++)
            d[i] = flat ? 0 : d[i] * alpha * (beta - y[i] * y[i] / beta);
    } else if (m->mode == RMCP_ACT_RELU) {
        UNROLL for (uint i = 0; i < LANES; i++) d[i] = x[i] <= 0 ? 0 : d[i];
    } else if (m->mode == RMCP_ACT_SOFTRELU) {
        UNROLL for (uint i = 0; i < LANES; i++) d[i] *= sigmoid_of(x[i]);
    } else if (m->mode == RMCP_ACT_ABS) {
        UNROLL for (uint i = 0; i < LANES; i++) d[i] = x[i] > 0 ? d[i] : -d[i];
    } else if (m->mode == RMCP_ACT_POWER) {
        UNROLL for (uint i = 0; i < LANES; i++) {
            const float base = alpha + beta * x[i];
            d[i] = base <= m->least ? 0 : d[i] * (beta * m->gamma) * y[i] / base;
        }
    } else if (m->mode == RMCP_ACT_CLIPPED) {
        UNROLL for (uint i = 0; i < LANES; i++) d[i] = x[i] <= 0 || x[i] > alpha ? 0 : d[i];
    } else if (m->mode == RMCP_ACT_LEAKY) {
        UNROLL for (uint i = 0; i < LANES; i++) d[i] = x[i] > 0 ? d[i] : d[i] * alpha;
    } else if (m->mode == RMCP_ACT_ELU) {
        UNROLL for (uint i = 0; i < LANES; i++) d[i] = x[i] > 0 ? d[i] : d[i] * (y[i] + alpha);
    } else if (m->mode == RMCP_ACT_CLAMP) {
        UNROLL for (uint i = 0; i < LANES; i++) d[i] = x[i] <= alpha || x[i] > beta ? 0 : d[i];
    }
}

__kernel WORKGROUP(THREADS) void act(RESULT(out), TENSOR(x), TENSOR(y), TENSOR(dy),
                                     struct rmcp_stream s, struct rmcp_act_math m)
{
    struct spot p[RMCP_STREAM_CHUNKS];
    struct flow old[RMCP_STREAM_CHUNKS], x[RMCP_STREAM_CHUNKS], y[RMCP_STREAM_CHUNKS],
        dy[RMCP_STREAM_CHUNKS];
    const uint first = GROUP_ID_X * (THREADS * RMCP_STREAM_CHUNKS) + LOCAL_ID;
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        p[i] = find_spot(&s, first + i * THREADS, ADDRESS(out), sizeof(element));
        if (m.reads & RMCP_ACT_READS_X) take(&x[i], &p[i], 1, &s, ADDRESS(x), TYPE);
        if (m.reads & RMCP_ACT_READS_Y) take(&y[i], &p[i], 2, &s, ADDRESS(y), TYPE);
        if (m.reads & RMCP_ACT_READS_DY) take(&dy[i], &p[i], 3, &s, ADDRESS(dy), TYPE);
        if (m.reads & RMCP_ACT_READS_OLD) take(&old[i], &p[i], 0, &s, ADDRESS(out), TYPE);
    }
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        float v[LANES], a[LANES], b[LANES];
        UNROLL for (uint k = 0; k < LANES; k++) a[k] = b[k] = 0;
        if (m.backward) {
            if (m.reads & RMCP_ACT_READS_X) values(a, &x[i], TYPE);
            if (m.reads & RMCP_ACT_READS_Y) values(b, &y[i], TYPE);
            values(v, &dy[i], TYPE);
            backward_lanes(&m, v, a, b);
        } else {
            values(v, &x[i], TYPE);
            forward_lanes(&m, v);
        }
        UNROLL for (uint k = 0; k < LANES; k++) v[k] *= m.scale;
        if (m.reads & RMCP_ACT_READS_OLD) {
            values(a, &old[i], TYPE);
            UNROLL for (uint k = 0; k < LANES; k++) v[k] = m.update * a[k] + v[k];
        }
        give(v, &p[i], 0, &s, ADDRESS(out));
    }
}
