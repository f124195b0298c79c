/* reference: the plain loops as an algorithm of the CPU device: any matrix product, slowly. */
#include "base/convert.h"
#include "engine/figures/figures.h"
#include "engine/ops/gemm/gemm.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_gemm_form *form = rmcp_gemm_of(request);
    const double terms_per_second = rmcp_figure(request->caps, RMCP_FIGURE_GEMM_REFERENCE_TERMS);
    const double threads = request->caps->threads ? request->caps->threads : 1;
    way->seconds =
        (double)form->outputs * (double)(form->terms + 1) / (terms_per_second * threads) +
        rmcp_figure(request->caps, RMCP_FIGURE_REFERENCE_START);
    return RMCP_OK;
}

struct loops {
    const struct rmcp_gemm_form *form; /* the plan's own */
    unsigned threads;
};

static void *address(const rmcp_memory *memory, const struct rmcp_gemm_form *form, unsigned slot)
{
    return form->span[slot] ? (char *)memory[slot].base + memory[slot].offset : NULL;
}

/* c is read where it is written, one element at a time. */
static rmcp_status run(const void *state, const rmcp_memory *memory)
{
    const struct loops *s = state;
    const struct rmcp_gemm_form *form = s->form;
    struct rmcp_reference reference = { .problem = form, .data = RMCP_DATA_REALS };
    for (unsigned slot = 0; slot < RMCP_GEMM_SLOTS; slot++)
        reference.host[slot] = address(memory, form, slot);
    void *c = address(memory, form, RMCP_GEMM_C);
#pragma omp parallel for num_threads(s->threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < form->span[RMCP_GEMM_C]; i++) {
        struct rmcp_gemm_index index;
        if (!rmcp_gemm_index_of(form, i, &index)) continue;
        rmcp_store(c, form->product.type, i,
                   (float)rmcp_gemm_expect(&reference, RMCP_GEMM_C, i).value);
    }
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct loops state = { request->problem,
                                 request->caps->threads ? request->caps->threads : 1 };
    return rmcp_launch_host(list, run, &state, sizeof state);
}

extern const struct rmcp_algo rmcp_algo_gemm_reference;
const struct rmcp_algo rmcp_algo_gemm_reference = {
    .name = "reference",
    .version = 1,
    .kind = RMCP_LAUNCH_HOST_CALL,
    .judge = true,
    .consider = consider,
    .emit = emit,
};
