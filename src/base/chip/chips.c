/* chips.c: looking chips up in the one table of them. */
#include "base/chip/chips.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PARTS(...) ((const struct rmcp_chip_part[]){ __VA_ARGS__, { 0, 0, 0, NULL } })
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

enum {
    XNACK = RMCP_CHIP_XNACK,
    SRAMECC = RMCP_CHIP_SRAMECC,
    INTEGRATED = RMCP_CHIP_INTEGRATED,
};

static const struct rmcp_chip chips[] = {
#include "base/chip/chips.inc"
};
enum { N_CHIPS = sizeof chips / sizeof *chips };

const struct rmcp_chip *rmcp_chip_at(size_t index)
{
    return index < N_CHIPS ? &chips[index] : NULL;
}

const struct rmcp_chip *rmcp_chip_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < N_CHIPS; i++)
        if (strlen(chips[i].name) == length && !memcmp(chips[i].name, name, length))
            return &chips[i];
    return NULL;
}

const struct rmcp_chip *rmcp_chip_by_mach(uint32_t mach)
{
    for (size_t i = 0; i < N_CHIPS; i++)
        if (chips[i].mach == mach) return &chips[i];
    return NULL;
}

const struct rmcp_chip *rmcp_chip_by_version(uint32_t version)
{
    for (size_t i = 0; i < N_CHIPS && version; i++)
        if (chips[i].version == version) return &chips[i];
    return NULL;
}

const struct rmcp_chip *rmcp_chip_by_pci(uint32_t device, uint32_t revision, const char **part)
{
    const struct rmcp_chip *found = NULL;
    const char *name = NULL;
    for (size_t i = 0; i < N_CHIPS && !found; i++)
        for (const struct rmcp_chip_part *p = chips[i].parts; p && p->name; p++) {
            if (device < p->first || device > p->last) continue;
            found = &chips[i];
            if (p->revision ? p->revision == revision : !name) name = p->name;
        }
    if (part) *part = name;
    return found;
}

static int letter(char c)
{
    return tolower((unsigned char)c);
}

/* How many letters and digits of `words` the text starts with: all of them, or 0. What else is in
 * either does not matter, but "RX 570" is not how "RX 5700" starts, nor "680M" how "680 memory"
 * does. */
static size_t match(const char *text, const char *words)
{
    size_t n = 0;
    for (;; n++, text++, words++) {
        while (*words && !isalnum((unsigned char)*words)) words++;
        if (!*words) break;
        while (n && *text && !isalnum((unsigned char)*text)) text++;
        if (letter(*text) != letter(*words)) return 0;
    }
    const bool letters = n && isalpha((unsigned char)text[-1]);
    return (letters ? isalnum((unsigned char)*text) : isdigit((unsigned char)*text)) ? 0 : n;
}

/* Neither within a number nor within a word. */
static bool starts_here(const char *text, size_t at)
{
    if (!at) return true;
    const unsigned char before = (unsigned char)text[at - 1], here = (unsigned char)text[at];
    return !(isdigit(before) && isdigit(here)) && !(isalpha(before) && isalpha(here));
}

const struct rmcp_chip *rmcp_chip_by_product(const char *text)
{
    const struct rmcp_chip *found = NULL;
    size_t longest = 0;
    for (size_t at = 0; text[at]; at++) {
        if (!isalnum((unsigned char)text[at]) || !starts_here(text, at)) continue;
        for (size_t i = 0; i < N_CHIPS; i++)
            for (const char *const *words = chips[i].words; words && *words; words++) {
                if (letter((*words)[0]) != letter(text[at])) continue;
                const size_t length = match(text + at, *words);
                if (length <= longest) continue;
                found = &chips[i];
                longest = length;
            }
    }
    return found;
}

bool rmcp_chip_name(uint32_t version, char name[static 16])
{
    const unsigned major = version / 10000, minor = version / 100 % 100, stepping = version % 100;
    if (major < 6 || major > 99 || minor > 15 || stepping > 15) return false;
    snprintf(name, 16, "gfx%u%x%x", major, minor, stepping);
    return true;
}
