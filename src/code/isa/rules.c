/* rules.c: the silicon-bug rules over decoded instructions.
 *
 * Facts (facts.h) flow along the blocks until nothing changes; since a block drops a whole class of
 * facts or none, its effect is computed once. */
#include "code/isa/rules.h"

#include <stdlib.h>
#include <string.h>

#include "code/isa/facts.h"
#include "code/isa/flow.h"

#define NO_NODE UINT32_MAX

/* A fact and who raised it. */
struct node {
    uint32_t next, cause;
    uint16_t fact;
};

struct block_state {
    struct facts in;      /* hold when the block is entered           */
    struct facts pending; /* the part of it that is still to be passed on */
    struct facts gen;     /* raised in the block, hold at its end     */
    uint32_t in_nodes, gen_nodes;
    uint8_t kill; /* classes that do not come through the block */
    uint8_t pass; /* of the function's entry: classes that come to the block, and REACHED */
    bool queued;
};
enum { REACHED = 128, ALL_CLASSES = 63 };

struct checker {
    unsigned chip_mode;
    const uint32_t *words;
    bool wgp_mode;
    isa_finding_fn *found;
    void *context;
    struct isa_rules_count *count;
    struct isa_flow flow;
    /* the other functions, or NULL */
    const struct rules_request *request;
    struct summary summary;
    /* subroutines within the function: the blocks that they come back to, and with what */
    uint32_t *returns;
    size_t n_returns;
    struct facts returned;
    uint8_t returned_pass;
    bool has_exit;
    struct block_state *states;
    uint32_t *queue; /* of blocks; a ring, each block at most once in it */
    size_t queue_head, queue_length;
    struct node *nodes;
    size_t n_nodes, room, most_nodes;
    /* the facts at the current instruction */
    struct facts live;
    uint32_t cause[N_FACTS];
    size_t clause_left;
    uint32_t clause_at;
};

/* Move the live facts over an instruction. */
static unsigned step(struct checker *c, const struct isa_inst *inst, const struct isa_uses *u,
                     uint32_t at)
{
    unsigned kill = isa_rules_kills(inst);
    struct facts gen = facts_raised(inst, u);
    facts_drop(&c->live, kill);
    for (unsigned w = 0; w < N_WORDS; w++) {
        c->live.bits[w] |= gen.bits[w];
        for (uint64_t rest = gen.bits[w]; rest; rest &= rest - 1)
            c->cause[64 * w + (unsigned)__builtin_ctzll(rest)] = at;
    }
    return kill;
}

/* ---- the flow of facts ---- */

/* Remember who raised a fact. The number of nodes is bounded: past it causes are forgotten. */
static bool remember(struct checker *c, uint32_t *list, unsigned fact, uint32_t cause)
{
    if (c->n_nodes >= c->most_nodes || cause == ISA_NO_CAUSE) return true;
    if (c->n_nodes == c->room) {
        size_t room = c->room ? 2 * c->room : 256;
        struct node *more = realloc(c->nodes, room * sizeof *more);
        if (!more) return false;
        c->nodes = more;
        c->room = room;
    }
    c->nodes[c->n_nodes] = (struct node){ *list, cause, (uint16_t)fact };
    *list = (uint32_t)c->n_nodes++;
    return true;
}

static uint32_t recall(const struct checker *c, uint32_t list, unsigned fact)
{
    while (list != NO_NODE && c->nodes[list].fact != fact) list = c->nodes[list].next;
    return list == NO_NODE ? ISA_NO_CAUSE : c->nodes[list].cause;
}

static uint32_t recall_at_end(const struct checker *c, const struct block_state *s, unsigned fact)
{
    uint32_t cause = recall(c, s->gen_nodes, fact);
    return cause != ISA_NO_CAUSE ? cause : recall(c, s->in_nodes, fact);
}

