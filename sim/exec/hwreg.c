/* hwreg.c: hardware registers, modes, time, and scalar memory instructions that touch no memory. */
#include <time.h>

#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/state/registers.h"

enum {
    HW_MODE = 1,
    HW_STATUS = 2,
    HW_TRAPSTS = 3,
    HW_HW_ID = 4,
    HW_GPR_ALLOC = 5,
    HW_LDS_ALLOC = 6,
    HW_IB_STS = 7,
    HW_SH_MEM_BASES = 15,
    HW_TBA_LO = 16, /* 16 to 19: addresses of the trap handler and of its memory: there is none */
    HW_TMA_HI = 19,
    HW_FLAT_SCR_LO = 20,
    HW_FLAT_SCR_HI = 21,
    HW_XNACK_MASK = 22,
    HW_HW_ID1 = 23,
    HW_HW_ID2 = 24,
    HW_POPS_PACKER = 25,
    HW_SHADER_CYCLES = 29
};

static uint64_t clock_ticks(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 100000000 + (uint64_t)now.tv_nsec / 10; /* 100 MHz, as the chip */
}

static uint32_t hwreg_read(const struct wave *w, unsigned id)
{
    const struct sim_options *options = &w->core->sim->options;
    switch (id) {
    case HW_MODE: return w->mode;
    case HW_STATUS: /* scc, execz, vccz at their places; the rest as written */
        return (w->status & ~0x601u) | w->scc | (uint32_t)!w->exec << 9 |
               (uint32_t)!mask_read(w, ISA_VCC_LO) << 10;
    case HW_HW_ID:
    case HW_HW_ID1: return w->number & 31; /* wave slot; the place on a chip is not modelled */
    case HW_GPR_ALLOC: return (w->n_vgprs / (w->n_lanes == 32 ? 8 : 4) - 1) << 8;
    case HW_LDS_ALLOC: return (w->core->group_bytes + 511) / 512 << 12;
    case HW_SH_MEM_BASES:
        return (uint32_t)(options->private_base >> 48) | (uint32_t)(options->shared_base >> 48)
                                                             << 16;
    case HW_FLAT_SCR_LO: return (uint32_t)w->scratch;
    case HW_FLAT_SCR_HI: return (uint32_t)(w->scratch >> 32);
    case HW_SHADER_CYCLES: return (uint32_t)w->n_instructions & 0xfffff;
    default: return 0;
    }
}

static void hwreg_write(struct wave *w, unsigned id, uint32_t value)
{
    switch (id) {
    case HW_MODE: w->mode = value; break;
    case HW_STATUS:
        w->status = value;
        w->scc = value & 1;
        break;
    case HW_FLAT_SCR_LO: w->scratch = (w->scratch & ~UINT64_C(0xffffffff)) | value; break;
    case HW_FLAT_SCR_HI: w->scratch = (uint32_t)w->scratch | (uint64_t)value << 32; break;
    default: break;
    }
}

static bool hwreg_known(const struct wave *w, unsigned id)
{
    if (id == HW_SHADER_CYCLES) return w->core->sim->options.chip == ISA_GFX1030;
    return (id >= HW_MODE && id <= HW_IB_STS) || id == HW_SH_MEM_BASES ||
           (id >= HW_TBA_LO && id <= HW_TMA_HI) || (id >= HW_FLAT_SCR_LO && id <= HW_POPS_PACKER);
}

void run_hwreg(struct wave *w, const struct op *op)
{
    unsigned k = (unsigned)op->inst.imm & 0xffff, id = k & 63, first = k >> 6 & 31;
    unsigned n = (k >> 11) + 1;
    uint32_t mask = n >= 32 ? UINT32_MAX : (1u << n) - 1;
    if (!hwreg_known(w, id)) {
        struct finding f = { .kind = SIM_ILLEGAL, .rule = -1 };
        report(w, op, &f, "hardware register %u is not modelled", id);
        return;
    }
    uint32_t value = hwreg_read(w, id);
    if (op->inst.id == ISA_s_getreg_b32_SOPK) {
        scalar_write(w, op, value >> first & mask);
        return;
    }
    const struct isa_operand *from =
        op->inst.id == ISA_s_setreg_b32_SOPK ? op->out : op_find(&op->inst, ISA_OP_SRC0);
    uint32_t bits = (uint32_t)scalar_read(w, from);
    hwreg_write(w, id, (value & ~(mask << first)) | (bits & mask) << first);
}

void run_mode(struct wave *w, const struct op *op)
{
    unsigned shift = op->inst.id == ISA_s_denorm_mode_SOPP ? 4 : 0;
    w->mode = (w->mode & ~(15u << shift)) | ((unsigned)op->inst.imm & 15) << shift;
}

/* ---- scalar memory that is no memory: time, caches, the number of the wave ---- */

void run_smem_other(struct wave *w, const struct op *op)
{
    switch (op->inst.id) {
    case ISA_s_memtime_SMEM: scalar_write(w, op, w->n_instructions + clock_ticks()); break;
    case ISA_s_memrealtime_SMEM: scalar_write(w, op, clock_ticks()); break;
    case ISA_s_get_waveid_in_workgroup_SMEM: scalar_write(w, op, w->number); break;
    case ISA_s_gl1_inv_SMEM:
    case ISA_s_dcache_inv_SMEM:
    case ISA_s_dcache_wb_SMEM:
    case ISA_s_dcache_discard_SMEM:
    case ISA_s_dcache_discard_x2_SMEM: break;
    default: run_illegal(w, op); return;
    }
    if (op->n_dst) wave_load_begins(w, op, ISA_LGKMCNT, true);
}
