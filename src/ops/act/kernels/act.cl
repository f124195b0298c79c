/* act.cl: activations and their gradients, element by element: of any tensors, or (PACKED) of tensors that are one row
 * each. The mode is the same for all work-items, and memory is the limit: choosing it in the kernel costs nothing. */
#include "ops/tensor/kernels/lanes.h"

#define TENSORS 4 /* the one that is written, x, y, dy */
#include "kernels/functions.h"
#include "kernels/quick.h"
#include "kernels/stream.h"
#include "ops/act/kernels/args.h"

/* n elements v become f(v). A NaN fails every comparison and so stays NaN. */
INLINE void forward_lanes(const struct rmcp_act_math *m, float *v, const uint n)
{
    const float alpha = m->alpha, beta = m->beta;
    if (m->mode == RMCP_ACT_LOGISTIC) {
        UNROLL for (uint i = 0; i < n; i++) v[i] = quick_sigmoid(v[i]);
    } else if (m->mode == RMCP_ACT_TANH) {
        UNROLL for (uint i = 0; i < n; i++) v[i] = beta * quick_tanh(alpha * v[i]);
    } else if (m->mode == RMCP_ACT_RELU) {
        UNROLL for (uint i = 0; i < n; i++) v[i] = v[i] < 0 ? 0 : v[i];
    } else if (m->mode == RMCP_ACT_SOFTRELU) {
        UNROLL for (uint i = 0; i < n; i++) v[i] = softplus_of(v[i]);
    } else if (m->mode == RMCP_ACT_ABS) {
        UNROLL for (uint i = 0; i < n; i++) v[i] = as_float(as_uint(v[i]) & 0x7fffffffu);
    } else if (m->mode == RMCP_ACT_POWER) {
        UNROLL for (uint i = 0; i < n; i++) {
            const float base = alpha + beta * v[i];
            v[i] = base <= m->least ? 0 : pow_of(base, m->gamma);
        }
    } else if (m->mode == RMCP_ACT_CLIPPED) {
        UNROLL for (uint i = 0; i < n; i++) {
            const float low = v[i] < 0 ? 0 : v[i];
            v[i] = low > alpha ? alpha : low;
        }
    } else if (m->mode == RMCP_ACT_LEAKY) {
        UNROLL for (uint i = 0; i < n; i++) v[i] = v[i] > 0 ? v[i] : v[i] * alpha;
    } else if (m->mode == RMCP_ACT_ELU) {
        UNROLL for (uint i = 0; i < n; i++) v[i] = v[i] > 0 ? v[i] : alpha * quick_expm1(v[i]);
    } else if (m->mode == RMCP_ACT_CLAMP) {
        UNROLL for (uint i = 0; i < n; i++) {
            const float low = v[i] < alpha ? alpha : v[i];
            v[i] = low > beta ? beta : low;
        }
    }
}

/* n gradients d of y become those of x. */
INLINE void backward_lanes(const struct rmcp_act_math *m, float *d, const float *x, const float *y, const uint n)
{
    const float alpha = m->alpha, beta = m->beta;
    if (m->mode == RMCP_ACT_LOGISTIC) {
        UNROLL for (uint i = 0; i < n; i++) d[i] = d[i] * y[i] * (1.0f - y[i]);
    } else if (m->mode == RMCP_ACT_TANH) {
        const bool flat = beta <= m->least && beta >= -m->least;
        UNROLL for (uint i = 0; i < n; i++)
            d[i] = flat ? 0 : d[i] * alpha * (beta - y[i] * y[i] / beta);
    } else if (m->mode == RMCP_ACT_RELU) {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] <= 0 ? 0 : d[i];
    } else if (m->mode == RMCP_ACT_SOFTRELU) {
        UNROLL for (uint i = 0; i < n; i++) d[i] *= quick_sigmoid(x[i]);
    } else if (m->mode == RMCP_ACT_ABS) {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] > 0 ? d[i] : -d[i];
    } else if (m->mode == RMCP_ACT_POWER) {
        UNROLL for (uint i = 0; i < n; i++) {
            const float base = alpha + beta * x[i];
            d[i] = base <= m->least ? 0 : d[i] * (beta * m->gamma) * y[i] / base;
        }
    } else if (m->mode == RMCP_ACT_CLIPPED) {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] <= 0 || x[i] > alpha ? 0 : d[i];
    } else if (m->mode == RMCP_ACT_LEAKY) {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] > 0 ? d[i] : d[i] * alpha;
    } else if (m->mode == RMCP_ACT_ELU) {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] > 0 ? d[i] : d[i] * (y[i] + alpha);
    } else if (m->mode == RMCP_ACT_CLAMP) {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] <= alpha || x[i] > beta ? 0 : d[i];
    }
}

