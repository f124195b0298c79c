/* unknown.c: which error of a log is left that no signature knows; it is quoted, not guessed at. */
#include "explain/unknown.h"

#include "explain/order.h"

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

/* The signature of a kind; NULL where it has none. */
static const struct explain_signature *signature_of(int kind)
{
    bool needs_amd, last;
    const char *id = explain_kind_id(kind, &needs_amd, &last);
    const struct explain_signature *s = explain_signatures;
    while (id && s->id && strcmp(s->id, id)) s++;
    return id && s->id ? s : NULL;
}

void explain_note_unexplained(struct explain_unexplained *lines, const struct explain_line *about,
                              int known, uint64_t number, const char *line, size_t length)
{
    const struct explain_signature *signature = known ? signature_of(about->kind) : NULL;
    if (signature && signature->weight < known) return;
    struct explain_unexplained_line *l = about->file        ? &lines->file
                                         : about->exception ? &lines->exception
                                                            : &lines->of_kind[about->kind];
    if (l->count++ && !about->exception && !about->file) return;
    l->about = *about;
    l->line = number;
    explain_excerpt(l->excerpt, line, 0, length);
}

static bool may_speak(const struct explain_unexplained_line *l, bool amd, bool alone)
{
    bool needs_amd, last;
    if (!l->count || !explain_kind_id(l->about.kind, &needs_amd, &last)) return false;
    return l->about.exception || ((amd || !needs_amd) && (alone || !last));
}

void explain_find_unknown(const struct explain_unexplained *lines,
                          const struct explain_words *words, struct explain_result *r)
{
    bool vague = true;
    uint64_t last_line = 0;
    for (size_t i = 0; i < r->n_matches; i++) {
        vague &= explain_is_vague(r->matches[i].signature);
        if (r->matches[i].last > last_line) last_line = r->matches[i].last;
    }
    const bool amd = !vague || *r->card.chip || explain_about_amd(words);
    const struct explain_unexplained_line *chosen = NULL;
    if (may_speak(&lines->exception, amd, !r->n_matches)) chosen = &lines->exception;
    for (int kind = 0; vague && !chosen && kind < EXPLAIN_MOST_KINDS; kind++)
        if (may_speak(&lines->of_kind[kind], amd, !r->n_matches)) chosen = &lines->of_kind[kind];
    if (!chosen && vague && !r->n_matches && may_speak(&lines->file, amd, true))
        chosen = &lines->file;
    if (!chosen || (!vague && chosen->line <= last_line)) return;
    const struct explain_signature *signature = signature_of(chosen->about.kind);
    if (!signature) return;
    r->unknown = (struct explain_unknown){
        .about = signature,
        .topic = explain_line_topic(&chosen->about),
        .trouble = explain_line_trouble(&chosen->about),
        .line = chosen->line,
        .count = chosen->count,
        .exception = chosen->about.exception,
        .behind = !vague,
    };
    memcpy(r->unknown.excerpt, chosen->excerpt, sizeof chosen->excerpt);
}
