/* aligned_state.h: what is known of registers modulo 256 at one place; not for others than aligned.
 *
 * Lanes: there are sets of lanes S0 ⊇ S1 ⊇ … ⊇ S[level], the last of which is EXEC. A vector
 * register has a fact for each set. A write holds for the lanes of EXEC; outer sets keep what their
 * old and new facts have in common. Code saves EXEC in scalar registers and brings it back: of
 * these it is known that they are one of the sets, or a part of one. Where two paths meet, each has
 * sets of its own. */
#ifndef RMCP_REWRITE_ALIGNED_STATE_H
#define RMCP_REWRITE_ALIGNED_STATE_H

#include "code/rewrite/program.h"

/* The lowest `fact >> 8` bits (at most 8) are those of `fact & 255`; 0: nothing is known. */
typedef uint16_t fact;

enum { FACT_BITS = 8, N_LEVELS = 8, N_SCALAR_REGS = 128 };

/* A scalar register as a set of lanes: MASK_IS or MASK_WITHIN, with a level; 0: unknown. In wave64
 * both registers of a pair have one, each for its half. */
typedef uint8_t mask;
enum { MASK_WITHIN = 64, MASK_IS = 128, MASK_LEVEL = 63 };

struct aligned_state {
    bool is_reached;
    uint8_t level;
    mask masks[N_SCALAR_REGS];
    fact scalars[N_SCALAR_REGS];
    fact vectors[N_LEVELS][256];
};

fact fact_of(uint32_t number);
fact fact_join(fact a, fact b);
fact fact_add(fact a, fact b);
fact fact_sub(fact a, fact b);
fact fact_mul(fact a, fact b);
fact fact_shl(fact a, fact by);
fact fact_shr(fact a, fact by);
fact fact_and(fact a, fact b);
fact fact_or(fact a, fact b);
fact fact_xor(fact a, fact b);
fact fact_not(fact a);

/* Nothing is known, EXEC is a set of its own. */
void aligned_forget(struct aligned_state *s);
/* What holds on both paths; true when `to` changed. */
bool aligned_join(struct aligned_state *to, const struct aligned_state *from);
void aligned_write(struct aligned_state *s, unsigned v, fact f);
mask mask_join(mask a, mask b);
void aligned_set_exec(struct aligned_state *s, mask m);

/* aligned_step.c: moves a state over an instruction that is neither a branch nor a call. */
void aligned_step(struct aligned_state *s, const struct isa_inst *inst);
/* What is known of a source. */
fact aligned_source(const struct aligned_state *s, const struct isa_operand *op);

#endif
