/* chunks.cl: local response normalisation (BACKWARD: its gradient) with the usual window, four neighbours in memory a
 * work-item, which goes along some rows and loads AT_ONCE of them ahead. WAY says where windows lie: ACROSS rows, ALONG a row, or both
 * (WITHIN). */
#include "ops/lrn/kernels/lrn.h"

#include "kernels/pairs.h"
#include "kernels/quick.h"
#include "kernels/raw.h"

#define ACROSS 0
#define ALONG 1
#define WITHIN 2
#define LAG (WAY == ALONG ? 0 : 2) /* rows of a window behind its middle */
#define ROWS (LAG ? 4 : 2)         /* that are kept */

#if TYPE == 0
typedef float2 raw2;
#else
typedef uint raw2;
#endif

/* Where a work-item is: its elements begin at `at` in row 0 of its plane. */
struct post {
    uint at, step, rows;
    bool left, right; /* whether there are neighbours on that side */
    bool aligned;
};

/* Four neighbours of a row, and with windows along it two on each side. */
struct some {
    raw4 own;
    raw2 left, right;
};

INLINE raw2 load_two(__global const char *base, uint index, bool aligned)
{
    if (aligned) return *(__global const raw2 *)(base + index * (uint)sizeof(raw));
    const raw a = load_raw(base, index), b = load_raw(base, index + 1);
#if TYPE == 0
    return (raw2)(a, b);
#else
    return a | (uint)b << 16;
#endif
}

/* What does not exist is `other`. */
INLINE void load_some(struct some *s, __global const char *base, const struct post *p, uint at, bool exists,
                      raw2 other)
{
#if TYPE == 0
    s->own = (raw4)(other, other);
#else
    s->own = (raw4)(other);
#endif
    s->left = s->right = other;
    if (exists) s->own = load_raw_four(base, at, p->aligned);
    if (WAY == ACROSS) return;
    if (exists && p->left) s->left = load_two(base, at - 2, p->aligned);
    if (exists && p->right) s->right = load_two(base, at + 4, p->aligned);
}

/* The first of what is used, and behind the last: two neighbours on each side, or none. */
#define FIRST (WAY == ACROSS ? 2 : 0)
#define BEHIND (8 - FIRST)

INLINE void values_of_two(float *v, raw2 r)
{
#if TYPE == 0
    v[0] = r.x, v[1] = r.y;
#else
    v[0] = value_of_raw((raw)r), v[1] = value_of_raw((raw)(r >> 16));
#endif
}

INLINE void values_of_some(float *v, const struct some *s)
{
    values_of_raw4(v + 2, s->own);
    if (WAY == ACROSS) return;
    values_of_two(v, s->left);
    values_of_two(v + 6, s->right);
}

/* Scales are f32, but with f16 they are f16. */
#if BACKWARD && TYPE == 2
struct scales {
    float4 own;
    float2 left, right;
};

INLINE void load_scales(struct scales *s, __global const char *base, const struct post *p, uint at, bool exists)
{
    __global const float *const from = (__global const float *)base + at;
    s->own = 1, s->left = s->right = 1;
    if (!exists) return;
    s->own = p->aligned ? *(__global const float4 *)from : (float4)(from[0], from[1], from[2], from[3]);
    if (WAY == ACROSS) return;
    if (p->left) s->left = (float2)(from[-2], from[-1]);
    if (p->right) s->right = (float2)(from[4], from[5]);
}

INLINE void values_of_scales(float *v, const struct scales *s)
{
    v[0] = s->left.x, v[1] = s->left.y;
    v[2] = s->own.x, v[3] = s->own.y, v[4] = s->own.z, v[5] = s->own.w;
    v[6] = s->right.x, v[7] = s->right.y;
}
#elif BACKWARD
#define scales some
#define values_of_scales values_of_some

INLINE void load_scales(struct scales *s, __global const char *base, const struct post *p, uint at, bool exists)
{
#if TYPE == 0
    load_some(s, base, p, at, exists, (raw2)(1, 1));
#else
    load_some(s, base, p, at, exists, 0x3c003c00u);
#endif
}
#endif

/* A row as it lies in memory; `middle` is x of the row whose results are next. */
struct row {
    struct some x;
#if BACKWARD
    struct some dy;
    struct scales scale;
    raw4 middle;
#endif
};

struct inputs {
    __global const char *x, *y, *scale, *dy;
};