static uint32_t cause_at_end(const struct checker *c, size_t block, unsigned fact)
{
    const struct block_state *s = &c->states[block];
    uint32_t cause = ISA_NO_CAUSE;
    bool moved = fact == F_LDS_BRANCHED || fact == F_VECTOR_BRANCHED;
    if (moved) cause = recall_at_end(c, s, fact - 2);
    return cause != ISA_NO_CAUSE ? cause : recall_at_end(c, s, fact);
}

static bool enter(struct checker *c, size_t from, uint32_t to, const struct facts *facts,
                  uint32_t otherwise)
{
    if (to == ISA_NO_BLOCK) return true;
    struct block_state *s = &c->states[to];
    bool waiting = any(&s->pending);
    for (unsigned w = 0; w < N_WORDS; w++) {
        uint64_t fresh = facts->bits[w] & ~s->in.bits[w];
        s->in.bits[w] |= fresh;
        s->pending.bits[w] |= fresh;
        for (; fresh; fresh &= fresh - 1) {
            unsigned fact = 64 * w + (unsigned)__builtin_ctzll(fresh);
            uint32_t cause = cause_at_end(c, from, fact);
            if (cause == ISA_NO_CAUSE) cause = otherwise;
            if (!remember(c, &s->in_nodes, fact, cause)) return false;
        }
    }
    if (!waiting && any(&s->pending))
        c->queue[(c->queue_head + c->queue_length++) % c->flow.n_blocks] = to;
    return true;
}

static const struct summary *callee_of(const struct checker *c, const struct isa_jump *jump,
                                       size_t *index)
{
    return isa_calls_summary(c->request->calls, c->request->self, jump->is_known, jump->to, index);
}

static struct facts facts_behind(const struct summary *callee, struct facts facts)
{
    facts_drop(&facts, ~(unsigned)callee->pass);
    for (unsigned w = 0; w < N_WORDS; w++) facts.bits[w] |= callee->gen.bits[w];
    return facts;
}

/* Out of the function: a return, or another function in its place. Also what a subroutine within
 * the function does. */
static bool leave_function(struct checker *c, size_t block, const struct isa_jump *jump,
                           struct facts facts)
{
    size_t callee;
    struct facts fresh = facts;
    facts = facts_branched(facts);
    if (jump->is_known && c->request) facts = facts_behind(callee_of(c, jump, &callee), facts);
    for (unsigned w = 0; w < N_WORDS; w++) {
        c->summary.gen.bits[w] |= facts.bits[w];
        fresh.bits[w] = facts.bits[w] & ~c->returned.bits[w];
        c->returned.bits[w] |= fresh.bits[w];
    }
    if (!any(&fresh)) return true;
    for (size_t i = 0; i < c->n_returns; i++)
        if (!enter(c, block, c->returns[i], &fresh, ISA_NO_CAUSE)) return false;
    return true;
}

/* Hand facts at the end of a block to the blocks behind it. */
static bool leave(struct checker *c, size_t block, struct facts facts)
{
    const struct isa_block *b = &c->flow.blocks[block];
    const struct isa_jump *jump = b->jump == ISA_NO_BLOCK ? NULL : &c->flow.jumps[b->jump];
    bool inside = b->target != ISA_NO_BLOCK;
    uint32_t otherwise = ISA_NO_CAUSE, next = b->next;
    if (jump && !jump->is_call && !inside) return leave_function(c, block, jump, facts);
    if (b->branches || (jump && inside)) facts = facts_branched(facts);
    if (jump && inside && jump->is_call && c->has_exit) next = ISA_NO_BLOCK;
    if (jump && jump->is_call && !inside && c->request) {
        size_t callee;
        const struct summary *summary = callee_of(c, jump, &callee);
        facts = facts_behind(summary, facts_branched(facts));
        otherwise = 4 * jump->at;
        if (!summary->returns) return true;
    }
    return !any(&facts) || (enter(c, block, next, &facts, otherwise) &&
                            enter(c, block, b->target, &facts, ISA_NO_CAUSE));
}

