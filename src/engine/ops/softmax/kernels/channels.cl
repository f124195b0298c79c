/* channels.cl: softmax (BACKWARD: its gradient) along lines whose neighbours lie side by side: over the channels of an
 * image's pixels.
 *
 * Neighbouring work-items have neighbouring columns of VECTOR lines; `lanes` work-items share one and have every
 * lanes-th element of it, the last one to begin with: only a first group of elements has some that are not there.
 * Columns that fit into their registers are read once, in what the compiler makes a straight line. Of longer ones, of
 * tensors that do not begin or go on at whole columns, and where beta is not 0, all is read again for the results, in
 * loops. */
#include "engine/kernels/target.h"

#include "engine/kernels/common.h"
#include "engine/kernels/functions.h"
#include "engine/kernels/pairs.h"
#include "engine/kernels/raw.h"
#include "engine/ops/softmax/kernels/packed_args.h"
#include "engine/ops/softmax/kernels/terms.h"

#define BYTES ((int)sizeof(element))
#define COLUMN_BYTES RMCP_SOFTMAX_COLUMN_BYTES(BYTES)
#define VECTOR (COLUMN_BYTES / BYTES)
#if BACKWARD
#define KEEP RMCP_SOFTMAX_KEEP_BACKWARD(BYTES)
#else
#define KEEP (MANY ? RMCP_SOFTMAX_KEEP_MANY : RMCP_SOFTMAX_KEEP_FORWARD(BYTES))
#endif
#define GROUP 4 /* elements of a work-item that are there or not, together, but for those of the first group */
#define GROUPS (KEEP / GROUP)
#define NEAR 8 /* work-items that add up for all of a column */

/* One element of each line of a column, as they lie in memory. */
#if TYPE == 0
typedef uint column;
#define OF_NOTHING NOTHING
#else
typedef ulong column;
#define OF_NOTHING ((ulong)NOTHING << 32 | NOTHING)
#endif

/* What a work-item has: elements `first`, first + lanes … of a column at `begin` bytes; those below 0 do not exist. */
struct post {
    uint lane, lanes;
    bool exists;
    uint skip; /* lines that belong to the column before it */
    ulong begin;
    int groups, base, first; /* base: what `first` is for the first of them */
    long step, stride;       /* bytes from an element to the next, and to the next of the work-item */
};

INLINE struct post post_of(const struct rmcp_softmax_channels *p)
{
    struct post s;
    const uint block = LOCAL_ID >> p->side_log, side = 1u << p->side_log;
    s.lanes = 1u << p->lanes_log;
    s.lane = block & (s.lanes - 1);
    const uint mine =
        GROUP_ID_X * (THREADS >> p->lanes_log) + (block >> p->lanes_log << p->side_log) + (LOCAL_ID & (side - 1));
    s.exists = mine < p->count;
    const uint place = p->first + (s.exists ? mine : 0), image = divide(place, p->columns);
    const uint line = (place - image * p->columns.divisor) * VECTOR, last = p->inner - VECTOR;
    s.skip = line > last ? line - last : 0;
    s.begin = ((ulong)image * p->length * p->inner + (line - s.skip)) * BYTES;
    s.groups = (int)((p->length + GROUP * s.lanes - 1) >> p->lanes_log) / GROUP;
    s.base = (int)p->length - (s.groups * GROUP << p->lanes_log);
    s.first = s.base + (int)s.lane;
    s.step = (long)p->inner * BYTES;
    s.stride = s.step << p->lanes_log;
    return s;
}

/* The bytes that can be read at once. */
INLINE uint grain_of(const struct rmcp_softmax_channels *p, __global const char *a, __global const char *b,
                     __global const char *c)
{
    const uint all = (uint)(ulong)a | (uint)(ulong)b | (uint)(ulong)c | p->inner * BYTES;
    return all % COLUMN_BYTES == 0 ? COLUMN_BYTES : all % 4 == 0 ? 4 : BYTES;
}

INLINE column get(__global const char *p, uint grain)
{
    if (grain == COLUMN_BYTES) return *(__global const column *)p;
    column c = 0;
    if (grain == 4) {
        UNROLL for (uint k = 0; k < COLUMN_BYTES / 4; k++) c |= (column)((__global const uint *)p)[k] << k * 32;
    } else {
        UNROLL for (uint k = 0; k < VECTOR; k++) c |= (column)((__global const ushort *)p)[k] << k * 16;
    }
    return c;
}

