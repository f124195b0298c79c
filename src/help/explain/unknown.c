/* unknown.c: which error of a log is left that no signature knows; it is quoted, not guessed at. */
#include "help/explain/unknown.h"

#include "help/explain/order.h"

#include <stdio.h>
#include <string.h>

void explain_excerpt(char excerpt[static sizeof((struct explain_match *)0)->excerpt],
                     const char *line, size_t hit, size_t length)
{
    enum { BEFORE = 80, SIZE = sizeof((struct explain_match *)0)->excerpt };
    size_t from = hit > BEFORE ? hit - BEFORE : 0, n = 0;
    while (from < hit && line[from] == ' ') from++;
    for (; from < length && n + 1 < SIZE; from++) {
        unsigned char c = (unsigned char)line[from];
        excerpt[n++] = c < 32 || c == 127 ? ' ' : line[from];
    }
    while (n && ((unsigned char)excerpt[n - 1] & 0xc0) == 0x80 && n + 1 == SIZE) n--;
    while (n && excerpt[n - 1] == ' ') n--;
    excerpt[n] = '\0';
}

/* The signature of that id; NULL where there is none. */
static const struct explain_signature *signature_named(const char *id)
{
    const struct explain_signature *s = explain_signatures;
    while (id && s->id && strcmp(s->id, id)) s++;
    return id && s->id ? s : NULL;
}

static const struct explain_signature *signature_of(int kind)
{
    bool needs_amd, last;
    return signature_named(explain_kind_id(kind, &needs_amd, &last));
}

static void keep(const struct explain_unexplained *lines, struct explain_unexplained_line *l,
                 const struct explain_line *about, uint64_t number, const char *line, size_t length)
{
    l->about = *about;
    l->line = number;
    l->calm = lines->course.calm;
    l->length = length < sizeof l->text ? length : sizeof l->text;
    memcpy(l->text, line, l->length);
}

/* Among all lines: the first ones, and the last ones in a ring. */
static void keep_any(struct explain_unexplained *lines, const struct explain_line *about,
                     uint64_t number, const char *line, size_t length)
{
    const size_t n = lines->n_any++;
    const size_t last = n < EXPLAIN_FIRST ? 0 : EXPLAIN_FIRST + (n - EXPLAIN_FIRST) % EXPLAIN_LAST;
    struct explain_unexplained_line *l = &lines->any[n < EXPLAIN_FIRST ? n : last];
    l->count = 1;
    keep(lines, l, about, number, line, length);
}

void explain_note_unexplained(struct explain_unexplained *lines, const struct explain_line *about,
                              int known, uint64_t number, const char *line, size_t length)
{
    if (about->told || about->warned || (known >= EXPLAIN_HARMLESS && !about->quiet))
        keep_any(lines, about, number, line, length);
    if (about->kind < 0) return;
    const struct explain_signature *signature = known ? signature_of(about->kind) : NULL;
    if (signature && signature->weight < known) return;
    struct explain_unexplained_line *l = about->file        ? &lines->file
                                         : about->exception ? &lines->exception
                                                            : &lines->of_kind[about->kind];
    if (l->count++ && !about->exception && !about->file) return;
    keep(lines, l, about, number, line, length);
}

void explain_note_trace(struct explain_unexplained *lines, bool file, uint64_t number,
                        const char *line, size_t length)
{
    if (!file) {
        lines->raised = number;
        return;
    }
    struct explain_line about;
    explain_broken_trace(&about);
    lines->traced.count = 1;
    keep(lines, &lines->traced, &about, number, line, length);
}

/* Did the program go on after this line? */
static bool went_on(const struct explain_unexplained *lines,
                    const struct explain_unexplained_line *l)
{
    return !l->about.exception &&
           explain_went_on(&lines->course, l->line, l->calm, l->about.called);
}

static bool may_speak(const struct explain_unexplained *lines,
                      const struct explain_unexplained_line *l, bool amd, bool alone)
{
    bool needs_amd, last;
    if (went_on(lines, l)) return false;
    if (!l->count || !explain_kind_id(l->about.kind, &needs_amd, &last)) return false;
    return l->about.exception || l->about.called || ((amd || !needs_amd) && (alone || !last));
}