/* The same for classes that came with the function's entry. */
static void pass_to(struct checker *c, uint32_t to, unsigned pass)
{
    if (to == ISA_NO_BLOCK) return;
    struct block_state *s = &c->states[to];
    if (!(pass & ~(unsigned)s->pass)) return;
    s->pass |= (uint8_t)pass;
    if (s->queued) return;
    s->queued = true;
    c->queue[(c->queue_head + c->queue_length++) % c->flow.n_blocks] = to;
}

static void pass_block(struct checker *c, size_t block)
{
    const struct isa_block *b = &c->flow.blocks[block];
    const struct isa_jump *jump = b->jump == ISA_NO_BLOCK ? NULL : &c->flow.jumps[b->jump];
    unsigned pass = c->states[block].pass & ~(unsigned)c->states[block].kill;
    bool inside = b->target != ISA_NO_BLOCK, leaves = jump && !jump->is_call && !inside;
    uint32_t next = b->next;
    size_t callee;
    if (jump && !inside && (jump->is_call || jump->is_known)) {
        const struct summary *summary = callee_of(c, jump, &callee);
        pass = summary->returns ? pass & (REACHED | (unsigned)summary->pass) : 0;
    }
    if (leaves) {
        c->summary.pass |= (uint8_t)(pass & ALL_CLASSES);
        c->summary.returns |= (pass & REACHED) != 0;
        if (!(pass & ~(unsigned)c->returned_pass)) return;
        c->returned_pass |= (uint8_t)pass;
        for (size_t i = 0; i < c->n_returns; i++) pass_to(c, c->returns[i], pass);
        return;
    }
    if (jump && inside && jump->is_call && c->has_exit) next = ISA_NO_BLOCK;
    pass_to(c, next, pass);
    pass_to(c, b->target, pass);
}

/* Which classes of a caller's facts come through the function. */
static void solve_pass(struct checker *c)
{
    pass_to(c, 0, REACHED | ALL_CLASSES);
    while (c->queue_length) {
        uint32_t b = c->queue[c->queue_head];
        c->queue_head = (c->queue_head + 1) % c->flow.n_blocks;
        c->queue_length--;
        c->states[b].queued = false;
        pass_block(c, b);
    }
}

static bool summarize(struct checker *c, size_t block)
{
    const struct isa_block *b = &c->flow.blocks[block];
    struct block_state *s = &c->states[block];
    s->in_nodes = s->gen_nodes = NO_NODE;
    memset(&c->live, 0, sizeof c->live);
    for (size_t i = b->first; i < b->end;) {
        struct isa_inst inst;
        struct isa_uses uses;
        size_t n = isa_decode(c->chip_mode, c->words + i, b->end - i, &inst);
        if (n) {
            isa_uses(&inst, &uses);
            s->kill |= (uint8_t)step(c, &inst, &uses, (uint32_t)(4 * i));
        }
        i += n ? n : 1;
    }
    s->gen = c->live;
    for (unsigned w = 0; w < N_WORDS; w++)
        for (uint64_t rest = s->gen.bits[w]; rest; rest &= rest - 1) {
            unsigned fact = 64 * w + (unsigned)__builtin_ctzll(rest);
            if (!remember(c, &s->gen_nodes, fact, c->cause[fact])) return false;
        }
    return true;
}

/* Where subroutines within the function come back to. */
static bool find_returns(struct checker *c)
{
    size_t n = 0;
    for (size_t b = 0; b < c->flow.n_blocks; b++) {
        const struct isa_block *block = &c->flow.blocks[b];
        if (block->jump == ISA_NO_BLOCK) continue;
        bool is_call = c->flow.jumps[block->jump].is_call, inside = block->target != ISA_NO_BLOCK;
        n += is_call && inside;
        c->has_exit |= !is_call && !inside;
    }
    if (!n) return true;
    c->returns = malloc(n * sizeof *c->returns);
    if (!c->returns) return false;
    for (size_t b = 0; b < c->flow.n_blocks; b++) {
        const struct isa_block *block = &c->flow.blocks[b];
        if (block->jump != ISA_NO_BLOCK && c->flow.jumps[block->jump].is_call &&
            block->target != ISA_NO_BLOCK && block->next != ISA_NO_BLOCK)
            c->returns[c->n_returns++] = block->next;
    }
    return true;
}

