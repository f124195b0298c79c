/* isa.h: gfx10.1 and gfx10.3 instructions: decode, print, and what each reads and writes.
 *
 * One row per instruction (the .inc files of this folder) is the whole description; the enum
 * of rows, the decoder, the printer and the register uses are all made from it. LLVM 19 is
 * the judge (tests/isa/test_isa_llvm.c): what it accepts, refuses and prints, so do we. */
#ifndef RMCP_ISA_ISA_H
#define RMCP_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum isa_chip {
    ISA_GFX1010 = 0,
    ISA_GFX1011 = 1,
    ISA_GFX1012 = 2,
    ISA_GFX1013 = 3,
    ISA_GFX1030 = 4,
    ISA_N_CHIPS = 5,
    ISA_WAVE64 = 0x100, /* or it to a chip: lane masks are then SGPR pairs; default is wave32 */
};

/* The encoding a row is listed under. A VOP1, VOP2 or VOPC row is also found in VOP3 (64-bit),
 * SDWA and DPP words: that is the `form` of a decoded instruction. */
enum isa_encoding {
    ISA_SOP1,
    ISA_SOP2,
    ISA_SOPC,
    ISA_SOPK,
    ISA_SOPP,
    ISA_SMEM,
    ISA_VOP1,
    ISA_VOP2,
    ISA_VOPC,
    ISA_VOP3,
    ISA_VOP3P,
    ISA_VINTRP,
    ISA_DS,
    ISA_MUBUF,
    ISA_MTBUF,
    ISA_MIMG,
    ISA_FLAT,
    ISA_GLOBAL,
    ISA_SCRATCH,
    ISA_EXP,
    ISA_N_ENCODINGS
};

enum isa_form {
    ISA_FORM_BASE, /* the shortest encoding of the row */
    ISA_FORM_E64,  /* VOP1, VOP2, VOPC in VOP3 words */
    ISA_FORM_SDWA,
    ISA_FORM_DPP16,
    ISA_FORM_DPP8,
};

/* What an operand is, by width and by how its constants are written. */
enum isa_type {
    ISA_NONE,
    ISA_B16, /* 16-bit integer */
    ISA_F16,
    ISA_PF16, /* two halves */
    ISA_B32,  /* 32 bits, integer or float */
    ISA_B64,
    ISA_F64,
    ISA_B96,
    ISA_B128,
    ISA_B256,
    ISA_B512,
    ISA_MASK, /* one bit a lane: 32 bits in wave32, 64 in wave64 */
    ISA_V32,  /* like the above, but the hardware takes a VGPR only */
    ISA_V128,
    ISA_L32, /* VGPR or lds_direct */
    ISA_S32, /* SGPR only */
    ISA_S64,
    ISA_C32,  /* SGPR or constant */
    ISA_CL32, /* SGPR, constant or lds_direct */
    ISA_K16,  /* a constant that follows in its own word, 16 bits used */
    ISA_K32,  /* same, 32 bits */
    /* simm16 of SOPK and SOPP, by how it is written */
    ISA_SIMM_DEC,
    ISA_SIMM_HEX,
    ISA_SIMM_OPT, /* not written when 0 */
    ISA_TARGET,   /* words from the next instruction to the target */
    ISA_HWREG,
    ISA_WAITCNT,
    ISA_DEPCTR,
    ISA_SENDMSG,
    ISA_VERSION,
    ISA_N_TYPES
};

/* isa_row.moves: what a memory instruction moves in one piece, of a lane (SMEM: in all). Not for
 * images. */
enum isa_moves {
    ISA_MOVES_NONE,
    ISA_MOVES_U8, /* loads fill up with zeros or, of I, with the sign */
    ISA_MOVES_I8,
    ISA_MOVES_U16,
    ISA_MOVES_I16,
    ISA_MOVES_W1, /* words of 32 bits */
    ISA_MOVES_W2,
    ISA_MOVES_W3,
    ISA_MOVES_W4,
    ISA_MOVES_W8,
    ISA_MOVES_W16,
    ISA_MOVES_X, /* components of a format, a register each */
    ISA_MOVES_XY,
    ISA_MOVES_XYZ,
    ISA_MOVES_XYZW,
    ISA_MOVES_HX, /* the same in 16 bits each */
    ISA_MOVES_HXY,
    ISA_MOVES_HXYZ,
    ISA_MOVES_HXYZW,
    ISA_N_MOVES
};

