/* act.cl: activations and their gradients, element by element: of any tensors, or (PACKED) of tensors that are one row
 * each. The mode is the same for all work-items, and memory is the limit: choosing it in the kernel costs nothing. */
#include "engine/kernels/lanes.h"

#define TENSORS 4 /* the one that is written, x, y, dy */
#include "engine/kernels/functions.h"
#include "engine/kernels/quick.h"
#include "engine/kernels/stream.h"
#include "engine/ops/act/kernels/args.h"

/* n elements v become f(v). A NaN fails every comparison and so stays NaN. */
INLINE void forward_lanes(const struct rmcp_act_math *m, float *v, const uint n)
{
    const float alpha = m->alpha, beta = m->beta;
    switch (m->mode) {
    case RMCP_ACT_LOGISTIC: {
        UNROLL for (uint i = 0; i < n; i++) v[i] = quick_sigmoid(v[i]);
        break;
    }
    case RMCP_ACT_TANH: {
        UNROLL for (uint i = 0; i < n; i++) v[i] = beta * quick_tanh(alpha * v[i]);
        break;
    }
    case RMCP_ACT_RELU: {
        UNROLL for (uint i = 0; i < n; i++) v[i] = v[i] < 0 ? 0 : v[i];
        break;
    }
    case RMCP_ACT_SOFTRELU: {
        UNROLL for (uint i = 0; i < n; i++) v[i] = softplus_of(v[i]);
        break;
    }
    case RMCP_ACT_ABS: {
        UNROLL for (uint i = 0; i < n; i++) v[i] = as_float(as_uint(v[i]) & 0x7fffffffu);
        break;
    }
    case RMCP_ACT_POWER: {
        UNROLL for (uint i = 0; i < n; i++) {
            const float base = alpha + beta * v[i];
            v[i] = base <= m->least ? 0 : pow_of(base, m->gamma);
        }
        break;
    }
    case RMCP_ACT_CLIPPED: {
        UNROLL for (uint i = 0; i < n; i++) {
            const float low = v[i] < 0 ? 0 : v[i];
            v[i] = low > alpha ? alpha : low;
        }
        break;
    }
    case RMCP_ACT_LEAKY: {
        UNROLL for (uint i = 0; i < n; i++) v[i] = v[i] > 0 ? v[i] : v[i] * alpha;
        break;
    }
    case RMCP_ACT_ELU: {
        UNROLL for (uint i = 0; i < n; i++) v[i] = v[i] > 0 ? v[i] : alpha * quick_expm1(v[i]);
        break;
    }
    case RMCP_ACT_CLAMP: {
        UNROLL for (uint i = 0; i < n; i++) {
            const float low = v[i] < alpha ? alpha : v[i];
            v[i] = low > beta ? beta : low;
        }
        break;
    }
    }
}

/* n gradients d of y become those of x. */
INLINE void backward_lanes(const struct rmcp_act_math *m, float *d, const float *x, const float *y, const uint n)
{
    const float alpha = m->alpha, beta = m->beta;
    switch (m->mode) {
    case RMCP_ACT_LOGISTIC: {
        UNROLL for (uint i = 0; i < n; i++) d[i] = d[i] * y[i] * (1.0f - y[i]);
        break;
    }
    case RMCP_ACT_TANH: {
        const bool flat = beta <= m->least && beta >= -m->least;
        UNROLL for (uint i = 0; i < n; i++)
            d[i] = flat ? 0 : d[i] * alpha * (beta - y[i] * y[i] / beta);
        break;
    }
    case RMCP_ACT_RELU: {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] <= 0 ? 0 : d[i];
        break;
    }
    case RMCP_ACT_SOFTRELU: {
        UNROLL for (uint i = 0; i < n; i++) d[i] *= quick_sigmoid(x[i]);
        break;
    }
    case RMCP_ACT_ABS: {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] > 0 ? d[i] : -d[i];
        break;
    }
    case RMCP_ACT_POWER: {
        UNROLL for (uint i = 0; i < n; i++) {
            const float base = alpha + beta * x[i];
            d[i] = base <= m->least ? 0 : d[i] * (beta * m->gamma) * y[i] / base;
        }
        break;
    }
    case RMCP_ACT_CLIPPED: {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] <= 0 || x[i] > alpha ? 0 : d[i];
        break;
    }
    case RMCP_ACT_LEAKY: {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] > 0 ? d[i] : d[i] * alpha;
        break;
    }
    case RMCP_ACT_ELU: {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] > 0 ? d[i] : d[i] * (y[i] + alpha);
        break;
    }
    case RMCP_ACT_CLAMP: {
        UNROLL for (uint i = 0; i < n; i++) d[i] = x[i] <= alpha || x[i] > beta ? 0 : d[i];
        break;
    }
    }
}

