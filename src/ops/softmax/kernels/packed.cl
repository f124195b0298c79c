/* packed.cl: softmax (BACKWARD: its gradient) along lines that lie one behind the other.
 *
 * Neighbouring work-items have neighbouring elements. Lines that fit into the registers of their work-items are read
 * once; of longer ones the sums come first, relative to the largest value so far, and all is read again for the
 * results. */
#include "kernels/target.h"

#include "kernels/functions.h"
#include "ops/softmax/kernels/packed_args.h"

#define THREADS 256
#define KEEP RMCP_SOFTMAX_KEEP

/* The largest value, or the sum, of all work-items of a line; all of them get it. */
INLINE float fold(float v, bool largest, uint lane, uint lanes, __local float *room)
{
    room[LOCAL_ID] = v;
    for (uint apart = lanes / 2; apart > 0; apart /= 2) {
        BARRIER();
        if (lane < apart) {
            const float w = room[LOCAL_ID + apart];
            v = !largest ? v + w : w > v ? w : v;
            room[LOCAL_ID] = v;
        }
    }
    BARRIER();
    v = room[LOCAL_ID - lane];
    BARRIER();
    return v;
}

/* The elements of a work-item from `first` on, `lanes` apart; `other` stands for those beyond the end. */
INLINE void read_kept(float *v, __global const char *line, uint first, uint lanes, uint length, float other)
{
    UNROLL for (uint i = 0; i < KEEP; i++) {
        const uint at = first + i * lanes;
        v[i] = load(line, at < length ? at : 0);
    }
    UNROLL for (uint i = 0; i < KEEP; i++)
        if (first + i * lanes >= length) v[i] = other;
}

INLINE void write_kept(const float *v, __global char *line, uint first, bool exists,
                       const struct rmcp_softmax_packed *p)
{
    UNROLL for (uint i = 0; i < KEEP; i++) {
        const uint at = first + i * p->lanes;
        if (exists && at < p->length)
            store(line, at, p->beta != 0 ? p->beta * load(line, at) + p->alpha * v[i] : p->alpha * v[i]);
    }
}

#if BACKWARD

__kernel WORKGROUP(THREADS) void softmax_packed(INPUT(y), INPUT(dy), OUTPUT(dx), struct rmcp_softmax_packed p)
{
    __local float room[THREADS];
    const uint lanes = p.lanes, lane = LOCAL_ID & (lanes - 1), block = KEEP * lanes;
    const uint number = GROUP_ID_X * (THREADS / lanes) + LOCAL_ID / lanes;
    const bool exists = number < p.lines, once = p.length <= block;
    const ulong begin = (ulong)(exists ? number : 0) * p.length * sizeof(element);
    float y[KEEP], dy[KEEP], sum = 0;
    for (uint first = 0; first < p.length; first += block) {
        float part = 0; /* apart, so that long sums stay accurate */
        read_kept(y, ADDRESS(y) + begin, first + lane, lanes, p.length, 0);
        read_kept(dy, ADDRESS(dy) + begin, first + lane, lanes, p.length, 0);
        UNROLL for (uint i = 0; i < KEEP; i++) part += p.log ? dy[i] : y[i] * dy[i];
        sum += part;
    }
    sum = fold(sum, false, lane, lanes, room);
    for (uint first = 0; first < p.length; first += block) {
        if (!once) {
            read_kept(y, ADDRESS(y) + begin, first + lane, lanes, p.length, 0);
            read_kept(dy, ADDRESS(dy) + begin, first + lane, lanes, p.length, 0);
        }
        if (p.log) {
            UNROLL for (uint i = 0; i < KEEP; i++) y[i] = dy[i] - exp_of(y[i]) * sum;
        } else {
            UNROLL for (uint i = 0; i < KEEP; i++) y[i] = y[i] * (dy[i] - sum);
        }
        write_kept(y, ADDRESS(dx) + begin, first + lane, exists, &p);
    }
}

#else

/* -Inf adds nothing, even where there is nothing else: then the line is NaN in the end. */
INLINE float term_of(float x, float top)
{
    return x == -INFINITY ? 0.0f : exp_of(x - top);
}

__kernel WORKGROUP(THREADS) void softmax_packed(INPUT(x), OUTPUT(y), struct rmcp_softmax_packed p)
{
    __local float room[THREADS];
    const uint lanes = p.lanes, lane = LOCAL_ID & (lanes - 1), block = KEEP * lanes;
    const uint number = GROUP_ID_X * (THREADS / lanes) + LOCAL_ID / lanes;
    const bool exists = number < p.lines, once = p.length <= block;
    const ulong begin = (ulong)(exists ? number : 0) * p.length * sizeof(element);
    float v[KEEP], top = -INFINITY, sum = 0;
    for (uint first = 0; first < p.length; first += block) {
        float largest = top, part = 0;
        read_kept(v, ADDRESS(x) + begin, first + lane, lanes, p.length, -INFINITY);
        UNROLL for (uint i = 0; i < KEEP; i++) largest = v[i] > largest ? v[i] : largest;
        if (once) largest = fold(largest, true, lane, lanes, room);
        if (largest > top) sum *= exp_of(top - largest);
        top = largest;
        UNROLL for (uint i = 0; i < KEEP; i++) {
            const float term = term_of(v[i], top);
            part += term;
            v[i] = p.log ? v[i] - top : term;
        }
        sum += part;
    }
    if (!once) {
        const float own = top;
        top = fold(own, true, lane, lanes, room);
        if (own != top) sum *= exp_of(own - top);
    }
    sum = fold(sum, false, lane, lanes, room);
    const float lost = p.log ? log_of(sum) : 1.0f / sum;
    for (uint first = 0; first < p.length; first += block) {
        if (!once) {
            read_kept(v, ADDRESS(x) + begin, first + lane, lanes, p.length, -INFINITY);
            UNROLL for (uint i = 0; i < KEEP; i++) v[i] = p.log ? v[i] - top : exp_of(v[i] - top);
        }
        UNROLL for (uint i = 0; i < KEEP; i++) v[i] = p.log ? v[i] - lost : v[i] * lost;
        write_kept(v, ADDRESS(y) + begin, first + lane, exists, &p);
    }
}

#endif
