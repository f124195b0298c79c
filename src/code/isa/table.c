/* table.c: the rows as data, and which row each opcode slot of each chip holds. */
#include "code/isa/internal.h"

/* The short words of the .inc files. */
#define ALL 31
#define GFX101X 15
#define GFX1030 16
#define DOTS 22 /* gfx1011, gfx1012, gfx1030 */
#define RT 24   /* ray tracing: gfx1013, gfx1030 */
#define VMCNT ISA_VMCNT
#define LGKMCNT ISA_LGKMCNT
#define VSCNT ISA_VSCNT
#define EXPCNT ISA_EXPCNT
/* What only stores waits in vscnt; an atomic that returns its old value moves to vmcnt. */
#define MEM_COUNTERS(fl) (((fl)&ISA_STORE) ? ISA_VSCNT : ((fl)&ISA_LOAD) ? ISA_VMCNT : 0)
#define VALU_EXEC(fl) (((fl)&ISA_NO_EXEC) ? 0 : ISA_R_EXEC)

#define NONE ISA_NONE
#define B16 ISA_B16
#define F16 ISA_F16
#define PF16 ISA_PF16
#define B32 ISA_B32
#define B64 ISA_B64
#define F64 ISA_F64
#define B96 ISA_B96
#define B128 ISA_B128
#define B256 ISA_B256
#define B512 ISA_B512
#define MASK ISA_MASK
#define V32 ISA_V32
#define V128 ISA_V128
#define L32 ISA_L32
#define S32 ISA_S32
#define S64 ISA_S64
#define C32 ISA_C32
#define CL32 ISA_CL32
#define K16 ISA_K16
#define K32 ISA_K32
#define SIMM_DEC ISA_SIMM_DEC
#define SIMM_HEX ISA_SIMM_HEX
#define SIMM_OPT ISA_SIMM_OPT
#define TARGET ISA_TARGET
#define HWREG ISA_HWREG
#define WAITCNT ISA_WAITCNT
#define DEPCTR ISA_DEPCTR
#define SENDMSG ISA_SENDMSG
#define VERSION ISA_VERSION

#define F_32 (1 << ISA_FORM_BASE)
#define F_E64 (F_32 | 1 << ISA_FORM_E64)
#define F_SDWA (F_E64 | 1 << ISA_FORM_SDWA)
#define F_DPP16 (F_32 | 1 << ISA_FORM_DPP16)
#define F_DPP (F_32 | 1 << ISA_FORM_DPP16 | 1 << ISA_FORM_DPP8)
#define F_NO_SDWA (F_E64 | F_DPP)
#define F_ALL (F_SDWA | F_DPP)

#define R_SCC ISA_R_SCC
#define W_SCC ISA_W_SCC
#define R_VCC ISA_R_VCC
#define R_EXEC ISA_R_EXEC
#define W_EXEC ISA_W_EXEC
#define R_M0 ISA_R_M0
#define R_MODE ISA_R_MODE
#define W_MODE ISA_W_MODE
#define R_PC ISA_R_PC
#define W_PC ISA_W_PC
#define R_VCCZ ISA_R_VCCZ
#define R_EXECZ ISA_R_EXECZ
#define R_FLAT_SCR ISA_R_FLAT_SCR
#define R_HWREG ISA_R_HWREG
#define W_HWREG ISA_W_HWREG

