/* draw.c: random problems for the fuzz suite. */
#include "base/random.h"
#include "engine/ops/conv/conv.h"

/* Small numbers are where the edges are; now and then something larger. */
static int64_t size(struct rmcp_random *r, int64_t most)
{
    return rmcp_random_below(r, 4) ? rmcp_random_between(r, 1, most < 8 ? most : 8)
                                   : rmcp_random_between(r, 1, most);
}

static int64_t chance(struct rmcp_random *r, int64_t one_in)
{
    return rmcp_random_below(r, one_in) == 0;
}

static void draw_channels(struct rmcp_random *r, rmcp_conv *p)
{
    p->groups = chance(r, 3) ? rmcp_random_between(r, 2, 9) : 1;
    int64_t group_c = p->groups > 1 ? rmcp_random_between(r, 1, 6) : size(r, 70);
    int64_t group_k = p->groups > 1 ? rmcp_random_between(r, 1, 6) : size(r, 140);
    if (chance(r, 6)) { /* depthwise */
        p->groups = size(r, 40);
        group_c = 1;
        group_k = rmcp_random_between(r, 1, 2);
    }
    p->c = p->groups * group_c;
    p->k = p->groups * group_k;
}

static void draw_dimension(struct rmcp_random *r, rmcp_conv *p, uint32_t i, bool pointwise)
{
    static const int64_t largest[] = { 0, 200, 40, 12 };
    p->filter[i] = pointwise ? 1 : rmcp_random_between(r, 1, chance(r, 8) ? 11 : 4);
    if (!pointwise && chance(r, 30)) p->filter[i] = rmcp_random_between(r, 12, 70);
    p->stride[i] = chance(r, 3) ? rmcp_random_between(r, 2, 4) : 1;
    p->dilation[i] = chance(r, 4) ? rmcp_random_between(r, 2, 4) : 1;
    if (chance(r, 2)) p->pad_begin[i] = p->pad_end[i] = rmcp_random_between(r, 0, 3);
    if (chance(r, 5)) p->pad_end[i] = rmcp_random_between(r, 0, 5);
    const int64_t reach = (p->filter[i] - 1) * p->dilation[i] + 1;
    int64_t least = reach - p->pad_begin[i] - p->pad_end[i];
    if (least < 1) least = 1;
    p->input[i] = least - 1 + size(r, largest[p->dims]);
}

/* What Winograd takes, which all the dice above rarely give: 3x3 and 5x5 with enough channels. */
static void draw_square(struct rmcp_random *r, rmcp_conv *p)
{
    const int64_t filter = chance(r, 2) ? 5 : 3;
    p->groups = chance(r, 4) ? 2 : 1;
    p->c = p->groups * rmcp_random_between(r, 16, 70);
    p->k = p->groups * rmcp_random_between(r, 16, 70);
    for (int i = 0; i < 2; i++) {
        p->filter[i] = filter;
        p->stride[i] = p->dilation[i] = 1;
        if (p->input[i] + p->pad_begin[i] + p->pad_end[i] < filter) p->input[i] = filter;
    }
}

/* What shares takes: 1x1 with sums of whole slices, or of the pixels of one image. */
static void draw_shares(struct rmcp_random *r, rmcp_conv *p)
{
    const bool strided = chance(r, 4);
    p->groups = 1;
    p->c = 32 * rmcp_random_between(r, 1, 5);
    p->k = 32 * rmcp_random_between(r, 1, 5);
    if (chance(r, 2)) *(chance(r, 2) ? &p->c : &p->k) = 4 * rmcp_random_between(r, 1, 40);
    if (chance(r, 2)) p->n = 1;
    for (uint32_t i = 0; i < p->dims; i++) {
        p->pad_begin[i] = p->pad_end[i] = 0;
        if (!strided) p->stride[i] = 1;
    }
    if (p->n == 1 && !strided) p->input[p->dims - 1] = 4 * rmcp_random_between(r, 1, 12);
}

static double work(const rmcp_conv *p)
{
    rmcp_conv_info shape = { .struct_size = sizeof shape };
    return rmcp_conv_describe(p, &shape) ? 1e300 : shape.flops;
}

void rmcp_conv_draw(uint64_t seed, rmcp_conv *problem, rmcp_conv_pass *pass)
{
    struct rmcp_random r = { seed };
    rmcp_conv p;
    do {
        p = (rmcp_conv){ .struct_size = sizeof p };
        p.dims = (uint32_t)(chance(&r, 2) ? 2 : rmcp_random_between(&r, 1, 3));
        p.n = rmcp_random_between(&r, 1, 5);
        draw_channels(&r, &p);
        bool pointwise = chance(&r, 5);
        for (uint32_t i = 0; i < p.dims; i++) draw_dimension(&r, &p, i, pointwise);
        if (p.dims == 2 && chance(&r, 8)) draw_square(&r, &p);
        if (pointwise && chance(&r, 3)) draw_shares(&r, &p);
        p.type =
            (uint32_t)(chance(&r, 2) ? RMCP_F32 : rmcp_random_between(&r, RMCP_F16, RMCP_BF16));
        p.layout = (uint32_t)rmcp_random_between(&r, RMCP_NCHW, RMCP_NHWC);
        p.bias = (uint32_t)chance(&r, 3);
        p.activation = chance(&r, 3) ? (uint32_t)rmcp_random_between(&r, RMCP_RELU, RMCP_CLAMP)
                                     : RMCP_NO_ACTIVATION;
        if (p.activation == RMCP_LEAKY_RELU) p.slope = 0.125f;
        if (p.activation == RMCP_CLAMP) p.clamp_low = -1, p.clamp_high = 6;
    } while (work(&p) > 2e7);
    *problem = p;
    *pass = (rmcp_conv_pass)rmcp_random_below(&r, RMCP_CONV_PASSES);
}
