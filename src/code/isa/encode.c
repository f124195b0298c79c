/* encode.c: instructions to words: the frame, operands, scalar ALU; then the proof: the words are
 * decoded again, and what comes back must be what was asked for.
 *
 * So nothing is encoded that the decoder reads otherwise: a modifier that the words have no place
 * for comes back as 0 and is named in the refusal. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "code/isa/encoder.h"

void isa_encode_fail(struct isa_encoder *e, const char *format, ...)
{
    if (e->failed) return;
    e->failed = true;
    if (!e->bytes) return;
    va_list args;
    va_start(args, format);
    vsnprintf(e->why, e->bytes, format, args);
    va_end(args);
}

void isa_put(struct isa_encoder *e, unsigned field, uint32_t value, const char *name)
{
    unsigned low = field & 255, n_bits = (field >> 8) - low + 1;
    if (value >> (n_bits - 1) > 1)
        isa_encode_fail(e, "%s: %s %" PRIu32 " does not fit into %u bits", e->row->name, name,
                        value, n_bits);
    else
        e->words |= (uint64_t)value << low;
}

void isa_put_signed(struct isa_encoder *e, unsigned field, int32_t value, const char *name)
{
    unsigned n_bits = (field >> 8) - (field & 255) + 1;
    int32_t most = (int32_t)(1u << (n_bits - 1)) - 1;
    if (value < -most - 1 || value > most)
        isa_encode_fail(e, "%s: %s %" PRId32 " is not within %" PRId32 " and %" PRId32,
                        e->row->name, name, value, -most - 1, most);
    else
        isa_put(e, field, (uint32_t)value & ((2u << (n_bits - 1)) - 1), name);
}

static const char *role_name(unsigned role)
{
    static const char *const names[] = { "result",   "second result", "source 0", "source 1",
                                         "source 2", "address",       "data",     "second data",
                                         "base",     "resource",      "sampler",  "offset" };
    return role < sizeof names / sizeof *names ? names[role] : "operand";
}

const struct isa_operand *isa_operand_of(const struct isa_inst *in, unsigned role, unsigned n)
{
    for (unsigned i = 0; i < in->n_operands && i < ISA_MAX_OPERANDS; i++)
        if (in->op[i].role == role && !n--) return &in->op[i];
    return NULL;
}

static const struct isa_operand *take(struct isa_encoder *e, unsigned role)
{
    const struct isa_operand *op = isa_operand_of(e->in, role, 0);
    if (!op) isa_encode_fail(e, "%s lacks its %s", e->row->name, role_name(role));
    return op;
}

void isa_put_vgpr(struct isa_encoder *e, unsigned field, unsigned role)
{
    const struct isa_operand *op = take(e, role);
    if (!op) return;
    if (op->kind != ISA_KIND_VGPR || op->reg < ISA_VGPR0 || op->reg > ISA_VGPR0 + 255)
        isa_encode_fail(e, "%s: the %s must be one of v0 to v255", e->row->name, role_name(role));
    else
        isa_put(e, field, op->reg - ISA_VGPR0, role_name(role));
}

void isa_put_sgpr(struct isa_encoder *e, unsigned field, unsigned role, unsigned unit)
{
    const struct isa_operand *op = take(e, role);
    if (!op) return;
    if (op->kind != ISA_KIND_REG || op->reg > ISA_EXEC_HI)
        isa_encode_fail(e, "%s: the %s must be a scalar register", e->row->name, role_name(role));
    else if (op->reg % unit)
        isa_encode_fail(e, "%s: the %s starts at register %u, no multiple of %u", e->row->name,
                        role_name(role), op->reg, unit);
    else
        isa_put(e, field, op->reg / unit, role_name(role));
}

static void take_literal(struct isa_encoder *e, uint32_t value)
{
    if (e->has_literal && e->literal != value)
        isa_encode_fail(e, "%s: two literals, 0x%" PRIx32 " and 0x%" PRIx32 ", and room for one",
                        e->row->name, e->literal, value);
    e->has_literal = true;
    e->literal = value;
}

unsigned isa_source_code(struct isa_encoder *e, unsigned role)
{
    const struct isa_operand *op = take(e, role);
    if (!op) return 0;
    unsigned code = op->reg;
    const char *wrong = NULL;
    switch (op->kind) {
    case ISA_KIND_VGPR:
        if (code < ISA_VGPR0 || code > ISA_VGPR0 + 255) wrong = "no VGPR";
        break;
    case ISA_KIND_REG:
        if (code > ISA_EXEC_HI) wrong = "no scalar register";
        break;
    case ISA_KIND_INLINE:
        if (code < 128 || code > 248 || (code > 208 && code < 240)) wrong = "no inline constant";
        break;
    case ISA_KIND_SPECIAL:
        if (code < ISA_SHARED_BASE || code > ISA_LDS_DIRECT || (code >= 240 && code <= 250))
            wrong = "no special source";
        break;
    case ISA_KIND_LITERAL:
        code = SRC_LITERAL;
        take_literal(e, op->value);
        break;
    default: isa_encode_fail(e, "%s: the %s cannot be off", e->row->name, role_name(role)); break;
    }
    if (wrong)
        isa_encode_fail(e, "%s: the %s, code %u, is %s", e->row->name, role_name(role), code,
                        wrong);
    return code;
}

void isa_put_src(struct isa_encoder *e, unsigned field, unsigned role)
{
    unsigned code = isa_source_code(e, role);
    bool nine_bits = (field >> 8) - (field & 255) == 8;
    if (code >= ISA_VGPR0 && !nine_bits)
        isa_encode_fail(e, "%s: the %s cannot be a VGPR", e->row->name, role_name(role));
    if (!e->failed) isa_put(e, field, code, role_name(role));
}

void isa_put_literal(struct isa_encoder *e, unsigned role)
{
    const struct isa_operand *op = take(e, role);
    if (op) take_literal(e, op->value);
}

static void encode_sop(struct isa_encoder *e)
{
    const struct isa_row *row = e->row;
    if (row->id == ISA_s_setreg_imm32_b32_SOPK) {
        isa_put_literal(e, ISA_OP_SRC0);
    } else if (row->dst) {
        isa_put_sgpr(e, AT_SDST, ISA_OP_DST, 1);
    }
    if (row->encoding == ISA_SOPK || row->encoding == ISA_SOPP) {
        isa_put_signed(e, AT_SIMM, e->in->imm, "constant");
        return;
    }
    if (row->src[0]) isa_put_src(e, AT_SSRC0, ISA_OP_SRC0);
    if (row->src[1]) isa_put_src(e, AT_SSRC1, ISA_OP_SRC1);
}

/* The fixed bits and the place of the opcode, by encoding. */
static const struct {
    uint32_t base;
    uint16_t opcode; /* enum isa_field */
    uint8_t n_words;
} frames[ISA_N_ENCODINGS] = {
    [ISA_SOP1] = { 0xbe800000, AT_SOP1_OP, 1 },    [ISA_SOP2] = { 0x80000000, AT_SOP2_OP, 1 },
    [ISA_SOPC] = { 0xbf000000, AT_SOPC_OP, 1 },    [ISA_SOPK] = { 0xb0000000, AT_SOPK_OP, 1 },
    [ISA_SOPP] = { 0xbf800000, AT_SOPP_OP, 1 },    [ISA_SMEM] = { 0xf4000000, AT_SMEM_OP, 2 },
    [ISA_VOP1] = { 0x7e000000, AT_VOP1_OP, 1 },    [ISA_VOP2] = { 0x00000000, AT_VOP2_OP, 1 },
    [ISA_VOPC] = { 0x7c000000, AT_VOPC_OP, 1 },    [ISA_VOP3] = { 0xd4000000, AT_VOP3_OP, 2 },
    [ISA_VOP3P] = { 0xcc000000, AT_VOP3P_OP, 2 },  [ISA_VINTRP] = { 0xc8000000, AT_VINTRP_OP, 1 },
    [ISA_DS] = { 0xd8000000, AT_DS_OP, 2 },        [ISA_MUBUF] = { 0xe0000000, AT_MUBUF_OP, 2 },
    [ISA_MTBUF] = { 0xe8000000, AT_MTBUF_OP, 2 },  [ISA_MIMG] = { 0xf0000000, AT_MIMG_OP, 2 },
    [ISA_FLAT] = { 0xdc000000, AT_FLAT_OP, 2 },    [ISA_GLOBAL] = { 0xdc008000, AT_FLAT_OP, 2 },
    [ISA_SCRATCH] = { 0xdc004000, AT_FLAT_OP, 2 }, [ISA_EXP] = { 0xf8000000, 0, 2 },
};