/* Do the findings say no more than that something ended? And where does the last of them stand?
 * Warnings, plain words, and what is general, say no more about an exception that was raised behind
 * them, in line `raised`. */
static bool all_vague(const struct explain_result *r, uint64_t raised, bool broken,
                      uint64_t *last_line)
{
    bool vague = true;
    *last_line = 0;
    for (size_t i = 0; i < r->n_matches; i++) {
        const struct explain_match *m = &r->matches[i];
        const bool before = m->last < raised;
        vague &= explain_is_vague(m->signature) ||
                 (before && (m->warning || (m->plain && !m->exception))) ||
                 (before && broken && explain_is_general(m->signature));
        if (m->last > *last_line) *last_line = m->last;
    }
    return vague;
}

/* The texts of a form, or where it has none those of its class, for what a line names. NULL when
 * there is no room. */
static const struct explain_signature *compose(struct explain_result *r,
                                               const struct explain_signature *class,
                                               const struct explain_form_match *m)
{
    if (!class || r->n_readings == EXPLAIN_READINGS) return NULL;
    struct explain_reading *reading = &r->readings[r->n_readings++];
    reading->signature = *class;
    if (*m->form->what) {
        explain_fill(m, m->form->what, reading->what, sizeof reading->what);
        reading->signature.what = reading->what;
    }
    if (*m->form->why) {
        explain_fill(m, m->form->why, reading->why, sizeof reading->why);
        reading->signature.why = reading->why;
    }
    if (*m->form->remedy) {
        explain_fill(m, m->form->remedy, reading->remedy, sizeof reading->remedy);
        reading->signature.remedy = reading->remedy;
    }
    return &reading->signature;
}

/* Where an exception was raised: "raised in diffusers (loader.py, load)". */
static void say_where(const struct explain_frame *frame, char *out, size_t size)
{
    if (!*frame->package) return;
    const struct explain_thing *thing = explain_find_thing(frame->package);
    snprintf(out, size, "raised in %s%s%s (%s%s%s)", frame->package, thing ? ", " : "",
             thing ? thing->is : "", frame->file, *frame->function ? ", " : "", frame->function);
}

/* The class of a line by its form; where that says little, by the topic of its words. */
static const struct explain_signature *class_of(const struct explain_unexplained_line *l,
                                                const struct explain_form_match *m)
{
    const struct explain_signature *class = signature_named(explain_form_class(m));
    const struct explain_signature *topic =
        *explain_line_topic(&l->about) ? signature_of(l->about.kind) : NULL;
    if (class && l->about.exception && !strcmp(class->id, "program-error"))
        class = signature_named("python-error");
    if (!class || !topic || !l->about.plain || !explain_form_is_general(m) ||
        strcmp(explain_form_class(m), m->form->id))
        return class;
    return explain_is_vague(topic) ? class : topic;
}

/* Lines of other services and of a traceback's code count where they say more than that something
 * failed. */
enum { LEAST_ASIDE = 44, LEAST_WARNED = 55 };

/* Does what is said to be missing look like the name of something: a path, a file, a package, or
 * what things.inc knows? "interface not found" does not. */
static bool names_something(const struct explain_form_match *m, bool exception)
{
    if (strcmp(m->form->id, "file-missing")) return true;
    const char *name = m->names[0];
    size_t blanks = 0;
    for (const char *c = name; *c; c++) blanks += *c == ' ';
    if (!exception && blanks > 1 && !strpbrk(name, "./\\_")) return false; /* a sentence */
    return explain_find_thing(name) || strpbrk(name, "./\\_-:0123456789 ") ||
           strcspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < strlen(name);
}

