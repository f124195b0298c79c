/* glu.cl: gated linear units: half of x times the sigmoid of the other half; and the gradients of both halves. */
#include "engine/kernels/lanes.h"

#include "engine/elements/kernels/args.h"
#include "engine/kernels/functions.h"

#define NAME glu
#define MATH rmcp_pass_math
#define TENSORS 5
#define STREAMS(OUT, IN) /* both halves of dx or y alone, both halves of x, dy */ \
    OUT(out, 0, true) \
    OUT(second, 1, m.backward) \
    IN(a, 2, true) \
    IN(b, 3, true) \
    IN(dy, 4, m.backward)

INLINE void apply(const struct rmcp_pass_math *m, const uint n, float *out, float *second, const float *a,
                  const float *b,
                  const float *dy)
{
    if (m->backward) {
        UNROLL for (uint k = 0; k < n; k++) {
            /* the sigmoid's slope is e / (1 + e)^2 on both sides: nothing cancels */
            const float g = b[k], e = exp_of(g < 0 ? g : -g), sum = 1.0f + e;
            out[k] = dy[k] * ((g < 0 ? e : 1.0f) / sum);
            second[k] = dy[k] * a[k] * (e / sum / sum);
        }
    } else {
        UNROLL for (uint k = 0; k < n; k++) out[k] = a[k] * sigmoid_of(b[k]);
    }
}

#include "engine/elements/kernels/each.h"
