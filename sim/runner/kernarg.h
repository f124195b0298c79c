/* kernarg.h: what a command processor and a language runtime prepare for a kernel. */
#ifndef RMCP_SIM_RUNNER_KERNARG_H
#define RMCP_SIM_RUNNER_KERNARG_H

#include "sim/sim.h"

/* Fill in the hidden arguments of a kernel: sizes, offsets, apertures, addresses. Those of services
 * that are not there (printf, hostcall, device malloc) become 0. */
void kernarg_hidden(uint8_t *kernarg, size_t bytes, const struct codeobj_kernel *kernel,
                    const struct sim_dispatch *dispatch, const struct sim_options *options,
                    uint32_t dynamic_lds);

/* The 64 bytes of an AQL kernel dispatch packet. */
void kernarg_packet(uint8_t packet[static 64], const struct sim_dispatch *dispatch,
                    uint64_t descriptor_address);

#endif
