/* softmargin.cl: the soft margin loss of each element, log(1 + e^(-x t)), or its gradient; and (SUMS) parts of the sum
 * of all losses. */
#include "engine/kernels/lanes.h"

#include "engine/elements/kernels/args.h"
#include "engine/kernels/functions.h"

#define MATH rmcp_softmargin_math

#if SUMS

#define NAME softmargin_sums
#define ONE_SUM 1

INLINE void add(const struct rmcp_softmargin_math *m, float *sum, float x, float t)
{
    *sum += softplus_of(-(x * t));
}

#include "engine/elements/kernels/sums.h"

#else

#define NAME softmargin
#define TENSORS 4
#define STREAMS(OUT, IN) \
    OUT(out, 0, true) \
    IN(x, 1, true) \
    IN(t, 2, true) \
    IN(dy, 3, m.backward)

INLINE void apply(const struct rmcp_softmargin_math *m, const uint n, float *out, const float *x, const float *t,
                  const float *dy)
{
    if (m->backward) {
        UNROLL for (uint k = 0; k < n; k++)
            out[k] = -t[k] * sigmoid_of(-(x[k] * t[k])) * dy[k] * m->scale;
    } else {
        UNROLL for (uint k = 0; k < n; k++) out[k] = softplus_of(-(x[k] * t[k]));
    }
}

#include "engine/elements/kernels/each.h"

#endif