static bool solve(struct checker *c)
{
    if (!find_returns(c)) return false;
    for (size_t b = 0; b < c->flow.n_blocks; b++)
        if (!summarize(c, b)) return false;
    if (c->request && any(&c->request->entry)) {
        c->states[0].in = c->states[0].pending = c->request->entry;
        c->queue[c->queue_length++] = 0;
    }
    for (size_t b = 0; b < c->flow.n_blocks; b++)
        if (!leave(c, b, c->states[b].gen)) return false;
    while (c->queue_length) {
        uint32_t b = c->queue[c->queue_head];
        c->queue_head = (c->queue_head + 1) % c->flow.n_blocks;
        c->queue_length--;
        struct facts facts = c->states[b].pending;
        memset(&c->states[b].pending, 0, sizeof facts);
        facts_drop(&facts, c->states[b].kill);
        if (!leave(c, b, facts)) return false;
    }
    return true;
}

/* ---- the rules ---- */

/* Was a fact raised in another function? What a callee left is put down to the call. */
static bool is_outside(const struct checker *c, uint32_t cause)
{
    size_t low = 0, high = c->flow.n_jumps;
    if (cause == ISA_NO_CAUSE) return true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->flow.jumps[middle].at < cause / 4)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->flow.n_jumps && c->flow.jumps[low].at == cause / 4;
}

static void report(struct checker *c, enum isa_rule rule, enum isa_detail detail, uint32_t at,
                   uint32_t cause, unsigned reg)
{
    c->count->n_findings[rule]++;
    c->count->n_across += c->request && is_outside(c, cause);
    c->count->n_details[detail]++;
    struct isa_finding finding = { rule, detail, at, cause, (uint16_t)reg };
    if (c->found) c->found(&finding, c->context);
}

static void check_vcmpx(struct checker *c, const struct isa_inst *inst, uint32_t at)
{
    if (inst->row->flags & ISA_CMPX && has(&c->live, F_EXEC))
        report(c, ISA_RULE_VCMPX_EXEC_WAR, ISA_DETAIL_NONE, at, c->cause[F_EXEC], ISA_EXEC_LO);
    if (inst->row->flags & ISA_PERMLANE && has(&c->live, F_CMPX))
        report(c, ISA_RULE_VCMPX_PERMLANE, ISA_DETAIL_NONE, at, c->cause[F_CMPX], ISA_NULL);
}

/* Only results that the instruction names: LLVM leaves EXEC of s_*_saveexec alone. */
static void check_scalar_write(struct checker *c, const struct isa_inst *inst, uint32_t at)
{
    if (!(inst->row->flags & (ISA_SALU | ISA_SCALAR_MEM))) return;
    for (unsigned i = 0; i < inst->n_operands; i++) {
        const struct isa_operand *op = &inst->op[i];
        if (op->kind != ISA_KIND_REG || !(op->access & ISA_WRITE) || op->reg == ISA_NULL) continue;
        for (unsigned reg = op->reg; reg < op->reg + op->n_regs && reg < 128u; reg++) {
            if (!has(&c->live, F_VMEM + reg)) continue;
            bool exec = reg == ISA_EXEC_LO || reg == ISA_EXEC_HI;
            report(c, ISA_RULE_VMEM_SCALAR_WRITE, exec ? ISA_DETAIL_EXEC : ISA_DETAIL_SGPR, at,
                   c->cause[F_VMEM + reg], reg);
            return;
        }
    }
}

static void check_vector_write(struct checker *c, const struct isa_inst *inst,
                               const struct isa_uses *u, uint32_t at)
{
    if (!(inst->row->flags & ISA_VALU)) return;
    for (unsigned w = 0; w < 2; w++) {
        uint64_t hit = u->sgpr_write[w] & c->live.bits[2 + w];
        if (!hit) continue;
        unsigned reg = 64 * w + (unsigned)__builtin_ctzll(hit);
        report(c, ISA_RULE_SMEM_VECTOR_WRITE, ISA_DETAIL_NONE, at, c->cause[F_SMEM + reg], reg);
        return;
    }
}

