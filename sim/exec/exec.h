/* exec.h: from words of code to executed waves and workgroups. */
#ifndef RMCP_SIM_EXEC_EXEC_H
#define RMCP_SIM_EXEC_EXEC_H

#include "sim/state/core.h"

/* ---- code.c ---- */
void code_init(struct code *code, unsigned chip_mode);
void code_deinit(struct code *code);
const struct op *code_fetch_slow(struct wave *wave); /* NULL: reported, the wave has ended */

/* ---- predecode.c ---- */
/* Fill in an op whose `inst` is there; false: no memory. */
bool predecode(struct op *op);
const struct isa_operand *op_find(const struct isa_inst *inst, enum isa_role role);

/* ---- bundle.c ---- */
bool bundle_takes(const struct op *op);
/* Make the bundles of instructions that follow each other; false: no memory. */
bool bundle_make(struct op *const *ops, unsigned n);
void bundle_run(struct wave *wave, const struct valu_bundle *bundle);

/* ---- salu.c, salu_functions.c ---- */
salu_fn *salu_function(unsigned isa_id);
op_fn *salu_handler(unsigned isa_id); /* rows with a function of their own, or NULL */

/* ---- what op.run may be, besides those of memory.h ---- */
op_fn run_nothing;
op_fn run_salu, run_salu_compare, run_salu_k;     /* salu.c */
op_fn run_hwreg, run_mode, run_smem_other;        /* hwreg.c */
op_fn run_branch, run_getpc, run_setpc, run_call; /* flow.c */
op_fn run_subvector, run_end, run_barrier, run_sleep;
op_fn run_message, run_trap, run_wait;
op_fn run_valu, run_valu_plain, run_valu_mask, run_valu_wide; /* valu_run.c */
op_fn run_readlane, run_writelane, run_movrel, run_swap;

/* ---- wave.c ---- */
void wave_init(struct wave *wave, struct core *core, unsigned number);
void wave_run(struct wave *wave, unsigned budget);

/* ---- workgroup.c ---- */
bool core_init(struct core *core); /* false: no memory; core_deinit is for the caller */
void core_deinit(struct core *core);
/* Ready for the workgroups of a dispatch, as the only one of its thread. */
void core_begin(struct core *core, struct run *run, unsigned number);
/* A thread: run workgroups on this core, and on others that it makes, until there are no more. */
void *core_thread(void *core);

/* ---- occupancy.c ---- */
/* Workgroups of a dispatch that are on the card at a time, at least 1. */
uint64_t occupancy(const struct run *run);

#endif