#define SALU ISA_SALU
#define VALU ISA_VALU
#define SCALAR_MEM ISA_SCALAR_MEM
#define VMEM ISA_VMEM
#define IS_DS ISA_IS_DS
#define IS_FLAT ISA_IS_FLAT
#define BRANCH ISA_BRANCH
#define JUMP ISA_JUMP
#define BARRIER ISA_BARRIER
#define WAIT ISA_WAIT
#define TRANS ISA_TRANS
#define EXPORT ISA_EXPORT
#define IMAGE ISA_IMAGE
#define ATOMIC ISA_ATOMIC
#define LOAD ISA_LOAD
#define STORE ISA_STORE
#define CMP ISA_CMP
#define CMPX ISA_CMPX
#define END ISA_END
#define LANE ISA_LANE
#define PERMLANE ISA_PERMLANE
#define DOT ISA_DOT
#define PACKED ISA_PACKED
#define MESSAGE ISA_MESSAGE
#define CACHE ISA_CACHE
#define D16 ISA_D16
#define SAMPLER ISA_SAMPLER
#define F64_RATE ISA_F64_RATE
#define ACC ISA_ACC
#define INDEXED ISA_INDEXED
#define INTERP ISA_INTERP
#define TWO_DATA ISA_TWO_DATA
#define SRC2 ISA_SRC2
#define ADDTID ISA_ADDTID
#define CALL ISA_CALL
#define PARTIAL ISA_PARTIAL
#define GATHER ISA_GATHER
#define READS_DST ISA_READS_DST
#define NO_EXEC ISA_NO_EXEC
#define LDS_DMA ISA_LDS_DMA
#define GDS_ONLY ISA_GDS_ONLY
#define NO_GDS ISA_NO_GDS
#define G16 ISA_G16
#define BVH ISA_BVH
#define MSAA ISA_MSAA
#define NO_D16 ISA_NO_D16
#define D16_HI ISA_D16_HI
#define HALF ISA_HALF
#define ST64 ISA_ST64
#define OLD_EXEC ISA_OLD_EXEC

const struct isa_row isa_rows[ISA_N_IDS] = {
#define ISA_ROW(id_, name_, enc_, op_, chips_, cnt_, d_, s0_, s1_, s2_, forms_, mods_, imp_, fl_,  \
                moves_, does_)                                                                     \
    [id_] = { .name = name_,                                                                       \
              .id = id_,                                                                           \
              .opcode = op_,                                                                       \
              .encoding = enc_,                                                                    \
              .chips = chips_,                                                                     \
              .counters = cnt_,                                                                    \
              .dst = d_,                                                                           \
              .src = { s0_, s1_, s2_ },                                                            \
              .forms = forms_,                                                                     \
              .mods = mods_,                                                                       \
              .implicit = imp_,                                                                    \
              .flags = fl_,                                                                        \
              .moves = moves_,                                                                     \
              .does = does_ },
#include "code/isa/rows.inc"
#undef ISA_ROW
};

/* Slot numbers as constants, so that a slot with two rows of one chip does not compile
 * (-Woverride-init). A row that a chip lacks goes to a place of its own past the end. */
#define SLOT_OF(enc, op)                                                                           \
    ((op) + ((enc) == ISA_SOP1      ? SLOT_SOP1                                                    \
             : (enc) == ISA_SOP2    ? SLOT_SOP2                                                    \
             : (enc) == ISA_SOPC    ? SLOT_SOPC                                                    \
             : (enc) == ISA_SOPK    ? SLOT_SOPK                                                    \
             : (enc) == ISA_SOPP    ? SLOT_SOPP                                                    \
             : (enc) == ISA_SMEM    ? SLOT_SMEM                                                    \
             : (enc) == ISA_VOP1    ? SLOT_VOP1                                                    \
             : (enc) == ISA_VOP2    ? SLOT_VOP2                                                    \
             : (enc) == ISA_VOPC    ? SLOT_VOPC                                                    \
             : (enc) == ISA_VOP3    ? SLOT_VOP3                                                    \
             : (enc) == ISA_VOP3P   ? SLOT_VOP3P                                                   \
             : (enc) == ISA_VINTRP  ? SLOT_VINTRP                                                  \
             : (enc) == ISA_DS      ? SLOT_DS                                                      \
             : (enc) == ISA_MUBUF   ? SLOT_MUBUF                                                   \
             : (enc) == ISA_MTBUF   ? SLOT_MTBUF                                                   \
             : (enc) == ISA_MIMG    ? SLOT_MIMG                                                    \
             : (enc) == ISA_FLAT    ? SLOT_FLAT                                                    \
             : (enc) == ISA_GLOBAL  ? SLOT_GLOBAL                                                  \
             : (enc) == ISA_SCRATCH ? SLOT_SCRATCH                                                 \
                                    : SLOT_EXP))
