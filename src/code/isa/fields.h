/* fields.h: where each field of each encoding lies: one list for the decoder and the encoder.
 *
 * Bits count from bit 0 of the first word; 32 and above are in the second. */
#ifndef RMCP_ISA_FIELDS_H
#define RMCP_ISA_FIELDS_H

#include <stdint.h>

#define FIELD(high, low) ((high) << 8 | (low))
#define BIT(at) FIELD(at, at)

enum isa_field {
    /* SOP1, SOP2, SOPC, SOPK, SOPP */
    AT_SSRC0 = FIELD(7, 0),
    AT_SSRC1 = FIELD(15, 8),
    AT_SDST = FIELD(22, 16),
    AT_SIMM = FIELD(15, 0),
    AT_SOP1_OP = FIELD(15, 8),
    AT_SOP2_OP = FIELD(29, 23),
    AT_SOPC_OP = FIELD(22, 16),
    AT_SOPK_OP = FIELD(27, 23),
    AT_SOPP_OP = FIELD(22, 16),

    AT_SMEM_SBASE = FIELD(5, 0), /* in pairs of registers */
    AT_SMEM_SDATA = FIELD(12, 6),
    AT_SMEM_DLC = BIT(14),
    AT_SMEM_GLC = BIT(16),
    AT_SMEM_OP = FIELD(25, 18),
    AT_SMEM_OFFSET = FIELD(52, 32), /* signed */
    AT_SMEM_SOFFSET = FIELD(63, 57),

    /* VOP1, VOP2, VOPC in 32 bits; the next two follow with a word of their own */
    AT_VSRC0 = FIELD(8, 0),
    AT_VSRC1 = FIELD(16, 9),
    AT_VDST = FIELD(24, 17),
    AT_VOP1_OP = FIELD(16, 9),
    AT_VOP2_OP = FIELD(30, 25),
    AT_VOPC_OP = FIELD(24, 17),

    AT_SDWA_SRC0 = FIELD(39, 32),
    AT_SDWA_DST_SEL = FIELD(42, 40),
    AT_SDWA_DST_UNUSED = FIELD(44, 43),
    AT_SDWA_CLAMP = BIT(45),
    AT_SDWA_OMOD = FIELD(47, 46),
    AT_SDWA_SDST = FIELD(46, 40), /* VOPC in the place of the last four, when the bit says so */
    AT_SDWA_HAS_SDST = BIT(47),
    AT_SDWA_SEL = FIELD(50, 48), /* of source 0; of source 1 AT_NEXT(..., 8) */
    AT_SDWA_SEXT = BIT(51),
    AT_SDWA_NEG = BIT(52),
    AT_SDWA_ABS = BIT(53),
    AT_SDWA_SCALAR = BIT(55),

    AT_DPP_SRC0 = FIELD(39, 32),
    AT_DPP_CTRL = FIELD(48, 40),
    AT_DPP_FI = BIT(50),
    AT_DPP_BOUND = BIT(51),
    AT_DPP_NEG = BIT(52), /* of source 0; of source 1 AT_NEXT(..., 2) */
    AT_DPP_ABS = BIT(53),
    AT_DPP_BANKS = FIELD(59, 56),
    AT_DPP_ROWS = FIELD(63, 60),
    AT_DPP8_LANES = FIELD(63, 40),

    AT_VOP3_VDST = FIELD(7, 0),
    AT_VOP3_ABS = FIELD(10, 8),
    AT_VOP3_OP_SEL = FIELD(14, 11),
    AT_VOP3_SDST = FIELD(14, 8), /* VOP3b in the place of the last two */
    AT_VOP3_CLAMP = BIT(15),
    AT_VOP3_OP = FIELD(25, 16),
    AT_VOP3_SRC = FIELD(40, 32), /* of source 0; the others AT_NEXT(..., 9), AT_NEXT(..., 18) */
    AT_VOP3_OMOD = FIELD(60, 59),
    AT_VOP3_NEG = FIELD(63, 61),
    /* VOP3P: op_sel of three sources, neg_hi for abs, op_sel_hi for omod */
    AT_VOP3P_OP_SEL = FIELD(13, 11),
    AT_VOP3P_OP_SEL_HI2 = BIT(14),
    AT_VOP3P_OP = FIELD(22, 16),
    AT_VOP3P_OP_SEL_HI = FIELD(60, 59),

