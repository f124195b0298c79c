/* partial.c: registers of which only some bits were written.
 *
 * Compilers pack bytes and halves into registers whose other bits nothing ever wrote, and take them
 * out again with shifts and masks. So lanes that are neither written nor unwritten as a whole have
 * their written bits in wave.vgpr_bits. Only instructions that meet such lanes come here. */
#include "sim/check/check.h"
#include "sim/state/registers.h"

#define ALL UINT32_MAX

uint32_t vgpr_bits(const struct wave *w, unsigned v, unsigned lane)
{
    if (w->vgpr_defined[v] >> lane & 1) return ALL;
    return w->vgpr_partial[v] >> lane & 1 ? w->vgpr_bits[(size_t)v * w->n_lanes + lane] : 0;
}

void partial_set(struct wave *w, unsigned v, unsigned lane, uint32_t bits)
{
    const uint64_t bit = UINT64_C(1) << lane;
    w->vgpr_bits[(size_t)v * w->n_lanes + lane] = bits;
    if (bits) /* also all of them: one word of a result may be whole and the other not */
        w->vgpr_partial[v] |= bit;
    else
        w->vgpr_partial[v] &= ~bit;
}

/* ---- bits of results from bits of sources; `d` are written bits, `v` values ---- */

static uint32_t low_bits(uint32_t n)
{
    return n < 32 ? (1u << n) - 1 : ALL;
}

/* A sum or a product is known up to the lowest bit that is not. */
static uint32_t below_first_gap(uint32_t d)
{
    return d & (d ^ (d + 1));
}

static uint32_t and_bits(uint32_t v0, uint32_t d0, uint32_t v1, uint32_t d1)
{
    return (d0 & d1) | (d0 & ~v0) | (d1 & ~v1);
}

static uint32_t or_bits(uint32_t v0, uint32_t d0, uint32_t v1, uint32_t d1)
{
    return (d0 & d1) | (d0 & v0) | (d1 & v1);
}

static uint32_t left_bits(uint32_t d, uint32_t n, uint32_t known_n)
{
    return known_n == ALL ? d << (n & 31) | low_bits(n & 31) : 0;
}

static uint32_t right_bits(uint32_t d, uint32_t n, uint32_t known_n)
{
    return known_n == ALL ? d >> (n & 31) | ~(ALL >> (n & 31)) : 0;
}

static uint32_t field_bits(const uint32_t v[3], const uint32_t d[3], bool is_signed)
{
    const uint32_t width = v[2] & 31, field = d[0] >> (v[1] & 31);
    if (d[1] != ALL || d[2] != ALL) return 0;
    if (!width) return ALL;
    if (is_signed && !(field >> (width - 1) & 1)) return field & low_bits(width);
    return field | ~low_bits(width);
}

static uint32_t perm_bits(const uint32_t v[3], const uint32_t d[3])
{
    const uint64_t bytes = d[1] | (uint64_t)d[0] << 32;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned pick = v[2] >> 8 * i & 255;
        uint32_t byte = 255;
        if (pick < 8)
            byte = (uint32_t)(bytes >> 8 * pick) & 255;
        else if (pick < 12) /* the sign of byte 1, 3, 5 or 7 */
            byte = bytes >> (16 * (pick - 8) + 15) & 1 ? 255 : 0;
        if ((d[2] >> 8 * i & 255) == 255) result |= byte << 8 * i;
    }
    return result;
}