/* The 64-bit form of VOP1, VOP2 and VOPC sits at a fixed distance in VOP3. */
#define LONG_SLOT(enc, op)                                                                         \
    (SLOT_VOP3 + (op) + ((enc) == ISA_VOP1 ? 0x180 : (enc) == ISA_VOP2 ? 0x100 : 0))

#define ISA_ROW(id_, name_, enc_, op_, chips_, cnt_, d_, s0_, s1_, s2_, forms_, ...)               \
    [((chips_)&GFX101X) ? SLOT_OF(enc_, op_) : N_SLOTS +                                           \
        id_] = id_,                                                                                \
        [(((chips_)&GFX101X) && ((forms_) >> ISA_FORM_E64 & 1)) ? LONG_SLOT(enc_, op_)             \
                                                                : N_SLOTS + ISA_N_IDS +            \
            id_] = id_,
const uint16_t isa_slots_gfx101x[N_SLOTS + 2 * ISA_N_IDS] = {
#include "code/isa/rows.inc"
};
#undef ISA_ROW
#define ISA_ROW(id_, name_, enc_, op_, chips_, cnt_, d_, s0_, s1_, s2_, forms_, ...)               \
    [((chips_)&GFX1030) ? SLOT_OF(enc_, op_) : N_SLOTS +                                           \
        id_] = id_,                                                                                \
        [(((chips_)&GFX1030) && ((forms_) >> ISA_FORM_E64 & 1)) ? LONG_SLOT(enc_, op_)             \
                                                                : N_SLOTS + ISA_N_IDS +            \
            id_] = id_,
const uint16_t isa_slots_gfx1030[N_SLOTS + 2 * ISA_N_IDS] = {
#include "code/isa/rows.inc"
};
#undef ISA_ROW

const uint8_t isa_type_regs[ISA_N_TYPES] = {
    [B16] = 1,  [F16] = 1,  [PF16] = 1, [B32] = 1,   [B64] = 2,  [F64] = 2,
    [B96] = 3,  [B128] = 4, [B256] = 8, [B512] = 16, [MASK] = 1, [V32] = 1,
    [V128] = 4, [L32] = 1,  [S32] = 1,  [S64] = 2,   [C32] = 1,  [CL32] = 1,
};

const struct isa_row *isa_row(unsigned id)
{
    return id > ISA_ILLEGAL && id < ISA_N_IDS ? &isa_rows[id] : NULL;
}

const char *const isa_chip_names[ISA_N_CHIPS + 1] = { "gfx1010", "gfx1011", "gfx1012",
                                                      "gfx1013", "gfx1030", NULL };

const char *isa_chip_name(unsigned chip)
{
    chip &= ~(unsigned)ISA_WAVE64;
    return chip < ISA_N_CHIPS ? isa_chip_names[chip] : NULL;
}

int isa_chip_of_mach(unsigned mach)
{
    switch (mach) {
    case 0x33: return ISA_GFX1010;
    case 0x34: return ISA_GFX1011;
    case 0x35: return ISA_GFX1012;
    case 0x36: /* gfx1030 to gfx1036 have the same instructions */
    case 0x37:
    case 0x38:
    case 0x39:
    case 0x3e:
    case 0x3d:
    case 0x45:
    case 0x53: return ISA_GFX1030; /* the last is gfx10-3-generic */
    case 0x42: return ISA_GFX1013;
    case 0x52: return ISA_GFX1010; /* gfx10-1-generic */
    default: return -1;
    }
}
