/* cures.h: code freed of the patterns of gfx101x's silicon bugs (code/isa/rules.h), as LLVM keeps
 * them out.
 *
 * The rules themselves say where something is to be done, and afterwards that nothing is left: code
 * is laid out, checked across calls, mended, and so on until it is still. */
#ifndef RMCP_REWRITE_CURES_H
#define RMCP_REWRITE_CURES_H

#include "code/isa/rules.h"
#include "code/rewrite/rewrite.h"

struct rewrite_cured {
    size_t n_found[ISA_N_RULES]; /* in the code as it was */
    size_t
        n_cures[ISA_N_RULES];   /* places that were changed for a rule; one wait may cure several */
    size_t n_left[ISA_N_RULES]; /* still found: no cure here, or switched off */
    size_t n_unreached;         /* of those, in words that no path reaches: they may be data */
    unsigned n_rounds;
};

#define REWRITE_ALL_CURES ((1u << ISA_N_RULES) - 1)

/* Cure and lay out. `rules` has the bit 1 << enum isa_rule of each to be cured; branch-3f is the
 * layout's, which avoids it whatever `options` say when its bit is set. A FLAT or SCRATCH access
 * whose data lie in the registers of its address keeps its offset, and an atomic of LDS stays
 * whole. lds-misaligned finds what the offset alone says; aligned.h knows more. */
rmcp_status rewrite_cure(struct rewrite *rewrite, const struct rewrite_options *options,
                         unsigned rules, struct rewrite_text *text, struct rewrite_cured *out);

/* flat_offset.c: add the offset of a FLAT or SCRATCH access to its address beforehand, and take it
 * off behind.
 * `scratch` is a scalar register (the first of two in wave64) that no code of the object uses.
 * `*done` false: not possible. */
rmcp_status rewrite_fold_offset(struct rewrite *rewrite, const struct rewrite_function *function,
                                uint32_t item, unsigned scratch, bool *done);

/* split_lds.c: a wide access of LDS in pieces of 4 bytes. `*done` false: not possible. */
rmcp_status rewrite_split_access(struct rewrite *rewrite, const struct rewrite_function *function,
                                 uint32_t item, bool *done);

#endif
