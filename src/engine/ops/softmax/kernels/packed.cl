/* packed.cl: softmax (BACKWARD: its gradient) along lines that lie one behind the other.
 *
 * A work-item has chunks of LANES neighbours, or, where lines are no whole chunks, single elements; neighbouring
 * work-items have neighbouring ones. Lines that fit into the registers of their work-items are read once; of longer
 * ones the sums come first, relative to the largest value so far, and all but the last block, which is still there, is
 * read again for the results, from the end to the beginning. */
#include "engine/kernels/lanes.h"

#include "engine/kernels/functions.h"
#include "engine/ops/softmax/kernels/packed_args.h"
#include "engine/ops/softmax/kernels/terms.h"

#define CHUNKS RMCP_SOFTMAX_CHUNKS

/* Where a work-item is: element k of its chunk i is `begin` + i * stride + k * apart, with less than `end` in the
 * line. */
struct post {
    uint begin, stride, apart;
    uint end;
    uint chunks; /* that any work-item of the line has, at most CHUNKS */
    bool wide;
};

INLINE struct post post_of(const struct rmcp_softmax_packed *p, uint lane, uint first, bool wide)
{
    struct post s;
    const uint step = p->lanes * LANES, left = p->length - first;
    s.begin = first + lane * (wide ? LANES : 1);
    s.stride = step;
    s.apart = wide ? 1 : p->lanes;
    s.end = p->length;
    s.chunks = left >= CHUNKS * step ? CHUNKS : (left + step - 1) / step;
    s.wide = wide;
    return s;
}

/* Chunks as they lie in memory; `other`, two elements of 16 bits, stands for what is beyond the end. */
INLINE void read_line(uint raw[CHUNKS][WORDS], __global const char *line, const struct post *s, uint other)
{
    if (s->wide) {
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            const uint at = s->begin + i * s->stride;
            UNROLL for (uint k = 0; k < WORDS; k++) raw[i][k] = other;
            if (at < s->end) load_words(raw[i], line + at * (uint)sizeof(element));
        }
        return;
    }
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        UNROLL for (uint k = 0; k < WORDS; k++) raw[i][k] = other;
        if (i >= s->chunks) continue;
        uint one[LANES];
        UNROLL for (uint k = 0; k < LANES; k++) {
            const uint at = s->begin + i * s->stride + k * s->apart;
            one[k] = ((__global const bits *)line)[at < s->end ? at : 0];
        }
        UNROLL for (uint k = 0; k < LANES; k++)
            if (s->begin + i * s->stride + k * s->apart >= s->end) one[k] = (bits)other;
        words_of(raw[i], one);
    }
}

/* Chunk i, with what beta leaves of what was there. */
INLINE void write_chunk(float v[LANES], __global char *line, const struct post *s, uint i, float beta)
{
    const uint at = s->begin + i * s->stride;
    if (beta != 0) {
        UNROLL for (uint k = 0; k < LANES; k++) {
            const uint place = at + k * s->apart;
            if (place < s->end) v[k] += beta * load(line, place);
        }
    }
    if (s->wide) {
        if (at < s->end) put_lanes(line + at * (uint)sizeof(element), v, 1);
    } else {
        UNROLL for (uint k = 0; k < LANES; k++)
            if (at + k * s->apart < s->end) store(line, at + k * s->apart, v[k]);
    }
}

INLINE bool is_wide(const struct rmcp_softmax_packed *p, __global const char *a, __global const char *b,
                    __global const char *c)
{
    return p->wide && (((uint)(ulong)a | (uint)(ulong)b | (uint)(ulong)c) & 15) == 0;
}

#if BACKWARD

/* A chunk of results at its place. */
INLINE void put_aligned(__global char *p, const float v[LANES])
{
#if TYPE == 0
    *(__global float4 *)p = (float4)(v[0], v[1], v[2], v[3]);
#elif DRIVER_HALF
    put_lanes(p, v, 1);
#else
    uint w[WORDS];
    pairs_of(w, v, WORDS);
    *(__global uint4 *)p = (uint4)(w[0], w[1], w[2], w[3]);
#endif
}

/* Of a block. */
INLINE float sum_of(uint y[CHUNKS][WORDS], uint dy[CHUNKS][WORDS], const struct rmcp_softmax_packed *p, uint chunks)
{
    float a[LANES], b[LANES], part[4] = { 0, 0, 0, 0 }; /* apart, so that long sums stay accurate */
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        if (i >= chunks) continue;
        values_of_words(b, dy[i]);
        if (p->log) {
            UNROLL for (uint k = 0; k < LANES; k++) part[k % 4] += b[k];
        } else {
            values_of_words(a, y[i]);
            UNROLL for (uint k = 0; k < LANES; k++) part[k % 4] += a[k] * b[k];
        }
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}

/* Of a chunk: alpha y (dy - sum), or alpha (dy - e^y sum); `sum` is alpha times the sum. */
INLINE void gradients(float dx[LANES], uint *y, uint *dy, float sum, float alpha, uint log)
{
    float a[LANES], b[LANES];
    forget_words(y), forget_words(dy);
    values_of_words(a, y);
    values_of_words(b, dy);
    UNROLL for (uint k = 0; k < LANES; k++) {
        if (log)
            dx[k] = alpha * b[k] - exp_of(a[k]) * sum;
        else
            dx[k] = a[k] * (alpha * b[k] - sum);
    }
}

