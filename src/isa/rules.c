/* rules.c: the silicon-bug rules over decoded instructions.
 *
 * Every rule that spans instructions is a fact that one instruction raises ("s4 is being read by
 * VMEM"), others drop, and a third must not meet. Facts flow along the blocks until nothing
 * changes; since a block drops a whole class of facts or none, its effect is computed once. */
#include "isa/rules.h"

#include <stdlib.h>
#include <string.h>

#include "isa/flow.h"

enum {
    F_VMEM = 0,                 /* + scalar register: VMEM or DS reads it         */
    F_SMEM = 128,               /* + scalar register: SMEM reads it               */
    F_EXEC = 256,               /* a non-VALU read EXEC                           */
    F_CMPX,                     /* the last VALU was v_cmpx                       */
    F_NSA,                      /* the last instruction was a long MIMG NSA       */
    F_LDS,                      /* DS came last, of DS and VMEM                   */
    F_LDS_BRANCHED = F_LDS + 2, /* the same, and a branch after it        */
    F_VECTOR = F_LDS + 1,       /* VMEM came last, of DS and VMEM         */
    F_VECTOR_BRANCHED = F_VECTOR + 2,
    N_WORDS = 5,
    N_FACTS = 64 * N_WORDS
};

enum { /* classes */
       K_VMEM = ISA_FACT_VMEM,
       K_SMEM = ISA_FACT_SMEM,
       K_EXEC = ISA_FACT_EXEC,
       K_CMPX = ISA_FACT_CMPX,
       K_NSA = ISA_FACT_NSA,
       K_LDS = ISA_FACT_LDS
};

#define TAIL(fact) (UINT64_C(1) << ((fact)-F_EXEC)) /* bit in the last word */
#define LDS_FACTS (TAIL(F_LDS) | TAIL(F_VECTOR))
#define BRANCHED_FACTS (TAIL(F_LDS_BRANCHED) | TAIL(F_VECTOR_BRANCHED))
#define NO_NODE UINT32_MAX

struct facts {
    uint64_t bits[N_WORDS];
};

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
};

struct checker {
    unsigned chip_mode;
    const uint32_t *words;
    bool wgp_mode;
    isa_finding_fn *found;
    void *context;
    struct isa_rules_count *count;
    struct isa_flow flow;
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

static void drop(struct facts *f, unsigned classes)
{
    if (classes & K_VMEM) f->bits[0] = f->bits[1] = 0;
    if (classes & K_SMEM) f->bits[2] = f->bits[3] = 0;
    uint64_t tail = 0;
    if (classes & K_EXEC) tail |= TAIL(F_EXEC);
    if (classes & K_CMPX) tail |= TAIL(F_CMPX);
    if (classes & K_NSA) tail |= TAIL(F_NSA);
    if (classes & K_LDS) tail |= LDS_FACTS | BRANCHED_FACTS;
    f->bits[4] &= ~tail;
}

static bool any(const struct facts *f)
{
    return f->bits[0] | f->bits[1] | f->bits[2] | f->bits[3] | f->bits[4];
}

static bool has(const struct facts *f, unsigned fact)
{
    return f->bits[fact >> 6] >> (fact & 63) & 1;
}

/* ---- what one instruction does ---- */

static bool is_vector_memory(const struct isa_row *row)
{
    return row->flags & ISA_VMEM && row->encoding != ISA_FLAT;
}

static bool reads_exec(const struct isa_uses *u)
{
    return isa_sgpr_in(u->sgpr_read, ISA_EXEC_LO) || isa_sgpr_in(u->sgpr_read, ISA_EXEC_HI);
}

/* A counter of its own waited down to 0: "s_waitcnt_vscnt null, 0". */
static bool waits_for_all(const struct isa_inst *inst)
{
    return inst->op[0].reg == ISA_NULL && inst->imm == 0;
}

static bool drops_smem(const struct isa_inst *inst)
{
    switch (inst->id) {
    case ISA_s_version_SOPK:
    case ISA_s_waitcnt_vscnt_SOPK:
    case ISA_s_waitcnt_vmcnt_SOPK:
    case ISA_s_waitcnt_expcnt_SOPK: return false;
    case ISA_s_waitcnt_lgkmcnt_SOPK: return waits_for_all(inst);
    case ISA_s_waitcnt_SOPP: return (inst->imm >> 8 & 63) == 0;
    default: return inst->row->encoding != ISA_SOPP;
    }
}

/* A scalar result of a VALU, other than that of v_readlane, which LLVM does not count here. */
static bool has_mask_result(const struct isa_inst *inst)
{
    if (inst->row->flags & ISA_LANE) return false;
    if (inst->row->implicit & (ISA_W_VCC | ISA_W_EXEC)) return true;
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].access & ISA_WRITE && inst->op[i].kind == ISA_KIND_REG) return true;
    return false;
}

/* The classes that end at an instruction. */
unsigned isa_rules_kills(const struct isa_inst *inst)
{
    const struct isa_row *row = inst->row;
    unsigned kill = K_NSA;
    if (row->flags & ISA_VALU) {
        kill |= K_VMEM;
        if (inst->id != ISA_v_nop_VOP1) kill |= K_CMPX;
        if (has_mask_result(inst)) kill |= K_EXEC;
    } else if (row->flags & ISA_SALU) {
        if (drops_smem(inst)) kill |= K_SMEM;
        if (inst->id == ISA_s_waitcnt_SOPP && inst->imm == 0) kill |= K_VMEM;
        if (inst->id == ISA_s_waitcnt_depctr_SOPP && !(inst->imm >> 2 & 7)) kill |= K_VMEM;
        if (inst->id == ISA_s_waitcnt_depctr_SOPP && !(inst->imm & 1)) kill |= K_EXEC;
        if (inst->id == ISA_s_waitcnt_vscnt_SOPK && waits_for_all(inst)) kill |= K_LDS;
    } else if (row->flags & ISA_IS_DS || is_vector_memory(row)) {
        kill |= K_LDS;
    }
    return kill;
}

