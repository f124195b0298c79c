/* lower.h: instructions that another chip of gfx10 lacks, replaced by ones that it has.
 *
 * Bit-equal: the integer dot products (with clamp, but for v_dot2_i32_i16), v_dot4c_i32_i8 with DPP
 * as well, and global_load_dword_addtid, global_store_dword_addtid.
 *
 * Not bit-equal: v_dot2_f32_f16 and v_dot2c_f32_f16 become two v_fma_mix_f32. With p0, p1 the
 * products of the lower and the upper halves, which are exact, c + p0 is rounded to x, then x + p1:
 * the result is off the exact sum by at most u |x| + u |result|, u = 2^-24, plus 2^-149 where it is
 * subnormal. AMD documents neither an order nor a rounding between the sums, so that this is as
 * good as the original and not the same. Subnormal numbers are treated as MODE says, of halves and
 * of singles; LLVM says of the originals that they flush subnormal singles whatever MODE says. An
 * infinity that arises between the sums stays one.
 *
 * Refused, by name: csub atomics, the legacy FMAs, SHADER_CYCLES, ray tracing, image_msaa_load; of
 * dot products v_dot2_i32_i16 with clamp, v_dot2c_f32_f16 with DPP that leaves lanes out, negated
 * sources but those of v_dot2_f32_f16's halves, inline constants as packed halves, lds_direct.
 *
 * No code is put into an s_clause (it is dropped); SCC, VCC, EXEC and MODE are neither read nor
 * changed but as the originals did. Words that no path reaches stay as they are.
 *
 * Temporaries are vector registers above all that the code names: of a kernel, those of the kernel
 * and what it calls; of a function that is called, those of the whole object. The kernels that can
 * get there need more registers then, which `vgprs` tells. Where there are none left, or a
 * workgroup would no longer fit, registers are taken that are written before they are read on all
 * paths; where there are too few of these, too, the function is refused. */
#ifndef RMCP_REWRITE_LOWER_H
#define RMCP_REWRITE_LOWER_H

#include "code/rewrite/rewrite.h"

struct rewrite_lowered {
    uint32_t n_lowered[ISA_N_IDS]; /* instructions, by enum isa_id */
    uint32_t n_refused[ISA_N_IDS]; /* functions refused for one, the first that was found */
    /* By index in the object's kernels: how many vector registers a kernel needs now, to be given
     * to codeobj_kernel_set_vgprs; 0: as many as before. */
    uint16_t *vgprs;
};

/* Replace what `target` lacks in all functions that are not refused yet. To be called before
 * rewrite_cure and rewrite_layout, once.
 *
 * A function with an instruction that cannot be replaced is refused from now on, with its name as
 * the reason and its address, and so are its callers; that is no error. On RMCP_OK `*out` is to be
 * freed with rewrite_lowered_deinit; on any error it is empty, and the struct rewrite is to be
 * destroyed. */
rmcp_status rewrite_lower(struct rewrite *rewrite, enum isa_chip target,
                          struct rewrite_lowered *out);
void rewrite_lowered_deinit(struct rewrite_lowered *lowered);

#endif
