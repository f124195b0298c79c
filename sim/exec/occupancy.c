/* occupancy.c: how many workgroups of a dispatch a card holds at a time. Those may wait for each
 * other; what waits for a workgroup that is not among them waits for ever. */
#include "sim/exec/exec.h"

enum {
    DEFAULT_UNITS = 36,
    SIMDS = 2,         /* of a compute unit                                        */
    SIMD_VGPRS = 1024, /* of 32 lanes                                              */
    UNIT_GROUPS = 32,  /* workgroups of more than one wave on a unit: its barriers */
};

/* A workgroup lives on one compute unit, or in WGP mode on a pair of them with twice of all. */
uint64_t occupancy(const struct run *run)
{
    const struct sim_options *options = &run->sim->options;
    const uint64_t pair = run->wgp_mode ? 2 : 1;
    const uint64_t units = (options->compute_units ? options->compute_units : DEFAULT_UNITS) / pair;
    uint64_t waves = options->chip == ISA_GFX1030 ? 16 : 20;
    const uint64_t by_vgprs = SIMD_VGPRS * 32 / ((uint64_t)run->n_vgprs * run->n_lanes);
    if (waves > by_vgprs) waves = by_vgprs;
    uint64_t groups = waves * SIMDS * pair / run->waves_per_group;
    if (run->waves_per_group > 1 && groups > UNIT_GROUPS * pair) groups = UNIT_GROUPS * pair;
    const uint64_t lds = run->dispatch->group_bytes;
    if (lds && groups > LDS_BYTES * pair / lds) groups = LDS_BYTES * pair / lds;
    return groups && units ? groups * units : 1;
}
