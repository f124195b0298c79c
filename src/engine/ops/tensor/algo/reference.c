/* reference: the plain loops as an algorithm of the CPU device: any tensor operation, slowly. */
#include "base/convert.h"
#include "engine/figures/figures.h"
#include "engine/ops/tensor/host/lanes.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_tensor_form *form = request->problem;
    const double terms_per_second = rmcp_figure(request->caps, RMCP_FIGURE_TENSOR_REFERENCE_TERMS);
    way->seconds = (double)form->outputs * (double)form->terms /
                       (terms_per_second * (double)request->caps->threads) +
                   rmcp_figure(request->caps, RMCP_FIGURE_REFERENCE_START);
    return RMCP_OK;
}

/* Every place in memory is asked about; those between the elements keep what they have. */
static rmcp_status run(const void *state, const rmcp_memory *memory)
{
    const struct rmcp_tensor_state *s = state;
    const struct rmcp_tensor_form *form = s->form;
    struct rmcp_reference reference = { .problem = form, .data = RMCP_DATA_REALS };
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
        reference.host[slot] = rmcp_tensor_address(memory, form, slot, 0);
    void *c = rmcp_tensor_address(memory, form, RMCP_TENSOR_C, 0);
    const rmcp_type type = form->type[RMCP_TENSOR_C];
    const size_t element = rmcp_type_bytes(type);
#pragma omp parallel for num_threads(s->threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < form->span[RMCP_TENSOR_C]; i++) {
        int64_t index[RMCP_TENSOR_DIMS] = { 0 };
        if (!rmcp_tensor_index_of(form, i, index)) continue;
        if (rmcp_tensor_moves(form))
            memcpy((char *)c + (size_t)i * element,
                   rmcp_tensor_address(memory, form, RMCP_TENSOR_A,
                                       rmcp_tensor_place_of(form, RMCP_TENSOR_A, index)),
                   element);
        else
            rmcp_store(c, type, i, (float)rmcp_tensor_expect(&reference, RMCP_TENSOR_C, i).value);
    }
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_tensor_append(request, run, list);
}

const struct rmcp_algo rmcp_algo_tensor_reference = {
    .name = "reference",
    .version = 1,
    .kind = RMCP_LAUNCH_HOST_CALL,
    .judge = true,
    .consider = consider,
    .emit = emit,
};
