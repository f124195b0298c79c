/* glu.cl: gated linear units: half of x times the sigmoid of the other half; and the gradients of both halves. */
#include "engine/kernels/lanes.h"

#define TENSORS 5 /* y or the first half of dx, the second half of dx, both halves of x, dy */
#include "engine/kernels/functions.h"
#include "engine/kernels/stream.h"
#include "engine/ops/glu/kernels/args.h"

__kernel WORKGROUP(THREADS) void glu(RESULT(out), RESULT(second), TENSOR(a), TENSOR(b), TENSOR(dy),
                                     struct rmcp_stream s, struct rmcp_glu_math m)
{
    struct spot p[RMCP_STREAM_CHUNKS];
    struct flow a[RMCP_STREAM_CHUNKS], b[RMCP_STREAM_CHUNKS], dy[RMCP_STREAM_CHUNKS];
    const uint first = GROUP_ID_X * (THREADS * RMCP_STREAM_CHUNKS) + LOCAL_ID;
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        p[i] = find_spot(&s, first + i * THREADS, ADDRESS(out), sizeof(element));
        take(&a[i], &p[i], 2, &s, ADDRESS(a), TYPE);
        take(&b[i], &p[i], 3, &s, ADDRESS(b), TYPE);
        if (m.backward) take(&dy[i], &p[i], 4, &s, ADDRESS(dy), TYPE);
    }
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        float x[LANES], gate[LANES], d[LANES];
        values(x, &a[i], TYPE);
        values(gate, &b[i], TYPE);
        if (m.backward) {
            values(d, &dy[i], TYPE);
            UNROLL for (uint k = 0; k < LANES; k++) {
                /* the sigmoid's slope is e / (1 + e)^2 on both sides: nothing cancels */
                const float g = gate[k], e = exp_of(g < 0 ? g : -g), sum = 1.0f + e;
                gate[k] = d[k] * ((g < 0 ? e : 1.0f) / sum);
                x[k] = d[k] * x[k] * (e / sum / sum);
            }
            give(gate, &p[i], 0, &s, ADDRESS(out));
            give(x, &p[i], 1, &s, ADDRESS(second));
        } else {
            UNROLL for (uint k = 0; k < LANES; k++) x[k] *= sigmoid_of(gate[k]);
            give(x, &p[i], 0, &s, ADDRESS(out));
        }
    }
}
