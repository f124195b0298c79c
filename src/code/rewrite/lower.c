/* lower.c: goes through lifted code and replaces what the target lacks. */
#include "code/rewrite/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/isa/encode.h"
#include "code/rewrite/lower_parts.h"

enum { MOST_VGPRS = 256 };

#define WAIT_ALL UINT32_C(0xbf8c0000) /* s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0) */

struct lower {
    struct rewrite *r;
    unsigned target;
    struct rewrite_lowered *out;
    struct lower_registers registers;
    struct lower_dead dead; /* of a function that finds no registers above */
    struct lowering code;
    bool waits; /* before the code */
};

/* What one function needs. */
struct need {
    bool lacks;
    unsigned n_temps;
    unsigned n_tight; /* at least */
    uint16_t refused_id;
    uint32_t refused_at; /* item */
    char why[160];
};

static bool reads_shader_cycles(const struct isa_inst *inst)
{
    enum { HWREG_NUMBER = 63, SHADER_CYCLES = 29 };
    return inst->chip == ISA_GFX1030 && inst->id == ISA_s_getreg_b32_SOPK &&
           (inst->imm & HWREG_NUMBER) == SHADER_CYCLES;
}

static bool lacks(unsigned target, const struct isa_inst *inst)
{
    struct isa_inst there;
    if (inst->chip == target || !isa_is_legal(inst)) return false;
    unsigned mode = target | (inst->wave64 ? ISA_WAVE64 : 0);
    if (isa_decode(mode, inst->word, inst->n_words, &there) != inst->n_words) return true;
    if (there.id != inst->id || !isa_is_legal(&there)) return true;
    return target != ISA_GFX1030 && reads_shader_cycles(inst);
}

/* Keep a reason as long as the struct rewrite; NULL: no memory. */
static const char *keep_reason(struct rewrite *r, const char *text)
{
    for (size_t i = 0; i < r->n_reasons; i++)
        if (!strcmp(r->reasons[i], text)) return r->reasons[i];
    if (!rewrite_grow(&r->reasons, &r->reasons_room, r->n_reasons, sizeof *r->reasons)) return NULL;
    char *copy = malloc(strlen(text) + 1);
    if (!copy) return NULL;
    strcpy(copy, text);
    return r->reasons[r->n_reasons++] = copy;
}

static rmcp_status refuse(struct lower *w, size_t i, const struct need *need)
{
    const char *reason = keep_reason(w->r, need->why);
    if (!reason) return rmcp_fail_memory("reason", sizeof need->why);
    uint32_t old = w->r->items[need->refused_at].old;
    rewrite_refuse(&w->r->functions[i], reason, w->r->address + (old == NONE ? 0 : old));
    w->out->n_refused[need->refused_id]++;
    return RMCP_OK;
}

static void cannot(struct need *need, const struct isa_inst *inst, uint32_t item, unsigned target,
                   const char *why)
{
    const char *name =
        reads_shader_cycles(inst) ? "s_getreg_b32 hwreg(HW_REG_SHADER_CYCLES)" : inst->row->name;
    if (need->why[0]) return; /* the first stays */
    snprintf(need->why, sizeof need->why, "%s%s%s, which %s lacks", name, *why ? " " : "", why,
             isa_chip_name(target));
    need->refused_id = inst->id;
    need->refused_at = item;
}

/* Look at a function; nothing changes. */
static void look(struct lower *w, const struct rewrite_function *f, struct need *need)
{
    struct isa_inst inst;
    memset(need, 0, sizeof *need);
    for (uint32_t item = f->entry; item != f->end; item = w->r->items[item].next) {
        if (!(w->r->items[item].flags & IS_REACHED) || !rewrite_decode(w->r, f, item, &inst) ||
            !lacks(w->target, &inst))
            continue;
        need->lacks = true;
        w->code.is_tight = true;
        lower_instruction(&inst, &w->code);
        if (w->code.n_temps > need->n_tight) need->n_tight = w->code.n_temps;
        w->code.is_tight = false;
        lower_instruction(&inst, &w->code);
        if (w->code.n_temps > need->n_temps) need->n_temps = w->code.n_temps;
        if (w->code.why) cannot(need, &inst, item, w->target, w->code.why);
    }
}

/* Put the instructions of w->code in the place of one; `*done` false: an operand has no place in
 * their words, and nothing changed. */
static rmcp_status replace(struct lower *w, uint32_t item, bool wave64, bool *done)
{
    unsigned chip = w->target | (wave64 ? ISA_WAVE64 : 0);
    uint32_t words[LOWER_MOST_CODE][ISA_MAX_WORDS];
    unsigned lengths[LOWER_MOST_CODE];
    char why[160];
    *done = false;
    for (unsigned i = 0; i < w->code.n; i++) {
        lengths[i] = (unsigned)isa_encode(chip, &w->code.code[i], words[i], why, sizeof why);
        if (!lengths[i]) return RMCP_OK;
    }
    *done = true;
    const uint32_t wait = WAIT_ALL;
    rmcp_status status =
        w->waits ? rewrite_insert(w->r, item, REWRITE_ON_ALL_PATHS, &wait, 1, NULL) : RMCP_OK;
    unsigned last = w->code.n - 1;
    for (unsigned i = 0; i < last && !status; i++)
        status = rewrite_insert(w->r, item, REWRITE_ON_ALL_PATHS, words[i], lengths[i], NULL);
    return status ? status : rewrite_replace(w->r, item, words[last], lengths[last]);
}

