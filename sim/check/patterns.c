/* patterns.c: the silicon-bug patterns along the executed path, and their effects.
 *
 * The facts are those of code/isa/rules.h; here they hold for what a wave really executed. An
 * effect is acted out by executing a memory instruction later, when the register that it reads has
 * been overwritten, or by giving a scalar instruction the EXEC of the v_cmpx behind it. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/state/registers.h"

enum { LDS_LAST = 1, VECTOR_LAST = 2, LDS_BRANCHED = 4, VECTOR_BRANCHED = 8 };
enum { WATCH_DELAYED = 64 }; /* in facts.live while instructions wait; every op watches it */

static bool is_vector_memory(const struct isa_row *row)
{
    return row->flags & ISA_VMEM && row->encoding != ISA_FLAT;
}

static bool is_scalar(const struct op *op)
{
    return op->inst.row->flags & (ISA_SALU | ISA_SCALAR_MEM);
}

unsigned patterns_watched(const struct op *op)
{
    const struct isa_row *row = op->inst.row;
    unsigned watch = op->kill | WATCH_DELAYED;
    if (op->raise || op->single != ISA_N_RULES) watch |= WATCH_ALWAYS;
    if (is_scalar(op)) watch |= ISA_FACT_VMEM;
    if (row->flags & ISA_VALU && (op->uses.sgpr_write[0] | op->uses.sgpr_write[1]))
        watch |= ISA_FACT_SMEM;
    if (row->flags & ISA_CMPX) watch |= ISA_FACT_EXEC;
    if (row->flags & ISA_PERMLANE) watch |= ISA_FACT_CMPX;
    if (row->flags & (ISA_BRANCH | ISA_IS_DS | ISA_VMEM)) watch |= ISA_FACT_LDS;
    if (row->flags & ISA_JUMP) watch |= WATCH_ALWAYS;
    return watch;
}

void pattern_found(struct wave *w, const struct op *op, const struct finding *f, const char *what)
{
    struct core *core = w->core;
    uintptr_t key = (uintptr_t)op / 64 * ISA_N_RULES + (unsigned)f->rule;
    uintptr_t *told = &core->told[key % N_TOLD];
    if (*told == key) {
        core->patterns[f->rule]++;
        return;
    }
    *told = key;
    report(w, op, f, "%s: %s%s", isa_rule_table[f->rule].id, isa_rule_table[f->rule].silicon, what);
}

static void found(struct wave *w, const struct op *op, enum isa_rule rule, uint64_t cause)
{
    struct finding f = { .kind = SIM_PATTERN, .rule = (int)rule, .lanes = w->exec, .cause = cause };
    pattern_found(w, op, &f, "");
}

/* The scalar register of a set that an instruction names as a result, or ISA_NULL. */
static unsigned named_write(const struct op *op, const uint64_t set[2])
{
    for (unsigned i = 0; i < op->inst.n_operands; i++) {
        const struct isa_operand *o = &op->inst.op[i];
        if (o->kind != ISA_KIND_REG || !(o->access & ISA_WRITE) || o->reg == ISA_NULL) continue;
        for (unsigned r = o->reg; r < o->reg + o->n_regs && r < 128u; r++)
            if (isa_sgpr_in(set, r)) return r;
    }
    return ISA_NULL;
}

static bool writes_one_of(const struct op *op, const uint64_t set[2])
{
    return (op->uses.sgpr_write[0] & set[0]) | (op->uses.sgpr_write[1] & set[1]);
}

static void check(struct wave *w, const struct op *op)
{
    struct wave_facts *f = &w->facts;
    const struct isa_row *row = op->inst.row;
    if (!(w->core->run->checks & SIM_CHECK_PATTERNS)) return; /* only acted out */
    if (op->single != ISA_N_RULES) found(w, op, (enum isa_rule)op->single, 0);
    if (row->flags & ISA_CMPX && f->live & ISA_FACT_EXEC)
        found(w, op, ISA_RULE_VCMPX_EXEC_WAR, f->exec_cause);
    if (row->flags & ISA_PERMLANE && f->live & ISA_FACT_CMPX)
        found(w, op, ISA_RULE_VCMPX_PERMLANE, f->cmpx_cause);
    if (f->live & ISA_FACT_VMEM && is_scalar(op) && named_write(op, f->vmem_read) != ISA_NULL)
        found(w, op, ISA_RULE_VMEM_SCALAR_WRITE, f->vmem_cause);
    if (f->live & ISA_FACT_SMEM && row->flags & ISA_VALU && writes_one_of(op, f->smem_read))
        found(w, op, ISA_RULE_SMEM_VECTOR_WRITE, f->smem_cause);
    if ((row->flags & ISA_IS_DS && f->lds & VECTOR_BRANCHED) ||
        (is_vector_memory(row) && f->lds & LDS_BRANCHED))
        found(w, op, ISA_RULE_LDS_BRANCH_VMEM, f->lds_cause);
}

