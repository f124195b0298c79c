/* clues.c: words of a log that tell of its card, its program and its software. */
#include "help/explain/card.h"

#include "base/chip/chips.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LOOKUPS = 2000 }; /* of products: bounds the time that a hostile text takes */

bool explain_clue_at(size_t index, struct explain_clue *out)
{
    static const struct explain_clue fixed[] = {
        { "HSA_OVERRIDE", CLUE_OVERRIDE, NULL },
        { "gpu_type=gfx", CLUE_SURE_GFX, NULL },
        { "GPU arch : gfx", CLUE_SURE_GFX, NULL },
        { "AMDGPU version : gfx", CLUE_SURE_GFX, NULL },
        { "AMDGPU ISA gfx", CLUE_SURE_GFX, NULL },
        { "AMDGPU ISA: gfx", CLUE_SURE_GFX, NULL },
        { "device name: gfx", CLUE_SURE_GFX, NULL },
        { "compiling for gfx", CLUE_SURE_GFX, NULL },
        { "AMD arch: gfx", CLUE_SURE_GFX, NULL },
        { "gfx", CLUE_GFX, NULL },
        { "1002:", CLUE_PCI, NULL },
        { "0x1002:0x", CLUE_PCI, NULL },
        { "Device ", CLUE_PCI, NULL },
        { "0x", CLUE_PCI, NULL },
        { "RX", CLUE_PRODUCT, NULL },
        { "Radeon", CLUE_PRODUCT, NULL },
        { "Instinct", CLUE_PRODUCT, NULL },
        { "Ryzen", CLUE_PROCESSOR, NULL },
        { "[AMD/ATI]", CLUE_PRODUCT, NULL },
        { "Navi", CLUE_PRODUCT, NULL },
        { "Vega", CLUE_PRODUCT, NULL },
        { "Polaris", CLUE_PRODUCT, NULL },
        { "Ellesmere", CLUE_PRODUCT, NULL },
        { "Baffin", CLUE_PRODUCT, NULL },
        { "Fiji", CLUE_PRODUCT, NULL },
        { "Hawaii", CLUE_PRODUCT, NULL },
        { "W5", CLUE_PRODUCT, NULL },
        { "W6", CLUE_PRODUCT, NULL },
        { "W7", CLUE_PRODUCT, NULL },
        { "WX ", CLUE_PRODUCT, NULL },
        { "780M", CLUE_GRAPHICS, NULL },
        { "760M", CLUE_GRAPHICS, NULL },
        { "680M", CLUE_GRAPHICS, NULL },
        { "890M", CLUE_GRAPHICS, NULL },
        { "8060S", CLUE_GRAPHICS, NULL },
        { "XT", CLUE_XT, NULL },
        { "amdgpu/", CLUE_FIRMWARE, NULL },
        { "conv1d", CLUE_CONVOLUTION, NULL },
        { "conv2d", CLUE_CONVOLUTION, NULL },
        { "conv3d", CLUE_CONVOLUTION, NULL },
        { "_conv_forward", CLUE_CONVOLUTION, NULL },
        { "conv_transpose", CLUE_CONVOLUTION, NULL },
        { "aten::convolution", CLUE_CONVOLUTION, NULL },
        { "naive_conv", CLUE_CONVOLUTION, NULL },
        { "AsmConv", CLUE_CONVOLUTION, NULL },
        { "igemm_fwd", CLUE_CONVOLUTION, NULL },
        { "igemm_bwd", CLUE_CONVOLUTION, NULL },
        { "igemm_wrw", CLUE_CONVOLUTION, NULL },
        { "ConvolutionForward", CLUE_CONVOLUTION, NULL },
        { "ConvolutionBackward", CLUE_CONVOLUTION, NULL },
        { "miopenConvolution", CLUE_CONVOLUTION, NULL },
        { "MIOpenDriver conv", CLUE_CONVOLUTION, NULL },
        { "Forward Convolution", CLUE_CONVOLUTION, NULL },
        { "LogCmdConvolution", CLUE_CONVOLUTION, NULL },
    };
    enum { N_FIXED = sizeof fixed / sizeof *fixed };
    if (index < N_FIXED) {
        *out = fixed[index];
        return true;
    }
    index -= N_FIXED;
    for (size_t i = 0; explain_fact_words(i); i++)
        if (!index--) {
            *out = (struct explain_clue){ explain_fact_words(i), CLUE_FACT, NULL };
            return true;
        }
    for (const struct explain_program *p = explain_programs; p->name; p++)
        for (const char *words = p->words; *words;) {
            if (!index--) {
                *out = (struct explain_clue){ words, CLUE_PROGRAM, p };
                return true;
            }
            words += strcspn(words, "\n");
            words += *words == '\n';
        }
    return false;
}

/* The value after the variable's name: "=10.3.0", "_0=10.3.0", ": \"10.3.0\"", " is set to 10.3.0".
 */
