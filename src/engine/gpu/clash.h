/* clash.h: OpenCL drivers and HIP that cannot be in one process.
 *
 * PoCL and Mesa's OpenCL load libclang-cpp, HIP loads libamd_comgr as soon as it sees a GPU. Where
 * both link to one shared libLLVM (Debian does), each registers clang's options there, and LLVM
 * ends the process at the second. So whoever comes second is told to stay out. */
#ifndef RMCP_GPU_CLASH_H
#define RMCP_GPU_CLASH_H

#include <stdbool.h>
#include <stddef.h>

/* Whether asking OpenCL for its drivers would end the process; then the reason is in `why`. */
bool rmcp_clash_opencl(char *why, size_t why_size);

/* Whether asking HIP for its devices might; `function` is one of HIP's. */
bool rmcp_clash_hip(const void *function, char *why, size_t why_size);

#endif