static void check_lds_branch(struct checker *c, const struct isa_inst *inst, uint32_t at)
{
    unsigned other = inst->row->flags & ISA_IS_DS      ? F_VECTOR_BRANCHED
                     : isa_is_vector_memory(inst->row) ? F_LDS_BRANCHED
                                                       : 0;
    if (other && has(&c->live, other))
        report(c, ISA_RULE_LDS_BRANCH_VMEM, ISA_DETAIL_NONE, at, c->cause[other], ISA_NULL);
}

static void check_nsa(struct checker *c, const struct isa_inst *inst, uint32_t at)
{
    unsigned encoding = inst->row->encoding;
    if ((encoding == ISA_MUBUF || encoding == ISA_MTBUF) && inst->imm & 6 && has(&c->live, F_NSA))
        report(c, ISA_RULE_NSA, ISA_DETAIL_VMEM, at, c->cause[F_NSA], ISA_NULL);
    if (c->clause_left) {
        c->clause_left--;
        if (inst->n_nsa) report(c, ISA_RULE_NSA, ISA_DETAIL_CLAUSE, at, c->clause_at, ISA_NULL);
    }
    if (inst->id == ISA_s_clause_SOPP) {
        c->clause_left = (size_t)(inst->imm & 63) + 1;
        c->clause_at = at;
    }
}

/* Bytes a DS instruction moves in one piece; ds_read2 and its kin are two pieces that their
 * offsets keep aligned. */
static unsigned lds_bytes(const struct isa_inst *inst)
{
    unsigned regs = 0;
    if (inst->row->flags & ISA_TWO_DATA) return 0;
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].role == ISA_OP_DST || inst->op[i].role == ISA_OP_DATA)
            if (inst->op[i].n_regs > regs) regs = inst->op[i].n_regs;
    return 4 * regs;
}

enum isa_rule isa_rules_single(const struct isa_inst *inst, bool wgp_mode)
{
    const struct isa_row *row = inst->row;
    if (inst->id == ISA_s_inst_prefetch_SOPP) return ISA_RULE_INST_PREFETCH;
    if (row->encoding == ISA_FLAT && inst->imm) return ISA_RULE_FLAT_OFFSET;
    if (row->encoding == ISA_SOPP && row->flags & ISA_BRANCH && inst->imm == 0x3f)
        return ISA_RULE_BRANCH_3F;
    if (row->encoding == ISA_SCRATCH && inst->imm < 0 && inst->imm % 4)
        return ISA_RULE_SCRATCH_OFFSET;
    if (wgp_mode && row->flags & ISA_IS_DS && !inst->gds) {
        unsigned bytes = lds_bytes(inst);
        if ((bytes == 8 && inst->imm & 7) || (bytes > 8 && inst->imm & 15))
            return ISA_RULE_LDS_MISALIGNED;
    }
    return ISA_N_RULES;
}

static void check_block(struct checker *c, size_t block)
{
    const struct isa_block *b = &c->flow.blocks[block];
    c->live = c->states[block].in;
    memset(c->cause, 0xff, sizeof c->cause); /* ISA_NO_CAUSE */
    for (uint32_t i = c->states[block].in_nodes; i != NO_NODE; i = c->nodes[i].next)
        c->cause[c->nodes[i].fact] = c->nodes[i].cause;
    for (size_t i = b->first; i < b->end;) {
        struct isa_inst inst;
        struct isa_uses uses;
        size_t n = isa_decode(c->chip_mode, c->words + i, b->end - i, &inst);
        if (n) {
            uint32_t at = (uint32_t)(4 * i);
            isa_uses(&inst, &uses);
            check_vcmpx(c, &inst, at);
            check_scalar_write(c, &inst, at);
            check_vector_write(c, &inst, &uses, at);
            check_lds_branch(c, &inst, at);
            check_nsa(c, &inst, at);
            enum isa_rule rule = isa_rules_single(&inst, c->wgp_mode);
            if (rule != ISA_N_RULES) report(c, rule, ISA_DETAIL_NONE, at, at, ISA_NULL);
            step(c, &inst, &uses, at);
        }
        i += n ? n : 1;
    }
}