INLINE void load_row(struct row *w, const struct inputs *in, const struct post *p, int row)
{
    const bool exists = (uint)row < p->rows;
    const uint at = p->at + (uint)row * p->step;
#if BACKWARD
    load_some(&w->x, in->y, p, at, exists, 0);
    load_some(&w->dy, in->dy, p, at, exists, 0);
    load_scales(&w->scale, in->scale, p, at, exists);
    w->middle = 0;
    if ((uint)(row - LAG) < p->rows) w->middle = load_raw_four(in->x, at - LAG * p->step, p->aligned);
#else
    load_some(&w->x, in->x, p, at, exists, 0);
#endif
}

/* base^exponent for a positive base, as exactly as the hardware has logarithms and exponentials: 2^-22 each. */
INLINE float quick_power(float base, float exponent)
{
#if defined(BARE) && defined(__AMDGCN__)
    return HARDWARE_EXP2(exponent * __builtin_amdgcn_logf(base));
#elif defined(BARE) && defined(__NVPTX__)
    return HARDWARE_EXP2(exponent * __nvvm_lg2_approx_ftz_f(base));
#else
    return power(base, exponent);
#endif
}

/* The sums of a row's terms in the windows of its four elements, and what is needed of these: x, or dy scale^-beta. */
INLINE void sum_row(float sum[4], float middle[4], const struct row *w, const struct rmcp_lrn_chunks *a)
{
    float v[8], term[8];
    values_of_some(v, &w->x);
#if BACKWARD
    float dy[8], scale[8];
    values_of_some(dy, &w->dy);
    values_of_scales(scale, &w->scale);
    UNROLL for (uint k = FIRST; k < BEHIND; k++)
        term[k] = TYPE == 1 ? dy[k] * v[k] * inverse_of(scale[k])
                            : dy[k] * v[k] * (inverse_of(scale[k] * 0x1p-16f) * 0x1p-16f);
    UNROLL for (uint k = 0; k < 4; k++) middle[k] = dy[2 + k] * quick_power(scale[2 + k], -a->beta);
#else
    UNROLL for (uint k = FIRST; k < BEHIND; k++) term[k] = v[k] * v[k];
    UNROLL for (uint k = 0; k < 4; k++) middle[k] = v[2 + k];
#endif
    UNROLL for (uint k = 0; k < 4; k++)
        sum[k] = WAY == ACROSS ? term[2 + k] : ((term[k] + term[k + 1]) + (term[k + 3] + term[k + 4])) + term[k + 2];
}

INLINE void put_four(__global char *base, uint index, const float v[4], bool aligned)
{
#if TYPE == 0 || DRIVER_HALF
    if (aligned)
        store4(base, index, (float4)(v[0], v[1], v[2], v[3]));
    else
        for (uint k = 0; k < 4; k++) store(base, index + k, v[k]);
#else
    uint word[2];
    pairs_of(word, v, 2);
    if (aligned)
        *(__global uint2 *)(base + index * (uint)sizeof(raw)) = (uint2)(word[0], word[1]);
    else
        for (uint k = 0; k < 4; k++) ((__global ushort *)base)[index + k] = (ushort)(word[k / 2] >> k % 2 * 16);
#endif
}

#if !BACKWARD
INLINE void put_scales(__global char *base, uint index, const float v[4], bool aligned)
{
    __global float *const to = (__global float *)base + index;
    if (TYPE == 1)
        put_four(base, index, v, aligned);
    else if (aligned)
        *(__global float4 *)to = (float4)(v[0], v[1], v[2], v[3]);
    else
        for (uint k = 0; k < 4; k++) to[k] = v[k];
}
#endif

INLINE bool is_even(__global const char *base, uint bytes)
{
    return (uint)(ulong)base % (4 * bytes) == 0;
}

#if BACKWARD
__kernel WORKGROUP(THREADS) void lrn_chunks(INPUT(x), INPUT(y), INPUT(scale), INPUT(dy), OUTPUT(dx),
                                            struct rmcp_lrn_chunks a)