static bool override_value(const char *text, size_t size, char chip[static 16])
{
    enum { FAR = 24 };
    static const char rest[] = "_GFX_VERSION";
    size_t at =
        size >= sizeof rest - 1 && !memcmp(text, rest, sizeof rest - 1) ? sizeof rest - 1 : 0;
    if (at + 1 < size && text[at] == '_' && isdigit((unsigned char)text[at + 1])) /* for one node */
        for (at++; at < size && isdigit((unsigned char)text[at]);) at++;
    for (size_t end = at + FAR < size ? at + FAR : size; at < end && text[at] != '\n'; at++)
        if (isdigit((unsigned char)text[at]))
            return explain_override_chip(text + at, size - at, chip);
    return false;
}

/* Does the word at `at` stand there as an example of how such words look, as in clang's messages?
 */
static bool is_example(const char *text, size_t at)
{
    static const char mark[] = "e.g., '";
    const size_t n = sizeof mark - 1;
    return at >= n && !strncmp(text + at - n, mark, n);
}

static void note_gfx(struct explain_evidence *e, const char *digits, size_t n)
{
    char name[16];
    snprintf(name, sizeof name, "gfx%.*s", (int)n, digits);
    if (!*e->gfx) snprintf(e->gfx, sizeof e->gfx, "%s", name);
    if (!strcmp(e->gfx, name)) return;
    for (size_t i = 0; i < e->n_others; i++)
        if (!strcmp(e->others[i], name)) return;
    if (e->n_others < sizeof e->others / sizeof *e->others)
        snprintf(e->others[e->n_others++], sizeof *e->others, "%s", name);
}

static void note_product(struct explain_evidence *e, const struct rmcp_chip *chip,
                         const char *words)
{
    const bool integrated = chip->flags & RMCP_CHIP_INTEGRATED;
    const struct rmcp_chip **slot = integrated ? &e->integrated : &e->product;
    if (*slot) return;
    *slot = chip;
    snprintf(integrated ? e->integrated_words : e->product_words, sizeof e->product_words, "%s",
             words);
}

/* The words around a clue, as far as they may belong to a name, without ends that do not. */
static void name_at(const char *text, size_t size, char name[static 48])
{
    size_t n = 0;
    while (n < size && n < 40 && !strchr(",;=:\"\n\t|{", text[n])) n++;
    while (n && !isalnum((unsigned char)text[n - 1]) && text[n - 1] != ']') n--;
    snprintf(name, 48, "%.*s", (int)n, text);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = ' ';
}

/* A product's name from text[at] on: "RX 5700 XT", "Radeon (TM) Pro WX 5100", "NAVI10". */
static void consider_product(const char *words, const char *text, size_t at, size_t size,
                             struct explain_evidence *e)
{
    if (e->product || e->n_lookups >= MOST_LOOKUPS) return;
    if (at && (isalpha((unsigned char)text[at - 1]) || isdigit((unsigned char)text[at - 1])))
        return;
    size_t next = at + strlen(words);
    if (words[0] != 'R' || words[1] != 'a') /* after "Radeon" come other words, too */
        while (next < size && next < at + 12 && strchr(" -_]", text[next])) next++;
    if (words[0] == 'R' && words[1] == 'X' &&
        (next >= size || (!isdigit((unsigned char)text[next]) && tolower(text[next]) != 'v')))
        return;
    if (strchr("NVPW", words[0]) && (next >= size || !isdigit((unsigned char)text[next]))) return;
    char name[48];
    name_at(text + at, size - at, name);
    e->n_lookups++;
    const struct rmcp_chip *chip = rmcp_chip_by_product(name);
    if (chip) note_product(e, chip, name);
}

/* "Ryzen 5 5625U with Radeon Graphics": its own graphics, where it has any. (A "5600X" has none,
 * and its number is a card's, too.) */
static void consider_processor(const char *text, size_t at, size_t size, struct explain_evidence *e)
{
    if (e->integrated || e->n_lookups >= MOST_LOOKUPS) return;
    char name[48];
    name_at(text + at, size - at, name);
    e->n_lookups++;
    const struct rmcp_chip *chip = rmcp_chip_by_product(name);
    if (chip && (chip->flags & RMCP_CHIP_INTEGRATED)) note_product(e, chip, name);
}

/* "780M" is a size, too: only where the line has another word for it. */
static void consider_graphics(const char *words, const char *text, size_t at, size_t size,
                              struct explain_evidence *e)
{
    static const char *const others[] = { "amd", "radeon", "gpu", "graphics" };
    const size_t end = at + strlen(words);
    if (e->integrated || e->n_lookups >= MOST_LOOKUPS) return;
    if (at && (isalnum((unsigned char)text[at - 1]) || text[at - 1] == '.')) return;
    if (end < size && isalnum((unsigned char)text[end])) return;
    e->n_lookups++;
    bool speaks = false;
    for (size_t i = 0; i < sizeof others / sizeof *others && !speaks; i++) {
        const size_t length = strlen(others[i]);
        for (size_t from = 0; from + length <= size && !speaks; from++) {
            size_t n = 0;
            while (n < length && tolower((unsigned char)text[from + n]) == others[i][n]) n++;
            speaks = n == length;
        }
    }
    const struct rmcp_chip *chip = speaks ? rmcp_chip_by_product(words) : NULL;
    if (chip) note_product(e, chip, words);
}