static void step(struct wave *w, const struct op *op, uint64_t at)
{
    struct wave_facts *f = &w->facts;
    const struct isa_row *row = op->inst.row;
    f->live &= (uint8_t)~op->kill;
    if (op->kill & ISA_FACT_VMEM) memset(f->vmem_read, 0, sizeof f->vmem_read);
    if (op->kill & ISA_FACT_SMEM) memset(f->smem_read, 0, sizeof f->smem_read);
    if (op->kill & ISA_FACT_LDS) f->lds = 0;
    if (row->flags & ISA_BRANCH && f->lds) f->lds = (uint8_t)((f->lds & ~3) | (f->lds & 3) << 2);
    if (row->flags & ISA_JUMP) { /* LLVM, whose rules these are, does not look across calls */
        f->live &= WATCH_ALWAYS | WATCH_DELAYED;
        f->lds = 0;
        memset(f->vmem_read, 0, sizeof f->vmem_read);
        memset(f->smem_read, 0, sizeof f->smem_read);
    }
    f->live |= op->raise;
    if (op->raise & ISA_FACT_VMEM) {
        for (unsigned i = 0; i < 2; i++) f->vmem_read[i] |= op->uses.sgpr_read[i];
        f->vmem_cause = at;
    }
    if (op->raise & ISA_FACT_SMEM) {
        for (unsigned i = 0; i < 2; i++) f->smem_read[i] |= op->uses.sgpr_read[i];
        f->smem_cause = at;
    }
    if (op->raise & ISA_FACT_EXEC) f->exec_cause = at;
    if (op->raise & ISA_FACT_CMPX) f->cmpx_cause = at;
    if (op->raise & ISA_FACT_LDS) {
        f->lds |= row->flags & ISA_IS_DS ? LDS_LAST : VECTOR_LAST;
        f->lds_cause = at;
    }
}

/* ---- acting out ---- */

/* Spreads the bits of a number over all of them. */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Threads run workgroups in any order, so the draw depends on the place alone. */
bool acts_out(const struct wave *w, enum isa_rule rule)
{
    const struct core *core = w->core;
    const struct sim_options *options = &core->sim->options;
    if (!(core->run->act_out >> rule & 1)) return false;
    if (!options->act_out_chance) return true;
    uint64_t draw = mixed(options->act_out_seed + UINT64_C(0x9e3779b97f4a7c15));
    const uint64_t place[] = { core->run->dispatch->dispatch_id,
                               core->workgroup[0] | (uint64_t)core->workgroup[1] << 32,
                               core->workgroup[2] | (uint64_t)w->number << 32, w->n_instructions,
                               rule };
    for (unsigned i = 0; i < sizeof place / sizeof *place; i++) draw = mixed(draw ^ place[i]) + i;
    return draw < options->act_out_chance;
}

static enum isa_rule delaying_rule(const struct op *op)
{
    return op->inst.row->flags & ISA_SCALAR_MEM ? ISA_RULE_SMEM_VECTOR_WRITE
                                                : ISA_RULE_VMEM_SCALAR_WRITE;
}

static void delayed_run(struct wave *w)
{
    uint64_t pc = w->pc;
    for (unsigned i = 0; i < w->n_delayed && w->state == WAVE_RUN; i++) {
        w->pc = w->delayed_pc[i];
        w->delayed[i]->run(w, w->delayed[i]);
    }
    w->n_delayed = 0;
    w->facts.live &= (uint8_t)~WATCH_DELAYED;
    w->pc = pc;
}

/* Does an instruction overwrite what a delayed one has still to read? */
static bool overtakes(const struct wave *w, const struct op *op, bool counted)
{
    bool scalar = is_scalar(op), vector = op->inst.row->flags & ISA_VALU, any = false;
    for (unsigned i = 0; i < w->n_delayed; i++) {
        const struct op *d = w->delayed[i];
        bool smem = d->inst.row->flags & ISA_SCALAR_MEM;
        if (smem ? vector && writes_one_of(op, d->uses.sgpr_read)
                 : scalar && named_write(op, d->uses.sgpr_read) != ISA_NULL) {
            any = true;
            if (counted) w->core->acted_out[delaying_rule(d)]++;
        }
    }
    return any;
}