#if PACKED

/* `n` elements from `at` on: chunks of LANES, `apart` from each other, or one. */
INLINE void get(float *v, __global const char *base, uint at, uint apart, const uint n)
{
    if (n == 1) {
        v[0] = load(base, at);
        return;
    }
    struct lanes raw[RMCP_ACT_ITEM / LANES];
    UNROLL for (uint i = 0; i < n / LANES; i++)
        load_words(raw[i].word, base + (at + i * apart) * (uint)sizeof(element));
    UNROLL for (uint i = 0; i < n / LANES; i++) value_lanes(v + i * LANES, &raw[i], TYPE, AT_ONCE);
}

INLINE void some(const struct rmcp_act_math *m, __global char *out, __global const char *x, __global const char *y,
                 __global const char *dy, uint at, uint apart, const uint n)
{
    float v[RMCP_ACT_ITEM], a[RMCP_ACT_ITEM], b[RMCP_ACT_ITEM];
    UNROLL for (uint k = 0; k < n; k++) a[k] = b[k] = 0;
    if (m->backward) {
        if (m->reads & RMCP_ACT_READS_X) get(a, x, at, apart, n);
        if (m->reads & RMCP_ACT_READS_Y) get(b, y, at, apart, n);
        get(v, dy, at, apart, n);
        backward_lanes(m, v, a, b, n);
    } else {
        get(v, x, at, apart, n);
        forward_lanes(m, v, n);
    }
    UNROLL for (uint k = 0; k < n; k++) v[k] *= m->scale;
    if (m->reads & RMCP_ACT_READS_OLD) {
        get(a, out, at, apart, n);
        UNROLL for (uint k = 0; k < n; k++) v[k] = m->update * a[k] + v[k];
    }
    if (n == 1) {
        store(out, at, v[0]);
        return;
    }
    UNROLL for (uint i = 0; i < n / LANES; i++)
        put_lanes(out + (at + i * apart) * (uint)sizeof(element), v + i * LANES, 1);
}

__kernel WORKGROUP(THREADS) void act(RESULT(out), TENSOR(x), TENSOR(y), TENSOR(dy), struct rmcp_stream s,
                                     struct rmcp_act_math m)
{
    const uint addresses = (uint)(ulong)ADDRESS(out) | (m.reads & RMCP_ACT_READS_X ? (uint)(ulong)ADDRESS(x) : 0) |
                           (m.reads & RMCP_ACT_READS_Y ? (uint)(ulong)ADDRESS(y) : 0) |
                           (m.reads & RMCP_ACT_READS_DY ? (uint)(ulong)ADDRESS(dy) : 0);
    const uint first = GROUP_ID_X * (THREADS * RMCP_ACT_ITEM);
    if (addresses % 16 == 0 && first + THREADS * RMCP_ACT_ITEM <= s.length) {
        some(&m, ADDRESS(out), ADDRESS(x), ADDRESS(y), ADDRESS(dy), first + LOCAL_ID * LANES, THREADS * LANES,
             RMCP_ACT_ITEM);
        return;
    }
    for (uint i = 0; i < RMCP_ACT_ITEM; i++) {
        const uint at = first + i * THREADS + LOCAL_ID;
        if (at < s.length) some(&m, ADDRESS(out), ADDRESS(x), ADDRESS(y), ADDRESS(dy), at, 0, 1);
    }
}

#else

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
            backward_lanes(&m, v, a, b, LANES);
        } else {
            values(v, &x[i], TYPE);
            forward_lanes(&m, v, LANES);
        }
        UNROLL for (uint k = 0; k < LANES; k++) v[k] *= m.scale;
        if (m.reads & RMCP_ACT_READS_OLD) {
            values(a, &old[i], TYPE);
            UNROLL for (uint k = 0; k < LANES; k++) v[k] = m.update * a[k] + v[k];
        }
        give(v, &p[i], 0, &s, ADDRESS(out));
    }
}

#endif
