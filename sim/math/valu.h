/* valu.h: what each vector ALU instruction computes, as functions over the lanes of a wave.
 *
 * The functions are pure: rows of lane values in, rows and masks out. Fetching operands, EXEC and
 * writing back are the caller's. */
#ifndef RMCP_SIM_MATH_VALU_H
#define RMCP_SIM_MATH_VALU_H

#include <stdint.h>

#include "code/isa/isa.h"

/* One VALU instruction on all lanes.
 *
 * Sources are already fetched: rows of n 32-bit words, with DPP and SDWA selection, sign extension
 * and, for float sources, abs then neg applied by the caller, EXCEPT for packed (VOP3P) and mix
 * instructions, whose op_sel, op_sel_hi, neg_lo and neg_hi the function handles itself. op_sel of
 * 16-bit VOP3 is the caller's: such sources arrive in the low 16 bits (the high ones are ignored),
 * 16-bit results are given in the low 16 bits and the caller merges them. */
struct valu_args {
    unsigned n; /* lanes: 32 or 64 */
    /* Result rows, lowest word first: one, two for 64-bit results, four for v_mqsad_u32_u8 only.
     * A row may be the same memory as a source row, but may not overlap one otherwise. */
    uint32_t *dst[4];
    /* Source rows, lowest word first. For ISA_ACC rows the old destination is src[2]; v_permlane*
     * and the partial v_fma_mixlo, v_fma_mixhi find old values in dst. */
    const uint32_t *src[3][4];
    uint64_t mask_in;  /* carry-in or selector: v_cndmask, v_add_co_ci, v_div_fmas */
    uint64_t mask_out; /* lane mask result: compares, carry-out, v_div_scale */
    uint64_t exec;     /* active lanes; inactive ones may be computed, too, and are not written */
    uint32_t mode;     /* hardware register MODE: see VALU_MODE_* */
    const struct isa_inst *inst;
};

/* Fields of the MODE register. */
enum {
    VALU_ROUND_F32 = 3,      /* bits 1:0; 0 nearest even, 1 up, 2 down, 3 to zero */
    VALU_ROUND_F64 = 3 << 2, /* bits 3:2, also f16 */
    VALU_DENORM_F32_IN = 1 << 4,
    VALU_DENORM_F32_OUT = 1 << 5,
    VALU_DENORM_F64_IN = 1 << 6, /* also f16 */
    VALU_DENORM_F64_OUT = 1 << 7,
    VALU_DX10_CLAMP = 1 << 8,
    VALU_IEEE = 1 << 9,
};

/* Are denormals on and results rounded to nearest, for f32? */
static inline int valu_is_ordinary(uint32_t mode)
{
    const uint32_t denormals = VALU_DENORM_F32_IN | VALU_DENORM_F32_OUT;
    return (mode & (denormals | VALU_ROUND_F32)) == denormals;
}

typedef void valu_fn(struct valu_args *args);

/* The function of a row (enum isa_id), or NULL when the row has no semantics here. */
valu_fn *valu_function(unsigned isa_id);

/* The functions are compiled for several levels of the host's instructions, 0 for any host; these
 * many run here. valu_function gives those of the highest. */
unsigned valu_levels(void);
valu_fn *valu_function_at(unsigned level, unsigned isa_id);

/* What a value is, for neg, abs, omod and clamp. */
enum valu_kind { VALU_INT, VALU_F16, VALU_F32, VALU_F64, VALU_MASK };

enum valu_kind valu_result_of(unsigned isa_id);
enum valu_kind valu_source_of(unsigned isa_id, unsigned i);

/* omod, then clamp, of a float result: what inst->omod and inst->clamp say, on the rows of
 * args->dst. Nothing to do for integer results: their functions clamp themselves. Nor for packed
 * and mix instructions. */
void valu_modify(enum valu_kind kind, struct valu_args *args);

#endif
