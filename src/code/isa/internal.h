/* internal.h: what the table, the decoder and the printer share; not for other folders. */
#ifndef RMCP_ISA_INTERNAL_H
#define RMCP_ISA_INTERNAL_H

#include "code/isa/isa.h"

/* isa_row.mods: which modifiers a VOP instruction takes in 64 bits, in SDWA and in DPP words. */
enum {
    M_NONE = 0,
    M_NEG0 = 1,
    M_NEG1 = 2,
    M_NEG2 = 4,
    M_ABS0 = 8,
    M_ABS1 = 16,
    M_ABS2 = 32,
    M_CLAMP = 64,
    M_OMOD = 128,
    M_OPSEL = 256,
    M_IGNORE = 512,   /* neg and abs bits not listed mean nothing; without it they are illegal */
    M_SDST = 1024,    /* VOP3b: a second result, where the others have abs and op_sel */
    M_PERM = 2048,    /* op_sel holds fi and bound_ctrl */
    M_INT_OUT = 4096, /* integer result: no omod in SDWA */
    M_INT1 = 8192,    /* sources 1 and 2 are integers: their neg bit is sext */
    M_MIX = 16384,    /* VOP3P where neg_hi is abs and op_sel_hi is off by default */

    M_FP1C = M_NEG0 | M_ABS0 | M_CLAMP,
    M_FP1 = M_FP1C | M_OMOD,
    M_FP2C = M_FP1C | M_NEG1 | M_ABS1,
    M_FP2 = M_FP2C | M_OMOD,
    M_FP3 = M_FP2 | M_NEG2 | M_ABS2,
    M_OUT = M_CLAMP | M_OMOD,
    M_HALF_INT2 = M_IGNORE | M_CLAMP | M_OPSEL,
    M_HALF_INT3 = M_HALF_INT2,
    M_HALF2 = M_FP2C | M_OPSEL,
    M_HALF3 = M_FP3 | M_OPSEL,
    M_CLASS = M_NEG0 | M_ABS0,
    M_LDEXP = M_NEG0 | M_NEG1 | M_ABS0 | M_IGNORE | M_CLAMP | M_OMOD | M_INT1,
    M_PERMLANE = M_IGNORE | M_PERM,
    M_SELECT = M_NEG0 | M_NEG1 | M_ABS0 | M_ABS1,
    M_PK_U8 = M_NEG0 | M_NEG1 | M_NEG2 | M_ABS0 | M_IGNORE | M_CLAMP | M_INT1,
    M_CARRY = M_SDST | M_CLAMP,
    M_DIV_SCALE = M_SDST | M_NEG0 | M_NEG1 | M_NEG2 | M_CLAMP | M_OMOD,
    M_DOT4C = M_IGNORE,
    M_PK = 0,
    M_INTERP1 = M_NEG1 | M_ABS1 | M_OUT,
    M_INTERP2 = M_INTERP1 | M_NEG2 | M_ABS2,
    M_INTERP2C = M_INTERP2 & ~M_OMOD,
};

/* Where each encoding starts in the table of slots. */
enum {
    SLOT_SOP1 = 0,
    SLOT_SOP2 = SLOT_SOP1 + 256,
    SLOT_SOPC = SLOT_SOP2 + 128,
    SLOT_SOPK = SLOT_SOPC + 128,
    SLOT_SOPP = SLOT_SOPK + 32,
    SLOT_SMEM = SLOT_SOPP + 128,
    SLOT_VOP1 = SLOT_SMEM + 256,
    SLOT_VOP2 = SLOT_VOP1 + 256,
    SLOT_VOPC = SLOT_VOP2 + 64,
    SLOT_VOP3 = SLOT_VOPC + 256,
    SLOT_VOP3P = SLOT_VOP3 + 1024,
    SLOT_VINTRP = SLOT_VOP3P + 128,
    SLOT_DS = SLOT_VINTRP + 4,
    SLOT_MUBUF = SLOT_DS + 256,
    SLOT_MTBUF = SLOT_MUBUF + 256,
    SLOT_MIMG = SLOT_MTBUF + 16,
    SLOT_FLAT = SLOT_MIMG + 256,
    SLOT_GLOBAL = SLOT_FLAT + 128,
    SLOT_SCRATCH = SLOT_GLOBAL + 128,
    SLOT_EXP = SLOT_SCRATCH + 128,
    N_SLOTS = SLOT_EXP + 1,
};

extern const struct isa_row isa_rows[ISA_N_IDS];
/* Number of 32-bit registers of a type; ISA_MASK is 1 here and 2 in wave64. */
extern const uint8_t isa_type_regs[ISA_N_TYPES];

/* Ids by slot; past N_SLOTS lie rows that the chips lack. */
extern const uint16_t isa_slots_gfx101x[N_SLOTS + 2 * ISA_N_IDS];
extern const uint16_t isa_slots_gfx1030[N_SLOTS + 2 * ISA_N_IDS];

/* The row of a slot on a chip, or NULL. */
static inline const struct isa_row *isa_slot(unsigned chip, unsigned slot)
{
    unsigned id = chip == ISA_GFX1030 ? isa_slots_gfx1030[slot] : isa_slots_gfx101x[slot];
    const struct isa_row *row = &isa_rows[id];
    return row->chips >> chip & 1 ? row : NULL;
}

/* The first two words as fields.h counts their bits. */
static inline uint64_t isa_first_two(const struct isa_inst *in)
{
    return in->word[0] | (uint64_t)in->word[1] << 32;
}

/* The families of memory encodings, in decode_mem.c; false when refused. */
bool isa_decode_smem(struct isa_inst *in);
bool isa_decode_ds(struct isa_inst *in);
bool isa_decode_buffer(struct isa_inst *in);
bool isa_decode_flat(struct isa_inst *in);
bool isa_decode_mimg(struct isa_inst *in, size_t n_words);
bool isa_decode_exp(struct isa_inst *in);
bool isa_decode_vintrp(struct isa_inst *in);

/* isa_is_legal for one operand. */
bool isa_operand_is_legal(const struct isa_inst *in, const struct isa_operand *op);

/* The registers of data and of address that the modifiers of an image instruction ask for. LLVM
 * decodes it with fewer where it has no form of that size. */
void isa_image_wants(const struct isa_inst *in, unsigned *data, unsigned *address);

/* Append an operand. Each returns false when the code names no such register. */
struct isa_operand *isa_push(struct isa_inst *in, enum isa_role role, unsigned access);
bool isa_push_vgpr(struct isa_inst *in, enum isa_role role, unsigned access, unsigned v,
                   unsigned n_regs);
bool isa_push_sgpr(struct isa_inst *in, enum isa_role role, unsigned access, unsigned code,
                   unsigned n_regs);
bool isa_push_src(struct isa_inst *in, enum isa_role role, unsigned code, unsigned type);

#endif