/* The line that says most by its form: the last exception, else that of the heaviest class. */
static const struct explain_unexplained_line *best_form(const struct explain_unexplained *lines,
                                                        bool amd, struct explain_form_match *best)
{
    const struct explain_unexplained_line *chosen = NULL;
    int most = 0;
    const size_t n =
        lines->n_any < EXPLAIN_FIRST + EXPLAIN_LAST ? lines->n_any : EXPLAIN_FIRST + EXPLAIN_LAST;
    for (size_t i = 0; i < n; i++) {
        const struct explain_unexplained_line *l = &lines->any[i];
        struct explain_form_match m;
        if (went_on(lines, l)) continue;
        if (!explain_match_form(l->text, l->length, NULL, &m)) continue;
        const struct explain_signature *class = class_of(l, &m);
        const bool weak = class && class->weight < LEAST_ASIDE;
        if (!class || !names_something(&m, l->about.exception) ||
            (l->about.aside && (!amd || weak)))
            continue;
        if (weak && !amd && !l->about.exception && !l->about.called) continue;
        if (l->about.warned && (!amd || class->weight < LEAST_WARNED)) continue;
        const int score =
            l->about.warned ? 1 : class->weight + 100 * l->about.exception; /* warnings last */
        if (score < most || (score == most && !l->about.exception)) continue;
        most = score;
        chosen = l;
        *best = m;
    }
    return chosen;
}

/* Does the class say no more than the words of its line? Then the line is quoted, not answered. */
static bool says_its_words(const struct explain_signature *class)
{
    static const char *const ids[] = { "program-error", "python-error", "gpu-trouble",
                                       "rocm-trouble" };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (!strcmp(class->id, ids[i])) return true;
    return false;
}

bool explain_read_forms(struct explain_unexplained *lines, const struct explain_words *words,
                        struct explain_result *r)
{
    uint64_t last_line;
    struct explain_form_match m;
    if (!all_vague(r, 0, false, &last_line) || r->n_matches == EXPLAIN_MOST) return false;
    const bool amd = *r->card.chip || explain_about_amd(words);
    const struct explain_unexplained_line *l = best_form(lines, amd, &m);
    if (!l) return false;
    const bool raised = lines->exception.count && lines->exception.line > l->line;
    const bool broken = lines->traced.line > lines->raised && lines->traced.line > l->line &&
                        strcmp(class_of(l, &m)->id, "python-error");
    if (class_of(l, &m)->weight < LEAST_ASIDE && (raised || broken)) return false;
    for (int kind = 0; !strcmp(class_of(l, &m)->id, "program-error") && kind < EXPLAIN_MOST_KINDS;
         kind++)
        if (*explain_line_topic(&lines->of_kind[kind].about) &&
            may_speak(lines, &lines->of_kind[kind], amd, true))
            return false;
    if (says_its_words(class_of(l, &m))) {
        lines->preferred = l;
        return false;
    }
    const struct explain_signature *signature = compose(r, class_of(l, &m), &m);
    if (!signature) return false;
    struct explain_match *match = &r->matches[r->n_matches++];
    *match = (struct explain_match){
        .signature = signature, .line = l->line, .last = l->line, .count = 1, .by_form = true
    };
    explain_excerpt(match->excerpt, l->text, 0, l->length);
    if (l->about.exception) say_where(&lines->frame, match->where, sizeof match->where);
    return true;
}

void explain_refine(const struct explain_unexplained *lines, struct explain_result *r)
{
    enum { NEAR = 4 }; /* lines of code between a traceback's last file and its exception */
    for (size_t i = 0; i < r->n_matches; i++) {
        struct explain_match *match = &r->matches[i];
        struct explain_form_match m;
        if (lines->frame.line < match->last && lines->frame.line + NEAR >= match->last)
            say_where(&lines->frame, match->where, sizeof match->where);
        if (match->by_form ||
            !explain_match_form(match->excerpt, strlen(match->excerpt), match->signature->id, &m))
            continue;
        const struct explain_signature *signature = compose(r, match->signature, &m);
        if (signature) match->signature = signature;
    }
}

