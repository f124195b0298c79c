/* chunks.cl: local response normalisation (BACKWARD: its gradient) with the usual window, four neighbours in memory a
 * work-item, which goes along some rows and loads AT_ONCE of them ahead. WAY says where windows lie: ACROSS rows, ALONG
 * a row, or both (WITHIN). */
#include "engine/ops/lrn/kernels/lrn.h"

#include "engine/kernels/pairs.h"
#include "engine/kernels/quick.h"
#include "engine/kernels/raw.h"

#define ACROSS 0
#define ALONG 1
#define WITHIN 2
#define LAG (WAY == ALONG ? 0 : 2) /* rows of a window behind its middle */

/* Whether a work-item has its neighbours' terms from them, where the hardware can. Forward along a row it is quicker to
 * load what they are made of. */
#define MEET (WAY == WITHIN || WAY == ALONG && BACKWARD)

/* What the work-items before and after have, of as many as LANES; at their ends anything. */
#if MEET && defined(BARE) && defined(__AMDGCN__)
#define BEFORE(v) as_float((uint)__builtin_amdgcn_ds_bpermute((int)(LOCAL_ID * 4 - 4), (int)as_uint(v)))
#define AFTER(v) as_float((uint)__builtin_amdgcn_ds_bpermute((int)(LOCAL_ID * 4 + 4), (int)as_uint(v)))
#elif MEET && defined(BARE) && defined(__NVPTX__)
#define BEFORE(v) __nvvm_shfl_sync_up_f32(0xffffffffu, v, 1, 0)
#define AFTER(v) __nvvm_shfl_sync_down_f32(0xffffffffu, v, 1, 31)
#endif

/* How many neighbours on each side a work-item loads itself, and of how many elements it has terms. */
#if WAY == ACROSS || defined(BEFORE)
#define SIDE 0
#else
#define SIDE 2
#endif
#define WIDTH (4 + 2 * SIDE)

#if TYPE == 0
typedef float2 raw2;
#else
typedef uint raw2;
#endif

/* Where a work-item is. */
struct post {
    uint at, step; /* its elements begin at `at` in row 0 of its plane; elements from a row to the next */
    int first, behind, rows; /* rows of its results; rows that it needs end here */
    bool left, right; /* whether there are neighbours on that side */
    bool mine;        /* whether results are its own; else it is there for its neighbours */
    bool aligned;
};

/* Four neighbours of a row, and perhaps two on each side. */
struct some {
    raw4 own;
#if SIDE
    raw2 left, right;
#endif
};

/* Element `index` of a plane; as load() has it. */
INLINE __global const char *place(__global const char *base, uint index, uint bytes)
{
#if defined(__AMDGCN__)
    return base + index * bytes;
#else
    return base + (ulong)index * bytes;
#endif
}

INLINE raw4 load_four(__global const char *from, bool aligned)
{
    __global const raw *const p = (__global const raw *)from;
    if (aligned) return *(__global const raw4 *)from;
    return raw4_of(p[0], p[1], p[2], p[3]);
}

#if SIDE
INLINE raw2 load_two(__global const char *from, bool aligned)
{
    __global const raw *const p = (__global const raw *)from;
    if (aligned) return *(__global const raw2 *)from;
#if TYPE == 0
    return (raw2)(p[0], p[1]);
#else
    return p[0] | (uint)p[1] << 16;
#endif
}
#endif

/* What does not exist is `other`. */
INLINE void load_some(struct some *s, __global const char *base, const struct post *p, uint at, bool exists, raw2 other)
{
    __global const char *const from = place(base, at, sizeof(raw));
#if TYPE == 0
    s->own = (raw4)(other, other);
#else
    s->own = (raw4)(other);
#endif
    if (exists) s->own = load_four(from, p->aligned);
#if SIDE
    s->left = s->right = other;
    if (exists && p->left) s->left = load_two(from - 2 * sizeof(raw), p->aligned);
    if (exists && p->right) s->right = load_two(from + 4 * sizeof(raw), p->aligned);
#endif
}

INLINE void values_of_some(float v[WIDTH], const struct some *s)
{
    values_of_raw4(v + SIDE, s->own);
#if SIDE && TYPE == 0
    v[0] = s->left.x, v[1] = s->left.y;
    v[6] = s->right.x, v[7] = s->right.y;
#elif SIDE
    v[0] = value_of_raw((raw)s->left), v[1] = value_of_raw((raw)(s->left >> 16));
    v[6] = value_of_raw((raw)s->right), v[7] = value_of_raw((raw)(s->right >> 16));
#endif
}