/* isa_row.does: what an atomic (not of images) or a bitwise scalar instruction computes, where `a`
 * is the first source or memory, `b` the second source, the data, or EXEC. */
enum isa_does {
    ISA_DOES_NONE,
    ISA_DOES_COPY,
    ISA_DOES_NOT,
    ISA_DOES_SELECT, /* by SCC */
    ISA_DOES_AND,
    ISA_DOES_OR,
    ISA_DOES_XOR,
    ISA_DOES_NAND,
    ISA_DOES_NOR,
    ISA_DOES_XNOR,
    ISA_DOES_ANDN1, /* ~a & b */
    ISA_DOES_ORN1,
    ISA_DOES_ANDN2, /* a & ~b */
    ISA_DOES_ORN2,
    ISA_DOES_SWAP,
    ISA_DOES_CMPSWAP,
    ISA_DOES_ADD,
    ISA_DOES_SUB,
    ISA_DOES_RSUB,
    ISA_DOES_CSUB, /* not below 0 */
    ISA_DOES_SMIN,
    ISA_DOES_UMIN,
    ISA_DOES_SMAX,
    ISA_DOES_UMAX,
    ISA_DOES_INC, /* up to the data, then 0 */
    ISA_DOES_DEC,
    ISA_DOES_FCMPSWAP,
    ISA_DOES_FMIN,
    ISA_DOES_FMAX,
    ISA_DOES_FADD,
    ISA_DOES_MSKOR,
    ISA_DOES_WRAP,
    ISA_DOES_CONDXCHG,
};

/* isa_row.flags: what class an instruction is of. */
#define ISA_SALU (UINT64_C(1) << 0)       /* SOP1, SOP2, SOPC, SOPK, SOPP */
#define ISA_VALU (UINT64_C(1) << 1)       /* VOP*, VINTRP */
#define ISA_SCALAR_MEM (UINT64_C(1) << 2) /* SMEM */
#define ISA_VMEM (UINT64_C(1) << 3)       /* MUBUF, MTBUF, MIMG, GLOBAL, SCRATCH and FLAT */
#define ISA_IS_DS (UINT64_C(1) << 4)
#define ISA_IS_FLAT (UINT64_C(1) << 5) /* FLAT proper: may touch LDS; not GLOBAL, not SCRATCH */
#define ISA_BRANCH (UINT64_C(1) << 6)  /* SOPP or SOPK with a target relative to the pc */
#define ISA_JUMP (UINT64_C(1) << 7)    /* s_setpc, s_swappc, s_call, s_rfe: ends straight code */
#define ISA_BARRIER (UINT64_C(1) << 8)
#define ISA_WAIT (UINT64_C(1) << 9)   /* any s_waitcnt* and s_wait_idle */
#define ISA_TRANS (UINT64_C(1) << 10) /* quarter rate: exp, log, rcp, rsq, sqrt, sin, cos */
#define ISA_EXPORT (UINT64_C(1) << 11)
#define ISA_IMAGE (UINT64_C(1) << 12)
#define ISA_ATOMIC (UINT64_C(1) << 13)
#define ISA_LOAD (UINT64_C(1) << 14)  /* memory is read into registers */
#define ISA_STORE (UINT64_C(1) << 15) /* memory is written; an atomic has both or this one */
#define ISA_CMP (UINT64_C(1) << 16)   /* V_CMP*, S_CMP*, S_BITCMP*, S_CMPK* */
#define ISA_CMPX (UINT64_C(1) << 17)  /* VALU that writes EXEC */
#define ISA_END (UINT64_C(1) << 18)   /* s_endpgm and its kin: nothing follows */
#define ISA_LANE (UINT64_C(1) << 19)  /* v_readlane, v_readfirstlane, v_writelane */
#define ISA_PERMLANE (UINT64_C(1) << 20)
#define ISA_DOT (UINT64_C(1) << 21)
#define ISA_PACKED (UINT64_C(1) << 22)   /* VOP3P */
#define ISA_MESSAGE (UINT64_C(1) << 23)  /* s_sendmsg* */
#define ISA_CACHE (UINT64_C(1) << 24)    /* invalidates or writes back a cache */
#define ISA_D16 (UINT64_C(1) << 25)      /* load that keeps the other half of its register */
#define ISA_SAMPLER (UINT64_C(1) << 26)  /* MIMG with a sampler operand */
#define ISA_F64_RATE (UINT64_C(1) << 27) /* double precision arithmetic */
#define ISA_ACC (UINT64_C(1) << 28) /* destination is also read: v_fmac, v_mac, v_dot2c, s_addk */
#define ISA_INDEXED (UINT64_C(1) << 29) /* M0 moves the register number: s_movrel*, v_movrel* */
#define ISA_INTERP (UINT64_C(1) << 30)
#define ISA_TWO_DATA (UINT64_C(1) << 31) /* ds_*2_*: two offsets of 8 bits */
#define ISA_SRC2 (UINT64_C(1) << 32)     /* ds_*_src2_* */
#define ISA_ADDTID (UINT64_C(1) << 33)
#define ISA_CALL (UINT64_C(1) << 34)      /* also writes a return address */
#define ISA_PARTIAL (UINT64_C(1) << 35)   /* writes a part of its destination: old bits survive */
#define ISA_GATHER (UINT64_C(1) << 36)    /* MIMG: four texels whatever dmask says */
#define ISA_READS_DST (UINT64_C(1) << 37) /* the register in the place of a result is a source */
#define ISA_NO_EXEC (UINT64_C(1) << 38)   /* VALU that does not look at EXEC */
#define ISA_LDS_DMA (UINT64_C(1) << 39)   /* the lds bit is legal: memory to LDS */
#define ISA_GDS_ONLY (UINT64_C(1) << 40)
#define ISA_NO_GDS (UINT64_C(1) << 41)
#define ISA_G16 (UINT64_C(1) << 42)    /* MIMG: gradients of 16 bits */
#define ISA_BVH (UINT64_C(1) << 43)    /* MIMG: ray against box or triangle */
#define ISA_MSAA (UINT64_C(1) << 44)   /* MIMG: image_msaa_load */
#define ISA_NO_D16 (UINT64_C(1) << 45) /* MIMG: the d16 bit is illegal */
#define ISA_HALF (UINT64_C(1) << 46)   /* VALU result of 16 bits: the register's other half stays */
#define ISA_D16_HI (UINT64_C(1) << 47) /* load or store of the high half of a register */
#define ISA_ST64 (UINT64_C(1) << 48)   /* ISA_TWO_DATA with offsets in units of 64 pieces */
#define ISA_OLD_EXEC (UINT64_C(1) << 49) /* s_*_saveexec: the result is EXEC as it was */

