/* flow.h: the basic blocks of one function and where each goes next. */
#ifndef RMCP_ISA_FLOW_H
#define RMCP_ISA_FLOW_H

#include "isa/isa.h"

#define ISA_NO_BLOCK UINT32_MAX

/* s_setpc, s_swappc or s_call. Where it goes is known when its register holds s_getpc and constants
 * that were added to it in the same block, in the shapes that LLVM, Tensile and AMD's assembler
 * code have. */
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

/* Returns false when memory ran out; `*out` is then all zero. Free with isa_flow_deinit. */
bool isa_flow_init(struct isa_flow *out, unsigned chip_mode, const uint32_t *words, size_t n_words);
void isa_flow_deinit(struct isa_flow *flow);

/* ---- between flow.c and jumps.c ---- */

enum isa_mark { MARK_START = 1, MARK_LEADER = 2, MARK_TARGET = 4, MARK_STOP = 8, MARK_JUMP = 16 };

/* Fill in where the jumps go; true when one of them made a new leader, so that a block was cut and
 * it has to be done again. */
bool isa_jumps_resolve(struct isa_flow *flow, uint8_t *mark, unsigned chip_mode,
                       const uint32_t *words, size_t n_words);

#endif
