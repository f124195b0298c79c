/* flow.h: the basic blocks of one function and where each goes next. */
#ifndef RMCP_ISA_FLOW_H
#define RMCP_ISA_FLOW_H

#include "code/isa/isa.h"

#define ISA_NO_BLOCK UINT32_MAX

/* s_setpc, s_swappc or s_call. Where it goes is known when its register holds, on every path,
 * s_getpc and constants that were added to it, in the shapes that LLVM, Tensile and AMD's assembler
 * code have. Calls are taken to preserve what the callee does not write (isa_flow_callees), and s32
 * to s105, as the calling convention has it. */
struct isa_jump {
    uint32_t at; /* its word */
    bool is_call, is_known;
    int64_t to; /* words from the start of the function; may lie outside of it */
};

/* Words first to end - 1; first is where an instruction (or a word that is none) starts. */
struct isa_block {
    uint32_t first, end;
    uint32_t next;   /* the block that control falls into, or ISA_NO_BLOCK; behind a call, where
                      * it comes back to */
    uint32_t target; /* the one its last instruction goes to, or ISA_NO_BLOCK */
    uint32_t jump;   /* its last instruction in `jumps`, or ISA_NO_BLOCK */
    bool branches;   /* the last instruction is a branch, or a jump within the function */
};

struct isa_flow {
    struct isa_block *blocks; /* by rising address, without holes */
    size_t n_blocks;
    struct isa_jump *jumps; /* by rising address */
    size_t n_jumps;
    size_t n_instructions, n_undecodable;
};

/* Who knows which scalar registers a callee may write, by the jump that calls it. */
struct isa_flow_callees {
    void (*clobbers)(const void *context, const struct isa_jump *jump, uint64_t sgprs[2]);
    const void *context;
};

/* `callees` may be NULL: a callee then writes everything. Returns false when memory ran out; `*out`
 * is then all zero. Free with isa_flow_deinit. */
bool isa_flow_init(struct isa_flow *out, unsigned chip_mode, const uint32_t *words, size_t n_words,
                   const struct isa_flow_callees *callees);
void isa_flow_deinit(struct isa_flow *flow);

/* For flow.c: fill in where the jumps go, as far as the blocks that are known lead. False when
 * memory ran out. */
bool isa_jumps_resolve(struct isa_flow *flow, unsigned chip_mode, const uint32_t *words,
                       const struct isa_flow_callees *callees);

#endif
