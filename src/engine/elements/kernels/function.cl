/* function.cl: one function of functions.inc, FUNCTION, element by element. */
#include "engine/kernels/lanes.h"

#include "engine/elements/kernels/args.h"
#include "engine/kernels/functions.h"

enum {
#define F(name, shape, ...) F_##name,
#include "engine/elements/functions.inc"
#undef F
};
enum {
    SHAPE = 0
#define F(name, shape, ...) | (FUNCTION == F_##name ? (shape) : 0)
#include "engine/elements/functions.inc"
#undef F
};

#define NAME function
#define MATH rmcp_function_math
#define TENSORS 4
#define BYTES ((SHAPE & RMCP_BYTES_Y ? 1 : 0) | (SHAPE & RMCP_BYTES_C ? 8 : 0))
#define STREAMS(OUT, IN)                                                                           \
    OUT(out, 0, true)                                                                              \
    IN(a, 1, true)                                                                                 \
    IN(b, 2, SHAPE & RMCP_READS_B)                                                                 \
    IN(c, 3, SHAPE & RMCP_READS_C)

INLINE void apply(const struct rmcp_function_math *m, const uint n, float *out, const float *as, const float *bs,
                  const float *cs)
{
    const float alpha = m->alpha, beta = m->beta;
    (void)alpha, (void)beta;
    UNROLL for (uint k = 0; k < n; k++)
    {
        const float a = as[k], b = bs[k], c = cs[k];
        (void)a, (void)b, (void)c;
#define F(name, shape, value, error, kernel)                                                       \
    if (FUNCTION == F_##name) out[k] = kernel;
#include "engine/elements/functions.inc"
#undef F
    }
}

#include "engine/elements/kernels/each.h"