static struct facts raised(const struct isa_inst *inst, const struct isa_uses *u)
{
    const struct isa_row *row = inst->row;
    struct facts f = { { 0 } };
    if (row->flags & (ISA_VMEM | ISA_IS_DS)) {
        f.bits[0] = u->sgpr_read[0];
        f.bits[1] = u->sgpr_read[1];
    }
    if (row->flags & ISA_SCALAR_MEM) {
        f.bits[2] = u->sgpr_read[0];
        f.bits[3] = u->sgpr_read[1];
    }
    if (!(row->flags & ISA_VALU) && reads_exec(u)) f.bits[4] |= TAIL(F_EXEC);
    if (row->flags & ISA_CMPX) f.bits[4] |= TAIL(F_CMPX);
    if (inst->n_nsa && inst->n_words >= 4) f.bits[4] |= TAIL(F_NSA);
    if (row->flags & ISA_IS_DS) f.bits[4] |= TAIL(F_LDS);
    if (is_vector_memory(row)) f.bits[4] |= TAIL(F_VECTOR);
    return f;
}

unsigned isa_rules_raises(const struct isa_inst *inst, const struct isa_uses *uses)
{
    const struct facts f = raised(inst, uses);
    unsigned classes = 0;
    if (f.bits[0] | f.bits[1]) classes |= K_VMEM;
    if (f.bits[2] | f.bits[3]) classes |= K_SMEM;
    if (f.bits[4] & TAIL(F_EXEC)) classes |= K_EXEC;
    if (f.bits[4] & TAIL(F_CMPX)) classes |= K_CMPX;
    if (f.bits[4] & TAIL(F_NSA)) classes |= K_NSA;
    if (f.bits[4] & LDS_FACTS) classes |= K_LDS;
    return classes;
}

/* Move the live facts over an instruction. */
static unsigned step(struct checker *c, const struct isa_inst *inst, const struct isa_uses *u,
                     uint32_t at)
{
    unsigned kill = isa_rules_kills(inst);
    struct facts gen = raised(inst, u);
    drop(&c->live, kill);
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

static bool enter(struct checker *c, size_t from, uint32_t to, const struct facts *facts)
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
            if (!remember(c, &s->in_nodes, fact, cause_at_end(c, from, fact))) return false;
        }
    }
    if (!waiting && any(&s->pending))
        c->queue[(c->queue_head + c->queue_length++) % c->flow.n_blocks] = to;
    return true;
}

/* Hand facts at the end of a block to the blocks behind it. */
static bool leave(struct checker *c, size_t block, struct facts facts)
{
    const struct isa_block *b = &c->flow.blocks[block];
    if (b->branches) {
        uint64_t tail = facts.bits[4];
        facts.bits[4] = (tail & ~LDS_FACTS) | (tail & LDS_FACTS) << 2;
    }
    return !any(&facts) || (enter(c, block, b->next, &facts) && enter(c, block, b->target, &facts));
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

static bool solve(struct checker *c)
{
    for (size_t b = 0; b < c->flow.n_blocks; b++)
        if (!summarize(c, b)) return false;
    for (size_t b = 0; b < c->flow.n_blocks; b++)
        if (!leave(c, b, c->states[b].gen)) return false;
    while (c->queue_length) {
        uint32_t b = c->queue[c->queue_head];
        c->queue_head = (c->queue_head + 1) % c->flow.n_blocks;
        c->queue_length--;
        struct facts facts = c->states[b].pending;
        memset(&c->states[b].pending, 0, sizeof facts);
        drop(&facts, c->states[b].kill);
        if (!leave(c, b, facts)) return false;
    }
    return true;
}

/* ---- the rules ---- */

static void report(struct checker *c, enum isa_rule rule, enum isa_detail detail, uint32_t at,
                   uint32_t cause, unsigned reg)
{
    c->count->n_findings[rule]++;
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
    unsigned other = inst->row->flags & ISA_IS_DS  ? F_VECTOR_BRANCHED
                     : is_vector_memory(inst->row) ? F_LDS_BRANCHED
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

bool isa_rules_check(unsigned chip_mode, const uint32_t *words, size_t n_words, bool wgp_mode,
                     isa_finding_fn *found, void *context, struct isa_rules_count *count)
{
    struct checker c = { .chip_mode = chip_mode,
                         .words = words,
                         .wgp_mode = wgp_mode,
                         .found = found,
                         .context = context,
                         .count = count,
                         .most_nodes = 8 * n_words + 1024 };
    memset(count, 0, sizeof *count);
    if (!n_words) return true;
    bool ok = isa_flow_init(&c.flow, chip_mode, words, n_words);
    if (ok) {
        c.states = calloc(c.flow.n_blocks, sizeof *c.states);
        c.queue = malloc(c.flow.n_blocks * sizeof *c.queue);
        ok = c.states && c.queue && solve(&c);
    }
    if (ok) {
        count->n_instructions = c.flow.n_instructions;
        count->n_undecodable = c.flow.n_undecodable;
        for (size_t b = 0; b < c.flow.n_blocks; b++) check_block(&c, b);
    }
    free(c.states);
    free(c.queue);
    free(c.nodes);
    isa_flow_deinit(&c.flow);
    return ok;
}