__kernel WORKGROUP(THREADS) void softmax_packed(INPUT(y), INPUT(dy), OUTPUT(dx), struct rmcp_softmax_packed p)
{
    __local float room[THREADS];
    __local float4 ends[THREADS / 4];
    const uint lanes = p.lanes, lane = LOCAL_ID & (lanes - 1);
    const uint number = GROUP_ID_X * (THREADS / lanes) + LOCAL_ID / lanes;
    const bool exists = number < p.lines;
    const ulong begin = (ulong)(exists ? number : 0) * p.length * sizeof(element);
    const bool wide = is_wide(&p, ADDRESS(y), ADDRESS(dy), ADDRESS(dx));
    __global const char *y_line = ADDRESS(y) + begin, *dy_line = ADDRESS(dy) + begin;
    const uint block = CHUNKS * LANES * lanes, last = (p.length - 1) / block;
    const bool straight = !CPU && wide && last == 0 && p.beta == 0;
    uint y[CHUNKS][WORDS], dy[CHUNKS][WORDS];
    float a[LANES], sum = 0;
    struct post s = post_of(&p, lane, 0, wide);
    if (straight) {
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            const uint at = (i * lanes + lane) * LANES;
            UNROLL for (uint k = 0; k < WORDS; k++) y[i][k] = dy[i][k] = 0;
            if (at < p.length) {
                load_words(y[i], y_line + at * (uint)sizeof(element));
                load_words(dy[i], dy_line + at * (uint)sizeof(element));
            }
        }
        sum = sum_of(y, dy, &p, s.chunks);
    } else {
        for (uint first = 0; first < p.length; first += block) {
            s = post_of(&p, lane, first, wide);
            read_line(y, y_line, &s, 0);
            read_line(dy, dy_line, &s, 0);
            sum += sum_of(y, dy, &p, s.chunks);
        }
    }
    sum = p.alpha * fold_lines(sum, false, lane, lanes, room, ends);
    if (!exists) return;
    if (straight && !p.log) {
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            const uint at = (i * lanes + lane) * LANES;
            if (at >= p.length) continue;
            gradients(a, y[i], dy[i], sum, p.alpha, 0);
            put_aligned(ADDRESS(dx) + begin + at * (uint)sizeof(element), a);
        }
        return;
    }
    for (uint n = last + 1; n-- > 0;) {
        if (n < last) {
            s = post_of(&p, lane, n * block, wide);
            read_line(y, y_line, &s, 0);
            read_line(dy, dy_line, &s, 0);
        }
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (i >= s.chunks) continue;
            gradients(a, y[i], dy[i], sum, p.alpha, p.log);
            write_chunk(a, ADDRESS(dx) + begin, &s, i, p.beta);
        }
    }
}

#else

__kernel WORKGROUP(THREADS) void softmax_packed(INPUT(x), OUTPUT(y), struct rmcp_softmax_packed p)
{
    __local float room[2 * THREADS];
    __local float4 ends[THREADS / 2];
    const uint lanes = p.lanes, lane = LOCAL_ID & (lanes - 1);
    const uint number = GROUP_ID_X * (THREADS / lanes) + LOCAL_ID / lanes;
    const bool exists = number < p.lines;
    const ulong begin = (ulong)(exists ? number : 0) * p.length * sizeof(element);
    const bool wide = is_wide(&p, ADDRESS(x), ADDRESS(y), ADDRESS(y));
    __global const char *x_line = ADDRESS(x) + begin;
    const uint block = CHUNKS * LANES * lanes, last = (p.length - 1) / block;
    const bool once = !CPU && p.length <= block; /* a barrier that depends on it takes a CPU's compiler minutes */
    uint raw[CHUNKS][WORDS];
    float v[LANES], top = -INFINITY, base = 0, sum = 0;
    struct post s = post_of(&p, lane, 0, wide);
    for (uint first = 0; first < p.length; first += block) {
        float largest = top, part[4] = { 0, 0, 0, 0 };
        s = post_of(&p, lane, first, wide);
        read_line(raw, x_line, &s, NOTHING);
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (i >= s.chunks) continue;
            forget_words(raw[i]);
            values_of_words(v, raw[i]);
            UNROLL for (uint k = 0; k < LANES; k++) largest = larger(largest, v[k]);
        }
        if (once) largest = fold_lines(largest, true, lane, lanes, room, ends);
        if (largest > top) sum *= exp_term(top - largest);
        top = largest;
        base = base_of(top);
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (i >= s.chunks) continue;
            forget_words(raw[i]);
            values_of_words(v, raw[i]);
            UNROLL for (uint k = 0; k < LANES; k++) part[k % 4] += exp_term(v[k] - base);
        }
        sum += (part[0] + part[1]) + (part[2] + part[3]);
    }
    if (!once) {
        const float own = top;
        top = fold_lines(own, true, lane, lanes, room, ends);
        if (own != top) sum *= exp_term(own - top);
        base = base_of(top);
    }
    sum = fold_lines(sum, false, lane, lanes, room + THREADS, ends + THREADS / 4);
    const float log = p.log ? log_of(sum) : 0, share = p.alpha / sum;
    for (uint n = last + 1; n-- > 0;) {
        if (n < last) {
            s = post_of(&p, lane, n * block, wide);
            read_line(raw, x_line, &s, NOTHING);
        }
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (i >= s.chunks || !exists) continue;
            forget_words(raw[i]);
            values_of_words(v, raw[i]);
            if (p.log) {
                UNROLL for (uint k = 0; k < LANES; k++) v[k] = p.alpha * ((v[k] - base) - log);
            } else { /* once more: terms would take as many registers again, or twice as many */
                UNROLL for (uint k = 0; k < LANES; k++) v[k] = share * exp_term(v[k] - base);
            }
            write_chunk(v, ADDRESS(y) + begin, &s, i, p.beta);
        }
    }
}

#endif
