/* registers.c: scalar operands that are no registers, and what follows from EXEC. */
#include "sim/state/registers.h"

#include "sim/state/core.h"

uint64_t scalar_constant(const struct wave *w, const struct isa_operand *op)
{
    const struct sim_options *options = &w->core->sim->options;
    if (op->kind == ISA_KIND_INLINE || op->kind == ISA_KIND_LITERAL) return isa_constant(op);
    if (op->kind != ISA_KIND_SPECIAL) return 0;
    switch (op->reg) {
    case ISA_SHARED_BASE: return options->shared_base;
    case ISA_SHARED_LIMIT: return options->shared_base | 0xffffffff;
    case ISA_PRIVATE_BASE: return options->private_base;
    case ISA_PRIVATE_LIMIT: return options->private_base | 0xffffffff;
    case ISA_VCCZ: return !mask_read(w, ISA_VCC_LO);
    case ISA_EXECZ: return !w->exec;
    case ISA_SCC: return w->scc;
    default: return 0;
    }
}

void exec_changed(struct wave *w)
{
    uint64_t exec = w->sgpr[ISA_EXEC_LO];
    if (w->n_lanes == 64) exec |= (uint64_t)w->sgpr[ISA_EXEC_HI] << 32;
    w->exec = exec;
    w->n_active = (unsigned)__builtin_popcountll(exec);
    /* Bit by bit of a constant row: that the compiler makes vectors of. */
    static const uint32_t bit[32] = {
        1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
        1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
        1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
        1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
    };
    for (unsigned half = 0; half < w->n_lanes / 32; half++) {
        const uint32_t mask = (uint32_t)(exec >> 32 * half);
        uint32_t *row = w->exec_row + 32 * half;
        for (unsigned i = 0; i < 32; i++) row[i] = 0u - (uint32_t)((mask & bit[i]) != 0);
    }
}
