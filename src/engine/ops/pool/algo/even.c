/* even: the gradient of the mean of whole images that lie one behind the other, at the memory's
 * speed. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/pool/gpu.h"

static int64_t length_of(const struct rmcp_pool *pool)
{
    return pool->in[0] * pool->in[1] * pool->in[2];
}

struct even_way {
    int64_t each; /* images of one launch */
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    if (!pool.backward || pool.largest) return rmcp_refuse(way, "gradients of means only");
    for (int d = 0; d < 3; d++)
        if (pool.window[d] != pool.in[d] || pool.pad[d] || pool.out[d] != 1)
            return rmcp_refuse(way, "windows are not the whole image");
    if (!rmcp_form_packed(&form->tensor[RMCP_POOL_DY]) ||
        !rmcp_form_packed(&form->tensor[RMCP_POOL_DX]))
        return rmcp_refuse(way, "a tensor is not packed");
    const int64_t all = pool.n * pool.c, length = length_of(&pool), most = INT64_C(1) << 29;
    if (length > most) return rmcp_refuse(way, "an image of more than 2^29 elements");
    const double seconds =
        request->operation->bytes(form) /
        (rmcp_figure(caps, RMCP_FIGURE_POOL_EVEN_EFFICIENCY) * caps->bytes_per_second);
    const int64_t busy = (int64_t)caps->compute_units * 32768 / length + 1;
    const int64_t some = rmcp_launch_quota(all, busy, seconds);
    struct even_way *mine = RMCP_WAY_DETAILS(way, struct even_way);
    mine->each = some < most / length ? some : most / length;
    way->seconds = seconds + (double)rmcp_ceil_divide(all, mine->each) * caps->launch_seconds;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    const int64_t all = pool.n * pool.c, each = RMCP_WAY_DETAILS_CONST(way, struct even_way)->each,
                  length = length_of(&pool);
    const int64_t bytes = (int64_t)rmcp_type_bytes((rmcp_type)form->type), lanes = 16 / bytes;
    for (int64_t first = 0; first < all; first += each) {
        const int64_t now = all - first < each ? all - first : each;
        const struct rmcp_pool_even args = {
            .length = rmcp_divider_of(length),
            .count = (unsigned)(now * length),
            .wide = length % lanes == 0,
            .share = (float)(pool.alpha / (double)length),
            .beta = (float)pool.beta,
        };
        const int64_t chunks = rmcp_ceil_divide(now * length, lanes);
        struct rmcp_kernel_launch *launch = NULL;
        const rmcp_status status =
            rmcp_kernel_append(list, "pool_even", (rmcp_type)form->type, "",
                               rmcp_ceil_divide(chunks, RMCP_POOL_EVEN), &launch);
        if (status) return status;
        rmcp_arg_memory(launch, RMCP_POOL_DY, (uint64_t)(first * bytes));
        rmcp_arg_memory(launch, RMCP_POOL_DX, (uint64_t)(first * length * bytes));
        rmcp_arg_value(launch, &args, sizeof args);
    }
    return RMCP_OK;
}

const struct rmcp_algo rmcp_algo_pool_even = {
    .name = "even",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
