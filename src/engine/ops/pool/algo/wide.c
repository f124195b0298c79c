/* wide: pooling forward with large windows, several work-items for each. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/pool/gpu.h"

enum { THREADS = 256, LEAST_TAPS = 16 };

/* Work-items for one output, as a power of two: few enough that each has something to do, and as
 * many as it takes to fill the device. */
static unsigned lane_bits(const struct rmcp_request *request)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    const double outputs = (double)form->tensor[RMCP_POOL_Y].elements;
    unsigned bits = 3;
    while ((4 << bits) <= pool.taps && (1 << bits) < THREADS / 8) bits++;
    while ((1 << bits) < THREADS && (2 << bits) <= pool.taps &&
           outputs * (double)(1 << bits) < (double)request->caps->compute_units * 2048)
        bits++;
    return bits;
}

static double seconds(const struct rmcp_request *request, unsigned bits)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    const double lanes = 1 << bits;
    const double groups = (double)form->tensor[RMCP_POOL_Y].elements * lanes / THREADS;
    const double rounds = groups / (request->caps->compute_units * 8.0) + 1;
    return rmcp_pool_seconds(request, 12) +
           rounds * ((double)pool.taps / lanes * rmcp_figure(request->caps, RMCP_FIGURE_POOL_TAP) +
                     rmcp_figure(request->caps, RMCP_FIGURE_POOL_WIDE_START));
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_pool pool = rmcp_pool_of(request->problem);
    if (pool.backward) return rmcp_refuse(way, "forward only");
    if (pool.taps < LEAST_TAPS) return rmcp_refuse(way, "windows of fewer than 16 elements");
    if (pool.taps / 4 > pool.seen) return rmcp_refuse(way, "windows that are mostly padding");
    const unsigned bits = lane_bits(request);
    return rmcp_pool_consider(request, way,
                              (struct rmcp_pool_way){
                                  .rows = 1,
                                  .columns = 1,
                                  .channels = 1,
                                  .seconds = seconds(request, bits),
                                  .lane_bits = bits,
                              });
}

static void adjust(const struct rmcp_request *request, const struct rmcp_pool_way *way,
                   struct rmcp_pool_args *args, int64_t *work_items)
{
    args->lane_bits = way->lane_bits;
    args->along = rmcp_pool_step(request->problem) != 1;
    const int64_t outputs = THREADS >> args->lane_bits;
    *work_items = rmcp_ceil_divide(args->count, outputs) * THREADS;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_pool_emit(request, way, "pool_wide", adjust, list);
}

const struct rmcp_algo rmcp_algo_pool_wide = {
    .name = "wide",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
