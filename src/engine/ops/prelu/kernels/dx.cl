/* dx.cl: the gradient of PReLU's input: dy, times the weight where x is not positive. */
#include "engine/kernels/lanes.h"

#define TENSORS 4 /* dx, x, dy, w */
#include "engine/kernels/stream.h"
#include "engine/ops/prelu/kernels/args.h"

__kernel WORKGROUP(THREADS) void prelu(RESULT(dx), TENSOR(x), TENSOR(dy), TENSOR(w),
                                       struct rmcp_stream s, struct rmcp_prelu_math m)
{
    struct spot p[RMCP_STREAM_CHUNKS];
    struct flow x[RMCP_STREAM_CHUNKS], dy[RMCP_STREAM_CHUNKS], w[RMCP_STREAM_CHUNKS];
    const uint first = GROUP_ID_X * (THREADS * RMCP_STREAM_CHUNKS) + LOCAL_ID;
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        p[i] = find_spot(&s, first + i * THREADS, ADDRESS(dx), sizeof(element));
        take(&x[i], &p[i], 1, &s, ADDRESS(x), TYPE);
        take(&dy[i], &p[i], 2, &s, ADDRESS(dy), TYPE);
        take(&w[i], &p[i], 3, &s, ADDRESS(w), TYPE);
    }
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        float v[LANES], d[LANES], weight[LANES];
        values(v, &x[i], TYPE);
        values(d, &dy[i], TYPE);
        values(weight, &w[i], TYPE);
        UNROLL for (uint k = 0; k < LANES; k++) v[k] = v[k] > 0 ? d[k] : weight[k] * d[k];
        give(v, &p[i], 0, &s, ADDRESS(dx));
    }
}
