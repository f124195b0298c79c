/* reference: the judge's own loops as an algorithm of the CPU device: any problem, slow. */
#include "base/convert.h"
#include "engine/figures/figures.h"
#include "engine/ops/rnn/rnn.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    way->seconds = rmcp_rec_flops(request->problem) /
                       rmcp_figure(request->caps, RMCP_FIGURE_RNN_REFERENCE_FLOPS) +
                   rmcp_figure(request->caps, RMCP_FIGURE_RNN_REFERENCE_START);
    return RMCP_OK;
}

static rmcp_status run(const void *state, const rmcp_memory *memory)
{
    struct rmcp_reference r = { .problem = state, .data = RMCP_DATA_REALS, .error_factor = 1 };
    for (unsigned slot = 0; slot < RMCP_REC_SLOTS; slot++)
        if (rmcp_rec_slot(state, slot).elements)
            r.host[slot] = (char *)memory[slot].base + memory[slot].offset;
    rmcp_status status = rmcp_rec_reference_begin(&r);
    if (status) return status;
    for (unsigned slot = 0; slot < RMCP_REC_SLOTS; slot++) {
        const struct rmcp_slot s = rmcp_rec_slot(state, slot);
        if (!s.written) continue;
        void *target = (char *)memory[slot].base + memory[slot].offset;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < s.elements; i++)
            rmcp_store(target, s.type, i, (float)rmcp_rec_expect(&r, slot, i).value);
    }
    rmcp_rec_reference_end(&r);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_launch_host(list, run, rmcp_rec_of(request), sizeof(struct rmcp_recurrence));
}

const struct rmcp_algo rmcp_algo_rnn_reference = {
    .name = "reference",
    .version = 1,
    .kind = RMCP_LAUNCH_HOST_CALL,
    .judge = true,
    .consider = consider,
    .emit = emit,
};
