/* chains: getitem's gradient on a GPU. First it is found which indices lead to the same place, then
 * each place is added up by itself, in the order of the indices: no atomics, and the same bits
 * every time. */
#include "engine/gpu/launch.h"
#include "engine/ops/getitem/getitem.h"
#include "engine/ops/getitem/kernels/args.h"

enum { MOST = 1 << 17 };

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = request->problem;
    const int64_t indices = rmcp_getitem_length(form);
    if (indices > MOST)
        return rmcp_refuse(way, "each index is compared with all others: no more than 2^17");
    for (unsigned slot = 0; form->rules->tensors[slot]; slot++)
        if (form->tensor[slot].span > (INT64_C(1) << 31) / 4)
            return rmcp_refuse(way, "a tensor reaches over more than 2 GiB");
    const double length = (double)indices;
    way->seconds = 2 * request->operation->bytes(form) / request->caps->bytes_per_second +
                   4 * length * length / request->caps->flops_per_second +
                   3 * request->caps->launch_seconds;
    way->workspace_bytes = (uint64_t)indices * 3 * sizeof(int32_t);
    return RMCP_OK;
}

static struct rmcp_getitem_targets targets_of(const struct rmcp_form *form)
{
    struct rmcp_getitem_targets f = { .count = (unsigned)rmcp_getitem_length(form),
                                      .n_indices = rmcp_getitem_count(form) };
    for (unsigned i = 0; i < f.n_indices; i++) {
        const unsigned d = rmcp_getitem_begin(form) + i;
        f.index[i].size = (int)form->size[d];
        f.index[i].stride = (unsigned)form->tensor[RMCP_GETITEM_DX].stride[d];
        f.index[i].step = (unsigned)form->tensor[RMCP_GETITEM_FIRST + i].stride[0];
        f.index[i].error = i * (unsigned)form->tensor[RMCP_GETITEM_ERROR].stride[0];
    }
    return f;
}

static rmcp_status find_chains(const struct rmcp_form *form, struct rmcp_launch_list *list)
{
    const struct rmcp_getitem_targets f = targets_of(form);
    const uint64_t chains = (uint64_t)f.count * sizeof(int32_t);
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status =
        rmcp_kernel_append(list, "getitem_targets", RMCP_F32, "", f.count, &launch);
    if (status) return status;
    for (unsigned i = 0; i < RMCP_GETITEM_INDICES; i++)
        rmcp_arg_memory(launch, RMCP_GETITEM_FIRST + (i < f.n_indices ? i : 0), 0);
    rmcp_arg_memory(launch, RMCP_GETITEM_ERROR, 0);
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_value(launch, &f, sizeof f);
    status = rmcp_kernel_append(list, "getitem_links", RMCP_F32, "", f.count, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, chains);
    rmcp_arg_value(launch, &f, sizeof f);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_form *form = request->problem;
    rmcp_status status = find_chains(form, list);
    if (status) return status;
    const struct rmcp_form_tensor *dy = &form->tensor[RMCP_GETITEM_DY],
                                  *dx = &form->tensor[RMCP_GETITEM_DX];
    const unsigned begin = rmcp_getitem_begin(form), skipped = rmcp_getitem_count(form) - 1;
    struct rmcp_getitem_add f = { .elements = (unsigned)dy->elements,
                                  .next = (unsigned)dy->stride[begin] };
    for (unsigned d = dy->dims; d-- > 0;) {
        const bool indexed = d == begin;
        if (indexed) f.indexed = f.n_loops;
        f.loop[f.n_loops].size = rmcp_divider_of(dy->size[d]);
        f.loop[f.n_loops].dy = (unsigned)dy->stride[d];
        f.loop[f.n_loops++].dx = indexed ? 0 : (unsigned)dx->stride[d < begin ? d : d + skipped];
    }
    struct rmcp_kernel_launch *launch = NULL;
    status =
        rmcp_kernel_append(list, "getitem_add", (rmcp_type)form->type, "", dy->elements, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_GETITEM_DY, 0);
    rmcp_arg_memory(launch, RMCP_GETITEM_DX, 0);
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE,
                    (uint64_t)rmcp_getitem_length(form) * sizeof(int32_t));
    rmcp_arg_value(launch, &f, sizeof f);
    return RMCP_OK;
}

extern const struct rmcp_algo rmcp_algo_getitem_chains;
const struct rmcp_algo rmcp_algo_getitem_chains = {
    .name = "chains",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
