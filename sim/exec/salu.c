/* salu.c: scalar ALU instructions and program control. */
#include <sched.h>
#include <time.h>

#include "sim/state/internal.h"

uint64_t scalar_read(const struct wave *w, const struct isa_operand *op)
{
    const struct sim_options *options = &w->core->sim->options;
    switch (op->kind) {
    case ISA_KIND_REG:
        if (op->reg == ISA_NULL) return 0;
        return op->n_regs < 2 ? w->sgpr[op->reg]
                              : w->sgpr[op->reg] | (uint64_t)w->sgpr[op->reg + 1] << 32;
    case ISA_KIND_INLINE:
    case ISA_KIND_LITERAL: return isa_constant(op);
    case ISA_KIND_SPECIAL: break;
    default: return 0;
    }
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

static void write_result(struct wave *w, const struct op *op, uint64_t value)
{
    if (op->dst == ISA_NULL) return;
    if (op->n_dst > 1) w->sgpr[op->dst + 1] = (uint32_t)(value >> 32);
    sgpr_write(w, op->dst, (uint32_t)value);
    if (op->n_dst > 1 && op->dst + 1 >= ISA_EXEC_LO) exec_changed(w);
}

void run_nothing(struct wave *w, const struct op *op)
{
    (void)w;
    (void)op;
}

void run_illegal(struct wave *w, const struct op *op)
{
    struct finding f = { .kind = SIM_ILLEGAL, .rule = -1 };
    report(w, op, &f,
           !op->decoded ? "%s has no such instruction (word 0x%08x)"
           : op->inst.row->encoding == ISA_MIMG
               ? "images and textures are not simulated (%s, word 0x%08x)"
               : "no semantics for this instruction on %s (word 0x%08x)",
           isa_chip_name(w->core->sim->options.chip), op->inst.word[0]);
}

void run_salu(struct wave *w, const struct op *op)
{
    uint64_t a = op->in[0] ? scalar_read(w, op->in[0]) : 0;
    uint64_t b = op->in[1] ? scalar_read(w, op->in[1]) : 0;
    write_result(w, op, op->fn.salu(a, b, &w->scc));
}

void run_salu_compare(struct wave *w, const struct op *op)
{
    op->fn.salu(scalar_read(w, op->in[0]), scalar_read(w, op->in[1]), &w->scc);
}

void run_salu_k(struct wave *w, const struct op *op)
{
    uint64_t old = scalar_read(w, op->out);
    uint64_t r = op->fn.salu(old, (uint32_t)op->inst.imm, &w->scc);
    if (op->out->access & ISA_WRITE) write_result(w, op, r);
}

/* ---- instructions with a handler of their own ---- */

static void run_movk(struct wave *w, const struct op *op)
{
    write_result(w, op, (uint32_t)op->inst.imm);
}

static void run_cmovk(struct wave *w, const struct op *op)
{
    if (w->scc) write_result(w, op, (uint32_t)op->inst.imm);
}

static void run_cmov(struct wave *w, const struct op *op)
{
    if (w->scc) write_result(w, op, scalar_read(w, op->in[0]));
}

static void run_bitset(struct wave *w, const struct op *op)
{
    uint64_t old = scalar_read(w, op->out), n = scalar_read(w, op->in[0]);
    uint64_t bit = UINT64_C(1) << (n & (op->n_dst > 1 ? 63 : 31));
    bool set = op->inst.id == ISA_s_bitset1_b32_SOP1 || op->inst.id == ISA_s_bitset1_b64_SOP1;
    write_result(w, op, set ? old | bit : old & ~bit);
}

/* The EXEC that s_*_saveexec and s_*_wrexec make of the old one and a source. */
static uint64_t new_exec(unsigned id, uint64_t s, uint64_t exec)
{
    switch (id) {
    case ISA_s_and_saveexec_b32_SOP1:
    case ISA_s_and_saveexec_b64_SOP1: return s & exec;
    case ISA_s_or_saveexec_b32_SOP1:
    case ISA_s_or_saveexec_b64_SOP1: return s | exec;
    case ISA_s_xor_saveexec_b32_SOP1:
    case ISA_s_xor_saveexec_b64_SOP1: return s ^ exec;
    case ISA_s_andn2_saveexec_b32_SOP1:
    case ISA_s_andn2_saveexec_b64_SOP1:
    case ISA_s_andn2_wrexec_b32_SOP1:
    case ISA_s_andn2_wrexec_b64_SOP1: return s & ~exec;
    case ISA_s_orn2_saveexec_b32_SOP1:
    case ISA_s_orn2_saveexec_b64_SOP1: return s | ~exec;
    case ISA_s_nand_saveexec_b32_SOP1:
    case ISA_s_nand_saveexec_b64_SOP1: return ~(s & exec);
    case ISA_s_nor_saveexec_b32_SOP1:
    case ISA_s_nor_saveexec_b64_SOP1: return ~(s | exec);
    case ISA_s_xnor_saveexec_b32_SOP1:
    case ISA_s_xnor_saveexec_b64_SOP1: return ~(s ^ exec);
    case ISA_s_andn1_saveexec_b32_SOP1:
    case ISA_s_andn1_saveexec_b64_SOP1:
    case ISA_s_andn1_wrexec_b32_SOP1:
    case ISA_s_andn1_wrexec_b64_SOP1: return ~s & exec;
    default: return ~s | exec; /* s_orn1_saveexec */
    }
}

/* The result is the old EXEC (saveexec) or the new one (wrexec). */
static void run_saveexec(struct wave *w, const struct op *op)
{
    uint64_t old = w->sgpr[ISA_EXEC_LO];
    if (op->n_dst > 1) old |= (uint64_t)w->sgpr[ISA_EXEC_HI] << 32;
    uint64_t now = new_exec(op->inst.id, scalar_read(w, op->in[0]), old);
    if (op->n_dst < 2) now = (uint32_t)now;
    bool saves = strstr(op->inst.row->name, "saveexec");
    write_result(w, op, saves ? old : now);
    w->sgpr[ISA_EXEC_LO] = (uint32_t)now;
    if (op->n_dst > 1) w->sgpr[ISA_EXEC_HI] = (uint32_t)(now >> 32);
    exec_changed(w);
    w->scc = now;
}

/* Register numbers moved by M0; what is moved past the SGPRs is no register. */
static void run_movrel_scalar(struct wave *w, const struct op *op)
{
    uint32_t m0 = w->sgpr[ISA_M0];
    unsigned id = op->inst.id, from = op->in[0]->reg, to = op->dst;
    bool moves_from = id == ISA_s_movrels_b32_SOP1 || id == ISA_s_movrels_b64_SOP1;
    bool both = id == ISA_s_movrelsd_2_b32_SOP1;
    if (both) {
        from += m0 & 0xff;
        to += m0 >> 16 & 0x3ff;
    } else if (moves_from) {
        if (m0 < ISA_VCC_LO)
            from += m0;
        else
            from = ISA_VCC_LO;
    } else {
        if (m0 < ISA_VCC_LO)
            to += m0;
        else
            to = ISA_VCC_LO;
    }
    if (to + op->n_dst > ISA_VCC_LO || ((moves_from || both) && from + op->n_dst > ISA_VCC_LO)) {
        struct finding f = { .kind = SIM_BAD_REGISTER, .rule = -1 };
        report(w, op, &f, "M0 is 0x%x: that is past the scalar registers", m0);
        return;
    }
    uint64_t value;
    if (moves_from || both)
        value = w->sgpr[from] | (op->n_dst > 1 ? (uint64_t)w->sgpr[from + 1] << 32 : 0);
    else
        value = scalar_read(w, op->in[0]);
    define_sgprs(w, to, op->n_dst);
    w->sgpr[to] = (uint32_t)value;
    if (op->n_dst > 1) w->sgpr[to + 1] = (uint32_t)(value >> 32);
}

/* ---- hardware registers ---- */

enum {
    HW_MODE = 1,
    HW_STATUS = 2,
    HW_TRAPSTS = 3,
    HW_HW_ID = 4,
    HW_GPR_ALLOC = 5,
    HW_LDS_ALLOC = 6,
    HW_IB_STS = 7,
    HW_SH_MEM_BASES = 15,
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
           (id >= HW_FLAT_SCR_LO && id <= HW_POPS_PACKER);
}

static void run_hwreg(struct wave *w, const struct op *op)
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
        write_result(w, op, value >> first & mask);
        return;
    }
    const struct isa_operand *from =
        op->inst.id == ISA_s_setreg_b32_SOPK ? op->out : op_find(&op->inst, ISA_OP_SRC0);
    uint32_t bits = (uint32_t)scalar_read(w, from);
    hwreg_write(w, id, (value & ~(mask << first)) | (bits & mask) << first);
}

