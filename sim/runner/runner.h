/* runner.h: runs kernels of a code object on memory of its own: no driver, no ROCm.
 *
 * Every buffer lies between gaps that nothing may touch, so that each access outside is reported
 * with the buffer it missed. Not for use from several threads at once. */
#ifndef RMCP_SIM_RUNNER_RUNNER_H
#define RMCP_SIM_RUNNER_RUNNER_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_runner;

struct sim_launch {
    uint32_t grid[3];        /* work-items; 0 means 1                                         */
    uint32_t block[3];       /* work-items of a workgroup; 0 means 1                          */
    const void *arguments;   /* the kernarg segment up to its hidden arguments, laid out as the
                              * compiler does (sim_runner_kernel tells the offsets)           */
    size_t n_argument_bytes; /* the rest of the segment is hidden arguments, filled in here   */
    uint32_t dynamic_lds;    /* bytes besides those of the kernel                             */
};

/* Load a linked code object, copied; relocations are applied. `options->chip` executes it, whatever
 * it was made for. Errors as codeobj_open has them. */
rmcp_status sim_runner_create(const void *object, size_t bytes, const struct sim_options *options,
                              struct sim_runner **out);
void sim_runner_destroy(struct sim_runner *runner); /* NULL is fine */

/* What the object says of a kernel, or NULL. */
const struct codeobj_kernel *sim_runner_kernel(const struct sim_runner *runner, const char *name);
const struct codeobj *sim_runner_object(const struct sim_runner *runner);

/* Add a buffer, filled with the byte `fill`; lives as long as the runner. `*host` (may be NULL) is
 * where the host reads and writes it; returns the GPU address, aligned to 256, or 0 when memory ran
 * out. */
uint64_t sim_runner_buffer(struct sim_runner *runner, size_t bytes, unsigned char fill,
                           void **host);
/* Forget all buffers; their addresses are used again. */
void sim_runner_clear(struct sim_runner *runner);

/* Run a kernel. RMCP_E_ARG: no such kernel, or a launch that makes no sense. */
rmcp_status sim_runner_run(struct sim_runner *runner, const char *kernel,
                           const struct sim_launch *launch, struct sim_result *result);

/* Where the source line of an instruction is known: "file.cl:12", else "". */
const char *sim_runner_line(struct sim_runner *runner, uint64_t address, char text[static 256]);

#ifdef __cplusplus
}
#endif
#endif
