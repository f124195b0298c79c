/* backward.cl: the gradient of softmax along lines: dx = alpha y (dy - sum of y dy) + beta dx; of
 * its logarithm dx = alpha (dy - e^y sum of dy) + beta dx. Lines that fit into registers are read
 * once. */
#include "engine/ops/softmax/kernels/softmax.h"

#define KEEP (16 / LANES)

INLINE void add_lines(float *sum, const struct rmcp_lines *l, const struct share *s,
                      __local float *sums)
{
    const uint thread = LOCAL_ID, apart = apart_of(l);
    UNROLL for (uint w = 0; w < WIDTH; w++) sums[w * THREADS + thread] = sum[w];
    for (uint half_way = l->lanes / 2; half_way > 0; half_way /= 2) {
        BARRIER();
        if (s->lane < half_way) {
            UNROLL for (uint w = 0; w < WIDTH; w++) sums[w * THREADS + thread] +=
                sums[w * THREADS + thread + half_way * apart];
        }
    }
    BARRIER();
    UNROLL for (uint w = 0; w < WIDTH; w++) sum[w] = sums[w * THREADS + thread - s->lane * apart];
}

__kernel WORKGROUP(THREADS) void softmax_backward(TENSOR(y), TENSOR(dy), RESULT(dx), RESULT(parts),
                                                  struct rmcp_softmax_args f)
{
    __local float sums[THREADS * WIDTH];
    const struct rmcp_lines *l = &f.lines;
    const struct share s = share_of(l);
    const uint stride = KEEP * l->lanes;
    struct chunk c[KEEP];
    float y[KEEP][LANES], dy[KEEP][LANES], sum[WIDTH];
    UNROLL for (uint w = 0; w < WIDTH; w++) sum[w] = 0;

    __global float *shares = (__global float *)ADDRESS(parts);
    if (f.stage == RMCP_SOFTMAX_APPLY) {
        for (uint part = s.exists ? s.lane : f.parts; part < f.parts; part += l->lanes) {
            UNROLL for (uint w = 0; w < WIDTH; w++) sum[w] += shares[part_of(l, &s, part, w)];
        }
    }
    const bool once = s.end - s.begin <= stride;
    for (uint time = f.stage == RMCP_SOFTMAX_APPLY; time < 2; time++) {
        if (time == 1) {
            add_lines(sum, l, &s, sums);
            if (f.stage == RMCP_SOFTMAX_PARTS) break;
        }
        for (uint next = s.exists ? s.begin + s.lane : s.end; next < s.end; next += stride) {
            if (time == 0 || !once || f.stage == RMCP_SOFTMAX_APPLY) {
                struct lanes raw_y[KEEP], raw_dy[KEEP];
                uint way_y[KEEP], way_dy[KEEP];
                UNROLL for (uint i = 0; i < KEEP; i++)
                {
                    c[i] = chunk_of(l, &s, next + i * l->lanes, ADDRESS(y));
                    way_y[i] = load_chunk(&raw_y[i], l, &c[i], ADDRESS(y), c[i].at.a, l->vector.a);
                    way_dy[i] =
                        load_chunk(&raw_dy[i], l, &c[i], ADDRESS(dy), c[i].at.b, l->vector.b);
                }
                UNROLL for (uint i = 0; i < KEEP; i++)
                {
                    value_lanes(y[i], &raw_y[i], TYPE, way_y[i]);
                    value_lanes(dy[i], &raw_dy[i], TYPE, way_dy[i]);
                    mask_chunk(y[i], l, &c[i], 0);
                    mask_chunk(dy[i], l, &c[i], 0);
                }
            }
            if (time == 0) {
                float block[WIDTH]; /* apart, so that long sums stay accurate */
                UNROLL for (uint w = 0; w < WIDTH; w++) block[w] = 0;
                UNROLL for (uint i = 0; i < KEEP; i++) UNROLL for (int k = 0; k < LANES; k++)
                {
                    block[OF(k)] += f.log ? dy[i][k] : y[i][k] * dy[i][k];
                }
                UNROLL for (uint w = 0; w < WIDTH; w++) sum[w] += block[w];
                continue;
            }
            UNROLL for (uint i = 0; i < KEEP; i++)
            {
                float dx[LANES];
                if (f.log) {
                    UNROLL for (int k = 0; k < LANES; k++) dx[k] =
                        f.alpha * (dy[i][k] - exp_of(y[i][k]) * sum[OF(k)]);
                } else {
                    UNROLL for (int k = 0; k < LANES; k++) dx[k] =
                        f.alpha * (y[i][k] * (dy[i][k] - sum[OF(k)]));
                }
                store_chunk(l, &c[i], ADDRESS(dx), c[i].at.c, l->vector.c, dx, f.beta);
            }
        }
    }
    if (f.stage != RMCP_SOFTMAX_PARTS || s.lane > 0 || !s.exists) return;
    UNROLL for (uint w = 0; w < WIDTH; w++) shares[part_of(l, &s, GROUP_ID_Y, w)] = sum[w];
}
