/* facts.c: which PyTorch a log names, and what follows from that for its card. */
#include "explain/facts.h"

#include "explain/card.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = { "+rocm",           "+cu1",    "+cpu",          "zluda",
                                     "directml",        "dml\\",   "privateuseone", ":\\users\\",
                                     "site-packages\\", "windows-" };

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

void explain_note_fact(struct explain_facts *facts, const char *word, const char *after,
                       size_t length)
{
    if (!strcmp(word, "+rocm")) {
        const int rocm = read_release(after, length, &facts->nightly);
        if (!facts->rocm) facts->rocm = rocm;
    } else if (!strcmp(word, "+cu1")) {
        facts->cuda |= length && isdigit((unsigned char)*after);
    } else if (!strcmp(word, "+cpu")) {
        facts->cpu |= !length || !isalnum((unsigned char)*after);
    } else if (!strcmp(word, "zluda")) {
        facts->zluda = true;
    } else if (strstr(word, "\\users") || strstr(word, "site-") || !strcmp(word, "windows-")) {
        facts->windows = true;
    } else {
        facts->directml = true;
    }
}

static void add(struct explain_result *r, const char *text)
{
    if (r->n_notes < EXPLAIN_NOTES)
        snprintf(r->notes[r->n_notes++], sizeof r->notes[0], "%s", text);
}

void explain_note_facts(const struct explain_facts *f, struct explain_result *r)
{
    const char *chip = r->card.chip;
    if (f->cuda && !f->rocm && *chip && !f->zluda)
        add(r, "The PyTorch of this log (+cu…) is NVIDIA's: it cannot use this card, whatever else "
               "is wrong.");
    if (f->cpu && !f->rocm && !f->cuda && *chip && !f->directml && !f->zluda)
        add(r, "The PyTorch of this log (+cpu) has no GPU code at all.");
    const size_t n = sizeof ranges / sizeof *ranges;
    for (size_t i = 0; f->rocm && !f->nightly && !*r->card.pretends && i < n; i++) {
        if (!*chip || !explain_is_one_of(chip, ranges[i].chips)) continue;
        if (f->rocm >= ranges[i].first && f->rocm <= ranges[i].last) break;
        char text[sizeof r->notes[0]];
        snprintf(text, sizeof text,
                 "The PyTorch of this log is built for ROCm %d.%d, whose wheels at pytorch.org "
                 "have no code for %s: "
                 "what fails on the GPU fails for that reason first.",
                 f->rocm / 100, f->rocm % 100, chip);
        add(r, text);
        break;
    }
    for (size_t i = 0; f->windows && i < r->n_matches; i++)
        if (strstr(r->matches[i].signature->remedy, "dmesg")) {
            add(r, "The log is from Windows: where dmesg is named, look into the event viewer "
                   "(System, at that minute).");
            break;
        }
}