static void run_mode(struct wave *w, const struct op *op)
{
    unsigned shift = op->inst.id == ISA_s_denorm_mode_SOPP ? 4 : 0;
    w->mode = (w->mode & ~(15u << shift)) | ((unsigned)op->inst.imm & 15) << shift;
}

/* ---- flow ---- */

static bool is_taken(const struct wave *w, unsigned id)
{
    switch (id) {
    case ISA_s_branch_SOPP: return true;
    case ISA_s_cbranch_scc0_SOPP: return !w->scc;
    case ISA_s_cbranch_scc1_SOPP: return w->scc;
    case ISA_s_cbranch_vccz_SOPP: return !mask_read(w, ISA_VCC_LO);
    case ISA_s_cbranch_vccnz_SOPP: return mask_read(w, ISA_VCC_LO);
    case ISA_s_cbranch_execz_SOPP: return !w->exec;
    case ISA_s_cbranch_execnz_SOPP: return w->exec;
    default: return false; /* the debugger's conditions are never true */
    }
}

static void jump(struct wave *w, int32_t words)
{
    w->pc += (uint64_t)((int64_t)words * 4);
}

void run_branch(struct wave *w, const struct op *op)
{
    if (is_taken(w, op->inst.id)) jump(w, op->inst.imm);
}