/* isa_row.implicit and isa_uses.special_*: state that no operand names. */
#define ISA_R_SCC (1u << 0)
#define ISA_W_SCC (1u << 1)
#define ISA_R_VCC (1u << 2)
#define ISA_W_VCC (1u << 3)
#define ISA_R_EXEC (1u << 4)
#define ISA_W_EXEC (1u << 5)
#define ISA_R_M0 (1u << 6)
#define ISA_W_M0 (1u << 7)
#define ISA_R_MODE (1u << 8)
#define ISA_W_MODE (1u << 9)
#define ISA_R_PC (1u << 10)
#define ISA_W_PC (1u << 11)
#define ISA_R_VCCZ (1u << 12) /* branches: derived bits, not the registers */
#define ISA_R_EXECZ (1u << 13)
#define ISA_R_FLAT_SCR (1u << 14) /* flat_scratch, shared and private base */
#define ISA_R_LDS_DIRECT (1u << 15)
#define ISA_R_HWREG (1u << 16)
#define ISA_W_HWREG (1u << 17)

/* Counters an instruction raises when issued (s_waitcnt waits until they fall). */
#define ISA_VMCNT 1u
#define ISA_LGKMCNT 2u
#define ISA_VSCNT 4u
#define ISA_EXPCNT 8u

/* One instruction of the table. */
struct isa_row {
    const char *name;  /* LLVM's mnemonic without _e32, _e64, _sdwa, _dpp */
    uint16_t id;       /* enum isa_id */
    uint16_t opcode;   /* in its own encoding */
    uint8_t encoding;  /* enum isa_encoding */
    uint8_t chips;     /* bit 1 << enum isa_chip */
    uint8_t counters;  /* ISA_VMCNT | ...; see isa_uses for what depends on operands */
    uint8_t dst;       /* enum isa_type of the result, or of vdata of a store */
    uint8_t src[3];    /* of the sources, in the order of the encoding */
    uint8_t forms;     /* bit 1 << enum isa_form */
    uint16_t mods;     /* which VOP modifiers are legal; internal to the decoder */
    uint8_t moves;     /* enum isa_moves */
    uint8_t does;      /* enum isa_does */
    uint32_t implicit; /* ISA_R_SCC | ... */
    uint64_t flags;    /* ISA_SALU | ... */
};

