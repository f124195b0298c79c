/* hooks.h: where the executor tells the recorder what happens. */
#ifndef RMCP_SIM_RECORD_HOOKS_H
#define RMCP_SIM_RECORD_HOOKS_H

#include "sim/record/record.h"
#include "sim/state/core.h"

void record_begin_dispatch(struct sim_recorder *recorder, const struct run *run);
/* A workgroup that is kept begins and ends on a core. */
void record_begin(struct core *core, uint64_t number);
void record_end(struct core *core);
/* Before an instruction executes; w->pc is behind it. */
void record_step(struct wave *wave, const struct op *op);
/* The lanes of a vector memory instruction, at core->address, each `width` bytes whose dwords are
 * `step` bytes apart.
 */
void record_lanes(struct wave *wave, uint64_t lanes, unsigned step, unsigned width);
void record_scalar(struct wave *wave, uint64_t address, unsigned bytes);

#endif