/* Choose temporaries for an instruction, `above` and on, or dead ones, and its code with them. */
static bool choose(struct lower *w, const struct isa_inst *inst, uint32_t item, unsigned above)
{
    bool found = above < MOST_VGPRS;
    w->waits = false;
    for (unsigned k = 0; k < LOWER_MOST_TEMPS && found; k++)
        w->code.temps[k] = (uint16_t)(above + k);
    for (unsigned tight = 0; tight < 2 && !found; tight++) {
        w->code.is_tight = tight;
        lower_instruction(inst, &w->code);
        found = lower_dead_find(&w->dead, item, inst, w->code.n_temps, w->code.temps, &w->waits);
    }
    if (found) lower_instruction(inst, &w->code);
    return found;
}

/* The first of as many registers as a function needs, of fewer when there are not so many. */
static unsigned find_above(struct lower *w, size_t i, const struct need *need)
{
    w->code.is_tight = false;
    if (!need->n_temps) return 0;
    unsigned above = lower_find_above(&w->registers, i, need->n_temps, w->out->vgprs);
    if (above < MOST_VGPRS || need->n_tight == need->n_temps) return above;
    w->code.is_tight = true;
    return lower_find_above(&w->registers, i, need->n_tight, w->out->vgprs);
}

/* Lower one instruction of a function, or only look whether there are registers for it; when it
 * cannot be done `need->why` says why. */
static rmcp_status lower_one(struct lower *w, const struct rewrite_function *f, uint32_t item,
                             const struct isa_inst *inst, unsigned above, bool changes,
                             struct need *need)
{
    bool done;
    if (!choose(w, inst, item, above)) {
        cannot(need, inst, item, w->target, "without registers for it");
        return RMCP_OK;
    }
    if (!changes) return RMCP_OK;
    rmcp_status status = replace(w, item, f->wave64, &done);
    if (!status && !done) cannot(need, inst, item, w->target, "with such operands");
    w->out->n_lowered[inst->id] += !status && done;
    return status;
}

static rmcp_status lower_function(struct lower *w, size_t i, struct need *need)
{
    const struct rewrite_function *f = &w->r->faces[i];
    struct isa_inst inst;
    unsigned above = find_above(w, i, need);
    rmcp_status status = RMCP_OK;
    if (above == MOST_VGPRS && !lower_dead_init(&w->dead, w->r, i, w->registers.named[i]))
        return rmcp_fail_memory("registers of a function", w->r->n_items);
    /* With dead registers: first whether there are enough everywhere. */
    for (unsigned pass = above < MOST_VGPRS; pass < 2 && !status && !need->why[0]; pass++)
        for (uint32_t item = f->entry, next; item != f->end; item = next) {
            next = w->r->items[item].next;
            if (!(w->r->items[item].flags & IS_REACHED) || !rewrite_decode(w->r, f, item, &inst) ||
                !lacks(w->target, &inst))
                continue;
            status = lower_one(w, f, item, &inst, above, pass == 1, need);
            if (status || need->why[0]) break;
        }
    lower_dead_deinit(&w->dead);
    return !status && need->why[0] ? refuse(w, i, need) : status;
}

static rmcp_status lower_all(struct lower *w)
{
    bool measured = false;
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < w->r->n_functions && !status; i++) {
        struct need need;
        if (w->r->functions[i].face.refused) continue;
        look(w, &w->r->faces[i], &need);
        if (!need.lacks) continue;
        if (need.n_temps && !measured && !need.why[0]) {
            measured = lower_registers_init(&w->registers, w->r);
            if (!measured) return rmcp_fail_memory("registers", w->r->n_functions);
        }
        status = need.why[0] ? refuse(w, i, &need) : lower_function(w, i, &need);
    }
    lower_registers_deinit(&w->registers);
    return status;
}

rmcp_status rewrite_lower(struct rewrite *r, enum isa_chip target, struct rewrite_lowered *out)
{
    memset(out, 0, sizeof *out);
    if ((unsigned)target >= ISA_N_CHIPS)
        return rmcp_fail(RMCP_E_ARG, "no such chip: %u", (unsigned)target);
    struct lower *w = calloc(1, sizeof *w);
    out->vgprs = calloc(r->object->n_kernels + 1, sizeof *out->vgprs);
    rmcp_status status = w && out->vgprs ? RMCP_OK : rmcp_fail_memory("lowering", sizeof *w);
    if (!status) {
        *w = (struct lower){ .r = r, .target = target, .out = out };
        status = lower_all(w);
    }
    free(w);
    if (status) {
        rewrite_lowered_deinit(out);
        return status;
    }
    rewrite_spread(r);
    return RMCP_OK;
}

void rewrite_lowered_deinit(struct rewrite_lowered *lowered)
{
    free(lowered->vgprs);
    memset(lowered, 0, sizeof *lowered);
}