/* The facts of every block; false when memory ran out. Close in any case. */
static bool open_checker(struct checker *c, const struct isa_code *code)
{
    c->chip_mode = code->chip_mode;
    c->words = code->words;
    c->wgp_mode = code->wgp_mode;
    c->most_nodes = 8 * code->n_words + 1024;
    if (!isa_flow_init(&c->flow, code->chip_mode, code->words, code->n_words,
                       c->request ? c->request->callees : NULL))
        return false;
    c->states = calloc(c->flow.n_blocks, sizeof *c->states);
    c->queue = malloc(c->flow.n_blocks * sizeof *c->queue);
    return c->states && c->queue && solve(c);
}

static void close_checker(struct checker *c)
{
    free(c->states);
    free(c->queue);
    free(c->nodes);
    free(c->returns);
    isa_flow_deinit(&c->flow);
}

static size_t count_unknown_calls(const struct checker *c)
{
    size_t n = 0, callee;
    for (size_t b = 0; b < c->flow.n_blocks && c->request; b++) {
        const struct isa_block *block = &c->flow.blocks[b];
        if (block->jump == ISA_NO_BLOCK || block->target != ISA_NO_BLOCK) continue;
        const struct isa_jump *jump = &c->flow.jumps[block->jump];
        callee_of(c, jump, &callee);
        n += callee == SIZE_MAX && (jump->is_call || jump->is_known);
    }
    return n;
}

static bool find(const struct isa_code *code, const struct rules_request *request,
                 isa_finding_fn *found, void *context, struct isa_rules_count *count)
{
    struct checker c = { .found = found, .context = context, .count = count, .request = request };
    memset(count, 0, sizeof *count);
    if (!code->n_words) return true;
    bool ok = open_checker(&c, code);
    if (ok) {
        count->n_instructions = c.flow.n_instructions;
        count->n_undecodable = c.flow.n_undecodable;
        count->n_unknown_calls = count_unknown_calls(&c);
        for (size_t b = 0; b < c.flow.n_blocks; b++) check_block(&c, b);
    }
    close_checker(&c);
    return ok;
}

bool isa_rules_check(unsigned chip_mode, const uint32_t *words, size_t n_words, bool wgp_mode,
                     isa_finding_fn *found, void *context, struct isa_rules_count *count)
{
    struct isa_code code = { words, n_words, 0, chip_mode, wgp_mode, false };
    return find(&code, NULL, found, context, count);
}

bool isa_rules_find(const struct rules_request *request, isa_finding_fn *found, void *context,
                    struct isa_rules_count *count)
{
    return find(request->code, request, found, context, count);
}

bool isa_rules_solve(const struct rules_request *request, struct summary *out)
{
    struct checker c = { .request = request };
    memset(out, 0, sizeof *out);
    if (!request->code->n_words) return true;
    bool ok = open_checker(&c, request->code);
    if (ok) solve_pass(&c);
    for (size_t b = 0; ok && b < c.flow.n_blocks && request->met; b++) {
        const struct isa_block *block = &c.flow.blocks[b];
        if (block->jump == ISA_NO_BLOCK || block->target != ISA_NO_BLOCK) continue;
        const struct isa_jump *jump = &c.flow.jumps[block->jump];
        if (!jump->is_call && !jump->is_known) continue; /* a return */
        struct facts facts = c.states[b].in;
        size_t callee;
        facts_drop(&facts, c.states[b].kill);
        for (unsigned w = 0; w < N_WORDS; w++) facts.bits[w] |= c.states[b].gen.bits[w];
        facts = facts_branched(facts);
        callee_of(&c, jump, &callee);
        request->met(request->context, callee, &facts);
    }
    *out = c.summary;
    close_checker(&c);
    return ok;
}
