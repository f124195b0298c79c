/* forward.cl: y = alpha softmax(x) + beta y, or its logarithm, along lines.
 *
 * A work-item keeps KEEP chunks of its line in registers. Lines that fit are read once; of longer
 * ones the sums come first, relative to the largest value so far, and all is read again for the
 * results. */
#include "engine/ops/softmax/kernels/softmax.h"

#define KEEP (16 / LANES)

/* Merges the heaps of all work-items of each line; all of them get the result. */
INLINE void merge_lines(struct heap *h, const struct rmcp_lines *l, const struct share *s,
                        __local float *tops, __local float *sums)
{
    const uint thread = LOCAL_ID, apart = apart_of(l);
    UNROLL for (uint w = 0; w < WIDTH; w++)
    {
        tops[w * THREADS + thread] = h[w].top;
        sums[w * THREADS + thread] = h[w].sum;
    }
    for (uint half_way = l->lanes / 2; half_way > 0; half_way /= 2) {
        BARRIER();
        if (s->lane < half_way) {
            UNROLL for (uint w = 0; w < WIDTH; w++)
            {
                const uint other = w * THREADS + thread + half_way * apart;
                const struct heap theirs = { tops[other], sums[other] };
                h[w] = heap_merge(h[w], theirs);
                tops[w * THREADS + thread] = h[w].top;
                sums[w * THREADS + thread] = h[w].sum;
            }
        }
    }
    BARRIER();
    UNROLL for (uint w = 0; w < WIDTH; w++)
    {
        const uint first = w * THREADS + thread - s->lane * apart;
        h[w].top = tops[first];
        h[w].sum = sums[first];
    }
}

__kernel WORKGROUP(THREADS) void softmax_forward(TENSOR(x), RESULT(y), RESULT(parts),
                                                 struct rmcp_softmax_args f)
{
    __local float tops[THREADS * WIDTH], sums[THREADS * WIDTH];
    const struct rmcp_lines *l = &f.lines;
    const struct share s = share_of(l);
    const uint stride = KEEP * l->lanes;
    struct chunk c[KEEP];
    float v[KEEP][LANES];
    struct heap h[WIDTH];
    UNROLL for (uint w = 0; w < WIDTH; w++) h[w].top = -INFINITY, h[w].sum = 0;

    __global float *heaps = (__global float *)ADDRESS(parts);
    if (f.stage == RMCP_SOFTMAX_APPLY) {
        for (uint part = s.exists ? s.lane : f.parts; part < f.parts; part += l->lanes) {
            UNROLL for (uint w = 0; w < WIDTH; w++)
            {
                const uint at = 2 * part_of(l, &s, part, w);
                const struct heap theirs = { heaps[at], heaps[at + 1] };
                h[w] = heap_merge(h[w], theirs);
            }
        }
    }
    /* The first time for the sums, the second for the results. */
    const bool once = s.end - s.begin <= stride && f.stage == RMCP_SOFTMAX_ALL;
    float own[WIDTH], lost[WIDTH];
    for (uint time = f.stage == RMCP_SOFTMAX_APPLY; time < 2; time++) {
        if (time == 1) {
            UNROLL for (uint w = 0; w < WIDTH; w++) own[w] = h[w].top;
            merge_lines(h, l, &s, tops, sums);
            if (f.stage == RMCP_SOFTMAX_PARTS) break;
            UNROLL for (uint w = 0; w < WIDTH; w++)
            {
                lost[w] = f.log ? log_of(h[w].sum) : 1.0f / h[w].sum;
                if (once && !f.log)
                    lost[w] *= shrink(own[w] - h[w].top); /* which the terms are relative to */
            }
        }
        for (uint next = s.exists ? s.begin + s.lane : s.end; next < s.end; next += stride) {
            if (time == 0 || !once) {
                struct lanes raw[KEEP];
                uint way[KEEP];
                UNROLL for (uint i = 0; i < KEEP; i++)
                {
                    c[i] = chunk_of(l, &s, next + i * l->lanes, ADDRESS(x));
                    way[i] = load_chunk(&raw[i], l, &c[i], ADDRESS(x), c[i].at.a, l->vector.a);
                }
                UNROLL for (uint i = 0; i < KEEP; i++)
                {
                    value_lanes(v[i], &raw[i], TYPE, way[i]);
                    mask_chunk(v[i], l, &c[i], -INFINITY);
                }
            }
            if (time == 0) {
                float top[WIDTH], part[WIDTH];
                UNROLL for (uint w = 0; w < WIDTH; w++) top[w] = h[w].top, part[w] = 0;
                UNROLL for (uint i = 0; i < KEEP; i++) UNROLL for (int k = 0; k < LANES; k++)
                    top[OF(k)] = v[i][k] > top[OF(k)] ? v[i][k] : top[OF(k)];
                UNROLL for (uint i = 0; i < KEEP; i++) UNROLL for (int k = 0; k < LANES; k++)
                {
                    const float term = shrink(v[i][k] - base_of(top[OF(k)]));
                    part[OF(k)] += term;
                    if (once && !f.log) v[i][k] = term;
                }
                UNROLL for (uint w = 0; w < WIDTH; w++)
                {
                    if (top[w] > h[w].top) h[w].sum *= shrink(h[w].top - top[w]);
                    h[w].top = top[w];
                    h[w].sum += part[w];
                }
                continue;
            }
            UNROLL for (uint i = 0; i < KEEP; i++)
            {
                float y[LANES];
                if (f.log) {
                    UNROLL for (int k = 0; k < LANES; k++) y[k] =
                        f.alpha * ((v[i][k] - h[OF(k)].top) - lost[OF(k)]);
                } else if (once) {
                    UNROLL for (int k = 0; k < LANES; k++) y[k] = f.alpha * (v[i][k] * lost[OF(k)]);
                } else {
                    UNROLL for (int k = 0; k < LANES; k++) y[k] =
                        f.alpha * (shrink(v[i][k] - h[OF(k)].top) * lost[OF(k)]);
                }
                store_chunk(l, &c[i], ADDRESS(y), c[i].at.c, l->vector.c, y, f.beta);
            }
        }
    }
    if (f.stage != RMCP_SOFTMAX_PARTS || s.lane > 0 || !s.exists) return;
    UNROLL for (uint w = 0; w < WIDTH; w++)
    {
        const uint at = 2 * part_of(l, &s, GROUP_ID_Y, w);
        heaps[at] = h[w].top;
        heaps[at + 1] = h[w].sum;
    }
}
