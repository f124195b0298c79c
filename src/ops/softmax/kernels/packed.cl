/* packed.cl: softmax (BACKWARD: its gradient) along lines that lie one behind the other.
 *
 * A work-item has chunks of LANES neighbours, or, where lines are no whole chunks, single elements; neighbouring
 * work-items have neighbouring ones. Lines that fit into the registers of their work-items are read once; of longer ones the
 * sums come first, relative to the largest value so far, and all is read again for the results. */
#include "ops/tensor/kernels/lanes.h"

#include "kernels/functions.h"
#include "ops/softmax/kernels/packed_args.h"
#include "ops/softmax/kernels/terms.h"

#define CHUNKS (RMCP_SOFTMAX_KEEP / LANES)

/* Where a work-item is: element k of its chunk i is `begin` + i * stride + k * apart, with less than `end` in the line. */
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

/* `other` stands for what is beyond the end. */
INLINE void read_line(float v[CHUNKS][LANES], __global const char *line, const struct post *s, float other)
{
    if (s->wide) {
        struct lanes raw[CHUNKS];
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            const uint at = s->begin + i * s->stride;
            if (i < s->chunks) load_words(raw[i].word, line + (at < s->end ? at : 0) * (uint)sizeof(element));
        }
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (i < s->chunks) value_lanes(v[i], &raw[i], TYPE, AT_ONCE);
            if (s->begin + i * s->stride >= s->end) {
                UNROLL for (uint k = 0; k < LANES; k++) v[i][k] = other;
            }
        }
        return;
    }
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        if (i >= s->chunks) continue;
        UNROLL for (uint k = 0; k < LANES; k++) {
            const uint at = s->begin + i * s->stride + k * s->apart;
            v[i][k] = load(line, at < s->end ? at : 0);
        }
        UNROLL for (uint k = 0; k < LANES; k++)
            if (s->begin + i * s->stride + k * s->apart >= s->end) v[i][k] = other;
    }
}

INLINE void write_line(float v[CHUNKS][LANES], __global char *line, const struct post *s, float alpha, float beta)
{
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        if (i >= s->chunks) continue;
        const uint at = s->begin + i * s->stride;
        UNROLL for (uint k = 0; k < LANES; k++) {
            const uint place = at + k * s->apart;
            v[i][k] *= alpha;
            if (beta != 0 && place < s->end) v[i][k] += beta * load(line, place);
        }
        if (s->wide) {
            if (at < s->end) put_lanes(line + at * (uint)sizeof(element), v[i], 1);
        } else {
            UNROLL for (uint k = 0; k < LANES; k++)
                if (at + k * s->apart < s->end) store(line, at + k * s->apart, v[i][k]);
        }
    }
}

INLINE bool is_wide(const struct rmcp_softmax_packed *p, __global const char *a, __global const char *b,
                    __global const char *c)
{
    return p->wide && (((uint)(ulong)a | (uint)(ulong)b | (uint)(ulong)c) & 15) == 0;
}

#if BACKWARD

INLINE void gradient(const struct rmcp_softmax_packed *p, __global const char *y_line, __global const char *dy_line,
                     __global char *dx_line, uint lane, bool exists, bool wide, __local float *room,
                     __local float4 *ends)
{
    const uint block = RMCP_SOFTMAX_KEEP * p->lanes;
    const bool once = !CPU && p->length <= block; /* a barrier that depends on it takes a CPU's compiler minutes */
    float y[CHUNKS][LANES], dy[CHUNKS][LANES], sum = 0;
    struct post s = post_of(p, lane, 0, wide);
    for (uint first = 0; first < p->length; first += block) {
        float part[4] = { 0, 0, 0, 0 }; /* apart, so that long sums stay accurate */
        s = post_of(p, lane, first, wide);
        read_line(y, y_line, &s, 0);
        read_line(dy, dy_line, &s, 0);
        UNROLL for (uint i = 0; i < CHUNKS; i++)
            if (i < s.chunks) {
                UNROLL for (uint k = 0; k < LANES; k++)
                    part[k % 4] += p->log ? dy[i][k] : y[i][k] * dy[i][k];
            }
        sum += (part[0] + part[1]) + (part[2] + part[3]);
    }
    sum = fold_lines(sum, false, lane, p->lanes, room, ends);
    for (uint first = 0; first < p->length; first += block) {
        if (!once) {
            s = post_of(p, lane, first, wide);
            read_line(y, y_line, &s, 0);
            read_line(dy, dy_line, &s, 0);
        }
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (i >= s.chunks) continue;
            if (p->log) {
                UNROLL for (uint k = 0; k < LANES; k++) y[i][k] = dy[i][k] - exp_of(y[i][k]) * sum;
            } else {
                UNROLL for (uint k = 0; k < LANES; k++) y[i][k] = y[i][k] * (dy[i][k] - sum);
            }
        }
        if (exists) write_line(y, dx_line, &s, p->alpha, p->beta);
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
#if CPU /* one text is enough, and its compiler takes long for two with barriers */
    gradient(&p, ADDRESS(y) + begin, ADDRESS(dy) + begin, ADDRESS(dx) + begin, lane, exists, wide, room, ends);
#else
    if (wide)
        gradient(&p, ADDRESS(y) + begin, ADDRESS(dy) + begin, ADDRESS(dx) + begin, lane, exists, true, room, ends);
    else
        gradient(&p, ADDRESS(y) + begin, ADDRESS(dy) + begin, ADDRESS(dx) + begin, lane, exists, false, room, ends);
#endif
}

