/* registers.h: reading and writing the registers of a wave. */
#ifndef RMCP_SIM_STATE_REGISTERS_H
#define RMCP_SIM_STATE_REGISTERS_H

#include "sim/state/wave.h"

void exec_changed(struct wave *wave); /* after sgpr[126] or sgpr[127] was written */
uint64_t scalar_constant(const struct wave *wave, const struct isa_operand *op);

/* A scalar operand: a register, a constant, or state that has a register's number. */
static inline uint64_t scalar_read(const struct wave *w, const struct isa_operand *op)
{
    if (op->kind != ISA_KIND_REG) return scalar_constant(w, op);
    if (op->reg == ISA_NULL) return 0;
    return op->n_regs < 2 ? w->sgpr[op->reg]
                          : w->sgpr[op->reg] | (uint64_t)w->sgpr[op->reg + 1] << 32;
}

static inline uint64_t mask_read(const struct wave *w, unsigned reg)
{
    if (reg == ISA_NULL) return 0;
    return w->n_lanes == 32 ? w->sgpr[reg] : w->sgpr[reg] | (uint64_t)w->sgpr[reg + 1] << 32;
}

static inline void sgpr_write(struct wave *w, unsigned reg, uint32_t value)
{
    if (reg == ISA_NULL) return;
    w->sgpr[reg] = value;
    if (reg >= ISA_EXEC_LO) exec_changed(w);
}

/* The result of a scalar instruction, of one or two registers. */
static inline void scalar_write(struct wave *w, const struct op *op, uint64_t value)
{
    if (op->dst == ISA_NULL) return;
    if (op->n_dst > 1) w->sgpr[op->dst + 1] = (uint32_t)(value >> 32);
    sgpr_write(w, op->dst, (uint32_t)value);
    if (op->n_dst > 1 && op->dst + 1 >= ISA_EXEC_LO) exec_changed(w);
}

static inline void mask_write(struct wave *w, unsigned reg, uint64_t mask)
{
    sgpr_write(w, reg, (uint32_t)mask);
    if (w->n_lanes == 64 && reg != ISA_NULL) sgpr_write(w, reg + 1, (uint32_t)(mask >> 32));
}

static inline void exec_write(struct wave *w, uint64_t mask)
{
    w->sgpr[ISA_EXEC_LO] = (uint32_t)mask;
    if (w->n_lanes == 64) w->sgpr[ISA_EXEC_HI] = (uint32_t)(mask >> 32);
    exec_changed(w);
}

static inline uint32_t *vgpr_row(const struct wave *w, unsigned v)
{
    return w->vgpr + (size_t)v * w->n_lanes;
}

#endif
