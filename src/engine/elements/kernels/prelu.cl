/* prelu.cl: the gradient of PReLU's input: dy, times the weight where x is not positive; and (SUMS) parts of those of
 * its weights: sums of x dy where x is not positive. */
#include "engine/kernels/lanes.h"

#include "engine/elements/kernels/args.h"

#define MATH rmcp_prelu_math

#if SUMS

#define NAME prelu_sums
#define ONE_SUM 0

INLINE void add(const struct rmcp_prelu_math *m, float *sum, float x, float dy)
{
    if (!(x > 0)) *sum += x * dy;
}

#include "engine/elements/kernels/sums.h"

#else

#define NAME prelu
#define TENSORS 4
#define STREAMS(OUT, IN) \
    OUT(out, 0, true) \
    IN(x, 1, true) \
    IN(dy, 2, true) \
    IN(w, 3, true)

INLINE void apply(const struct rmcp_prelu_math *m, const uint n, float *out, const float *x, const float *dy,
                  const float *w)
{
    UNROLL for (uint k = 0; k < n; k++) out[k] = x[k] > 0 ? dy[k] : w[k] * dy[k];
}

#include "engine/elements/kernels/each.h"

#endif