/* The written bits of a result of 32 bits; all or nothing where no rule is known. */
static uint32_t result_bits(const struct op *op, const uint32_t v[3], const uint32_t d[3],
                            bool *has_rule)
{
    const uint32_t both = d[0] & d[1];
    const uint64_t pair = d[1] | (uint64_t)d[0] << 32;
    switch (op->inst.id) {
    case ISA_v_mov_b32_VOP1:
    case ISA_v_not_b32_VOP1: return d[0];
    case ISA_v_and_b32_VOP2: return and_bits(v[0], d[0], v[1], d[1]);
    case ISA_v_or_b32_VOP2: return or_bits(v[0], d[0], v[1], d[1]);
    case ISA_v_or3_b32_VOP3:
        return or_bits(v[0] | v[1], or_bits(v[0], d[0], v[1], d[1]), v[2], d[2]);
    case ISA_v_and_or_b32_VOP3:
        return or_bits(v[0] & v[1], and_bits(v[0], d[0], v[1], d[1]), v[2], d[2]);
    case ISA_v_xor_b32_VOP2:
    case ISA_v_xnor_b32_VOP2: return both;
    case ISA_v_xor3_b32_VOP3: return both & d[2];
    case ISA_v_lshlrev_b32_VOP2: return left_bits(d[1], v[0], d[0]);
    case ISA_v_lshrrev_b32_VOP2: return right_bits(d[1], v[0], d[0]);
    case ISA_v_ashrrev_i32_VOP2: return d[0] == ALL ? (uint32_t)((int32_t)d[1] >> (v[0] & 31)) : 0;
    case ISA_v_lshlrev_b16_VOP3: return left_bits(d[1], v[0] & 15, d[0]) | 0xffff0000;
    case ISA_v_lshrrev_b16_VOP3: return right_bits(d[1] | 0xffff0000, v[0] & 15, d[0]) | 0xffff0000;
    case ISA_v_lshl_or_b32_VOP3:
        return or_bits(v[0] << (v[1] & 31), left_bits(d[0], v[1], d[1]), v[2], d[2]);
    case ISA_v_bfe_u32_VOP3: return field_bits(v, d, false);
    case ISA_v_bfe_i32_VOP3: return field_bits(v, d, true);
    case ISA_v_bfi_b32_VOP3: return d[0] & ((v[0] & d[1]) | (~v[0] & d[2]));
    case ISA_v_alignbit_b32_VOP3: return d[2] == ALL ? (uint32_t)(pair >> (v[2] & 31)) : 0;
    case ISA_v_alignbyte_b32_VOP3: return d[2] == ALL ? (uint32_t)(pair >> 8 * (v[2] & 3)) : 0;
    case ISA_v_perm_b32_VOP3: return perm_bits(v, d);
    case ISA_v_pack_b32_f16_VOP3: return (d[0] & 0xffff) | d[1] << 16;
    case ISA_v_cvt_f32_ubyte0_VOP1: return (d[0] & 0xff) == 0xff ? ALL : 0;
    case ISA_v_cvt_f32_ubyte1_VOP1: return (d[0] >> 8 & 0xff) == 0xff ? ALL : 0;
    case ISA_v_cvt_f32_ubyte2_VOP1: return (d[0] >> 16 & 0xff) == 0xff ? ALL : 0;
    case ISA_v_cvt_f32_ubyte3_VOP1: return d[0] >> 24 == 0xff ? ALL : 0;
    case ISA_v_add_nc_u32_VOP2:
    case ISA_v_sub_nc_u32_VOP2:
    case ISA_v_subrev_nc_u32_VOP2:
    case ISA_v_mul_lo_u32_VOP3: return op->inst.clamp && both != ALL ? 0 : below_first_gap(both);
    case ISA_v_add3_u32_VOP3: return below_first_gap(both & d[2]);
    case ISA_v_lshl_add_u32_VOP3: return below_first_gap(left_bits(d[0], v[1], d[1]) & d[2]);
    case ISA_v_add_lshl_u32_VOP3: return left_bits(below_first_gap(both), v[2], d[2]);
    default: *has_rule = false; return both == ALL && d[2] == ALL ? ALL : 0;
    }
}

/* ---- operands ---- */

/* What SDWA selects of a register: bits that it fills in are written. */
static uint32_t selected(uint32_t bits, unsigned select, bool is_signed, bool is_value)
{
    const unsigned width = select < 4 ? 8 : 16, shift = select < 4 ? 8 * select : 16 * (select & 1);
    if (select > 5) return bits;
    const uint32_t part = bits >> shift & low_bits(width), sign = part >> (width - 1) & 1;
    if (is_value) return is_signed && sign ? part | ~low_bits(width) : part;
    return is_signed && !sign ? part : part | ~low_bits(width);
}

/* Value and written bits of one source in one lane. */
static void read_source(const struct wave *w, const struct op *op, unsigned i, unsigned lane,
                        uint32_t *v, uint32_t *d)
{
    const struct isa_operand *in = op->in[i];
    const bool sdwa = op->inst.form == ISA_FORM_SDWA && i < 2;
    *d = ALL;
    *v = 0;
    if (!in) return;
    if (in->kind == ISA_KIND_VGPR) {
        const unsigned n = in->reg - (unsigned)ISA_VGPR0;
        *v = vgpr_row(w, n)[lane];
        for (unsigned k = 0; k < in->n_regs && n + k < 256; k++) *d &= vgpr_bits(w, n + k, lane);
    } else {
        *v = (uint32_t)scalar_read(w, in);
        if (in->kind == ISA_KIND_REG && in->reg < 128 && in->reg != ISA_NULL)
            for (unsigned k = 0; k < in->n_regs && in->reg + k < 128u; k++)
                *d &= w->sgpr_defined[in->reg + k];
    }
    if (sdwa) {
        const unsigned select = i ? op->inst.src1_sel : op->inst.src0_sel;
        *v = selected(*v, select, in->mods & ISA_SEXT, true);
        *d = selected(*d, select, in->mods & ISA_SEXT, false);
    } else if (in->type == ISA_B16 || in->type == ISA_F16) {
        const unsigned shift = op->inst.op_sel >> i & 1 ? 16 : 0;
        *v = *v >> shift & 0xffff;
        *d = *d >> shift | 0xffff0000;
    }
}

