/* strips: pooling forward, a few outputs one above the other a work-item. */
#include "engine/figures/figures.h"
#include "engine/ops/pool/gpu.h"

/* Cache lines of 128 bytes that the 32 loads side by side touch. */
static double lines(const struct rmcp_form *form)
{
    const double n =
        (double)rmcp_pool_step(form) * (double)rmcp_type_bytes((rmcp_type)form->type) * 32 / 128;
    return n < 1 ? 1 : n > 32 ? 32 : n;
}

static double seconds(const struct rmcp_request *request)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    const double outputs = (double)form->tensor[RMCP_POOL_Y].elements, taps = (double)pool.seen;
    const double units = request->caps->compute_units;
    const double clock = rmcp_figure(request->caps, RMCP_FIGURE_POOL_STRIPS_CLOCK);
    const double cache = outputs * taps / 32 * lines(form) / (units * clock);
    const double rounds = outputs / RMCP_POOL_STRIP / (units * 2048) + 1;
    const double waits =
        rounds * RMCP_POOL_STRIP * taps * rmcp_figure(request->caps, RMCP_FIGURE_POOL_TAP);
    const double work = rmcp_pool_seconds(request, 4);
    const double longest = cache > work ? cache : work;
    return longest > waits ? longest : waits;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    if (rmcp_pool_of(request->problem).backward) return rmcp_refuse(way, "forward only");
    return rmcp_pool_consider(request, way,
                              (struct rmcp_pool_way){
                                  .rows = RMCP_POOL_STRIP,
                                  .columns = 1,
                                  .channels = 1,
                                  .seconds = seconds(request),
                              });
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_pool_emit(request, way, "pool_strips", NULL, list);
}

const struct rmcp_algo rmcp_algo_pool_strips = {
    .name = "strips",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
