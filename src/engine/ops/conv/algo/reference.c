/* reference: the plain loops as an algorithm of the CPU device: any problem, no library, slow. */
#include "engine/ops/conv/reference.h"
#include "engine/figures/figures.h"
#include "engine/ops/conv/conv.h"

struct reference_state {
    struct rmcp_convolution conv;
    unsigned threads;
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_caps *caps = request->caps;
    way->seconds = rmcp_conv_of(request)->flops /
                       (rmcp_figure(caps, RMCP_FIGURE_CONV_REFERENCE_SPEED) * caps->threads) +
                   rmcp_figure(caps, RMCP_FIGURE_CONV_REFERENCE_CALL);
    return RMCP_OK;
}

static void *address(rmcp_memory memory)
{
    return memory.base ? (char *)memory.base + memory.offset : NULL;
}

static rmcp_status run(const void *state, const rmcp_memory *memory)
{
    const struct reference_state *s = state;
    const struct rmcp_conv_reference reference = {
        .conv = &s->conv,
        .x = address(memory[RMCP_CONV_X]),
        .w = address(memory[RMCP_CONV_W]),
        .y = address(memory[RMCP_CONV_Y]),
        .bias = address(memory[RMCP_CONV_BIAS]),
    };
    rmcp_conv_loops(&reference, address(memory[rmcp_conv_output_slot(&s->conv)]), s->threads);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct reference_state state = { *rmcp_conv_of(request), request->caps->threads };
    return rmcp_launch_host(list, run, &state, sizeof state);
}

const struct rmcp_algo rmcp_algo_conv_reference = {
    .name = "reference",
    .version = 1,
    .kind = RMCP_LAUNCH_HOST_CALL,
    .judge = true,
    .consider = consider,
    .emit = emit,
};
