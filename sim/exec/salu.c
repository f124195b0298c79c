/* salu.c: scalar ALU instructions, and which function executes each scalar instruction. */
#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/state/registers.h"

void run_nothing(struct wave *w, const struct op *op)
{
    (void)w;
    (void)op;
}

void run_salu(struct wave *w, const struct op *op)
{
    uint64_t a = op->in[0] ? scalar_read(w, op->in[0]) : 0;
    uint64_t b = op->in[1] ? scalar_read(w, op->in[1]) : 0;
    scalar_write(w, op, op->fn.salu(a, b, &w->scc));
}

void run_salu_compare(struct wave *w, const struct op *op)
{
    op->fn.salu(scalar_read(w, op->in[0]), scalar_read(w, op->in[1]), &w->scc);
}

void run_salu_k(struct wave *w, const struct op *op)
{
    uint64_t old = scalar_read(w, op->out);
    uint64_t r = op->fn.salu(old, (uint32_t)op->inst.imm, &w->scc);
    if (op->out->access & ISA_WRITE) scalar_write(w, op, r);
}

/* ---- instructions with a handler of their own ---- */

static void run_movk(struct wave *w, const struct op *op)
{
    scalar_write(w, op, (uint32_t)op->inst.imm);
}

static void run_cmovk(struct wave *w, const struct op *op)
{
    if (w->scc) scalar_write(w, op, (uint32_t)op->inst.imm);
}

static void run_cmov(struct wave *w, const struct op *op)
{
    if (w->scc) scalar_write(w, op, scalar_read(w, op->in[0]));
}

static void run_bitset(struct wave *w, const struct op *op)
{
    uint64_t old = scalar_read(w, op->out), n = scalar_read(w, op->in[0]);
    uint64_t bit = UINT64_C(1) << (n & (op->n_dst > 1 ? 63 : 31));
    bool set = op->inst.id == ISA_s_bitset1_b32_SOP1 || op->inst.id == ISA_s_bitset1_b64_SOP1;
    scalar_write(w, op, set ? old | bit : old & ~bit);
}

/* The EXEC that s_*_saveexec and s_*_wrexec make of the old one and a source. */
static uint64_t new_exec(unsigned does, uint64_t s, uint64_t exec)
{
    switch (does) {
    case ISA_DOES_AND: return s & exec;
    case ISA_DOES_OR: return s | exec;
    case ISA_DOES_XOR: return s ^ exec;
    case ISA_DOES_NAND: return ~(s & exec);
    case ISA_DOES_NOR: return ~(s | exec);
    case ISA_DOES_XNOR: return ~(s ^ exec);
    case ISA_DOES_ANDN1: return ~s & exec;
    case ISA_DOES_ORN1: return ~s | exec;
    case ISA_DOES_ANDN2: return s & ~exec;
    default: return s | ~exec; /* ISA_DOES_ORN2 */
    }
}

/* The result is the old EXEC (saveexec) or the new one (wrexec). */
static void run_saveexec(struct wave *w, const struct op *op)
{
    uint64_t old = w->sgpr[ISA_EXEC_LO];
    if (op->n_dst > 1) old |= (uint64_t)w->sgpr[ISA_EXEC_HI] << 32;
    const struct isa_row *row = op->inst.row;
    uint64_t now = new_exec(row->does, scalar_read(w, op->in[0]), old);
    if (op->n_dst < 2) now = (uint32_t)now;
    scalar_write(w, op, row->flags & ISA_OLD_EXEC ? old : now);
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