/* Every row has a name: ISA_<mnemonic>_<encoding>, e.g. ISA_v_fma_f32_VOP3. */
enum isa_id {
    ISA_ILLEGAL = 0,
#define ISA_ROW(id_, ...) id_,
#include "code/isa/rows.inc"
#undef ISA_ROW
    ISA_N_IDS
};

/* Scalar register numbers, as in the encoding; a VGPR v is ISA_VGPR0 + v. */
enum isa_reg {
    ISA_VCC_LO = 106,
    ISA_VCC_HI = 107,
    ISA_TTMP0 = 108,
    ISA_M0 = 124,
    ISA_NULL = 125,
    ISA_EXEC_LO = 126,
    ISA_EXEC_HI = 127,
    ISA_SHARED_BASE = 235,
    ISA_SHARED_LIMIT = 236,
    ISA_PRIVATE_BASE = 237,
    ISA_PRIVATE_LIMIT = 238,
    ISA_POPS_WAVE_ID = 239,
    ISA_VCCZ = 251,
    ISA_EXECZ = 252,
    ISA_SCC = 253,
    ISA_LDS_DIRECT = 254,
    ISA_VGPR0 = 256,
};

enum isa_kind {
    ISA_KIND_REG,     /* reg is a scalar register, 0 to 127 */
    ISA_KIND_VGPR,    /* reg is ISA_VGPR0 + v */
    ISA_KIND_SPECIAL, /* reg is one of 235..239, 251..254 */
    ISA_KIND_INLINE,  /* inline constant: see isa_constant */
    ISA_KIND_LITERAL, /* value is the word that followed */
    ISA_KIND_OFF,     /* no register: `off` */
};

enum isa_role {
    ISA_OP_DST,  /* vdst, sdst, sdata of any SMEM */
    ISA_OP_SDST, /* second result of VOP3b */
    ISA_OP_SRC0,
    ISA_OP_SRC1,
    ISA_OP_SRC2,
    ISA_OP_ADDR, /* VGPR address; MIMG NSA has several */
    ISA_OP_DATA, /* data to store or operate with */
    ISA_OP_DATA1,
    ISA_OP_SADDR, /* SGPR address of FLAT, sbase of SMEM */
    ISA_OP_RSRC,  /* buffer or image descriptor */
    ISA_OP_SAMP,
    ISA_OP_SOFF, /* soffset */
};

/* operand.mods */
#define ISA_NEG 1u
#define ISA_ABS 2u
#define ISA_SEXT 4u
#define ISA_READ 1u /* operand.access */
#define ISA_WRITE 2u

struct isa_operand {
    uint8_t kind;   /* enum isa_kind */
    uint8_t role;   /* enum isa_role */
    uint8_t type;   /* enum isa_type */
    uint8_t access; /* ISA_READ, ISA_WRITE */
    uint16_t reg;   /* first register, aligned as LLVM aligns it; the constant's code if inline */
    uint8_t n_regs; /* 32-bit registers touched from reg on; 0 for a constant */
    uint8_t mods;   /* ISA_NEG, ISA_ABS, ISA_SEXT */
    uint32_t value; /* literal; or inline constant: f16 and f32 bits, the high half of an f64 */
};

enum { ISA_MAX_OPERANDS = 18, ISA_MAX_WORDS = 5 };

