/* vmem.h: where the lanes of a vector memory instruction go. */
#ifndef RMCP_SIM_MEMORY_VMEM_H
#define RMCP_SIM_MEMORY_VMEM_H

#include "sim/state/core.h"

/* Where the lanes of an instruction go. Byte k of a lane lies at address + k; in swizzled memory
 * each next dword of a lane is `step` bytes further instead of 4. */
struct access {
    uint64_t lanes;   /* that touch memory                     */
    uint64_t outside; /* buffers: loads give 0, stores nothing */
    uint64_t lds;     /* flat lanes that mean LDS              */
    uint64_t partial; /* buffers: of `lanes`, those of which only the first dwords are inside */
    uint64_t private; /* flat lanes that mean scratch: swizzled, whatever `step` is */
    unsigned step;
    bool scratch;
    uint8_t inside[MAX_LANES]; /* bytes, of partial lanes */
};

/* The addresses, in core->address; false: reported, the wave has ended. */
bool find_addresses(struct wave *wave, const struct op *op, struct access *access);
/* access.step of one lane: those of FLAT may be in global memory or in scratch. */
unsigned lane_step(const struct wave *wave, const struct access *access, unsigned lane);
/* The format in the buffer descriptor that begins at an SGPR. */
unsigned buffer_format(const struct wave *wave, unsigned reg);
/* How the swizzle in it orders components: see format_select. */
void buffer_select(const struct wave *wave, unsigned reg, uint8_t select[4]);

/* ---- vmem.c ---- */
/* The access reads, or is an atomic: does it find what another wave has not waited for? */
void vmem_touches(struct wave *wave, const struct op *op, const struct access *access,
                  unsigned width);
/* A store, or an atomic, was issued. */
void vmem_counts_store(struct wave *wave, const struct op *op, const struct access *access,
                       unsigned width);

#endif
