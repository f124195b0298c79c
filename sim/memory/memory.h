/* memory.h: GPU memory and LDS, and the instructions that reach them. */
#ifndef RMCP_SIM_MEMORY_MEMORY_H
#define RMCP_SIM_MEMORY_MEMORY_H

#include "sim/state/core.h"

/* GPU addresses of the executor's own scratch: past what any driver hands out. */
#define OWN_SCRATCH UINT64_C(0xff0000000000)

/* ---- memory.c ---- */
/* The mapping that holds an address, remembered or not. */
bool memory_find(struct core *core, uint64_t address, struct sim_mapping *out);
/* Host memory of `bytes` at an address, when it lies in one mapping that allows the access. */
uint8_t *memory_at(struct core *core, uint64_t address, uint64_t bytes, unsigned access);
/* The same in any number of mappings; false: not all there, nothing was done. */
bool memory_read(struct core *core, uint64_t address, void *to, uint64_t bytes, unsigned access);
bool memory_write(struct core *core, uint64_t address, const void *from, uint64_t bytes);
void memory_fault(struct wave *wave, const struct op *op, uint64_t lanes, uint64_t address,
                  unsigned bytes, const char *what);
void misaligned(struct wave *wave, const struct op *op, uint64_t lanes, uint64_t address,
                unsigned bytes, const char *what);

/* ---- lds.c ---- */
/* LDS of a workgroup at a lane's address; NULL and a report when it is not all there. */
uint8_t *lds_at(struct wave *wave, const struct op *op, unsigned lane, uint64_t address,
                unsigned bytes);
/* A lane's registers from `v` on were read at an address of LDS: are they written now? */
void lds_loaded(struct wave *wave, const struct op *op, unsigned v, unsigned lane,
                uint32_t address);

/* ---- image.c, image_access.c ---- */
/* The handler of an image instruction, or NULL: it has no semantics here. */
op_fn *image_function(const struct op *op);
/* What an atomic of images computes. */
enum isa_does image_atomic(unsigned isa_id);

/* ---- what op.run may be ---- */
op_fn run_smem, run_smem_atomic;
op_fn run_vmem_load, run_vmem_store, run_vmem_atomic;
op_fn run_image_load, run_image_store, run_image_atomic, run_image_resinfo, run_image_sample;
op_fn run_ds_load, run_ds_store, run_ds_atomic, run_ds_lanes, run_ds_append;

#endif