void explain_find_unknown(const struct explain_unexplained *lines,
                          const struct explain_words *words, struct explain_result *r)
{
    uint64_t last_line;
    const bool broken = lines->traced.line > lines->raised;
    const bool vague =
        all_vague(r, broken ? lines->traced.line : lines->exception.line, broken, &last_line);
    for (size_t i = 0; i < r->n_matches; i++)
        if (r->matches[i].by_form) return;
    const bool amd = !vague || *r->card.chip || explain_about_amd(words);
    const struct explain_unexplained_line *chosen = vague ? lines->preferred : NULL;
    if (!chosen && may_speak(lines, &lines->exception, amd, !r->n_matches))
        chosen = &lines->exception;
    for (int kind = 0; vague && !chosen && kind < EXPLAIN_MOST_KINDS; kind++)
        if (may_speak(lines, &lines->of_kind[kind], amd, false)) chosen = &lines->of_kind[kind];
    if (!chosen && vague && !r->n_matches && may_speak(lines, &lines->file, amd, true))
        chosen = &lines->file;
    if (!chosen && vague && broken) chosen = &lines->traced;
    for (int kind = 0; vague && !chosen && kind < EXPLAIN_MOST_KINDS; kind++)
        if (may_speak(lines, &lines->of_kind[kind], amd, !r->n_matches))
            chosen = &lines->of_kind[kind];
    if (!chosen || (!vague && chosen->line <= last_line)) return;
    struct explain_form_match m;
    const bool form = explain_match_form(chosen->text, chosen->length, NULL, &m);
    const struct explain_signature *signature = chosen == lines->preferred && form
                                                    ? class_of(chosen, &m)
                                                    : signature_of(chosen->about.kind);
    if (!signature) return;
    r->unknown = (struct explain_unknown){
        .about = signature,
        .topic = explain_line_topic(&chosen->about),
        .trouble = explain_line_trouble(&chosen->about),
        .line = chosen->line,
        .count = chosen->count,
        .exception = chosen->about.exception,
        .behind = !vague,
        .broken = chosen == &lines->traced,
    };
    explain_excerpt(r->unknown.excerpt, chosen->text, 0, chosen->length);
    if (chosen->about.exception)
        say_where(&lines->frame, r->unknown.where, sizeof r->unknown.where);
    if (form) r->unknown.reading = compose(r, class_of(chosen, &m), &m);
}

/* The finding as a quotation. */
static struct explain_unknown as_unknown(const struct explain_result *r,
                                         const struct explain_match *match)
{
    const struct explain_signature *s = match->signature;
    const bool composed = (const char *)s >= (const char *)r->readings &&
                          (const char *)s < (const char *)(r->readings + r->n_readings);
    struct explain_unknown unknown = { .about = composed ? signature_named(s->id) : s,
                                       .topic = "",
                                       .trouble = "",
                                       .line = match->line,
                                       .count = match->count,
                                       .thin = true,
                                       .reading = composed ? s : NULL };
    memcpy(unknown.excerpt, match->excerpt, sizeof unknown.excerpt);
    memcpy(unknown.where, match->where, sizeof unknown.where);
    return unknown;
}

void explain_quote_general(struct explain_result *r)
{
    const struct explain_match *best = NULL;
    for (size_t i = 0; i < r->n_matches; i++) {
        const struct explain_match *match = &r->matches[i];
        const bool harmless = match->signature->weight < EXPLAIN_HARMLESS;
        if (!harmless && !explain_is_thin(match)) return;
        if (!harmless && !best) best = match;
    }
    if (!best) return;
    const struct explain_unknown *unknown = &r->unknown;
    const bool raised = unknown->exception && unknown->line > best->last; /* the last trouble */
    const bool more = unknown->behind || (unknown->about && says_its_words(unknown->about) &&
                                          !says_its_words(best->signature));
    const bool little = (explain_is_vague(best->signature) && !unknown->broken) ||
                        (explain_is_notice(best) && !best->warning && !best->quiet);
    if (!unknown->about || (more && !(raised && little))) r->unknown = as_unknown(r, best);
    r->unknown.behind = false;
    r->n_matches = 0;
}