static void run_getpc(struct wave *w, const struct op *op)
{
    write_result(w, op, w->pc);
}

static void run_setpc(struct wave *w, const struct op *op)
{
    uint64_t to = scalar_read(w, op->in[0]), back = w->pc;
    if (op->inst.id == ISA_s_swappc_b64_SOP1) write_result(w, op, back);
    w->pc = to;
}

static void run_call(struct wave *w, const struct op *op)
{
    write_result(w, op, w->pc);
    jump(w, op->inst.imm);
}

/* Wave64 code may run a loop for each half of EXEC; the register keeps the half that waits. */
static void run_subvector(struct wave *w, const struct op *op)
{
    uint32_t lo = w->sgpr[ISA_EXEC_LO], hi = w->sgpr[ISA_EXEC_HI];
    uint32_t *s = &w->sgpr[op->dst];
    if (op->inst.id == ISA_s_subvector_loop_begin_SOPK) {
        if (!lo && !hi) {
            jump(w, op->inst.imm);
        } else if (!lo) {
            *s = lo;
        } else {
            *s = hi;
            w->sgpr[ISA_EXEC_HI] = 0;
        }
    } else if (hi) {
        w->sgpr[ISA_EXEC_LO] = *s;
    } else if (!*s) {
        /* nothing waits: the loop is over */
    } else {
        w->sgpr[ISA_EXEC_HI] = *s;
        *s = lo;
        w->sgpr[ISA_EXEC_LO] = 0;
        jump(w, op->inst.imm);
    }
    exec_changed(w);
}

static void run_end(struct wave *w, const struct op *op)
{
    (void)op;
    w->state = WAVE_DONE;
}

static void run_barrier(struct wave *w, const struct op *op)
{
    (void)op;
    if (w->core->n_waves > 1) w->state = WAVE_BARRIER;
}

static void run_sleep(struct wave *w, const struct op *op)
{
    (void)w;
    (void)op;
    sched_yield();
}

static void run_message(struct wave *w, const struct op *op)
{
    const struct sim_options *options = &w->core->sim->options;
    if (options->message)
        options->message(options->context, (unsigned)op->inst.imm & 0xffff, w->sgpr[ISA_M0]);
    if (op->inst.id == ISA_s_sendmsghalt_SOPP) w->state = WAVE_DONE;
}

static void run_trap(struct wave *w, const struct op *op)
{
    const struct sim_options *options = &w->core->sim->options;
    struct finding f = { .kind = SIM_TRAP, .rule = -1 };
    unsigned number = (unsigned)op->inst.imm & 0xff;
    if (options->trap) {
        struct sim_report where = { .kind = SIM_TRAP,
                                    .rule = -1,
                                    .kernel = w->core->run->dispatch->kernel,
                                    .address = w->pc - op->bytes,
                                    .wave = w->number,
                                    .lanes = w->exec,
                                    .instruction = "s_trap",
                                    .reason = "" };
        if (options->trap(options->context, number, &where)) {
            w->state = WAVE_DONE;
            return;
        }
    }
    f.lanes = w->exec;
    report(w, op, &f, "trap %u", number);
}

static void run_wait(struct wave *w, const struct op *op)
{
    unsigned k = (unsigned)op->inst.imm & 0xffff;
    switch (op->inst.id) {
    case ISA_s_waitcnt_SOPP:
        wave_wait(w, &w->vm, (k & 15) | (k >> 14 & 3) << 4);
        wave_wait(w, &w->lgkm, k >> 8 & 63);
        break;
    case ISA_s_waitcnt_vmcnt_SOPK:
        wave_wait(w, &w->vm, (unsigned)(scalar_read(w, op->out) + k) & 63);
        break;
    case ISA_s_waitcnt_lgkmcnt_SOPK:
        wave_wait(w, &w->lgkm, (unsigned)(scalar_read(w, op->out) + k) & 63);
        break;
    case ISA_s_waitcnt_vscnt_SOPK:
        wave_wait(w, &w->vs, (unsigned)(scalar_read(w, op->out) + k) & 63);
        break;
    case ISA_s_wait_idle_SOPP:
        wave_wait(w, &w->vm, 0);
        wave_wait(w, &w->lgkm, 0);
        wave_wait(w, &w->vs, 0);
        break;
    default: break; /* expcnt: exports and GDS only; depctr: see patterns.c */
    }
}

