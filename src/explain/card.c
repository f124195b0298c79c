/* card.c: which card and which program a log speaks of, and what an override makes of the card. */
#include "explain/card.h"

#include "base/error.h"
#include "chip/chips.h"

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

/* Digits of a chip: 3 or 4, the last may be a hexadecimal letter. Returns their number or 0. What
 * is written behind them without a mark, as names of files do, is a setting: "gfx1010xnack". */
static size_t chip_digits(const char *text, size_t size)
{
    size_t n = 0;
    while (n < size && n < 5 &&
           (isdigit((unsigned char)text[n]) || (n >= 2 && strchr("abc", text[n]) && text[n])))
        n++;
    const bool setting = size - n >= 5 && !memcmp(text + n, "xnack", 5);
    const bool end = n == size || !isalnum((unsigned char)text[n]) || setting;
    return n >= 3 && n <= 4 && end ? n : 0;
}

/* "10.3.0" to "gfx1030". */
static bool override_chip(const char *text, size_t size, char chip[static 16])
{
    unsigned part[3] = { 0, 0, 0 };
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        size_t digits = 0;
        for (; at < size && isdigit((unsigned char)text[at]) && digits < 2; at++, digits++)
            part[i] = part[i] * 10 + (unsigned)(text[at] - '0');
        if (!digits) return false;
        if (i < 2 && (at >= size || text[at++] != '.')) return false;
    }
    if (at < size && (isalnum((unsigned char)text[at]) || text[at] == '.')) return false;
    return rmcp_chip_name(part[0] * 10000 + part[1] * 100 + part[2], chip);
}

