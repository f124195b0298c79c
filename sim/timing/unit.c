/* unit.c: which unit an instruction occupies and for how long, and what it depends on. */
#include "sim/timing/model.h"

#include <string.h>

/* Full 32-bit multiplications and what contains one. */
static bool is_quarter_rate(unsigned id)
{
    switch (id) {
    case ISA_v_mul_lo_u32_VOP3:
    case ISA_v_mul_lo_i32_VOP3:
    case ISA_v_mul_hi_u32_VOP3:
    case ISA_v_mul_hi_i32_VOP3:
    case ISA_v_mad_u64_u32_VOP3:
    case ISA_v_mad_i64_i32_VOP3: return true;
    default: return false;
    }
}

static bool is_wide(unsigned id)
{
    return id == ISA_v_lshlrev_b64_VOP3 || id == ISA_v_lshrrev_b64_VOP3 ||
           id == ISA_v_ashrrev_i64_VOP3;
}

static void set_valu(const struct record_inst *i, const struct timing_values *v,
                     struct unit_inst *out)
{
    const uint64_t flags = i->inst.row->flags;
    double clocks = 1, latency = v->valu_latency_clk;
    out->unit = UNIT_VALU;
    if (flags & ISA_F64_RATE) {
        clocks = v->f64_clk;
        latency = v->f64_latency_clk;
    } else if (flags & ISA_TRANS) {
        out->unit = UNIT_TRANS;
        clocks = v->trans_clk;
        latency = v->trans_latency_clk;
    } else if (is_quarter_rate(i->inst.id)) {
        clocks = v->quarter_clk;
        latency = v->quarter_latency_clk;
    } else if (is_wide(i->inst.id)) {
        clocks = v->wide_clk;
        latency = v->wide_latency_clk;
    }
    out->clocks = (uint8_t)clocks;
    out->latency = (uint8_t)latency;
    out->fma = i->klass == SIM_CLASS_FMA || i->klass == SIM_CLASS_PKFMA;
}

static uint8_t wait_of(unsigned count, unsigned all)
{
    return count >= all ? NO_WAIT : (uint8_t)count;
}

static void set_wait(const struct isa_inst *inst, struct unit_inst *out)
{
    const unsigned k = (unsigned)inst->imm & 0xffff;
    out->unit = UNIT_WAIT;
    switch (inst->id) {
    case ISA_s_waitcnt_SOPP:
        out->wait[0] = wait_of((k & 15) | (k >> 14 & 3) << 4, 63);
        out->wait[1] = wait_of(k >> 8 & 63, 63);
        break;
    case ISA_s_waitcnt_vmcnt_SOPK: out->wait[0] = wait_of(k & 63, 63); break;
    case ISA_s_waitcnt_lgkmcnt_SOPK: out->wait[1] = wait_of(k & 63, 63); break;
    case ISA_s_waitcnt_vscnt_SOPK: out->wait[2] = wait_of(k & 63, 63); break;
    case ISA_s_wait_idle_SOPP: memset(out->wait, 0, sizeof out->wait); break;
    default: break;
    }
}

static void add(struct unit_inst *out, uint8_t *n, unsigned reg)
{
    if (out->n_read + out->n_write == MOST_REGISTERS) return;
    out->reg[out->n_read + out->n_write] = (uint16_t)reg;
    ++*n;
}

static void add_set(struct unit_inst *out, uint8_t *n, const uint64_t *set, unsigned words,
                    unsigned first)
{
    for (unsigned i = 0; i < words; i++)
        for (uint64_t rest = set[i]; rest; rest &= rest - 1)
            add(out, n, first + 64 * i + (unsigned)__builtin_ctzll(rest));
}

static void set_registers(const struct record_inst *i, struct unit_inst *out)
{
    const struct isa_uses *uses = &i->uses;
    add_set(out, &out->n_read, uses->vgpr_read, 4, 0);
    add_set(out, &out->n_read, uses->sgpr_read, 2, 256);
    if (uses->special & ISA_R_SCC) add(out, &out->n_read, 384);
    if (out->unit != UNIT_VALU && out->unit != UNIT_TRANS && out->unit != UNIT_SALU) return;
    add_set(out, &out->n_write, uses->vgpr_write, 4, 0);
    add_set(out, &out->n_write, uses->sgpr_write, 2, 256);
    if (uses->special & ISA_W_SCC) add(out, &out->n_write, 384);
}

void unit_of(const struct record_inst *i, const struct timing_values *v, struct unit_inst *out)
{
    const uint64_t flags = i->inst.row->flags;
    memset(out, 0, sizeof *out);
    memset(out->wait, NO_WAIT, sizeof out->wait);
    out->address = i->address;
    out->bytes = (uint8_t)(4 * i->inst.n_words);
    out->clocks = 1;
    if (flags & ISA_END)
        out->unit = UNIT_END;
    else if (flags & ISA_BARRIER)
        out->unit = UNIT_BARRIER;
    else if (flags & ISA_WAIT)
        set_wait(&i->inst, out);
    else if (flags & (ISA_BRANCH | ISA_JUMP))
        out->unit = UNIT_BRANCH;
    else if (flags & ISA_IS_DS)
        out->unit = UNIT_LDS;
    else if (flags & ISA_SCALAR_MEM)
        out->unit = UNIT_SMEM;
    else if (flags & ISA_VMEM)
        out->unit = i->uses.counters & ISA_VMCNT ? UNIT_LOAD : UNIT_STORE;
    else if (flags & ISA_VALU)
        set_valu(i, v, out);
    else if (i->klass == SIM_CLASS_SALU) {
        out->unit = UNIT_SALU;
        out->latency = (uint8_t)v->salu_latency_clk;
    } else
        out->unit = UNIT_OTHER;
    out->typed = i->inst.row->encoding == ISA_MTBUF || flags & ISA_IMAGE ||
                 (i->inst.row->moves >= ISA_MOVES_X && i->inst.row->moves < ISA_N_MOVES);
    set_registers(i, out);
}
