/* device.h: a device for tests whose kernels run on the executor; no part of the product.
 *
 * The engine above it is the real one: planner, algorithms and launch records. Kernels are code
 * objects from a folder, FOLDER/<kernel>.co. */
#ifndef RMCP_SIM_DEVICE_DEVICE_H
#define RMCP_SIM_DEVICE_DEVICE_H

#include "engine/core/device.h"
#include "sim/runner/runner.h"
#include "sim/timing/timing.h"

struct sim_device_options {
    const char *folder;
    struct sim_options sim; /* `report` and `context` are used by the device itself */
    uint32_t compute_units; /* what cost models are told; 0: 40                     */
    bool quiet;             /* do not print reports                                 */
    /* Times are modelled for this card, which is also what cost models are told of; `sim.recorder`
     * is that of the sampler. NULL: times are the host's. Where it has only samples executed,
     * kernels find zeros in all memory, and leave nothing. */
    const struct timing_sampler *sampler;
    /* Called with the modelled time of each launch; may be NULL. */
    void (*modelled)(void *context, const char *kernel, const struct timing_result *result);
    void *modelled_context;
};

/* What happened since the device was opened. */
struct sim_device_counts {
    uint64_t launches, reports, absent; /* absent: launches ended by an illegal instruction */
    uint64_t happened[SIM_N_KINDS], patterns[ISA_N_RULES];
    struct sim_stats stats;
    double seconds, cpu_seconds; /* in the executor; the latter of all its threads */
};

rmcp_status sim_device_open(const struct sim_device_options *options, rmcp_device **out);

const struct sim_device_counts *sim_device_counts(const rmcp_device *device);

/* How many launches of a kernel ran to their end. */
uint64_t sim_device_launches(const rmcp_device *device, const char *kernel);

/* "gfx1010" to its number; -1 when there is none. */
int sim_device_chip(const char *name);

#endif
