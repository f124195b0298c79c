/* dpp.h: data parallel primitives: a source whose lanes come from others. */
#ifndef RMCP_SIM_MATH_DPP_H
#define RMCP_SIM_MATH_DPP_H

#include "code/isa/isa.h"

/* Move the lanes of a row as a DPP instruction says; returns those that take a result. `exec` has
 * the active ones of n lanes. `to` may not be `from`. */
uint64_t dpp_move(const struct isa_inst *inst, uint64_t exec, unsigned n, const uint32_t *from,
                  uint32_t *to);
/* Lanes of a mask after the same; what reads nothing is set. */
uint64_t dpp_mask(const struct isa_inst *inst, uint64_t exec, unsigned n, uint64_t mask);

#endif