/* May delayed instructions still be waiting when this one executes? */
static bool can_wait(const struct wave *w, const struct op *op)
{
    const struct isa_row *row = op->inst.row;
    if (row->encoding == ISA_SOPP || row->flags & (ISA_WAIT | ISA_JUMP | ISA_BRANCH)) return false;
    if (w->n_delayed >= sizeof w->delayed / sizeof *w->delayed) return false;
    for (unsigned i = 0; i < w->n_delayed; i++) {
        const struct op *d = w->delayed[i];
        bool smem = d->inst.row->flags & ISA_SCALAR_MEM;
        if (smem ? row->flags & ISA_SALU : row->flags & ISA_VALU) return false;
        /* s_and_saveexec and its kin: an unnamed result is no pattern. */
        if (writes_one_of(op, d->uses.sgpr_read)) return false;
    }
    return true;
}

void delayed_settle(struct wave *w, const struct op *op)
{
    if (w->n_delayed && !overtakes(w, op, false) && !can_wait(w, op)) delayed_run(w);
}

/* Those behind a delayed one of their kind wait with it: a pipe keeps its order, and vmcnt and
 * lgkmcnt count on that. */
static bool is_delayed(const struct wave *w, const struct op *op)
{
    const unsigned kinds[] = { ISA_VMEM | ISA_IS_DS, ISA_SCALAR_MEM };
    for (unsigned k = 0; k < 2; k++) {
        if (!(op->inst.row->flags & kinds[k])) continue;
        for (unsigned i = 0; i < w->n_delayed; i++)
            if (w->delayed[i]->inst.row->flags & kinds[k]) return true;
        return acts_out(w, delaying_rule(op));
    }
    return false;
}

/* Give the scalar reader of EXEC the value that v_cmpx has just written. */
static void replay_reader(struct wave *w)
{
    const struct op *op = w->exec_reader;
    uint32_t now[128];
    bool scc = w->scc;
    uint64_t exec = w->exec, pc = w->pc;
    if (!op->out || op->out->kind != ISA_KIND_REG || op->out->reg >= ISA_EXEC_LO) return;
    memcpy(now, w->sgpr, sizeof now);
    memcpy(w->sgpr, w->reader_sgpr, sizeof now);
    exec_write(w, exec);
    w->scc = w->reader_scc;
    op->run(w, op);
    for (unsigned r = op->out->reg; r < op->out->reg + op->out->n_regs && r < 128u; r++)
        now[r] = w->sgpr[r];
    memcpy(w->sgpr, now, sizeof now);
    exec_write(w, exec);
    w->scc = scc;
    w->pc = pc;
}

static void run_acting(struct wave *w, const struct op *op, bool was_exec_read)
{
    const struct isa_row *row = op->inst.row;
    if (row->id == ISA_s_inst_prefetch_SOPP && acts_out(w, ISA_RULE_INST_PREFETCH)) {
        w->core->acted_out[ISA_RULE_INST_PREFETCH]++;
        struct finding f = { .kind = SIM_RUNAWAY, .rule = -1 };
        report(w, op, &f, "acted out: s_inst_prefetch hangs");
        return;
    }
    if (w->n_delayed && overtakes(w, op, true)) {
        op->run(w, op);
        delayed_run(w);
        return;
    }
    delayed_settle(w, op);
    if (w->state != WAVE_RUN) return;
    if (is_delayed(w, op)) {
        w->delayed[w->n_delayed] = op;
        w->delayed_pc[w->n_delayed++] = w->pc;
        w->facts.live |= WATCH_DELAYED;
        return;
    }
    bool reads_exec = op->raise & ISA_FACT_EXEC && row->flags & ISA_SALU;
    if (reads_exec && w->core->run->act_out >> ISA_RULE_VCMPX_EXEC_WAR & 1) {
        memcpy(w->reader_sgpr, w->sgpr, sizeof w->reader_sgpr);
        w->reader_scc = w->scc;
        w->exec_reader = op;
    }
    op->run(w, op);
    if (row->flags & ISA_CMPX && was_exec_read && w->exec_reader &&
        acts_out(w, ISA_RULE_VCMPX_EXEC_WAR)) {
        w->core->acted_out[ISA_RULE_VCMPX_EXEC_WAR]++;
        replay_reader(w);
    }
    if (op->kill & ISA_FACT_EXEC) w->exec_reader = NULL;
}

void watch_patterns(struct wave *w, const struct op *op)
{
    uint64_t at = w->pc - op->bytes;
    bool was_exec_read = w->facts.live & ISA_FACT_EXEC;
    check(w, op);
    step(w, op, at);
    if (w->core->run->act_out)
        run_acting(w, op, was_exec_read);
    else
        op->run(w, op);
}