#if PACKED

#define CHUNKS RMCP_ACT_CHUNKS
#define ITEM (CHUNKS * LANES)

/* n results of what was loaded: LANES, or one. */
INLINE void results(const struct rmcp_act_math *m, float *v, const float *x, const float *y, const float *dy,
                    const float *old, const uint n)
{
    UNROLL for (uint k = 0; k < n; k++) v[k] = m->backward ? dy[k] : x[k];
    if (m->backward)
        backward_lanes(m, v, x, y, n);
    else
        forward_lanes(m, v, n);
    UNROLL for (uint k = 0; k < n; k++) v[k] *= m->scale;
    if (m->reads & RMCP_ACT_READS_OLD) {
        UNROLL for (uint k = 0; k < n; k++) v[k] = m->update * old[k] + v[k];
    }
}

/* Chunks that lie `apart`, all of which are under way before the first is waited for. */
INLINE void read_chunks(struct lanes raw[CHUNKS], __global const char *base, uint at, uint apart, bool reads)
{
    UNROLL for (uint i = 0; i < CHUNKS; i++)
        UNROLL for (uint k = 0; k < WORDS; k++) raw[i].word[k] = 0;
    if (!reads) return;
    UNROLL for (uint i = 0; i < CHUNKS; i++) load_words(raw[i].word, base + (at + i * apart) * (uint)sizeof(element));
}

__kernel WORKGROUP(THREADS) void act(RESULT(out), TENSOR(x), TENSOR(y), TENSOR(dy), struct rmcp_stream s,
                                     struct rmcp_act_math m)
{
    const bool reads_x = m.reads & RMCP_ACT_READS_X, reads_y = m.reads & RMCP_ACT_READS_Y;
    const bool reads_dy = m.reads & RMCP_ACT_READS_DY, reads_old = m.reads & RMCP_ACT_READS_OLD;
    const uint addresses = (uint)(ulong)ADDRESS(out) | (reads_x ? (uint)(ulong)ADDRESS(x) : 0) |
                           (reads_y ? (uint)(ulong)ADDRESS(y) : 0) | (reads_dy ? (uint)(ulong)ADDRESS(dy) : 0);
    const uint first = GROUP_ID_X * (THREADS * ITEM);
    if (addresses % 16 == 0 && first + THREADS * ITEM <= s.length) {
        const uint at = first + LOCAL_ID * LANES, apart = THREADS * LANES;
        struct lanes x[CHUNKS], y[CHUNKS], dy[CHUNKS], old[CHUNKS];
        read_chunks(x, ADDRESS(x), at, apart, reads_x);
        read_chunks(y, ADDRESS(y), at, apart, reads_y);
        read_chunks(dy, ADDRESS(dy), at, apart, reads_dy);
        read_chunks(old, ADDRESS(out), at, apart, reads_old);
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            float v[LANES], a[LANES], b[LANES], c[LANES], d[LANES];
            values_of_words(a, x[i].word);
            values_of_words(b, y[i].word);
            values_of_words(c, dy[i].word);
            values_of_words(d, old[i].word);
            results(&m, v, a, b, c, d, LANES);
            put_lanes(ADDRESS(out) + (at + i * apart) * (uint)sizeof(element), v, 1);
        }
        return;
    }
    _Pragma("unroll 1") for (uint i = 0; i < ITEM; i++) {
        const uint at = first + i * THREADS + LOCAL_ID;
        if (at >= s.length) continue;
        const float x = reads_x ? load(ADDRESS(x), at) : 0, y = reads_y ? load(ADDRESS(y), at) : 0;
        const float dy = reads_dy ? load(ADDRESS(dy), at) : 0, old = reads_old ? load(ADDRESS(out), at) : 0;
        float v;
        results(&m, &v, &x, &y, &dy, &old, 1);
        store(ADDRESS(out), at, v);
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