#else
__kernel WORKGROUP(THREADS) void lrn_chunks(INPUT(x), OUTPUT(y), OUTPUT(scale), struct rmcp_lrn_chunks a)
#endif
{
    const uint item = GROUP_ID_X * THREADS + LOCAL_ID;
    if (item >= a.count) return;
    const uint line = divide(item, a.chunks), chunk = item - line * a.chunks.divisor;
    const uint plane = divide(line, a.strips), strip = line - plane * a.strips.divisor;
    const int first = (int)(strip * a.strip), behind = (int)smaller((uint)first + a.strip, a.rows);
    const ulong begin = (ulong)plane * (ulong)a.plane * sizeof(raw);
    const ulong scale_from = TYPE == 1 ? begin : (ulong)plane * (ulong)a.plane * sizeof(float);
    const uint scale_bytes = TYPE == 1 ? 2 : 4;
#if BACKWARD
    const struct inputs in = { ADDRESS(x) + begin, ADDRESS(y) + begin, ADDRESS(scale) + scale_from,
                               ADDRESS(dy) + begin };
    __global char *const to = ADDRESS(dx) + begin;
    const bool aligned = is_even(in.x, sizeof(raw)) && is_even(in.y, sizeof(raw)) && is_even(in.dy, sizeof(raw)) &&
                         is_even(in.scale, scale_bytes) && is_even(to, sizeof(raw));
#else
    const struct inputs in = { ADDRESS(x) + begin, 0, 0, 0 };
    __global char *const to = ADDRESS(y) + begin, *const scales = ADDRESS(scale) + scale_from;
    const bool aligned =
        is_even(in.x, sizeof(raw)) && is_even(to, sizeof(raw)) && (!a.saved || is_even(scales, scale_bytes));
#endif
    const struct post p = { chunk * 4, a.step, a.rows, chunk > 0, chunk + 1 < a.chunks.divisor, aligned };
    float sums[ROWS + AT_ONCE][4], middles[LAG + AT_ONCE][4];
    UNROLL for (uint i = 0; i < ROWS + AT_ONCE; i++) UNROLL for (uint k = 0; k < 4; k++) sums[i][k] = 0;
    UNROLL for (uint i = 0; i < LAG + AT_ONCE; i++) UNROLL for (uint k = 0; k < 4; k++) middles[i][k] = 0;
    struct row next[AT_ONCE];
    UNROLL for (int i = 0; i < AT_ONCE; i++) load_row(&next[i], &in, &p, first - LAG + i);
    /* The rows that a window has before its middle come first, without results; the next rows are always under way. */
    for (int row = first - 2 * LAG; row < behind; row += AT_ONCE) {
        struct row now[AT_ONCE];
        UNROLL for (int i = 0; i < AT_ONCE; i++) now[i] = next[i];
        if (row + AT_ONCE < behind)
            UNROLL for (int i = 0; i < AT_ONCE; i++) load_row(&next[i], &in, &p, row + AT_ONCE + LAG + i);
        UNROLL for (int i = 0; i < AT_ONCE; i++) sum_row(sums[2 * LAG + i], middles[LAG + i], &now[i], &a);
        UNROLL for (int i = 0; i < AT_ONCE; i++) {
            if (row + i < first || row + i >= behind) continue;
            const uint at = p.at + (uint)(row + i) * p.step;
            float out[4], sum[4];
            UNROLL for (uint k = 0; k < 4; k++)
                sum[k] = WAY == ALONG ? sums[i][k]
                                      : ((sums[i][k] + sums[i + 1][k]) + (sums[i + 3 * (LAG > 0)][k] + sums[i + 2 * LAG][k])) +
                                            sums[i + LAG][k];
#if BACKWARD
            float x[4];
            values_of_raw4(x, now[i].middle);
            UNROLL for (uint k = 0; k < 4; k++) out[k] = middles[i][k] - a.share * x[k] * sum[k];
            put_four(to, at, out, p.aligned);
#else
            float scale[4];
            UNROLL for (uint k = 0; k < 4; k++) {
                scale[k] = a.share * sum[k] + a.k;
                out[k] = middles[i][k] * quick_power(scale[k], -a.beta);
            }
            put_four(to, at, out, p.aligned);
            if (a.saved) put_scales(scales, at, scale, p.aligned);
#endif
        }
        if (LAG > 0) {
            UNROLL for (uint i = 0; i < ROWS; i++) UNROLL for (uint k = 0; k < 4; k++) sums[i][k] = sums[i + AT_ONCE][k];
            UNROLL for (uint i = 0; i < LAG; i++) UNROLL for (uint k = 0; k < 4; k++) middles[i][k] = middles[i + AT_ONCE][k];
        }
    }
}
