/* launch.c: launches of kernels from the table, for the GPU algorithms of all operations. */
#include "engine/gpu/launch.h"

#include "base/round.h"
#include "engine/gpu/kernels.h"
#include "engine/gpu/params.h"

#include <stdio.h>

struct rmcp_divider rmcp_divider_of(int64_t divisor)
{
    unsigned shift = 0;
    while ((INT64_C(1) << shift) < divisor) shift++;
    const uint64_t excess = (UINT64_C(1) << shift) - (uint64_t)divisor;
    return (struct rmcp_divider){
        .divisor = (unsigned)divisor,
        .multiplier = (unsigned)((excess << 32) / (uint64_t)divisor + 1),
        .shift = shift,
    };
}

rmcp_status rmcp_kernel_append(struct rmcp_launch_list *list, const char *stem, rmcp_type type,
                               const char *rest, int64_t work_items,
                               struct rmcp_kernel_launch **launch)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s%s", stem, rmcp_type_names[type], rest);
    const struct rmcp_kernel *kernel = rmcp_kernel_find(name);
    if (!kernel) return rmcp_fail(RMCP_E_INTERNAL, "there is no kernel %s", name);
    struct rmcp_launch *record = rmcp_launch_append(list, RMCP_LAUNCH_KERNEL);
    if (!record) return RMCP_E_NOMEM;

    /* A record is empty; all of it once more, with room for many arguments, would take long. */
    struct rmcp_kernel_launch *k = *launch = &record->kernel;
    k->kernel = kernel->name;
    k->grid[0] = (uint32_t)rmcp_ceil_divide(work_items, kernel->block);
    k->block[0] = kernel->block;
    k->grid[1] = k->grid[2] = k->block[1] = k->block[2] = 1;
    return RMCP_OK;
}

int64_t rmcp_launch_quota(int64_t count, int64_t least, double seconds)
{
    const double longest = 0.05, launches = seconds / longest;
    if (launches <= 1) return count;
    const int64_t quota = launches < (double)count ? (int64_t)((double)count / launches) : 1;
    return quota > least ? quota : least > 1 ? least : 1;
}

void rmcp_gpu_params_make(struct rmcp_gpu_params *params, const struct rmcp_kernel_launch *launch,
                          const double *scalars)
{
    size_t at = 0;
    for (uint32_t i = 0; i < launch->n_args; i++) {
        const struct rmcp_arg *arg = &launch->args[i];
        const bool is_value = arg->kind == RMCP_ARG_VALUE;
        if (is_value) params->pointers[at] = (void *)rmcp_arg_bytes(arg, scalars, &params->made);
        at += is_value ? 1 : 2;
    }
}
