/* report.c: findings: counted always, told once for an instruction. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check/check.h"

/* What was already told in this dispatch. */
struct seen {
    uint64_t address;
    int kind, rule;
};

/* Called with the lock held. Without memory a finding may be told twice. */
static bool is_new(struct run *run, uint64_t address, const struct finding *f)
{
    for (size_t i = 0; i < run->n_seen; i++)
        if (run->seen[i].address == address && run->seen[i].kind == (int)f->kind &&
            run->seen[i].rule == f->rule)
            return false;
    if (run->n_seen == run->seen_room) {
        size_t room = run->seen_room ? 2 * run->seen_room : 64;
        struct seen *more = realloc(run->seen, room * sizeof *more);
        if (!more) return true;
        run->seen = more;
        run->seen_room = room;
    }
    run->seen[run->n_seen++] = (struct seen){ address, (int)f->kind, f->rule };
    return true;
}

static void tell(struct wave *w, const struct op *op, const struct finding *f, uint64_t address,
                 const char *reason)
{
    const struct core *core = w->core;
    const struct run *run = core->run;
    char text[256] = "";
    struct sim_report r = {
        .kind = f->kind,
        .rule = f->rule,
        .kernel = run->dispatch->kernel ? run->dispatch->kernel : "?",
        .address = address,
        .offset = address - run->dispatch->entry,
        .instruction = text,
        .wave = w->number,
        .lanes = f->lanes,
        .data_address = f->data_address,
        .cause = f->cause,
        .reason = reason,
    };
    memcpy(r.workgroup, core->workgroup, sizeof r.workgroup);
    if (op) {
        r.n_words = op->inst.n_words;
        memcpy(r.word, op->inst.word, r.n_words * sizeof *r.word);
        if (f->elsewhere)
            isa_print(f->elsewhere, text, sizeof text);
        else if (op->decoded)
            isa_print(&op->inst, text, sizeof text);
    }
    core->sim->options.report(core->sim->options.context, &r);
}

void report(struct wave *w, const struct op *op, const struct finding *f, const char *format, ...)
{
    struct run *run = w->core->run;
    struct sim_result *result = run->result;
    uint64_t address = f->address ? f->address : op ? w->pc - op->bytes : w->pc;
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);

    pthread_mutex_lock(&run->lock);
    bool fatal = f->kind < SIM_N_FATAL;
    /* Only the first fatal one counts: the others would not have been reached. */
    if (!fatal || !atomic_load(&run->stop)) {
        result->happened[f->kind]++;
        if (f->rule >= 0) result->patterns[f->rule]++;
        if (is_new(run, address, f)) {
            result->n_reports++;
            if (w->core->sim->options.report) tell(w, op, f, address, reason);
        }
        if (fatal) {
            result->fatal = f->kind;
            result->completed = false;
        }
    }
    if (fatal) atomic_store(&run->stop, true);
    pthread_mutex_unlock(&run->lock);
    if (fatal) w->state = WAVE_DONE;
}

/* The chips that have an instruction of these words: " gfx1011, gfx1012"; "" and false: none has.
 */
static bool chips_with(const uint32_t *words, unsigned mode, struct isa_inst *inst,
                       char text[static 128])
{
    struct isa_inst found;
    size_t n = 0;
    *text = 0;
    for (unsigned chip = 0; chip < ISA_N_CHIPS; chip++) {
        if (!isa_decode(chip | mode, words, ISA_MAX_WORDS, &found) || !isa_is_legal(&found))
            continue;
        *inst = found;
        n += (size_t)snprintf(text + n, 128 - n, "%s%s", n ? ", " : " ", isa_chip_name(chip));
        if (n >= 128) n = 127;
    }
    return *text;
}

void run_illegal(struct wave *w, const struct op *op)
{
    struct finding f = { .kind = SIM_ILLEGAL, .rule = -1 };
    const char *chip = isa_chip_name(w->core->sim->options.chip);
    const uint32_t word = op->inst.word[0];
    struct isa_inst inst;
    char chips[128];
    if (op->decoded)
        report(w, op, &f,
               op->inst.row->encoding == ISA_MIMG
                   ? "no semantics for this instruction on images (%s, word 0x%08x)"
                   : "no semantics for this instruction on %s (word 0x%08x)",
               chip, word);
    else if (chips_with(op->inst.word, w->n_lanes == 64 ? ISA_WAVE64 : 0, &inst, chips)) {
        f.elsewhere = &inst;
        report(w, op, &f, "%s has no such instruction (word 0x%08x); it is one of%s", chip, word,
               chips);
    } else
        report(w, op, &f, "%s has no such instruction (word 0x%08x)", chip, word);
}
