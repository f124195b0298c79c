/* even: the gradient of the mean of whole images that lie one behind the other, at the memory's
 * speed. */
#include "engine/ops/pool/gpu.h"

static int64_t length_of(const struct rmcp_pool *pool)
{
    return pool->in[0] * pool->in[1] * pool->in[2];
}

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    if (!pool.backward || pool.largest) return "gradients of means only";
    for (int d = 0; d < 3; d++)
        if (pool.window[d] != pool.in[d] || pool.pad[d] || pool.out[d] != 1)
            return "windows are not the whole image";
    if (!rmcp_form_packed(&form->tensor[RMCP_POOL_DY]) ||
        !rmcp_form_packed(&form->tensor[RMCP_POOL_DX]))
        return "a tensor is not packed";
    if (length_of(&pool) > INT64_C(1) << 29) return "an image of more than 2^29 elements";
    return NULL;
}

static double seconds(const struct rmcp_request *request)
{
    return request->operation->bytes(request->problem) / (0.9 * request->caps->bytes_per_second);
}

/* Images of one launch. */
static int64_t quota(const struct rmcp_request *request)
{
    const struct rmcp_pool pool = rmcp_pool_of(request->problem);
    const int64_t all = pool.n * pool.c, length = length_of(&pool);
    const int64_t most = (INT64_C(1) << 29) / length;
    const int64_t busy = (int64_t)request->caps->compute_units * 32768 / length + 1;
    const int64_t some = rmcp_launch_quota(all, busy, seconds(request));
    return some < most ? some : most;
}

static double cost(const struct rmcp_request *request)
{
    const struct rmcp_pool pool = rmcp_pool_of(request->problem);
    const int64_t each = quota(request);
    return seconds(request) +
           (double)((pool.n * pool.c + each - 1) / each) * request->caps->launch_seconds;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_form *form = request->problem;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    const int64_t all = pool.n * pool.c, each = quota(request), length = length_of(&pool);
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
        const int64_t chunks = (now * length + lanes - 1) / lanes;
        struct rmcp_kernel_launch *launch = NULL;
        const rmcp_status status =
            rmcp_kernel_append(list, "pool_even", (rmcp_type)form->type, "",
                               (chunks + RMCP_POOL_EVEN - 1) / RMCP_POOL_EVEN, &launch);
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
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