INLINE void put(__global char *p, column c, uint grain, uint skip)
{
    if (grain == COLUMN_BYTES) {
        *(__global column *)p = c;
    } else if (grain == 4) {
        UNROLL for (uint k = 0; k < COLUMN_BYTES / 4; k++)
            if (2 * k >= skip) ((__global uint *)p)[k] = (uint)(c >> k * 32);
    } else {
        UNROLL for (uint k = 0; k < VECTOR; k++)
            if (k >= skip) ((__global ushort *)p)[k] = (ushort)(c >> k * 16);
    }
}

INLINE void values(float v[VECTOR], column *c)
{
#if TYPE == 0
    v[0] = as_float(*c);
#else
    FORGET_LONG(*c);
    UNROLL for (uint k = 0; k < VECTOR; k++) v[k] = value_of_raw((raw)(*c >> k * 16));
#endif
}

/* Columns of n * VECTOR values; `small` ones are below 2^110, or NaN. */
INLINE void columns_of(column *c, const float *v, const uint n, const bool small)
{
#if TYPE == 0
    UNROLL for (uint k = 0; k < n; k++) c[k] = as_uint(v[k]);
#elif DRIVER_HALF
    UNROLL for (uint k = 0; k < n; k++) {
        c[k] = 0;
        UNROLL for (uint i = 0; i < VECTOR; i++) {
            ushort one;
            vstore_half_rte(v[k * VECTOR + i], 0, (half *)&one);
            c[k] |= (column)one << i * 16;
        }
    }
#else
    uint word[2 * GROUP];
    if (small)
        small_pairs_of(word, v, 2 * n);
    else
        pairs_of(word, v, 2 * n);
    UNROLL for (uint k = 0; k < n; k++) c[k] = word[2 * k] | (column)word[2 * k + 1] << 32;
#endif
}

/* Whether any work-item of the column has element k of its group, and whether this one has it. Of the groups in
 * registers, `group` is a constant. */
INLINE bool is_any(const struct post *s, int group, uint k)
{
    return group > 0 || s->base + (int)((k + 1) * s->lanes) > 0;
}

INLINE bool is_mine(const struct post *s, int group, uint k)
{
    return group > 0 || s->first + (int)(k * s->lanes) >= 0;
}

INLINE void read_group(column c[GROUP], __global const char *line, const struct post *s, int group, column other,
                       uint grain)
{
    __global const char *from = line + s->first * s->step + group * GROUP * s->stride;
    UNROLL for (uint k = 0; k < GROUP; k++) {
        c[k] = other;
        if (is_mine(s, group, k)) c[k] = get(from + k * s->stride, grain);
    }
}

INLINE void write_group(column c[GROUP], __global char *line, const struct post *s, int group, uint grain)
{
    __global char *to = line + s->first * s->step + group * GROUP * s->stride;
    UNROLL for (uint k = 0; k < GROUP; k++)
        if (is_mine(s, group, k)) put(to + k * s->stride, c[k], grain, s->skip);
}

/* What is left of the results that were there. */
INLINE void add_before(float v[GROUP][VECTOR], __global const char *line, float beta, const struct post *s, int group,
                       uint grain)
{
    column c[GROUP];
    float before[VECTOR];
    if (beta == 0) return;
    read_group(c, line, s, group, 0, grain);
    UNROLL for (uint k = 0; k < GROUP; k++) {
        values(before, &c[k]);
        UNROLL for (uint i = 0; i < VECTOR; i++) v[k][i] += beta * before[i];
    }
}

/* Of the work-items of a column, for all of them; `room` is not used again. */
#if defined(OTHER)
#define ROOM (THREADS / 32 * 128 / BYTES) /* up to 128 bytes of columns for each warp */
INLINE void fold_warp(float v[VECTOR], bool largest, uint side)
{
    if (side > 16) return;
    UNROLL for (uint k = 0; k < VECTOR; k++) v[k] = both(v[k], OTHER(v[k], 16), largest);
    if (side > 8) return;
    UNROLL for (uint k = 0; k < VECTOR; k++) v[k] = both(v[k], OTHER(v[k], 8), largest);
}