#else

INLINE void forward(const struct rmcp_softmax_packed *p, __global const char *x_line, __global char *y_line, uint lane,
                    bool exists, bool wide, __local float *room, __local float4 *ends)
{
    const uint block = RMCP_SOFTMAX_KEEP * p->lanes;
    const bool once = !CPU && p->length <= block; /* a barrier that depends on it takes a CPU's compiler minutes */
    float v[CHUNKS][LANES], top = -INFINITY, sum = 0;
    struct post s = post_of(p, lane, 0, wide);
    for (uint first = 0; first < p->length; first += block) {
        float largest = top, part[4] = { 0, 0, 0, 0 };
        s = post_of(p, lane, first, wide);
        read_line(v, x_line, &s, -INFINITY);
        UNROLL for (uint i = 0; i < CHUNKS; i++)
            if (i < s.chunks) {
                UNROLL for (uint k = 0; k < LANES; k++) largest = v[i][k] > largest ? v[i][k] : largest;
            }
        if (once) largest = fold_lines(largest, true, lane, p->lanes, room, ends);
        if (largest > top) sum *= exp_down(top - largest);
        top = largest;
        const float base = base_of(top);
        UNROLL for (uint i = 0; i < CHUNKS; i++)
            if (i < s.chunks) {
                UNROLL for (uint k = 0; k < LANES; k++) {
                    const float below = v[i][k] - base, term = exp_down(below);
                    part[k % 4] += term;
                    v[i][k] = p->log ? below : term;
                }
            }
        sum += (part[0] + part[1]) + (part[2] + part[3]);
    }
    if (!once) {
        const float own = top;
        top = fold_lines(own, true, lane, p->lanes, room, ends);
        if (own != top) sum *= exp_down(own - top);
    }
    sum = fold_lines(sum, false, lane, p->lanes, room + THREADS, ends + THREADS / 4);
    const float lost = p->log ? log_of(sum) : 1.0f / sum;
    for (uint first = 0; first < p->length; first += block) {
        if (!once) {
            s = post_of(p, lane, first, wide);
            read_line(v, x_line, &s, -INFINITY);
        }
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            if (i >= s.chunks) continue;
            UNROLL for (uint k = 0; k < LANES; k++) {
                if (!once) v[i][k] = p->log ? v[i][k] - top : exp_down(v[i][k] - top);
                v[i][k] = p->log ? v[i][k] - lost : v[i][k] * lost;
            }
        }
        if (exists) write_line(v, y_line, &s, p->alpha, p->beta);
    }
}

__kernel WORKGROUP(THREADS) void softmax_packed(INPUT(x), OUTPUT(y), struct rmcp_softmax_packed p)
{
    __local float room[2 * THREADS];
    __local float4 ends[THREADS / 2];
    const uint lanes = p.lanes, lane = LOCAL_ID & (lanes - 1);
    const uint number = GROUP_ID_X * (THREADS / lanes) + LOCAL_ID / lanes;
    const bool exists = number < p.lines;
    const ulong begin = (ulong)(exists ? number : 0) * p.length * sizeof(element);
    const bool wide = is_wide(&p, ADDRESS(x), ADDRESS(y), ADDRESS(y));
#if CPU /* one text is enough, and its compiler takes long for two with barriers */
    forward(&p, ADDRESS(x) + begin, ADDRESS(y) + begin, lane, exists, wide, room, ends);
#else
    if (wide)
        forward(&p, ADDRESS(x) + begin, ADDRESS(y) + begin, lane, exists, true, room, ends);
    else
        forward(&p, ADDRESS(x) + begin, ADDRESS(y) + begin, lane, exists, false, room, ends);
#endif
}

#endif