static void encode_fields(struct isa_encoder *e)
{
    unsigned encoding = e->row->encoding, opcode = e->row->opcode;
    bool vop = encoding == ISA_VOP1 || encoding == ISA_VOP2 || encoding == ISA_VOPC;
    if (vop && e->in->form == ISA_FORM_E64) {
        opcode += encoding == ISA_VOP1 ? 0x180 : encoding == ISA_VOP2 ? 0x100 : 0;
        encoding = ISA_VOP3;
    }
    e->words = frames[encoding].base;
    e->n_words = frames[encoding].n_words;
    /* Two encodings keep the highest bit of the opcode apart. */
    if (encoding == ISA_MTBUF) isa_put(e, AT_MTBUF_D16, opcode >> 3, "opcode");
    if (encoding == ISA_MIMG) isa_put(e, AT_MIMG_OP7, opcode >> 7, "opcode");
    opcode &= encoding == ISA_MTBUF ? 7 : encoding == ISA_MIMG ? 127 : 1023;
    if (encoding != ISA_EXP) isa_put(e, frames[encoding].opcode, opcode, "opcode");
    switch (encoding) {
    case ISA_VOP1:
    case ISA_VOP2:
    case ISA_VOPC: isa_encode_vop(e); break;
    case ISA_VOP3: isa_encode_vop3(e); break;
    case ISA_VOP3P: isa_encode_vop3p(e); break;
    case ISA_VINTRP: isa_encode_vintrp(e); break;
    case ISA_SMEM: isa_encode_smem(e); break;
    case ISA_DS: isa_encode_ds(e); break;
    case ISA_MUBUF:
    case ISA_MTBUF: isa_encode_buffer(e); break;
    case ISA_MIMG: isa_encode_mimg(e); break;
    case ISA_EXP: isa_encode_exp(e); break;
    case ISA_FLAT:
    case ISA_GLOBAL:
    case ISA_SCRATCH: isa_encode_flat(e); break;
    default: encode_sop(e); break;
    }
}