/* "5600xt", "6700 XT": a number before the letters. */
static void consider_xt(const char *text, size_t at, size_t size, struct explain_evidence *e)
{
    if (e->product || e->n_lookups >= MOST_LOOKUPS) return;
    if (at + 2 < size && isalnum((unsigned char)text[at + 2]) && tolower(text[at + 2]) != 'x')
        return;
    size_t end = at;
    if (end && text[end - 1] == ' ') end--;
    size_t start = end;
    while (start && end - start < 5 && isdigit((unsigned char)text[start - 1])) start--;
    if (end - start != 4) return;
    if (start && (isalpha((unsigned char)text[start - 1]) || text[start - 1] == '.')) return;
    char name[48];
    snprintf(name, sizeof name, "%.*s", (int)(at + 2 - start), text + start);
    e->n_lookups++;
    const struct rmcp_chip *chip = rmcp_chip_by_product(name);
    if (chip) note_product(e, chip, name);
}

/* "picasso_sdma.bin", "gc_11_0_3_pfp.bin.zst": the files of a chip begin with its name. */
static void consider_firmware(const char *text, size_t size, struct explain_evidence *e)
{
    size_t n = 0, end = 0;
    for (; n < size && n < 40 && (isalnum((unsigned char)text[n]) || text[n] == '_'); n++)
        if (text[n] == '_') end = n;
    if (!end || n + 4 > size || memcmp(text + n, ".bin", 4) || e->n_lookups >= MOST_LOOKUPS) return;
    char name[48];
    snprintf(name, sizeof name, "%.*s", (int)end, text);
    e->n_lookups++;
    const struct rmcp_chip *chip = rmcp_chip_by_product(name);
    snprintf(name, sizeof name, "%.*s.bin", (int)n, text);
    if (chip) note_product(e, chip, name);
}

static void consider_pci(const char *words, const char *text, size_t at, size_t size,
                         struct explain_evidence *e)
{
    const size_t length = strlen(words);
    if (at + length > size) return;
    const bool bare = !strstr(words, "1002");
    if (bare && (e->number || (words[0] == '0' && !strchr("67", text[at + length])))) return;
    if (at && isalnum((unsigned char)text[at - 1])) return;
    const struct rmcp_chip *chip = explain_pci_chip(text + at + length, size - at - length);
    if (!chip) return;
    char name[48];
    snprintf(name, sizeof name, "%.*s", (int)(length + 4), text + at);
    if (!bare) {
        note_product(e, chip, name);
    } else {
        e->number = chip;
        snprintf(e->number_words, sizeof e->number_words, "%.15s", name);
    }
}

void explain_consider(const struct explain_clue *clue, const char *text, size_t at, size_t size,
                      struct explain_evidence *evidence, struct explain_card *card)
{
    const size_t words = strcspn(clue->words, "\n"), after = at + words;
    size_t digits;
    switch (clue->kind) {
    case CLUE_OVERRIDE:
        if (evidence->override_given || *card->pretends) break;
        if (override_value(text + after, size - after, card->pretends))
            snprintf(card->override_from, sizeof card->override_from,
                     "HSA_OVERRIDE_GFX_VERSION in the text");
        break;
    case CLUE_SURE_GFX:
        digits = explain_chip_digits(text + after, size - after);
        if (digits && !*evidence->sure_gfx)
            snprintf(evidence->sure_gfx, sizeof evidence->sure_gfx, "gfx%.*s", (int)digits,
                     text + after);
        break;
    case CLUE_GFX:
        digits = explain_chip_digits(text + after, size - after);
        if (digits && !is_example(text, at)) note_gfx(evidence, text + after, digits);
        break;
    case CLUE_PCI: consider_pci(clue->words, text, at, size, evidence); break;
    case CLUE_PRODUCT: consider_product(clue->words, text, at, size, evidence); break;
    case CLUE_PROCESSOR: consider_processor(text, at, size, evidence); break;
    case CLUE_GRAPHICS: consider_graphics(clue->words, text, at, size, evidence); break;
    case CLUE_XT: consider_xt(text, at, size, evidence); break;
    case CLUE_FIRMWARE: consider_firmware(text + after, size - after, evidence); break;
    case CLUE_PROGRAM:
        if (!evidence->program || clue->program < evidence->program)
            evidence->program = clue->program; /* the table's order: the more particular first */
        break;
    case CLUE_CONVOLUTION: evidence->convolution = true; break;
    case CLUE_FACT:
        explain_note_fact(&evidence->facts, clue->words, evidence->line, text, at, size);
        break;
    }
}
