/* refusal.c: what decodes, but LLVM's assembler refuses to write. */
#include <string.h>

#include "code/isa/encode.h"
#include "code/isa/internal.h"

static bool is_literal(const struct isa_operand *op)
{
    return op->kind == ISA_KIND_LITERAL;
}

/* Does an operand come over the bus that brings scalars and literals to the vector ALU? */
static bool on_bus(const struct isa_operand *op)
{
    return (op->kind == ISA_KIND_REG && op->reg != ISA_NULL) ||
           (op->kind == ISA_KIND_SPECIAL && op->reg != ISA_LDS_DIRECT);
}

static bool same(const struct isa_operand *a, const struct isa_operand *b)
{
    return a->reg == b->reg && (a->kind == ISA_KIND_SPECIAL || a->n_regs == b->n_regs);
}

/* How many different scalars a vector instruction reads, literals and VCC without a name included.
 * Registers that overlap count as different ones, as LLVM has it. */
static unsigned count_bus_uses(const struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    unsigned count = 0, literal_sizes = 0;
    /* VCC where no field names it is the pair, also in wave32, and so is not vcc_lo. */
    bool unnamed_carry = row->src[2] == ISA_MASK && in->form != ISA_FORM_E64;
    bool vcc = row->implicit & ISA_R_VCC || unnamed_carry;
    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct isa_operand *op = &in->op[i];
        if (op->role < ISA_OP_SRC0 || op->role > ISA_OP_SRC2) continue;
        if (unnamed_carry && op->role == ISA_OP_SRC2) continue;
        if (is_literal(op)) {
            unsigned size = isa_type_regs[op->type] == 2 ? 2 : 1;
            if (!(literal_sizes & size)) count++; /* of two sizes two, though the word is one */
            literal_sizes |= size;
        }
        if (!on_bus(op)) continue;
        bool known = vcc && op->reg == ISA_VCC_LO && op->n_regs == 2;
        for (unsigned k = 0; k < i; k++)
            known |= in->op[k].role >= ISA_OP_SRC0 && on_bus(&in->op[k]) && same(&in->op[k], op);
        if (!known) count++;
    }
    return count + vcc;
}

/* Shifts of 64 bits read one scalar, all else two. */
static unsigned bus_limit(const struct isa_row *row)
{
    return row->id == ISA_v_lshlrev_b64_VOP3 || row->id == ISA_v_lshrrev_b64_VOP3 ||
                   row->id == ISA_v_ashrrev_i64_VOP3
               ? 1
               : 2;
}

/* v_subrev_* and the shifts that take the amount first. */
static bool is_reversed(const struct isa_row *row)
{
    return strstr(row->name, "subrev") || strstr(row->name, "shlrev") ||
           strstr(row->name, "shrrev");
}

static const char *vector_refusal(const struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct isa_operand *op = &in->op[i];
        if (op->kind == ISA_KIND_SPECIAL && op->reg == ISA_LDS_DIRECT) {
            if (is_reversed(row) || in->form == ISA_FORM_SDWA)
                return "lds_direct cannot be read here";
            if (op->role != ISA_OP_SRC0) return "lds_direct can be source 0 only";
        }
        if (is_literal(op) && row->flags & ISA_LANE && op->role == ISA_OP_SRC1)
            return "the number of a lane cannot be a literal";
        /* Of the short forms LLVM writes 1/(2 pi) for floats only. */
        if (in->id == ISA_v_ldexp_f16_VOP2 && in->form == ISA_FORM_SDWA &&
            op->role == ISA_OP_SRC1 && op->kind == ISA_KIND_INLINE && op->reg == 248)
            return "a float that is no exponent";
        if (is_literal(op) && op->mods && op->type == ISA_F64)
            return "a literal of 64 bits with neg or abs";
    }
    if (row->flags & ISA_INTERP && in->attr > 32) return "no such attribute: there are 33";
    if (count_bus_uses(in) > bus_limit(row)) return "too many scalar registers and literals";
    return NULL;
}

static const char *image_refusal(const struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    unsigned dmask = in->dmask, data, address, n_addresses = 0;
    if (row->flags & ISA_BVH) return NULL;
    if (row->flags & ISA_MSAA && in->dim < 6) return "not for this dim: it has one sample";
    isa_image_wants(in, &data, &address);
    for (unsigned i = 0; i < in->n_operands; i++)
        if (in->op[i].role == ISA_OP_ADDR) n_addresses += in->op[i].n_regs;
    if (in->op[0].n_regs != data) return "the data's registers are not what dmask, d16 and tfe say";
    if (n_addresses != address) return "the address's registers are not what dim and a16 say";
    if (row->flags & ISA_GATHER && (!dmask || dmask & (dmask - 1)))
        return "a gather's dmask has one bit";
    if (row->flags & ISA_ATOMIC && dmask != 1 && dmask != 3 && dmask != 15)
        return "an atomic's dmask is 1, 3 or 15";
    return NULL;
}

static const char *memory_refusal(const struct isa_inst *in)
{
    const struct isa_row *row = in->row;
    switch (row->encoding) {
    case ISA_SMEM:
        if (in->n_operands && in->op[0].reg == ISA_NULL && isa_type_regs[row->dst] > 2)
            return "null stands for two registers at most";
        /* The offset of a buffer is unsigned: the sign bit is none of its own. */
        if (row->src[0] == ISA_B128 && in->imm < 0) return "the offset into a buffer is negative";
        break;
    case ISA_MUBUF:
        if (in->tfe && row->flags & ISA_STORE) return "a store has no tfe";
        if (in->has_literal) return "the offset of a buffer cannot be a literal";
        break;
    case ISA_MTBUF:
        if (in->has_literal) return "the offset of a buffer cannot be a literal";
        break;
    case ISA_FLAT:
        if (in->imm > 2047) return "the offset has more than 11 bits";
        break;
    case ISA_MIMG: return image_refusal(in);
    default: break;
    }
    return NULL;
}

const char *isa_refusal(const struct isa_inst *in)
{
    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct isa_operand *op = &in->op[i];
        /* EXEC as a carry is marked by LLVM's printer, and taken by its assembler. */
        bool carry = op->type == ISA_MASK && op->role == ISA_OP_SRC2 && op->kind == ISA_KIND_REG;
        if (!carry && !isa_operand_is_legal(in, op))
            return "an operand is of a kind that it cannot be";
    }
    if (in->row->flags & ISA_VALU) return vector_refusal(in);
    return memory_refusal(in);
}