INLINE void fold_columns(float v[VECTOR], bool largest, const struct rmcp_softmax_channels *p, const struct post *s,
                         __local float *room)
{
    const uint side = 1u << p->side_log, warp = LOCAL_ID / 32, within = LOCAL_ID % 32;
    const uint warps = s->lanes * side / 32, apart = 32 / side; /* of a column; warps that a work-item reads are so */
    fold_warp(v, largest, side);
    if (warps <= 1) return;
    if (within < side) {
        UNROLL for (uint k = 0; k < VECTOR; k++) room[(warp * side + within) * VECTOR + k] = v[k];
    }
    BARRIER();
    /* `apart` warps side by side */
    __local const float *from = room + ((warp & ~(warps - 1)) * side + within) * VECTOR;
    UNROLL for (uint k = 0; k < VECTOR; k++) v[k] = from[k];
    for (uint i = apart; i < warps; i += apart) {
        UNROLL for (uint k = 0; k < VECTOR; k++) v[k] = both(v[k], from[i * side * VECTOR + k], largest);
    }
    fold_warp(v, largest, side);
}
#else
#define ROOM (VECTOR * THREADS)
INLINE void fold_columns(float v[VECTOR], bool largest, const struct rmcp_softmax_channels *p, const struct post *s,
                         __local float *room)
{
    const uint first = LOCAL_ID - (s->lane << p->side_log), most = smaller(s->lanes, NEAR);
    UNROLL for (uint k = 0; k < VECTOR; k++) room[k * THREADS + LOCAL_ID] = v[k];
    BARRIER();
    if (s->lane < NEAR) {
        UNROLL for (uint k = 0; k < VECTOR; k++) {
            for (uint i = s->lane + NEAR; i < s->lanes; i += NEAR)
                v[k] = both(v[k], room[k * THREADS + (i << p->side_log) + first], largest);
            room[k * THREADS + LOCAL_ID] = v[k];
        }
    }
    BARRIER();
    UNROLL for (uint k = 0; k < VECTOR; k++) {
        v[k] = room[k * THREADS + first];
        for (uint i = 1; i < most; i++) v[k] = both(v[k], room[k * THREADS + (i << p->side_log) + first], largest);
    }
}
#endif

#if BACKWARD

INLINE void add_products(float sum[VECTOR], column *y, column *dy, uint log)
{
    float a[VECTOR], b[VECTOR];
    values(b, dy);
    if (log) {
        UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] += b[k];
    } else {
        values(a, y);
        UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] += a[k] * b[k];
    }
}

/* Of a group: alpha y (dy - sum), or alpha (dy - e^y sum); `sum` is alpha times the sum. */
INLINE void gradients(float dx[GROUP][VECTOR], column y[GROUP], column dy[GROUP], const float *sum, float alpha,
                      uint log)
{
    float a[VECTOR], b[VECTOR];
    UNROLL for (uint i = 0; i < GROUP; i++) {
        values(a, &y[i]);
        values(b, &dy[i]);
        UNROLL for (uint k = 0; k < VECTOR; k++) {
            if (log)
                dx[i][k] = alpha * b[k] - exp_of(a[k]) * sum[k];
            else
                dx[i][k] = a[k] * (alpha * b[k] - sum[k]);
        }
    }
}

__kernel WORKGROUP(THREADS) void softmax_channels(INPUT(y), INPUT(dy), OUTPUT(dx), struct rmcp_softmax_channels p)
{
    __local float room[ROOM] __attribute__((aligned(16)));
    const struct post s = post_of(&p);
    __global const char *y_line = ADDRESS(y) + s.begin, *dy_line = ADDRESS(dy) + s.begin;
    __global char *dx_line = ADDRESS(dx) + s.begin;
    const uint grain = grain_of(&p, ADDRESS(y), ADDRESS(dy), ADDRESS(dx));
    const bool once = !CPU && s.groups <= GROUPS && grain == COLUMN_BYTES;
    column y[GROUPS][GROUP], dy[GROUPS][GROUP], result[GROUP];
    float sum[VECTOR], dx[GROUP][VECTOR];
    UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] = 0;
    if (once) {
        UNROLL for (int i = 0; i < GROUPS; i++) {
            if (i >= s.groups) break;
            read_group(y[i], y_line, &s, i, 0, COLUMN_BYTES);
            read_group(dy[i], dy_line, &s, i, 0, COLUMN_BYTES);
        }
        UNROLL for (int i = 0; i < GROUPS; i++) {
            if (i >= s.groups) break;
            UNROLL for (uint k = 0; k < GROUP; k++)
                if (is_any(&s, i, k)) add_products(sum, &y[i][k], &dy[i][k], p.log);
        }
    } else {
        for (int i = 0; i < s.groups; i++) {
            float part[VECTOR]; /* apart, so that long sums stay accurate */
            UNROLL for (uint k = 0; k < VECTOR; k++) part[k] = 0;
            read_group(y[0], y_line, &s, i, 0, grain);
            read_group(dy[0], dy_line, &s, i, 0, grain);
            UNROLL for (uint k = 0; k < GROUP; k++) add_products(part, &y[0][k], &dy[0][k], p.log);
            UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] += part[k];
        }
    }
    fold_columns(sum, false, &p, &s, room);
    UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] *= p.alpha;
    if (!s.exists) return;
    if (once && p.beta == 0) {
        if (p.log) {
            UNROLL for (int i = 0; i < GROUPS; i++) {
                if (i >= s.groups) break;
                gradients(dx, y[i], dy[i], sum, p.alpha, 1);
                columns_of(result, dx[0], GROUP, false);
                write_group(result, dx_line, &s, i, COLUMN_BYTES);
            }
            return;
        }
        UNROLL for (int i = 0; i < GROUPS; i++) {
            if (i >= s.groups) break;
            gradients(dx, y[i], dy[i], sum, p.alpha, 0);
            columns_of(result, dx[0], GROUP, false);
            write_group(result, dx_line, &s, i, COLUMN_BYTES);
        }
        return;
    }
    for (int i = 0; i < s.groups; i++) {
        read_group(y[0], y_line, &s, i, 0, grain);
        read_group(dy[0], dy_line, &s, i, 0, grain);
        gradients(dx, y[0], dy[0], sum, p.alpha, p.log);
        add_before(dx, dx_line, p.beta, &s, i, grain);
        columns_of(result, dx[0], GROUP, false);
        write_group(result, dx_line, &s, i, grain);
    }
}

