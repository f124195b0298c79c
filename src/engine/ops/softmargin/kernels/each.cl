/* each.cl: the soft margin loss of each element, log(1 + e^(-x t)), or its gradient. */
#include "engine/kernels/lanes.h"

#define TENSORS 4 /* y or dx, x, t, dy */
#include "engine/kernels/functions.h"
#include "engine/kernels/stream.h"
#include "engine/ops/softmargin/kernels/args.h"

__kernel WORKGROUP(THREADS) void softmargin(RESULT(out), TENSOR(x), TENSOR(t), TENSOR(dy),
                                            struct rmcp_stream s, struct rmcp_softmargin_math m)
{
    struct spot p[RMCP_STREAM_CHUNKS];
    struct flow x[RMCP_STREAM_CHUNKS], t[RMCP_STREAM_CHUNKS], dy[RMCP_STREAM_CHUNKS];
    const uint first = GROUP_ID_X * (THREADS * RMCP_STREAM_CHUNKS) + LOCAL_ID;
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        p[i] = find_spot(&s, first + i * THREADS, ADDRESS(out), sizeof(element));
        take(&x[i], &p[i], 1, &s, ADDRESS(x), TYPE);
        take(&t[i], &p[i], 2, &s, ADDRESS(t), TYPE);
        if (m.backward) take(&dy[i], &p[i], 3, &s, ADDRESS(dy), TYPE);
    }
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        float v[LANES], target[LANES], d[LANES];
        values(v, &x[i], TYPE);
        values(target, &t[i], TYPE);
        if (m.backward) {
            values(d, &dy[i], TYPE);
            UNROLL for (uint k = 0; k < LANES; k++)
                v[k] = -target[k] * sigmoid_of(-(v[k] * target[k])) * d[k] * m.scale;
        } else {
            UNROLL for (uint k = 0; k < LANES; k++) v[k] = softplus_of(-(v[k] * target[k]));
        }
        give(v, &p[i], 0, &s, ADDRESS(out));
    }
}
