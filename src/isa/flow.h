/* flow.h: the basic blocks of one function and where each goes next. */
#ifndef RMCP_ISA_FLOW_H
#define RMCP_ISA_FLOW_H

#include "isa/isa.h"

#define ISA_NO_BLOCK UINT32_MAX

/* Words first to end - 1; first is where an instruction (or a word that is none) starts. */
struct isa_block {
    uint32_t first, end;
    uint32_t next;   /* the block that control falls into, or ISA_NO_BLOCK */
    uint32_t target; /* the one its last instruction branches to, or ISA_NO_BLOCK */
    bool branches;   /* the last instruction is a branch */
};

struct isa_flow {
    struct isa_block *blocks; /* by rising address, without holes */
    size_t n_blocks;
    size_t n_instructions, n_undecodable;
};

/* Returns false when memory ran out; `*out` is then all zero. Free with isa_flow_deinit. */
bool isa_flow_init(struct isa_flow *out, unsigned chip_mode, const uint32_t *words, size_t n_words);
void isa_flow_deinit(struct isa_flow *flow);

#endif
