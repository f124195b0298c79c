/* params.h: the parameters of one launch, as cuLaunchKernel and hipModuleLaunchKernel want them. */
#ifndef RMCP_GPU_PARAMS_H
#define RMCP_GPU_PARAMS_H

#include "engine/core/launch.h"

/* Where each parameter lies: two for each memory argument (base and offset), one for each value.
 * Points into itself and into the launch record: fill it where it stays. */
struct rmcp_gpu_params {
    rmcp_memory memory[RMCP_MAX_ARGS];
    void *pointers[2 * RMCP_MAX_ARGS];
};

static inline void rmcp_gpu_params_fill(struct rmcp_gpu_params *p,
                                        const struct rmcp_kernel_launch *launch,
                                        const rmcp_memory *memory)
{
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
}

#endif
