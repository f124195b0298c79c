/* kernels.h: the table of GPU kernels: every variant's name, source text and compile options. */
#ifndef RMCP_GPU_KERNELS_H
#define RMCP_GPU_KERNELS_H

#include <stdint.h>

/* One row of an operation's variants.inc. */
struct rmcp_kernel {
    const char *name;      /* as launch records and reports call it                    */
    const char *operation; /* "conv": whose kernel it is                               */
    const char *file;      /* "engine/ops/conv/kernels/direct.cl", below src                      */
    const char *entry;     /* the function in it                                       */
    const char *options;   /* "-DTYPE=0 -DTILE=128": what makes the variant            */
    uint32_t block;        /* work-items of a workgroup, as reqd_work_group_size says  */
};

extern const struct rmcp_kernel rmcp_kernels[]; /* ends with a NULL name */

/* NULL when there is no such kernel. */
const struct rmcp_kernel *rmcp_kernel_find(const char *name);

/* The whole OpenCL C text of a file, its own includes resolved; NULL when there is no such file. */
const char *rmcp_kernel_source(const char *file);

/* A digest of source and options: the same digest, the same machine code from the same compiler. */
uint64_t rmcp_kernel_digest(const struct rmcp_kernel *kernel);

#endif