#else

/* The larger ones of both. Of a bf16 in the upper half of a word the word will do, until `settle`: a number that begins
 * so; but +Inf may be a NaN then, and not count. It makes the sum infinite. */
INLINE void raise(float top[VECTOR], column *c)
{
    float v[VECTOR];
    values(v, c);
    UNROLL for (uint k = 0; k < VECTOR; k++) {
        const bool upper = TYPE == 2 && k % 2;
        top[k] = larger(top[k], upper ? as_float((uint)(*c >> k / 2 * 32)) : v[k]);
    }
}

INLINE void settle(float top[VECTOR])
{
    if (TYPE != 2) return;
    UNROLL for (uint k = 1; k < VECTOR; k += 2) top[k] = as_float(as_uint(top[k]) & 0xffff0000u);
}

/* `shifted`: as terms.h has it, else relative to the largest value. */
INLINE float term_of(float x, float base, bool shifted)
{
    return shifted ? shifted_term(x, base) : exp_term(x - base);
}

INLINE void add_terms(float sum[VECTOR], column *c, const float *base, bool shifted, bool keep)
{
    float v[VECTOR];
    values(v, c);
    UNROLL for (uint k = 0; k < VECTOR; k++) {
        const float term = term_of(v[k], base[k], shifted);
        sum[k] += term;
        if (keep) *c = as_uint(term);
    }
}

INLINE void logarithms(float y[VECTOR], column *x, const float *base, const float *log, float alpha)
{
    values(y, x);
    UNROLL for (uint k = 0; k < VECTOR; k++) y[k] = alpha * ((y[k] - base[k]) - log[k]);
}

INLINE void shares(float y[VECTOR], column *x, const float *base, const float *share, bool shifted, bool kept)
{
    values(y, x);
    UNROLL for (uint k = 0; k < VECTOR; k++) y[k] = share[k] * (kept ? y[k] : term_of(y[k], base[k], shifted));
}