/* Where SDWA puts a result into the old register. */
static uint32_t placed(const struct isa_inst *inst, uint32_t bits, uint32_t old)
{
    const unsigned select = inst->dst_sel, width = select < 4 ? 8 : 16;
    const unsigned shift = select < 4 ? 8 * select : 16 * (select & 1);
    if (select > 5) return bits;
    const uint32_t mask = low_bits(width) << shift;
    const uint32_t part = (bits & low_bits(width)) << shift;
    if (inst->dst_unused == 2) return part | (old & ~mask); /* preserve */
    const bool sign = inst->dst_unused != 1 || bits >> (width - 1) & 1;
    return part | (sign ? ~mask : ~mask & low_bits(shift));
}

/* Shifts of 64 bits: the amount comes first. */
static uint64_t wide_shift(const struct wave *w, const struct op *op, unsigned lane)
{
    const struct isa_operand *in = op->in[1];
    uint32_t amount, known;
    read_source(w, op, 0, lane, &amount, &known);
    if (known != ALL || in->kind != ISA_KIND_VGPR) return 0;
    const unsigned v = in->reg - (unsigned)ISA_VGPR0, n = amount & 63;
    if (v + 1 >= 256) return 0;
    const uint64_t d = vgpr_bits(w, v, lane) | (uint64_t)vgpr_bits(w, v + 1, lane) << 32;
    if (op->inst.id == ISA_v_lshlrev_b64_VOP3) return d << n | ((UINT64_C(1) << n) - 1);
    if (op->inst.id == ISA_v_ashrrev_i64_VOP3) return (uint64_t)((int64_t)d >> n);
    return d >> n | ~(~UINT64_C(0) >> n);
}

/* The written bits of a result in a lane, 32 for each of its registers. `*has_rule` false: none, as
 * long as no source has bits that are written in part. */
static uint64_t lane_bits(const struct wave *w, const struct op *op, unsigned lane, bool *has_rule)
{
    uint32_t v[3], d[3];
    *has_rule = true;
    switch (op->inst.id) {
    case ISA_v_lshlrev_b64_VOP3:
    case ISA_v_lshrrev_b64_VOP3:
    case ISA_v_ashrrev_i64_VOP3: return wide_shift(w, op, lane);
    default: break;
    }
    for (unsigned i = 0; i < 3; i++) read_source(w, op, i, lane, &v[i], &d[i]);
    if (op->inst.id == ISA_v_cndmask_b32_VOP2) {
        const unsigned mask = op->in[2] ? op->in[2]->reg : (unsigned)ISA_VCC_LO;
        const unsigned part = mask + (lane >> 5);
        if (part >= 128 || !(w->sgpr_defined[part] >> (lane & 31) & 1)) return 0;
        return w->sgpr[part] >> (lane & 31) & 1 ? d[1] : d[0];
    }
    bool masked = op->inst.row->implicit & ISA_R_VCC || op->inst.row->flags & ISA_ACC;
    for (unsigned i = 0; i < 3; i++) masked |= op->in[i] && op->in[i]->type == ISA_MASK;
    if (masked) {
        *has_rule = false;
        return 0;
    }
    const uint32_t bits = result_bits(op, v, d, has_rule);
    return op->n_dst < 2 ? bits : bits == ALL ? ~UINT64_C(0) : 0;
}

/* Whether a source has such bits in any of the lanes. */
static bool has_partial_source(const struct wave *w, const struct op *op, uint64_t lanes)
{
    uint64_t partial = 0;
    for (unsigned i = 0; i < 3; i++) {
        const struct isa_operand *in = op->in[i];
        if (!in || in->kind != ISA_KIND_VGPR) continue;
        for (unsigned k = 0, v = in->reg - (unsigned)ISA_VGPR0; k < in->n_regs && v < 256; k++, v++)
            partial |= w->vgpr_partial[v];
    }
    return partial & lanes;
}

