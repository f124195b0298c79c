/* flow.c: cuts a function into basic blocks: at branches, at their targets, behind ends. */
#include "isa/flow.h"

#include <stdlib.h>
#include <string.h>

enum { START = 1, LEADER = 2, TARGET = 4, STOP = 8 }; /* of a word */

/* What follows the instruction at word i: marks its successors. */
static void mark_exits(uint8_t *mark, size_t n_words, size_t i, const struct isa_inst *inst)
{
    uint64_t flags = inst->row->flags;
    bool is_call = flags & ISA_CALL;
    bool ends = flags & ISA_END || (flags & ISA_JUMP && !is_call) || inst->id == ISA_s_branch_SOPP;
    if (flags & ISA_BRANCH) {
        mark[i] |= TARGET;
        int64_t to = (int64_t)i + 1 + inst->imm;
        if (to >= 0 && to < (int64_t)n_words) mark[to] |= LEADER;
    }
    if (ends) mark[i] |= STOP;
    size_t behind = i + inst->n_words;
    if ((ends || flags & ISA_BRANCH) && behind < n_words) mark[behind] |= LEADER;
}

static void mark_words(struct isa_flow *flow, uint8_t *mark, unsigned chip_mode,
                       const uint32_t *words, size_t n_words)
{
    struct isa_inst inst;
    for (size_t i = 0; i < n_words;) {
        size_t n = isa_decode(chip_mode, words + i, n_words - i, &inst);
        mark[i] |= START;
        if (n) {
            flow->n_instructions++;
            if (inst.row->flags & (ISA_BRANCH | ISA_JUMP | ISA_END))
                mark_exits(mark, n_words, i, &inst);
        } else {
            flow->n_undecodable++;
        }
        i += n ? n : 1;
    }
    mark[0] |= LEADER;
}

/* The block that starts at a word, or ISA_NO_BLOCK: outside, or inside an instruction. */
static uint32_t block_at(const struct isa_flow *flow, int64_t word)
{
    size_t low = 0, high = flow->n_blocks;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((int64_t)flow->blocks[middle].first < word)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < flow->n_blocks && (int64_t)flow->blocks[low].first == word;
    return found ? (uint32_t)low : ISA_NO_BLOCK;
}

static void link_blocks(struct isa_flow *flow, const uint8_t *mark, const uint32_t *words)
{
    for (size_t b = 0; b < flow->n_blocks; b++) {
        struct isa_block *block = &flow->blocks[b];
        size_t last = block->end - 1;
        while (!(mark[last] & START)) last--;
        block->branches = mark[last] & TARGET;
        block->next = mark[last] & STOP || b + 1 == flow->n_blocks ? ISA_NO_BLOCK : (uint32_t)b + 1;
        int64_t to = (int64_t)last + 1 + (int16_t)(words[last] & 0xffff);
        block->target = block->branches ? block_at(flow, to) : ISA_NO_BLOCK;
    }
}

bool isa_flow_init(struct isa_flow *out, unsigned chip_mode, const uint32_t *words, size_t n_words)
{
    memset(out, 0, sizeof *out);
    if (!n_words) return true;
    uint8_t *mark = calloc(n_words, 1);
    if (!mark) return false;
    struct isa_flow flow = { 0 };
    mark_words(&flow, mark, chip_mode, words, n_words);
    const uint8_t leader = START | LEADER;
    for (size_t i = 0; i < n_words; i++) flow.n_blocks += (mark[i] & leader) == leader;
    flow.blocks = malloc(flow.n_blocks * sizeof *flow.blocks);
    if (!flow.blocks) {
        free(mark);
        return false;
    }
    size_t b = 0;
    for (size_t i = 0; i < n_words; i++) {
        if ((mark[i] & leader) != leader) continue;
        if (b) flow.blocks[b - 1].end = (uint32_t)i;
        flow.blocks[b++] = (struct isa_block){ .first = (uint32_t)i, .end = (uint32_t)n_words };
    }
    link_blocks(&flow, mark, words);
    free(mark);
    *out = flow;
    return true;
}

void isa_flow_deinit(struct isa_flow *flow)
{
    free(flow->blocks);
    memset(flow, 0, sizeof *flow);
}