/* Four hexadecimal digits that are a device of AMD's; NULL otherwise. */
static const struct rmcp_chip *pci_chip(const char *text, size_t size)
{
    uint32_t device = 0;
    for (size_t i = 0; i < 4; i++) {
        if (i >= size || !isxdigit((unsigned char)text[i])) return NULL;
        const int c = tolower((unsigned char)text[i]);
        device = device * 16 + (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    if (size > 4 && isalnum((unsigned char)text[4])) return NULL;
    return rmcp_chip_by_pci(device, 0, NULL);
}

rmcp_status explain_set_chip(struct explain_card *card, const char *name)
{
    char plain[64];
    size_t n = 0;
    for (const char *c = name; *c && n + 1 < sizeof plain; c++)
        if (isalnum((unsigned char)*c)) plain[n++] = (char)tolower((unsigned char)*c);
    plain[n] = '\0';
    snprintf(card->chip_from, sizeof card->chip_from, "--gpu %.60s", name);
    if (!strncmp(plain, "gfx", 3) && chip_digits(plain + 3, n - 3) == n - 3 && n > 3) {
        snprintf(card->chip, sizeof card->chip, "%.15s", plain);
        return RMCP_OK;
    }
    for (const char *at = name; (at = strstr(at, "gfx")); at += 3) { /* among other words */
        const size_t digits = chip_digits(at + 3, strlen(at + 3));
        if (!digits) continue;
        snprintf(card->chip, sizeof card->chip, "gfx%.*s", (int)digits, at + 3);
        return RMCP_OK;
    }
    const char *hex = strstr(name, "1002:");
    hex = hex ? hex + 5 : name;
    if (hex[0] == '0' && (hex[1] == 'x' || hex[1] == 'X')) hex += 2;
    const struct rmcp_chip *chip = rmcp_chip_by_product(name);
    if (!chip && hex != name) chip = pci_chip(hex, strlen(hex));
    if (chip) {
        snprintf(card->chip, sizeof card->chip, "%s", chip->name);
        return RMCP_OK;
    }
    *card->chip_from = '\0';
    return rmcp_fail(RMCP_E_ARG, "no card '%.60s' is known; give the chip, such as gfx1010", name);
}

rmcp_status explain_set_override(struct explain_card *card, const char *value)
{
    if (!override_chip(value, strlen(value), card->pretends))
        return rmcp_fail(RMCP_E_ARG, "the override '%.40s' is not three numbers such as 10.3.0",
                         value);
    snprintf(card->override_from, sizeof card->override_from, "--override %.20s", value);
    return RMCP_OK;
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
        if (isdigit((unsigned char)text[at])) return override_chip(text + at, size - at, chip);
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

static void consider_pci(const char *words, const char *text, size_t at, size_t size,
                         struct explain_evidence *e)
{
    const size_t length = strlen(words);
    if (at + length > size) return;
    const bool bare = !strstr(words, "1002");
    if (bare && (e->number || (words[0] == '0' && !strchr("67", text[at + length])))) return;
    if (at && isalnum((unsigned char)text[at - 1])) return;
    const struct rmcp_chip *chip = pci_chip(text + at + length, size - at - length);
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
        digits = chip_digits(text + after, size - after);
        if (digits && !*evidence->sure_gfx)
            snprintf(evidence->sure_gfx, sizeof evidence->sure_gfx, "gfx%.*s", (int)digits,
                     text + after);
        break;
    case CLUE_GFX:
        digits = chip_digits(text + after, size - after);
        if (digits && !is_example(text, at)) note_gfx(evidence, text + after, digits);
        break;
    case CLUE_PCI: consider_pci(clue->words, text, at, size, evidence); break;
    case CLUE_PRODUCT: consider_product(clue->words, text, at, size, evidence); break;
    case CLUE_PROCESSOR: consider_processor(text, at, size, evidence); break;
    case CLUE_GRAPHICS: consider_graphics(clue->words, text, at, size, evidence); break;
    case CLUE_XT: consider_xt(text, at, size, evidence); break;
    case CLUE_PROGRAM:
        if (!evidence->program || clue->program < evidence->program)
            evidence->program = clue->program; /* the table's order: the more particular first */
        break;
    case CLUE_CONVOLUTION: evidence->convolution = true; break;
    case CLUE_FACT:
        explain_note_fact(&evidence->facts, clue->words, text + after, size - after);
        break;
    }
}

bool explain_is_one_of(const char *chip, const char *chips)
{
    while (*chips) {
        const size_t length = strcspn(chips, " ");
        if (length && !strncmp(chip, chips, length)) return true;
        chips += length;
        chips += *chips == ' ';
    }
    return false;
}

static void set_chip(struct explain_card *card, const char *chip, const char *words)
{
    snprintf(card->chip, sizeof card->chip, "%s", chip);
    snprintf(card->chip_from, sizeof card->chip_from, "'%s' in the text", words);
}

static void choose_chip(const struct explain_evidence *e, struct explain_card *card)
{
    enum { LIST = 2 }; /* so many other chips make a list of targets */
    if (e->product)
        set_chip(card, e->product->name, e->product_words);
    else if (*e->sure_gfx && strcmp(e->sure_gfx, card->pretends))
        set_chip(card, e->sure_gfx, e->sure_gfx);
    else if (e->number)
        set_chip(card, e->number->name, e->number_words);
    else if (*e->gfx && e->n_others < LIST && !*card->pretends)
        set_chip(card, e->gfx, e->gfx);
    else if (e->integrated)
        set_chip(card, e->integrated->name, e->integrated_words);
    else if (*e->sure_gfx)
        set_chip(card, e->sure_gfx, e->sure_gfx);
}

/* Does code for `pretends` run on `chip` as if it were made for it? LLVM's generic targets tell. */
static bool same_kind(const char *chip, const char *pretends)
{
    if (!strcmp(chip, pretends)) return true;
    const struct rmcp_chip *one = rmcp_chip_by_name(chip, strlen(chip));
    const struct rmcp_chip *other = rmcp_chip_by_name(pretends, strlen(pretends));
    if (one && other && one->generic && other->generic)
        return !strcmp(one->generic, other->generic);
    return false;
}

void explain_conclude(const struct explain_evidence *evidence, struct explain_result *result)
{
    struct explain_card *card = &result->card;
    if (!evidence->chip_given) choose_chip(evidence, card);
    /* An RX 5000 card that something calls gfx1030 is under an override. */
    if (explain_is_one_of(card->chip, "gfx101") && !*card->pretends &&
        explain_is_one_of(evidence->gfx, "gfx103") && evidence->n_others < 2) {
        snprintf(card->pretends, sizeof card->pretends, "%s", evidence->gfx);
        snprintf(card->override_from, sizeof card->override_from, "the text calls the card %s",
                 evidence->gfx);
    }
    const struct rmcp_chip *chip = rmcp_chip_by_name(card->chip, strlen(card->chip));
    card->integrated = chip && (chip->flags & RMCP_CHIP_INTEGRATED);
    result->program = evidence->program;
    result->convolution = evidence->convolution;
    for (const struct explain_family *f = explain_families; f->chips && *card->chip; f++)
        if (!result->family && explain_is_one_of(card->chip, f->chips)) result->family = f;
    result->foreign = *card->chip && *card->pretends && !same_kind(card->chip, card->pretends);
}