static const struct {
    uint16_t id;
    op_fn *run;
} handlers[] = {
    { ISA_s_movk_i32_SOPK, run_movk },
    { ISA_s_cmovk_i32_SOPK, run_cmovk },
    { ISA_s_cmov_b32_SOP1, run_cmov },
    { ISA_s_cmov_b64_SOP1, run_cmov },
    { ISA_s_bitset0_b32_SOP1, run_bitset },
    { ISA_s_bitset0_b64_SOP1, run_bitset },
    { ISA_s_bitset1_b32_SOP1, run_bitset },
    { ISA_s_bitset1_b64_SOP1, run_bitset },
    { ISA_s_movrels_b32_SOP1, run_movrel_scalar },
    { ISA_s_movrels_b64_SOP1, run_movrel_scalar },
    { ISA_s_movreld_b32_SOP1, run_movrel_scalar },
    { ISA_s_movreld_b64_SOP1, run_movrel_scalar },
    { ISA_s_movrelsd_2_b32_SOP1, run_movrel_scalar },
    { ISA_s_getreg_b32_SOPK, run_hwreg },
    { ISA_s_setreg_b32_SOPK, run_hwreg },
    { ISA_s_setreg_imm32_b32_SOPK, run_hwreg },
    { ISA_s_round_mode_SOPP, run_mode },
    { ISA_s_denorm_mode_SOPP, run_mode },
    { ISA_s_getpc_b64_SOP1, run_getpc },
    { ISA_s_setpc_b64_SOP1, run_setpc },
    { ISA_s_swappc_b64_SOP1, run_setpc },
    { ISA_s_call_b64_SOPK, run_call },
    { ISA_s_subvector_loop_begin_SOPK, run_subvector },
    { ISA_s_subvector_loop_end_SOPK, run_subvector },
    { ISA_s_endpgm_SOPP, run_end },
    { ISA_s_endpgm_saved_SOPP, run_end },
    { ISA_s_endpgm_ordered_ps_done_SOPP, run_end },
    { ISA_s_barrier_SOPP, run_barrier },
    { ISA_s_sleep_SOPP, run_sleep },
    { ISA_s_sendmsg_SOPP, run_message },
    { ISA_s_sendmsghalt_SOPP, run_message },
    { ISA_s_trap_SOPP, run_trap },
    { ISA_s_waitcnt_SOPP, run_wait },
    { ISA_s_waitcnt_vmcnt_SOPK, run_wait },
    { ISA_s_waitcnt_lgkmcnt_SOPK, run_wait },
    { ISA_s_waitcnt_vscnt_SOPK, run_wait },
    { ISA_s_waitcnt_expcnt_SOPK, run_wait },
    { ISA_s_waitcnt_depctr_SOPP, run_wait },
    { ISA_s_wait_idle_SOPP, run_wait },
    /* without effect on results */
    { ISA_s_nop_SOPP, run_nothing },
    { ISA_s_wakeup_SOPP, run_nothing },
    { ISA_s_setprio_SOPP, run_nothing },
    { ISA_s_icache_inv_SOPP, run_nothing },
    { ISA_s_incperflevel_SOPP, run_nothing },
    { ISA_s_decperflevel_SOPP, run_nothing },
    { ISA_s_ttracedata_SOPP, run_nothing },
    { ISA_s_ttracedata_imm_SOPP, run_nothing },
    { ISA_s_inst_prefetch_SOPP, run_nothing },
    { ISA_s_clause_SOPP, run_nothing },
    { ISA_s_version_SOPK, run_nothing },
};

op_fn *salu_handler(unsigned isa_id)
{
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].id == isa_id) return handlers[i].run;
    const struct isa_row *row = isa_row(isa_id);
    bool changes_exec = row && row->encoding == ISA_SOP1 && row->implicit & ISA_W_EXEC;
    return changes_exec ? run_saveexec : NULL;
}

/* ---- scalar memory that is no memory: time, caches, the number of the wave ---- */

void run_smem_other(struct wave *w, const struct op *op)
{
    switch (op->inst.id) {
    case ISA_s_memtime_SMEM: write_result(w, op, w->n_instructions + clock_ticks()); break;
    case ISA_s_memrealtime_SMEM: write_result(w, op, clock_ticks()); break;
    case ISA_s_get_waveid_in_workgroup_SMEM: write_result(w, op, w->number); break;
    case ISA_s_gl1_inv_SMEM:
    case ISA_s_dcache_inv_SMEM:
    case ISA_s_dcache_wb_SMEM:
    case ISA_s_dcache_discard_SMEM:
    case ISA_s_dcache_discard_x2_SMEM: break;
    default: run_illegal(w, op); return;
    }
    if (op->n_dst) wave_load_begins(w, op, ISA_LGKMCNT, true);
}