size_t isa_encode_any(unsigned chip, const struct isa_inst *inst, uint32_t words[ISA_MAX_WORDS],
                      char *why, size_t bytes)
{
    struct isa_encoder e = { .in = inst, .row = isa_row(inst->id), .why = why, .bytes = bytes };
    struct isa_inst back;
    unsigned number = chip & ~(unsigned)ISA_WAVE64;
    if (bytes) why[0] = 0;
    memset(words, 0, ISA_MAX_WORDS * sizeof *words);
    if (number >= ISA_N_CHIPS) {
        isa_encode_fail(&e, "no such chip: %u", number);
        return 0;
    }
    if (!e.row || inst->n_operands > ISA_MAX_OPERANDS) {
        isa_encode_fail(&e, "no instruction: number %u with %u operands", inst->id,
                        inst->n_operands);
        return 0;
    }
    if (!(e.row->chips >> number & 1)) {
        isa_encode_fail(&e, "%s has no %s", isa_chip_name(number), e.row->name);
        return 0;
    }
    if (inst->form > ISA_FORM_DPP8 || !(e.row->forms >> inst->form & 1)) {
        static const char *const forms[] = { "short", "64-bit", "SDWA", "DPP", "DPP8" };
        isa_encode_fail(&e, "%s has no %s form", e.row->name,
                        inst->form > ISA_FORM_DPP8 ? "such" : forms[inst->form]);
        return 0;
    }
    encode_fields(&e);
    if (e.failed) return 0;
    words[0] = (uint32_t)e.words;
    words[1] = (uint32_t)(e.words >> 32);
    memcpy(words + 2, e.more, sizeof e.more);
    unsigned n = e.n_words;
    if (e.has_literal) words[n++] = e.literal;

    if (isa_decode(chip, words, n, &back) != n)
        isa_encode_fail(&e, "%s: no instruction has these operands and modifiers", e.row->name);
    else
        isa_compare(&e, &back);
    if (e.failed) memset(words, 0, ISA_MAX_WORDS * sizeof *words);
    return e.failed ? 0 : n;
}

size_t isa_encode(unsigned chip, const struct isa_inst *inst, uint32_t words[ISA_MAX_WORDS],
                  char *why, size_t bytes)
{
    struct isa_inst back;
    size_t n = isa_encode_any(chip, inst, words, why, bytes);
    if (!n || isa_decode(chip, words, n, &back) != n) return 0;
    const char *refusal = isa_refusal(&back);
    if (!refusal) return n;
    memset(words, 0, ISA_MAX_WORDS * sizeof *words);
    if (bytes) snprintf(why, bytes, "%s: %s", back.row->name, refusal);
    return 0;
}
