/* rope.cl: rotary embeddings: pairs of neighbours are turned by an angle, or back. Chunks begin at even elements,
 * so that no pair is torn. */
#include "engine/kernels/lanes.h"

#include "engine/elements/kernels/args.h"

#define NAME rope
#define MATH rmcp_pass_math
#define TENSORS 4
#define STREAMS(OUT, IN) \
    OUT(out, 0, true) \
    IN(x, 1, true) \
    IN(cosine, 2, true) \
    IN(sine, 3, true)

INLINE void apply(const struct rmcp_pass_math *m, const uint n, float *out, const float *x, const float *cosine,
                  const float *sine)
{
    UNROLL for (uint k = 0; k < n; k += 2) {
        /* the gradient is the transposed matrix: the other one's sine, the other sign */
        const float even = x[k], odd = x[k + 1];
        const float minus = m->backward ? -sine[k + 1] : sine[k];
        const float plus = m->backward ? -sine[k] : sine[k + 1];
        out[k] = even * cosine[k] - odd * minus;
        out[k + 1] = odd * cosine[k + 1] + even * plus;
    }
}

#include "engine/elements/kernels/each.h"