__kernel WORKGROUP(THREADS) void softmax_channels(INPUT(x), OUTPUT(y), struct rmcp_softmax_channels p)
{
    __local float room[2 * ROOM] __attribute__((aligned(16)));
    const struct post s = post_of(&p);
    __global const char *x_line = ADDRESS(x) + s.begin;
    __global char *y_line = ADDRESS(y) + s.begin;
    const uint grain = grain_of(&p, ADDRESS(x), ADDRESS(y), ADDRESS(y));
    const bool once = !CPU && s.groups <= GROUPS && grain == COLUMN_BYTES;
    const bool kept = TYPE == 0 && !p.log; /* what is in the registers are terms, then */
    column x[GROUPS][GROUP], result[GROUP];
    float y[GROUP][VECTOR], top[VECTOR], base[VECTOR], sum[VECTOR], rest[VECTOR];
    UNROLL for (uint k = 0; k < VECTOR; k++) top[k] = -INFINITY, sum[k] = 0;
    if (once) {
        UNROLL for (int i = 0; i < GROUPS; i++) {
            if (i >= s.groups) break;
            read_group(x[i], x_line, &s, i, OF_NOTHING, COLUMN_BYTES);
        }
        UNROLL for (int i = 0; i < GROUPS; i++) {
            if (i >= s.groups) break;
            UNROLL for (uint k = 0; k < GROUP; k++)
                if (is_any(&s, i, k)) raise(top, &x[i][k]);
        }
        settle(top);
        fold_columns(top, true, &p, &s, room);
    }
    /* Shares are below 2^101 then. */
    bool straight = once && p.beta == 0 && p.alpha > -0x1p100f && p.alpha < 0x1p100f;
    UNROLL for (uint k = 0; k < VECTOR; k++) straight = straight && is_near(top[k]);
    if (straight) {
        UNROLL for (uint k = 0; k < VECTOR; k++) base[k] = shift_of(top[k]);
        UNROLL for (int i = 0; i < GROUPS; i++) {
            if (i >= s.groups) break;
            UNROLL for (uint k = 0; k < GROUP; k++)
                if (is_any(&s, i, k)) add_terms(sum, &x[i][k], base, true, kept);
        }
    } else {
        for (int i = 0; i < s.groups; i++) {
            float higher[VECTOR], part[VECTOR];
            UNROLL for (uint k = 0; k < VECTOR; k++) higher[k] = top[k], part[k] = 0;
            read_group(x[0], x_line, &s, i, OF_NOTHING, grain);
            UNROLL for (uint k = 0; k < GROUP; k++) raise(higher, &x[0][k]);
            settle(higher);
            UNROLL for (uint k = 0; k < VECTOR; k++) {
                if (higher[k] > top[k]) sum[k] *= exp_term(top[k] - higher[k]);
                top[k] = higher[k];
                base[k] = base_of(top[k]);
            }
            UNROLL for (uint k = 0; k < GROUP; k++) add_terms(part, &x[0][k], base, false, false);
            UNROLL for (uint k = 0; k < VECTOR; k++) sum[k] += part[k];
        }
    }
    if (!once) {
        float own[VECTOR];
        UNROLL for (uint k = 0; k < VECTOR; k++) own[k] = top[k];
        fold_columns(top, true, &p, &s, room);
        UNROLL for (uint k = 0; k < VECTOR; k++) {
            if (top[k] > own[k]) sum[k] *= exp_term(own[k] - top[k]);
            base[k] = base_of(top[k]);
        }
    }
    fold_columns(sum, false, &p, &s, room + ROOM);
    UNROLL for (uint k = 1; k < VECTOR; k += 2)
        if (TYPE == 2 && sum[k] == INFINITY) sum[k] = NAN;
    if (!s.exists) return;
    if (p.log) {
        UNROLL for (uint k = 0; k < VECTOR; k++) {
            rest[k] = straight ? log_of_shifted(sum[k], base[k]) : log_of(sum[k]);
            if (straight) base[k] = base_of_shift(base[k]);
        }
    } else {
        UNROLL for (uint k = 0; k < VECTOR; k++) rest[k] = p.alpha * inverse_of(sum[k]);
    }
    if (straight && p.log) {
        UNROLL for (int i = 0; i < GROUPS; i++) {
            if (i >= s.groups) break;
            UNROLL for (uint k = 0; k < GROUP; k++) logarithms(y[k], &x[i][k], base, rest, p.alpha);
            columns_of(result, y[0], GROUP, false);
            write_group(result, y_line, &s, i, COLUMN_BYTES);
        }
    } else if (straight) {
        UNROLL for (int i = 0; i < GROUPS; i++) {
            if (i >= s.groups) break;
            UNROLL for (uint k = 0; k < GROUP; k++) {
                if (!is_any(&s, i, k)) continue;
                shares(y[k], &x[i][k], base, rest, true, kept);
                columns_of(&result[k], y[k], 1, true);
            }
            write_group(result, y_line, &s, i, COLUMN_BYTES);
        }
    } else {
        for (int i = 0; i < s.groups; i++) {
            read_group(x[0], x_line, &s, i, OF_NOTHING, grain);
            UNROLL for (uint k = 0; k < GROUP; k++) {
                if (p.log)
                    logarithms(y[k], &x[0][k], base, rest, p.alpha);
                else
                    shares(y[k], &x[0][k], base, rest, false, false);
            }
            add_before(y, y_line, p.beta, &s, i, grain);
            columns_of(result, y[0], GROUP, false);
            write_group(result, y_line, &s, i, grain);
        }
    }
}

#endif