/* A decoded instruction. Fields that its encoding does not have are 0. */
struct isa_inst {
    const struct isa_row *row;
    uint16_t id;     /* row->id */
    uint8_t n_words; /* 1 to 5 */
    uint8_t form;    /* enum isa_form */
    uint8_t n_operands;
    bool wave64;
    uint8_t chip;
    bool has_literal;
    uint32_t word[ISA_MAX_WORDS]; /* n_words of them */
    uint32_t literal;
    /* simm16 of SOPK and SOPP, sign-extended; or the memory offset in bytes (offset0 of two). FLAT
     * has 12 bits as LLVM shows them; the hardware documents the highest as unused. */
    int32_t imm;
    uint8_t offset1;
    /* VOP3, VOP3P, SDWA */
    uint8_t clamp, omod, op_sel, op_sel_hi, neg_lo, neg_hi;
    uint8_t dst_sel, dst_unused, src0_sel, src1_sel; /* SDWA */
    /* DPP; dpp_ctrl is the 9-bit control of DPP16, dpp8 the 24 bits of lanes of DPP8 */
    uint8_t row_mask, bank_mask, bound_ctrl, fi;
    uint16_t dpp_ctrl;
    uint32_t dpp8;
    /* memory */
    uint8_t glc, slc, dlc, lds, tfe, gds, offen, idxen;
    uint8_t format;                                        /* MTBUF */
    uint8_t dmask, dim, unorm, r128, a16, lwe, d16, n_nsa; /* MIMG; n_nsa: extra words */
    uint8_t attr, attr_chan;                               /* interpolation */
    uint8_t exp_target, exp_en, exp_compr, exp_done, exp_vm;
    struct isa_operand op[ISA_MAX_OPERANDS];
};

/* Registers and state one instruction reads and writes, implicit ones included.
 *
 * Bit n of sgpr_* is scalar register n: s0..s105, VCC 106 and 107, TTMP, M0 124, EXEC 126 and
 * 127 (both halves only in wave64). Reads and writes of `null` are not listed. A register is read,
 * too, when an instruction keeps a part of it (v_fmac, d16 loads, DPP without bound_ctrl, SDWA
 * preserve); not for lanes that EXEC switches off, nor for the half that a 16-bit result leaves
 * alone. */
struct isa_uses {
    uint64_t sgpr_read[2], sgpr_write[2];
    uint64_t vgpr_read[4], vgpr_write[4];
    uint32_t special; /* ISA_R_SCC | ISA_W_SCC | ISA_R_MODE ...: the whole implicit set */
    uint8_t counters; /* ISA_VMCNT | ... as raised by this very instruction */
    bool indexed;     /* M0 moves a register number: the sets name the base registers only */
};

/* Decode the instruction at words[0]; n_words are readable.
 *
 * Returns its length in words, or 0 when it is none of this chip's (also: cut off by n_words);
 * a reader then skips one word, as LLVM does, and `*out` means nothing.
 * `chip` is an enum isa_chip, ISA_WAVE64 may be or-ed to it. Reentrant. */
size_t isa_decode(unsigned chip, const uint32_t *words, size_t n_words, struct isa_inst *out);

/* The text of llvm-objdump, without the leading tab; always ends with a zero byte.
 * Returns the length the whole text has, as snprintf does; 256 bytes always suffice. */
size_t isa_print(const struct isa_inst *inst, char *text, size_t bytes);

void isa_uses(const struct isa_inst *inst, struct isa_uses *out);

/* False when an operand is of a kind the instruction cannot take (a constant as a result, an SGPR
 * where only a VGPR goes): LLVM decodes these and prints "Invalid". Seen in data, not in code. */
bool isa_is_legal(const struct isa_inst *inst);

/* The bits a constant operand (ISA_KIND_INLINE or ISA_KIND_LITERAL) stands for: 64 of them for
 * 64-bit types, where a literal is the high half of an F64 and the low half of a B64; else 32. */
uint64_t isa_constant(const struct isa_operand *op);

/* The row of an id, or NULL for ISA_ILLEGAL and numbers out of range. */
const struct isa_row *isa_row(unsigned id);

const char *isa_chip_name(unsigned chip);                 /* "gfx1010"; NULL when there is none */
extern const char *const isa_chip_names[ISA_N_CHIPS + 1]; /* of them all; ends with NULL */

/* The chip of an ELF e_flags machine number (0x33 is gfx1010), or -1. */
int isa_chip_of_mach(unsigned mach);

static inline bool isa_sgpr_in(const uint64_t set[2], unsigned reg)
{
    return reg < 128 && (set[reg >> 6] >> (reg & 63) & 1);
}

static inline bool isa_vgpr_in(const uint64_t set[4], unsigned v)
{
    return v < 256 && (set[v >> 6] >> (v & 63) & 1);
}

#ifdef __cplusplus
}
#endif
#endif