uint64_t partial_result(struct wave *w, const struct op *op, uint64_t lanes)
{
    const unsigned n = op->out && op->out->kind == ISA_KIND_VGPR ? op->n_dst : 0;
    const bool moved = op->inst.form == ISA_FORM_DPP16 || op->inst.form == ISA_FORM_DPP8 || n > 2;
    const bool placed_in = n == 1 && op->inst.form == ISA_FORM_SDWA;
    uint64_t whole = 0;
    bool has_rule = true;
    /* Mostly nothing of the result is written, and one lane tells. */
    if (!moved && !placed_in) (void)lane_bits(w, op, (unsigned)__builtin_ctzll(lanes), &has_rule);
    if (!has_rule && !has_partial_source(w, op, lanes)) {
        for (unsigned k = 0; k < n && op->dst + k < 256u; k++)
            w->vgpr_partial[op->dst + k] &= ~w->exec;
        return 0;
    }
    for (unsigned k = 0; k < n && op->dst + k < 256u; k++)
        w->vgpr_partial[op->dst + k] &= ~(w->exec & ~lanes);
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(rest);
        const uint64_t bit = UINT64_C(1) << lane;
        uint64_t bits = moved ? 0 : lane_bits(w, op, lane, &has_rule);
        if (placed_in) bits = placed(&op->inst, (uint32_t)bits, vgpr_bits(w, op->dst, lane));
        if (bits == (n == 2 ? ~UINT64_C(0) : ALL)) whole |= bit;
        for (unsigned k = 0; k < n && op->dst + k < 256u; k++) {
            const uint32_t word = k < 2 ? (uint32_t)(bits >> 32 * k) : 0;
            partial_set(w, op->dst + k, lane, word);
        }
    }
    return whole;
}

/* ---- scalar ---- */

/* A field of a scalar: its low bits, then zeros or copies of its sign. */
static uint64_t scalar_field(uint64_t d, unsigned first, unsigned width, bool is_signed)
{
    const uint64_t field = d >> first, mask = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
    if (!width) return UINT64_MAX;
    if (is_signed && !(field >> (width - 1) & 1)) return field & mask;
    return (field & mask) | ~mask;
}

static uint64_t scalar_shift(const struct op *op, uint64_t d, uint64_t amount, bool wide)
{
    const unsigned n = (unsigned)amount & (wide ? 63 : 31);
    if (!wide) d &= ALL;
    switch (op->inst.id) {
    case ISA_s_lshl_b32_SOP2:
    case ISA_s_lshl_b64_SOP2: return d << n | ((UINT64_C(1) << n) - 1);
    case ISA_s_ashr_i32_SOP2: return (uint32_t)((int32_t)(uint32_t)d >> n);
    case ISA_s_ashr_i64_SOP2: return (uint64_t)((int64_t)d >> n);
    default: return d >> n | ~((wide ? UINT64_MAX : ALL) >> n);
    }
}

uint64_t partial_scalar(const struct wave *w, const struct op *op, uint64_t d0, uint64_t d1)
{
    const uint64_t v1 = op->in[1] ? scalar_read(w, op->in[1]) : 0;
    const bool wide = op->out && op->out->n_regs == 2;
    const unsigned first = (unsigned)v1 & (wide ? 63 : 31), most = (wide ? 64 : 32) - first;
    const unsigned wanted = (unsigned)(v1 >> 16) & 127, width = wanted < most ? wanted : most;
    switch (op->inst.id) {
    case ISA_s_lshl_b32_SOP2:
    case ISA_s_lshl_b64_SOP2:
    case ISA_s_lshr_b32_SOP2:
    case ISA_s_lshr_b64_SOP2:
    case ISA_s_ashr_i32_SOP2:
    case ISA_s_ashr_i64_SOP2: return d1 == UINT64_MAX ? scalar_shift(op, d0, v1, wide) : 0;
    case ISA_s_bfe_u32_SOP2:
    case ISA_s_bfe_u64_SOP2: return d1 == UINT64_MAX ? scalar_field(d0, first, width, false) : 0;
    case ISA_s_bfe_i32_SOP2:
    case ISA_s_bfe_i64_SOP2: return d1 == UINT64_MAX ? scalar_field(d0, first, width, true) : 0;
    case ISA_s_sext_i32_i8_SOP1: return scalar_field(d0, 0, 8, true);
    case ISA_s_sext_i32_i16_SOP1: return scalar_field(d0, 0, 16, true);
    case ISA_s_pack_ll_b32_b16_SOP2: return (d0 & 0xffff) | d1 << 16;
    case ISA_s_pack_lh_b32_b16_SOP2: return (d0 & 0xffff) | (d1 & 0xffff0000);
    case ISA_s_pack_hh_b32_b16_SOP2: return (d0 >> 16 & 0xffff) | (d1 & 0xffff0000);
    case ISA_s_add_u32_SOP2:
    case ISA_s_add_i32_SOP2:
    case ISA_s_sub_u32_SOP2:
    case ISA_s_sub_i32_SOP2:
    case ISA_s_mul_i32_SOP2: return below_first_gap((uint32_t)(d0 & d1));
    default: return 0; /* one source is not whole: nothing is known of the result */
    }
}
