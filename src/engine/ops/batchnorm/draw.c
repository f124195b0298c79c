/* draw.c: random batch normalisations for the fuzz suite, and values to compute with. */
#include "base/convert.h"
#include "base/random.h"
#include "engine/ops/batchnorm/batchnorm.h"

static bool chance(struct rmcp_random *r, int64_t one_in)
{
    return rmcp_random_below(r, one_in) == 0;
}

/* Small numbers are where the edges are; now and then something larger. */
static int64_t size(struct rmcp_random *r, int64_t most)
{
    return chance(r, 3) ? rmcp_random_between(r, 1, most) : rmcp_random_between(r, 1, 9);
}

static rmcp_batchnorm draw(struct rmcp_random *r)
{
    static const int64_t largest[] = { 0, 3000, 90, 20 };
    rmcp_batchnorm p = { .struct_size = sizeof p };
    p.dims = (uint32_t)(chance(r, 2) ? 2 : rmcp_random_between(r, 1, 3));
    p.n = size(r, chance(r, 8) ? 9000 : 20);
    p.c = size(r, chance(r, 4) ? 1500 : 70);
    for (uint32_t i = 0; i < p.dims; i++) p.input[i] = size(r, largest[p.dims]);
    p.type = (uint32_t)(chance(r, 2) ? RMCP_F32 : rmcp_random_between(r, RMCP_F16, RMCP_BF16));
    p.layout = (uint32_t)rmcp_random_between(r, RMCP_NCHW, RMCP_NHWC);
    p.mode = chance(r, 4) ? RMCP_PER_ACTIVATION : RMCP_SPATIAL;
    p.running = chance(r, 2);
    p.saved = chance(r, 2);
    p.activation =
        chance(r, 2) ? (uint32_t)rmcp_random_between(r, RMCP_RELU, RMCP_CLAMP) : RMCP_NO_ACTIVATION;
    if (p.activation == RMCP_LEAKY_RELU) p.slope = 0.125f;
    if (p.activation == RMCP_CLAMP) p.clamp_low = -1, p.clamp_high = 1.5f;
    if (chance(r, 4)) p.epsilon = 1e-3;
    if (chance(r, 4)) p.momentum = chance(r, 2) ? 1 : chance(r, 2) ? 0.25 : 1.5;
    return p;
}

void rmcp_norm_draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    struct rmcp_norm *norm = problem;
    do {
        const rmcp_batchnorm p = draw(&r);
        rmcp_norm_init(norm, &p, (int)rmcp_random_below(&r, RMCP_BATCHNORM_PASSES));
    } while (norm->elements > 300000);
}

/* Integers: data between -4 and 4, so that the sums of gradients are exact. Reals: each channel has
 * a mean of its own, near zero or far from it. */
static float value(const struct rmcp_norm *norm, unsigned slot, enum rmcp_data data, int64_t index,
                   struct rmcp_random *r)
{
    static const float offsets[] = { 0, 0.25f, -8, 100 };
    const bool whole = data == RMCP_DATA_INTEGERS;
    switch (slot) {
    case RMCP_NORM_X:
        if (whole) return (float)rmcp_random_between(r, -4, 4);
        return rmcp_random_real(r) + offsets[index / norm->inner % norm->params % 4];
    case RMCP_NORM_RUNNING_VARIANCE:
        return whole ? (float)rmcp_random_between(r, 0, 4) : rmcp_random_real(r) + 1.0f;
    case RMCP_NORM_SAVED_INVERSE:
        return whole ? (float)rmcp_random_between(r, 1, 4) : rmcp_random_real(r) + 1.25f;
    default: return whole ? (float)rmcp_random_between(r, -4, 4) : rmcp_random_real(r);
    }
}

void rmcp_norm_fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed,
                    void *host)
{
    const struct rmcp_norm *norm = problem;
    const struct rmcp_slot s = rmcp_norm_slot(norm, slot);
    struct rmcp_random r = { seed + 0x1000193u * (uint64_t)(slot + 1) };
    for (int64_t i = 0; i < s.elements; i++)
        rmcp_store(host, s.type, i, value(norm, slot, data, i, &r));
}
