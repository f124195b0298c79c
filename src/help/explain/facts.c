/* facts.c: which PyTorch a log names, and what follows from that for its card. */
#include "help/explain/facts.h"

#include "help/explain/card.h"
#include "help/explain/order.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = { "+rocm",           "+cu1",     "+cpu",          "zluda",
                                     "directml",        "dml\\",    "privateuseone", ":\\users\\",
                                     "site-packages\\", "windows-", "geforce",       "nvidia rtx",
                                     "rtx 30",          "rtx 40",   "quadro" };

/* The first and the last ROCm whose wheels at pytorch.org have code for a chip; 0: none has. */
static const struct {
    const char *chips;
    int first, last;
} ranges[] = {
    { "gfx101 gfx8 gfx6 gfx7", 0, 0 },
    { "gfx900", 0, 602 },
    { "gfx906", 0, 603 },
    { "gfx1100", 505, 9999 },
    { "gfx1101 gfx1102", 603, 9999 },
    { "gfx120", 603, 9999 },
    { "gfx115", 604, 9999 },
};

const char *explain_fact_words(size_t index)
{
    return index < sizeof words / sizeof *words ? words[index] : NULL;
}

/* "6.2", "6.2.4", "7.12.0a20260128" as 602, 602, 712; 0 where there is none. */
static int read_release(const char *text, size_t length, bool *nightly)
{
    if (length < 3 || !isdigit((unsigned char)text[0]) || text[1] != '.' ||
        !isdigit((unsigned char)text[2]))
        return 0;
    int minor = text[2] - '0';
    size_t n = 3;
    if (n < length && isdigit((unsigned char)text[n])) minor = minor * 10 + (text[n++] - '0');
    for (; n < length && (isalnum((unsigned char)text[n]) || text[n] == '.'); n++)
        *nightly |= isalpha((unsigned char)text[n]) != 0;
    return (text[0] - '0') * 100 + minor;
}

void explain_note_fact(struct explain_facts *facts, const char *word, uint64_t line,
                       const char *text, size_t at, size_t size)
{
    const char *after = text + at + strlen(word);
    const size_t length = size - at - strlen(word);
    bool wheel = false;
    if (!strcmp(word, "+rocm")) {
        const int rocm = read_release(after, length, &facts->nightly);
        if (!facts->rocm) facts->rocm = rocm;
        wheel = rocm;
    } else if (!strcmp(word, "+cu1")) {
        wheel = length && isdigit((unsigned char)*after);
        facts->cuda |= wheel;
    } else if (!strcmp(word, "+cpu")) {
        wheel = !length || !isalnum((unsigned char)*after);
        facts->cpu |= wheel;
    } else if (!strcmp(word, "zluda")) {
        facts->zluda = true;
    } else if (strstr(word, "geforce") || strstr(word, "rtx") || !strcmp(word, "quadro")) {
        facts->nvidia = true;
    } else if (strstr(word, "\\users") || strstr(word, "site-") || !strcmp(word, "windows-")) {
        facts->windows = true;
    } else {
        facts->directml = true;
    }
    if (!wheel || facts->line) return;
    facts->line = line;
    size_t n = 0;
    for (size_t i = 0; i < size && n + 1 < sizeof facts->excerpt; i++)
        facts->excerpt[n++] = (unsigned char)text[i] < 32 || text[i] == 127 ? ' ' : text[i];
    facts->excerpt[n] = '\0';
}

/* What is wrong with the PyTorch of the log for its card. */
enum fault { NO_FAULT, FOR_NVIDIA, FOR_CPU, NOT_FOR_CHIP };
static enum fault find_fault(const struct explain_facts *f, const struct explain_card *card)
{
    if (!*card->chip || f->zluda || f->directml || f->nvidia) return NO_FAULT;
    if (f->cuda && !f->rocm) return FOR_NVIDIA;
    if (f->cpu && !f->rocm) return FOR_CPU;
    const size_t n = sizeof ranges / sizeof *ranges;
    for (size_t i = 0; f->rocm && !f->nightly && !*card->pretends && i < n; i++)
        if (explain_is_one_of(card->chip, ranges[i].chips))
            return f->rocm >= ranges[i].first && f->rocm <= ranges[i].last ? NO_FAULT
                                                                           : NOT_FOR_CHIP;
    return NO_FAULT;
}

bool explain_read_facts(const struct explain_facts *f, bool runs, struct explain_result *r)
{
    const enum fault fault = find_fault(f, &r->card);
    if (fault == NOT_FOR_CHIP && runs) return false; /* it has code for it, wherever from */
    for (size_t i = 0; i < r->n_matches; i++)
        if (!explain_is_vague(r->matches[i].signature)) return false;
    if (!fault || (fault == FOR_CPU && r->card.integrated) || r->n_matches == EXPLAIN_MOST)
        return false;
    if (r->unknown.about) return false; /* it may be about anything */
    const char *id = fault == NOT_FOR_CHIP ? "no-kernel-image" : "cuda-wheel";
    const struct explain_signature *s = explain_signatures;
    while (s->id && strcmp(s->id, id)) s++;
    if (!s->id) return false;
    struct explain_match *match = &r->matches[r->n_matches++];
    *match = (struct explain_match){
        .signature = s, .line = f->line, .last = f->line, .count = 1, .by_facts = true
    };
    snprintf(match->excerpt, sizeof match->excerpt, "%s", f->excerpt);
    return true;
}

static void add(struct explain_result *r, const char *text)
{
    if (r->n_notes < EXPLAIN_NOTES)
        snprintf(r->notes[r->n_notes++], sizeof r->notes[0], "%s", text);
}

void explain_note_facts(const struct explain_facts *f, struct explain_result *r)
{
    enum fault fault = find_fault(f, &r->card);
    for (size_t i = 0; i < r->n_matches; i++)
        if (r->matches[i].by_facts) fault = NO_FAULT; /* it is said already */
    if (fault == FOR_NVIDIA)
        add(r, "The PyTorch of this log (+cu…) is NVIDIA's: it cannot use this card, whatever else "
               "is wrong.");
    if (fault == FOR_CPU) add(r, "The PyTorch of this log (+cpu) has no GPU code at all.");
    if (fault == NOT_FOR_CHIP) {
        char text[sizeof r->notes[0]];
        snprintf(text, sizeof text,
                 "The PyTorch of this log is built for ROCm %d.%d, whose wheels at pytorch.org "
                 "have no code for %s: what fails on the GPU fails for that reason first.",
                 f->rocm / 100, f->rocm % 100, r->card.chip);
        add(r, text);
    }
    for (size_t i = 0; f->windows && i < r->n_matches; i++)
        if (strstr(r->matches[i].signature->remedy, "dmesg")) {
            add(r, "The log is from Windows: where dmesg is named, look into the event viewer "
                   "(System, at that minute).");
            break;
        }
}
