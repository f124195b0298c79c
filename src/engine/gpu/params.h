/* params.h: the parameters of one launch, as cuLaunchKernel and hipModuleLaunchKernel want them. */
#ifndef RMCP_GPU_PARAMS_H
#define RMCP_GPU_PARAMS_H

#include "engine/core/launch.h"

/* Where each parameter lies: two for each memory argument (base and offset), one for each value.
 * Points into itself and into the launch record: fill it where it stays. */
struct rmcp_gpu_params {
    rmcp_memory memory[RMCP_MAX_ARGS];
    struct rmcp_made made;
    void *pointers[2 * RMCP_MAX_ARGS];
};

/* Let the value that depends on scalars be that of this execution. */
void rmcp_gpu_params_make(struct rmcp_gpu_params *params, const struct rmcp_kernel_launch *launch,
                          const double *scalars);

static inline void rmcp_gpu_params_fill(struct rmcp_gpu_params *p,
                                        const struct rmcp_kernel_launch *launch,
                                        const struct rmcp_given *given)
{
    const rmcp_memory *memory = given->memory;
    size_t at = 0;
    for (uint32_t i = 0; i < launch->n_args; i++) {
        const struct rmcp_arg *arg = &launch->args[i];
        if (arg->kind == RMCP_ARG_VALUE) {
            p->pointers[at++] = (void *)arg->value;
            continue;
        }
        p->memory[i] = memory[arg->slot];
        p->memory[i].offset += arg->offset;
        p->pointers[at++] = &p->memory[i].base;
        p->pointers[at++] = &p->memory[i].offset;
    }
    if (given->scalars) rmcp_gpu_params_make(p, launch, given->scalars);
}

#endif