/* Scales are f32, but with f16 they are f16. */
#if BACKWARD && TYPE == 2
struct scales {
    float4 own;
#if SIDE
    float2 left, right;
#endif
};

INLINE void load_scales(struct scales *s, __global const char *base, const struct post *p, uint at, bool exists)
{
    __global const float *const from = (__global const float *)place(base, at, sizeof(float));
    s->own = 1;
    if (exists) s->own = p->aligned ? *(__global const float4 *)from : (float4)(from[0], from[1], from[2], from[3]);
#if SIDE
    s->left = s->right = 1;
    if (exists && p->left) s->left = (float2)(from[-2], from[-1]);
    if (exists && p->right) s->right = (float2)(from[4], from[5]);
#endif
}

INLINE void values_of_scales(float v[WIDTH], const struct scales *s)
{
    v[SIDE] = s->own.x, v[SIDE + 1] = s->own.y, v[SIDE + 2] = s->own.z, v[SIDE + 3] = s->own.w;
#if SIDE
    v[0] = s->left.x, v[1] = s->left.y;
    v[6] = s->right.x, v[7] = s->right.y;
#endif
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
    const bool exists = (uint)row < (uint)p->rows;
    const uint at = p->at + (uint)row * p->step;
#if BACKWARD
    load_some(&w->x, in->y, p, at, exists, 0);
    load_some(&w->dy, in->dy, p, at, exists, 0);
    load_scales(&w->scale, in->scale, p, at, exists);
    w->middle = 0;
    if (row - LAG >= p->first && row - LAG < p->behind)
        w->middle = load_four(place(in->x, at - LAG * p->step, sizeof(raw)), p->aligned);
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

/* What is needed of the middle of a window: x, or dy scale^-beta. */
#if BACKWARD
typedef float4 middle;
#else
typedef raw4 middle;
#endif

/* The sums of a row's terms in the windows of its four elements. */
INLINE void sum_row(float sum[4], middle *m, const struct row *w, const struct post *p, const struct rmcp_lrn_chunks *a)
{
    float v[WIDTH], term[WIDTH];
    values_of_some(v, &w->x);
#if BACKWARD
    float dy[WIDTH], scale[WIDTH], power[4];
    values_of_some(dy, &w->dy);
    values_of_scales(scale, &w->scale);
    UNROLL for (uint k = 0; k < WIDTH; k++)
        term[k] = TYPE == 1 ? dy[k] * v[k] * inverse_of(scale[k])
                            : dy[k] * v[k] * (inverse_of(scale[k] * 0x1p-16f) * 0x1p-16f);
    UNROLL for (uint k = 0; k < 4; k++) power[k] = dy[SIDE + k] * quick_power(scale[SIDE + k], -a->beta);
    *m = (float4)(power[0], power[1], power[2], power[3]);
#else
    UNROLL for (uint k = 0; k < WIDTH; k++) term[k] = v[k] * v[k];
    *m = w->x.own;
#endif
#if WAY == ACROSS
    UNROLL for (uint k = 0; k < 4; k++) sum[k] = term[k];
#else
    const float *const t = term + SIDE;
    const float front = t[0] + t[1], back = t[2] + t[3], all = front + back;
#if SIDE
    const float left = term[1], lefts = term[0] + term[1], right = term[6], rights = term[6] + term[7];
#else
    const float before = BEFORE(t[3]), befores = BEFORE(back), after = AFTER(t[0]), afters = AFTER(front);
    const float left = p->left ? before : 0, lefts = p->left ? befores : 0;
    const float right = p->right ? after : 0, rights = p->right ? afters : 0;
#endif
    sum[0] = lefts + (front + t[2]), sum[1] = left + all;
    sum[2] = all + right, sum[3] = (t[1] + back) + rights;
#endif
}

/* Two rows' results, where they are `there`. */
INLINE void put_rows(__global char *base, const uint at[2], const bool there[2], const float v[8], bool aligned)
{
#if TYPE == 0 || DRIVER_HALF
    UNROLL for (uint i = 0; i < 2; i++) {
        if (!there[i]) continue;
#if TYPE == 0
        __global float *const to = (__global float *)place(base, at[i], sizeof(float));
        if (aligned) {
            *(__global float4 *)to = (float4)(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
            continue;
        }
#endif
        for (uint k = 0; k < 4; k++) store(base, at[i] + k, v[4 * i + k]);
    }
#else
    uint word[4];
    pairs_of(word, v, 4);
    UNROLL for (uint i = 0; i < 2; i++) {
        if (!there[i]) continue;
        __global ushort *const to = (__global ushort *)place(base, at[i], sizeof(raw));
        if (aligned)
            *(__global uint2 *)to = (uint2)(word[2 * i], word[2 * i + 1]);
        else
            UNROLL for (uint k = 0; k < 4; k++) to[k] = (ushort)(word[2 * i + k / 2] >> k % 2 * 16);
    }
#endif
}

#if !BACKWARD
INLINE void put_scales(__global char *base, const uint at[2], const bool there[2], const float v[8], bool aligned)
{
#if TYPE == 1
    put_rows(base, at, there, v, aligned);
#else
    UNROLL for (uint i = 0; i < 2; i++) {
        if (!there[i]) continue;
        __global float *const to = (__global float *)place(base, at[i], sizeof(float));
        if (aligned)
            *(__global float4 *)to = (float4)(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
        else
            UNROLL for (uint k = 0; k < 4; k++) to[k] = v[4 * i + k];
    }
#endif
}
#endif

INLINE void load_rows(struct row w[AT_ONCE], const struct inputs *in, const struct post *p, int row)
{
    UNROLL for (int i = 0; i < AT_ONCE; i++) load_row(&w[i], in, p, row + i);
}

/* All rows of a work-item. Windows of two rows, one below the other, have four rows in common: two pairs, and each pair
 * is that of two times two windows. */
INLINE void go(const struct inputs *in, __global char *to, __global char *scales, const struct post *p,
               const struct rmcp_lrn_chunks *a)
{
    float lines[2 * LAG + AT_ONCE][4], pairs[AT_ONCE / 2 + 1][4];
    middle middles[LAG + AT_ONCE];
    struct row next[AT_ONCE];
    UNROLL for (uint i = 0; i < 2 * LAG + AT_ONCE; i++) UNROLL for (uint k = 0; k < 4; k++) lines[i][k] = 0;
    UNROLL for (uint i = 0; i < LAG + AT_ONCE; i++) middles[i] = 0;
    UNROLL for (uint k = 0; k < 4; k++) pairs[0][k] = 0;
    if (p->aligned) load_rows(next, in, p, p->first - LAG);
    /* The rows that a window has before its middle come first, without results. As often for all work-items, since they
     * meet. */
    for (int done = -2 * LAG; done < (int)a->strip; done += AT_ONCE) {
        const int row = p->first + done;
        if (!p->aligned) load_rows(next, in, p, row + LAG);
#if BACKWARD
        raw4 x[AT_ONCE];
        UNROLL for (int i = 0; i < AT_ONCE; i++) x[i] = next[i].middle;
#endif
        UNROLL for (int i = 0; i < AT_ONCE; i++) sum_row(lines[2 * LAG + i], &middles[LAG + i], &next[i], p, a);
        if (p->aligned) load_rows(next, in, p, row + AT_ONCE + LAG);
#if LAG
        UNROLL for (uint i = 0; i < AT_ONCE; i += 2) UNROLL for (uint k = 0; k < 4; k++)
            pairs[i / 2 + 1][k] = lines[i + 3][k] + lines[i + 4][k];
#endif
        if (done >= 0) UNROLL for (uint i = 0; i < AT_ONCE; i += 2) {
            float sum[8], out[8];
#if LAG
            UNROLL for (uint k = 0; k < 4; k++) {
                const float both = pairs[i / 2][k] + pairs[i / 2 + 1][k];
                sum[k] = lines[i][k] + both;
                sum[4 + k] = both + lines[i + 5][k];
            }
#else
            UNROLL for (uint k = 0; k < 8; k++) sum[k] = lines[i + k / 4][k % 4];
#endif
            const uint at[2] = { p->at + (uint)(row + (int)i) * p->step, p->at + (uint)(row + (int)i + 1) * p->step };
            const bool there[2] = { p->mine && row + (int)i < p->behind, p->mine && row + (int)i + 1 < p->behind };
#if BACKWARD
            float v[8];
            values_of_raw4(v, x[i]);
            values_of_raw4(v + 4, x[i + 1]);
            const float4 upper = middles[i], lower = middles[i + 1];
            const float m[8] = { upper.x, upper.y, upper.z, upper.w, lower.x, lower.y, lower.z, lower.w };
            UNROLL for (uint k = 0; k < 8; k++) out[k] = m[k] - a->share * v[k] * sum[k];
            put_rows(to, at, there, out, p->aligned);
#else
            float scale[8];
            values_of_raw4(out, middles[i]);
            values_of_raw4(out + 4, middles[i + 1]);
            UNROLL for (uint k = 0; k < 8; k++) {
                scale[k] = a->share * sum[k] + a->k;
                out[k] *= quick_power(scale[k], -a->beta);
            }
            put_rows(to, at, there, out, p->aligned);
            if (a->saved) put_scales(scales, at, there, scale, p->aligned);
#endif
        }
#if LAG
        UNROLL for (uint i = 0; i < 2 * LAG; i++)
            UNROLL for (uint k = 0; k < 4; k++) lines[i][k] = lines[i + AT_ONCE][k];
        UNROLL for (uint i = 0; i < LAG; i++) middles[i] = middles[i + AT_ONCE];
        UNROLL for (uint k = 0; k < 4; k++) pairs[0][k] = pairs[AT_ONCE / 2][k];
#endif
    }
}

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
    uint item = GROUP_ID_X * THREADS + LOCAL_ID;
#if MEET
    /* The first and the last of a line are there for what their neighbours need of them. */
    const uint lane = item % RMCP_LRN_LANES;
    item = item / RMCP_LRN_LANES * (RMCP_LRN_LANES - 2) + lane - 1;
    const bool mine = lane > 0 && lane < RMCP_LRN_LANES - 1 && item < a.count;
#else
    const bool mine = item < a.count;
#endif
#if defined(BEFORE)
    item = item == ~0u ? 0 : smaller(item, a.count - 1);
#else
    if (!mine) return;
#endif
    const uint line = divide(item, a.chunks), chunk = item - line * a.chunks.divisor;
    const uint plane = divide(line, a.strips), strip = line - plane * a.strips.divisor;
    const uint first = strip * a.strip, behind = smaller(first + a.strip, a.rows);
    const ulong begin = (ulong)plane * (ulong)a.plane * sizeof(raw);
    const ulong scale_from = TYPE == 1 ? begin : (ulong)plane * (ulong)a.plane * sizeof(float);
    const uint scale_bytes = TYPE == 1 ? 2 : 4;
    /* Planes begin as their tensors do, since rows are whole chunks: for all work-items the same. */
#if BACKWARD
    const struct inputs in = { ADDRESS(x) + begin, ADDRESS(y) + begin, ADDRESS(scale) + scale_from,
                               ADDRESS(dy) + begin };
    __global char *const to = ADDRESS(dx) + begin, *const scales = 0;
    const bool aligned = is_even(ADDRESS(x), sizeof(raw)) && is_even(ADDRESS(y), sizeof(raw)) &&
                         is_even(ADDRESS(dy), sizeof(raw)) && is_even(ADDRESS(dx), sizeof(raw)) &&
                         is_even(ADDRESS(scale), scale_bytes);
#else
    const struct inputs in = { ADDRESS(x) + begin, 0, 0, 0 };
    __global char *const to = ADDRESS(y) + begin, *const scales = ADDRESS(scale) + scale_from;
    const bool aligned = is_even(ADDRESS(x), sizeof(raw)) && is_even(ADDRESS(y), sizeof(raw)) &&
                         (!a.saved || is_even(ADDRESS(scale), scale_bytes));
#endif
    struct post p = {
        .at = chunk * 4,
        .step = a.step,
        .first = (int)first,
        .behind = (int)behind,
        .rows = (int)smaller(behind + LAG, a.rows),
        .left = chunk > 0,
        .right = chunk + 1 < a.chunks.divisor,
        .mine = mine,
    };
    /* A loop for each: where a load depends on it, whatever follows waits for that load. */
    if (aligned) {
        p.aligned = true;
        go(&in, to, scales, &p, &a);
    } else {
        p.aligned = false;
        go(&in, to, scales, &p, &a);
    }
}
