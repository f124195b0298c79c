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
    for (unsigned lane = 0; lane < w->n_lanes; lane++)
        w->exec_row[lane] = 0u - (uint32_t)(exec >> lane & 1);
}
