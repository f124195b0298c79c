/* flow.c: cuts a function into basic blocks: at branches, jumps and calls, at their targets, behind
 * ends. */
#include "code/isa/flow.h"

#include <stdlib.h>
#include <string.h>

/* Of a word. */
enum { MARK_START = 1, MARK_LEADER = 2, MARK_TARGET = 4, MARK_STOP = 8, MARK_JUMP = 16 };

/* What follows the instruction at word i: marks its successors. */
static void mark_exits(uint8_t *mark, size_t n_words, size_t i, const struct isa_inst *inst)
{
    uint64_t flags = inst->row->flags;
    bool is_call = flags & ISA_CALL;
    bool ends = flags & ISA_END || (flags & ISA_JUMP && !is_call) || inst->id == ISA_s_branch_SOPP;
    if (flags & ISA_BRANCH) {
        mark[i] |= MARK_TARGET;
        int64_t to = (int64_t)i + 1 + inst->imm;
        if (to >= 0 && to < (int64_t)n_words) mark[to] |= MARK_LEADER;
    }
    if (ends) mark[i] |= MARK_STOP;
    if (flags & ISA_JUMP && inst->id != ISA_s_rfe_b64_SOP1) mark[i] |= MARK_JUMP;
    size_t behind = i + inst->n_words;
    if (behind < n_words) mark[behind] |= MARK_LEADER;
}

static void mark_words(struct isa_flow *flow, uint8_t *mark, unsigned chip_mode,
                       const uint32_t *words, size_t n_words)
{
    struct isa_inst inst;
    for (size_t i = 0; i < n_words;) {
        size_t n = isa_decode(chip_mode, words + i, n_words - i, &inst);
        mark[i] |= MARK_START;
        if (n) {
            flow->n_instructions++;
            if (inst.row->flags & (ISA_BRANCH | ISA_JUMP | ISA_END))
                mark_exits(mark, n_words, i, &inst);
        } else {
            flow->n_undecodable++;
        }
        i += n ? n : 1;
    }
    mark[0] |= MARK_LEADER;
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
    uint32_t jump = 0;
    for (size_t b = 0; b < flow->n_blocks; b++) {
        struct isa_block *block = &flow->blocks[b];
        size_t last = block->end - 1;
        while (!(mark[last] & MARK_START)) last--;
        block->branches = mark[last] & MARK_TARGET;
        block->next =
            mark[last] & MARK_STOP || b + 1 == flow->n_blocks ? ISA_NO_BLOCK : (uint32_t)b + 1;
        int64_t to = (int64_t)last + 1 + (int16_t)(words[last] & 0xffff);
        block->target = block->branches ? block_at(flow, to) : ISA_NO_BLOCK;
        block->jump = mark[last] & MARK_JUMP ? jump++ : ISA_NO_BLOCK;
        if (block->jump == ISA_NO_BLOCK) continue;
        const struct isa_jump *j = &flow->jumps[block->jump];
        if (j->is_known) block->target = block_at(flow, j->to);
        block->branches = !j->is_call && block->target != ISA_NO_BLOCK;
    }
}

static bool list_jumps(struct isa_flow *flow, const uint8_t *mark, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++) flow->n_jumps += mark[i] & MARK_JUMP ? 1 : 0;
    if (!flow->n_jumps) return true;
    flow->jumps = calloc(flow->n_jumps, sizeof *flow->jumps);
    if (!flow->jumps) return false;
    size_t k = 0;
    for (size_t i = 0; i < n_words; i++)
        if (mark[i] & MARK_JUMP)
            flow->jumps[k++] =
                (struct isa_jump){ .at = (uint32_t)i, .is_call = !(mark[i] & MARK_STOP) };
    return true;
}

static bool make_blocks(struct isa_flow *flow, const uint8_t *mark, const uint32_t *words,
                        size_t n_words)
{
    const uint8_t leader = MARK_START | MARK_LEADER;
    size_t n = 0, b = 0;
    for (size_t i = 0; i < n_words; i++) n += (mark[i] & leader) == leader;
    free(flow->blocks);
    flow->blocks = malloc(n * sizeof *flow->blocks);
    if (!flow->blocks) return false;
    flow->n_blocks = n;
    for (size_t i = 0; i < n_words; i++) {
        if ((mark[i] & leader) != leader) continue;
        if (b) flow->blocks[b - 1].end = (uint32_t)i;
        flow->blocks[b++] = (struct isa_block){ .first = (uint32_t)i, .end = (uint32_t)n_words };
    }
    link_blocks(flow, mark, words);
    return true;
}

/* A number that differs when any jump goes elsewhere. */
static uint64_t hash_jumps(const struct isa_flow *flow)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < flow->n_jumps; i++)
        hash = (hash ^ (flow->jumps[i].is_known ? (uint64_t)flow->jumps[i].to * 2 + 1 : 0)) *
               UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

/* Where jumps go makes blocks, and blocks tell where jumps go: until nothing changes. */
static bool find_jumps(struct isa_flow *flow, uint8_t *mark, unsigned chip_mode,
                       const uint32_t *words, size_t n_words,
                       const struct isa_flow_callees *callees)
{
    enum { MOST_ROUNDS = 8 };
    for (unsigned round = 0; flow->n_jumps; round++) {
        uint64_t before = hash_jumps(flow);
        if (!isa_jumps_resolve(flow, chip_mode, words, callees)) return false;
        if (hash_jumps(flow) == before) break;
        bool give_up = round == MOST_ROUNDS;
        for (size_t i = 0; i < flow->n_jumps; i++) {
            struct isa_jump *jump = &flow->jumps[i];
            if (give_up) jump->is_known = false;
            if (jump->is_known && jump->to >= 0 && jump->to < (int64_t)n_words)
                mark[jump->to] |= MARK_LEADER;
        }
        if (!make_blocks(flow, mark, words, n_words)) return false;
        if (give_up) break;
    }
    return true;
}

bool isa_flow_init(struct isa_flow *out, unsigned chip_mode, const uint32_t *words, size_t n_words,
                   const struct isa_flow_callees *callees)
{
    memset(out, 0, sizeof *out);
    if (!n_words) return true;
    uint8_t *mark = calloc(n_words, 1);
    if (!mark) return false;
    struct isa_flow flow = { 0 };
    mark_words(&flow, mark, chip_mode, words, n_words);
    bool ok = list_jumps(&flow, mark, n_words) && make_blocks(&flow, mark, words, n_words) &&
              find_jumps(&flow, mark, chip_mode, words, n_words, callees);
    free(mark);
    if (ok)
        *out = flow;
    else
        isa_flow_deinit(&flow);
    return ok;
}

void isa_flow_deinit(struct isa_flow *flow)
{
    free(flow->blocks);
    free(flow->jumps);
    memset(flow, 0, sizeof *flow);
}
