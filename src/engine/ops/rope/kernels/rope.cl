/* rope.cl: rotary embeddings: pairs of neighbours are turned by an angle, or back. Chunks begin at even elements,
 * so that no pair is torn. */
#include "engine/kernels/lanes.h"

#define TENSORS 4 /* y, x, cos, sin */
#include "engine/kernels/stream.h"
#include "engine/ops/rope/kernels/args.h"

__kernel WORKGROUP(THREADS) void rope(RESULT(y), TENSOR(x), TENSOR(cosine), TENSOR(sine),
                                      struct rmcp_stream s, struct rmcp_rope_math m)
{
    struct spot p[RMCP_STREAM_CHUNKS];
    struct flow x[RMCP_STREAM_CHUNKS], c[RMCP_STREAM_CHUNKS], n[RMCP_STREAM_CHUNKS];
    const uint first = GROUP_ID_X * (THREADS * RMCP_STREAM_CHUNKS) + LOCAL_ID;
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        p[i] = find_spot(&s, first + i * THREADS, ADDRESS(y), sizeof(element));
        take(&x[i], &p[i], 1, &s, ADDRESS(x), TYPE);
        take(&c[i], &p[i], 2, &s, ADDRESS(cosine), TYPE);
        take(&n[i], &p[i], 3, &s, ADDRESS(sine), TYPE);
    }
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        float v[LANES], cosine[LANES], sine[LANES];
        values(v, &x[i], TYPE);
        values(cosine, &c[i], TYPE);
        values(sine, &n[i], TYPE);
        UNROLL for (uint k = 0; k < LANES; k += 2) {
            /* the gradient is the transposed matrix: the other one's sine, the other sign */
            const float even = v[k], odd = v[k + 1];
            const float minus = m.backward ? -sine[k + 1] : sine[k];
            const float plus = m.backward ? -sine[k] : sine[k + 1];
            v[k] = even * cosine[k] - odd * minus;
            v[k + 1] = odd * cosine[k + 1] + even * plus;
        }
        give(v, &p[i], 0, &s, ADDRESS(y));
    }
}
