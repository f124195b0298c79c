/* card.c: which card a log speaks of, and what an override makes of it. */
#include "explain/card.h"

#include "base/error.h"
#include "chip/chips.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool explain_clue_at(size_t index, struct explain_clue *out)
{
    static const struct explain_clue others[] = { { "HSA_OVERRIDE", NULL, CLUE_OVERRIDE },
                                                  { "gfx", NULL, CLUE_GFX } };
    enum { N_OTHERS = sizeof others / sizeof *others };
    if (index < N_OTHERS) {
        *out = others[index];
        return true;
    }
    index -= N_OTHERS;
    const struct rmcp_chip *chip;
    for (size_t i = 0; (chip = rmcp_chip_at(i)); i++)
        for (const char *const *words = chip->words; words && *words; words++)
            if (!index--) {
                *out = (struct explain_clue){ *words, chip->name, CLUE_PRODUCT };
                return true;
            }
    return false;
}

/* Digits of a chip: 3 or 4, the last may be a hexadecimal letter. Returns their number or 0. */
static size_t chip_digits(const char *text, size_t size)
{
    size_t n = 0;
    while (n < size && n < 5 &&
           (isdigit((unsigned char)text[n]) || (n >= 2 && strchr("abc", text[n]) && text[n])))
        n++;
    return n >= 3 && n <= 4 && (n == size || !isalnum((unsigned char)text[n])) ? n : 0;
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
    const struct rmcp_chip *chip = rmcp_chip_by_product(name);
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

void explain_consider(const struct explain_clue *clue, const char *text, size_t size,
                      struct explain_evidence *evidence, struct explain_card *card)
{
    const size_t words = strlen(clue->words);
    if (clue->kind == CLUE_PRODUCT && words < size && isdigit((unsigned char)text[words]))
        return; /* "RX 570" is not "RX 5700" */
    if (clue->kind == CLUE_PRODUCT && !evidence->chip_given && !*card->chip) {
        snprintf(card->chip, sizeof card->chip, "%s", clue->chip);
        snprintf(card->chip_from, sizeof card->chip_from, "'%s' in the text", clue->words);
    } else if (clue->kind == CLUE_OVERRIDE && !evidence->override_given && !*card->pretends) {
        if (override_value(text + words, size - words, card->pretends))
            snprintf(card->override_from, sizeof card->override_from,
                     "HSA_OVERRIDE_GFX_VERSION in the text");
    } else if (clue->kind == CLUE_GFX && !*evidence->gfx) {
        size_t digits = chip_digits(text + words, size - words);
        if (digits)
            snprintf(evidence->gfx, sizeof evidence->gfx, "gfx%.*s", (int)digits, text + words);
    }
}

static bool is_rdna1(const char *chip)
{
    return !strncmp(chip, "gfx101", 6);
}

bool explain_conclude(const struct explain_evidence *evidence, struct explain_card *card)
{
    /* An RX 5000 card that something calls gfx1030 is under an override. */
    if (is_rdna1(card->chip) && !*card->pretends && !strncmp(evidence->gfx, "gfx103", 6)) {
        snprintf(card->pretends, sizeof card->pretends, "%s", evidence->gfx);
        snprintf(card->override_from, sizeof card->override_from, "the text calls the card %s",
                 evidence->gfx);
    }
    if (!*card->chip && !*card->pretends && *evidence->gfx) {
        snprintf(card->chip, sizeof card->chip, "%s", evidence->gfx);
        snprintf(card->chip_from, sizeof card->chip_from, "'%s' in the text", evidence->gfx);
    }
    if (!*card->chip || !*card->pretends) return false;
    if (is_rdna1(card->chip)) return !is_rdna1(card->pretends);
    /* gfx1031 to gfx1036 run gfx1030 code: LLVM knows no difference that matters. */
    return strncmp(card->chip, card->pretends, 6) != 0;
}
