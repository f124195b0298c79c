/* walk.cl: step by step through the sequences, one workgroup each: forward, the probabilities of all
 * beginnings of paths that end in a state; reverse, where states are counted from the last, those of
 * all ends, and how large a share of all paths goes through each state.
 *
 * The reverse walk is the forward one of the reversed label. What a state has of the step before
 * does not count its own probability yet: the share of a state is that product, and nothing is
 * divided by a probability that may be 0. */
#include "engine/ops/ctc/kernels/number.h"

#define THREADS 256
#define EACH (RMCP_CTC_MOST_STATES / THREADS)

/* Which labels have the same class: a list for each class. */
INLINE void link_labels(const struct rmcp_ctc_args *a, __global const int *targets, uint n,
                        uint length, __global uint *links)
{
    for (uint i = LOCAL_ID; i < length; i += THREADS) {
        const uint c = label_of(a, targets, n, i);
        uint word = FIRST;
        for (uint k = 0; k < i; k++)
            if (label_of(a, targets, n, k) == c) word = 0;
        uint next = i + 1;
        while (next < length && label_of(a, targets, n, next) != c) next++;
        links[(ulong)n * a->labels + i] = (c == a->blank ? 0 : word) | (next < length ? next + 1 : 0);
    }
}

/* What a work-item fetches ahead for one of its states. */
struct ahead {
    float x;
    struct number before;
};

INLINE struct number number_at(__global const uint2 *from, ulong at)
{
    const uint2 words = from[at];
    const struct number n = { as_float(words.x), (int)words.y };
    return n;
}

INLINE void put_number(__global uint2 *to, ulong at, struct number v)
{
    to[at] = (uint2)(as_uint(v.m), (uint)v.e);
}

__kernel WORKGROUP(THREADS) void ctc_walk(INPUT(x), INPUT(targets), INPUT(lengths), INPUT(sums),
                                          OUTPUT(states), OUTPUT(carry), OUTPUT(total),
                                          OUTPUT(links), OUTPUT(loss), struct rmcp_ctc_args a)
{
    __local float m[2][RMCP_CTC_MOST_STATES];
    __local int e[2][RMCP_CTC_MOST_STATES];
    const uint n = GROUP_ID_X, thread = LOCAL_ID;
    __global const int *const target = (__global const int *)ADDRESS(targets);
    __global const int *const length = (__global const int *)ADDRESS(lengths);
    __global const float *const sum = (__global const float *)ADDRESS(sums);
    __global uint2 *const state = (__global uint2 *)ADDRESS(states);
    __global uint2 *const kept = (__global uint2 *)ADDRESS(carry) + (ulong)n * (2 * a.labels + 1);
    __global uint2 *const all = (__global uint2 *)ADDRESS(total);
    __global const char *const in = ADDRESS(x);
    const struct number zero = { 0, NOTHING }, one = { 1, 0 };
    const uint steps = steps_of(&a, length, n), labels = labels_of(&a, length, n);
    const uint count = 2 * labels + 1;
    const uint end = smaller(a.first + a.count, steps);
    if (!a.reverse && a.first == 0)
        link_labels(&a, target, n, labels, (__global uint *)ADDRESS(links));
    if (a.first >= steps && a.first > 0) return; /* it has ended */

    uint class[EACH];
    bool skips[EACH];
    struct ahead next[EACH];
    UNROLL
    for (uint i = 0; i < EACH; i++) {
        const uint s = thread + i * THREADS;
        const uint own = a.reverse ? count - 1 - s : s;
        class[i] = s < count ? class_of(&a, target, n, own) : 0;
        skips[i] = false;
        if (s < count && s >= 2) {
            const uint other = class_of(&a, target, n, a.reverse ? own + 2 : own - 2);
            skips[i] = class[i] != other && (a.reverse ? other : class[i]) != a.blank;
        }
        if (s < count && a.first > 0) {
            const struct number v = number_at(kept, s);
            m[(a.first + 1) % 2][s] = v.m;
            e[(a.first + 1) % 2][s] = v.e;
        }
        if (s < count && a.first < end) {
            const uint t = a.reverse ? steps - 1 - a.first : a.first;
            next[i].x = x_at(&a, in, t, n, class[i]);
            next[i].before = a.reverse ? number_at(state, state_at(&a, n, t, own)) : zero;
        }
    }
    const struct number paths = a.reverse ? number_at(all, n) : one;
    const float inverse = paths.m > 0 ? 1.0f / paths.m : paths.m;
    BARRIER();

    for (uint step = a.first; step < end; step++) {
        const uint t = a.reverse ? steps - 1 - step : step;
        const uint now = step % 2, last = 1 - now;
        const ulong row = (ulong)t * a.batch + n;
        const float most = sum[2 * row], share = sum[2 * row + 1];
        UNROLL
        for (uint i = 0; i < EACH; i++) {
            const uint s = thread + i * THREADS;
            if (s >= count) break;
            const uint own = a.reverse ? count - 1 - s : s;
            const struct ahead here = next[i];
            if (step + 1 < end) {
                const uint then = a.reverse ? t - 1 : t + 1;
                next[i].x = x_at(&a, in, then, n, class[i]);
                if (a.reverse) next[i].before = number_at(state, state_at(&a, n, then, own));
            }
            struct number v = s < 2 ? one : zero;
            if (step > 0) {
                const struct number same = { m[last][s], e[last][s] };
                struct number left = zero, far = zero;
                if (s >= 1) {
                    left.m = m[last][s - 1];
                    left.e = e[last][s - 1];
                }
                if (skips[i]) {
                    far.m = m[last][s - 2];
                    far.e = e[last][s - 2];
                }
                v = sum_of(same, left, far);
            }
            if (a.reverse) {
                const struct number through = product_of(here.before, v);
                const struct number part = { through.m * inverse, through.e - paths.e };
                /* It is at most 1, as is plain(part) but for rounding. */
                state[state_at(&a, n, t, own)] =
                    (uint2)(as_uint(part.e > 0 && part.m > 0 ? 1.0f : plain(part)), 0);
            }
            v = product_of(v, probability(&a, here.x, most, share));
            if (!a.reverse) put_number(state, state_at(&a, n, t, own), v);
            m[now][s] = v.m;
            e[now][s] = v.e;
        }
        BARRIER();
    }

    if (end < steps) {
        for (uint s = thread; s < count; s += THREADS) {
            const struct number v = { m[(end + 1) % 2][s], e[(end + 1) % 2][s] };
            put_number(kept, s, v);
        }
    } else if (!a.reverse && thread == 0) {
        struct number v = count == 1 ? one : zero;
        if (steps > 0) {
            const uint now = (steps - 1) % 2;
            const struct number final = { m[now][count - 1], e[now][count - 1] };
            struct number before = zero;
            if (count > 1) {
                before.m = m[now][count - 2];
                before.e = e[now][count - 2];
            }
            v = sum_of(final, before, zero);
        }
        put_number(all, n, v);
        from_float((__global element *)ADDRESS(loss) + n * (ulong)a.loss_stride, -logarithm(v));
    }
}