    AT_VINTRP_SRC = FIELD(7, 0),
    AT_VINTRP_CHANNEL = FIELD(9, 8),
    AT_VINTRP_ATTR = FIELD(15, 10),
    AT_VINTRP_OP = FIELD(17, 16),
    AT_VINTRP_VDST = FIELD(25, 18),
    /* The same in the source 0 of VOP3. */
    AT_INTERP_ATTR = FIELD(37, 32),
    AT_INTERP_CHANNEL = FIELD(39, 38),
    AT_INTERP_HIGH = BIT(40),

    AT_DS_OFFSET = FIELD(15, 0),
    AT_DS_OFFSET0 = FIELD(7, 0),
    AT_DS_OFFSET1 = FIELD(15, 8),
    AT_DS_GDS = BIT(17),
    AT_DS_OP = FIELD(25, 18),
    AT_DS_ADDR = FIELD(39, 32), /* data0 and data1 are AT_NEXT(..., 8) and AT_NEXT(..., 16) */
    AT_DS_VDST = FIELD(63, 56),

    /* MUBUF and MTBUF */
    AT_BUF_OFFSET = FIELD(11, 0),
    AT_BUF_OFFEN = BIT(12),
    AT_BUF_IDXEN = BIT(13),
    AT_BUF_GLC = BIT(14),
    AT_BUF_DLC = BIT(15),
    AT_MUBUF_LDS = BIT(16),
    AT_MUBUF_OP = FIELD(25, 18),
    AT_MTBUF_OP = FIELD(18, 16),
    AT_MTBUF_FORMAT = FIELD(25, 19),
    AT_MTBUF_D16 = BIT(53), /* bit 3 of the opcode */
    AT_BUF_VADDR = FIELD(39, 32),
    AT_BUF_VDATA = FIELD(47, 40),
    AT_BUF_SRSRC = FIELD(52, 48), /* in fours of registers */
    AT_BUF_SLC = BIT(54),
    AT_BUF_TFE = BIT(55),
    AT_BUF_SOFFSET = FIELD(63, 56),

    AT_FLAT_OFFSET = FIELD(11, 0),
    AT_FLAT_DLC = BIT(12),
    AT_FLAT_LDS = BIT(13),
    AT_FLAT_SEGMENT = FIELD(15, 14),
    AT_FLAT_GLC = BIT(16),
    AT_FLAT_SLC = BIT(17),
    AT_FLAT_OP = FIELD(24, 18),
    AT_FLAT_ADDR = FIELD(39, 32),
    AT_FLAT_DATA = FIELD(47, 40),
    AT_FLAT_SADDR = FIELD(54, 48),
    AT_FLAT_VDST = FIELD(63, 56),

    AT_MIMG_OP7 = BIT(0), /* bit 7 of the opcode */
    AT_MIMG_NSA = FIELD(2, 1),
    AT_MIMG_DIM = FIELD(5, 3),
    AT_MIMG_DLC = BIT(7),
    AT_MIMG_DMASK = FIELD(11, 8),
    AT_MIMG_UNORM = BIT(12),
    AT_MIMG_GLC = BIT(13),
    AT_MIMG_R128 = BIT(15),
    AT_MIMG_TFE = BIT(16),
    AT_MIMG_LWE = BIT(17),
    AT_MIMG_OP = FIELD(24, 18),
    AT_MIMG_SLC = BIT(25),
    AT_MIMG_VADDR = FIELD(39, 32),
    AT_MIMG_VDATA = FIELD(47, 40),
    AT_MIMG_SRSRC = FIELD(52, 48), /* in fours of registers */
    AT_MIMG_SSAMP = FIELD(57, 53), /* in fours of registers */
    AT_MIMG_A16 = BIT(62),
    AT_MIMG_D16 = BIT(63),

    AT_EXP_EN = FIELD(3, 0),
    AT_EXP_TARGET = FIELD(9, 4),
    AT_EXP_COMPR = BIT(10),
    AT_EXP_DONE = BIT(11),
    AT_EXP_VM = BIT(12),
    AT_EXP_SRC = FIELD(39, 32), /* of source 0; the others AT_NEXT(..., 8 i) */
};

/* The same field some bits further. */
#define AT_NEXT(field, bits) ((field) + (bits)*FIELD(1, 1))

/* Codes of a 9-bit source that announce another form, or a literal. */
enum { SRC_SDWA = 249, SRC_DPP16 = 250, SRC_DPP8 = 233, SRC_DPP8_FI = 234, SRC_LITERAL = 255 };

static inline uint32_t get(uint64_t words, unsigned field)
{
    unsigned high = field >> 8, low = field & 255;
    return (uint32_t)(words >> low & ((UINT64_C(2) << (high - low)) - 1));
}

#endif
