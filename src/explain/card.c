/* card.c: which card a log speaks of, and what an override makes of it. */
#include "explain/card.h"

#include "base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct explain_clue explain_clues[] = {
    { "HSA_OVERRIDE", NULL, CLUE_OVERRIDE },
    { "RX 5600", "gfx1010", CLUE_PRODUCT },
    { "RX 5700", "gfx1010", CLUE_PRODUCT },
    { "RX5600", "gfx1010", CLUE_PRODUCT },
    { "RX5700", "gfx1010", CLUE_PRODUCT },
    { "Pro W5700", "gfx1010", CLUE_PRODUCT },
    { "Navi 10", "gfx1010", CLUE_PRODUCT },
    { "1002:731f", "gfx1010", CLUE_PRODUCT },
    { "0x1002:0x731F", "gfx1010", CLUE_PRODUCT },
    { "Pro V520", "gfx1011", CLUE_PRODUCT },
    { "Navi 12", "gfx1011", CLUE_PRODUCT },
    { "RX 5500", "gfx1012", CLUE_PRODUCT },
    { "RX 5300", "gfx1012", CLUE_PRODUCT },
    { "RX5500", "gfx1012", CLUE_PRODUCT },
    { "Navi 14", "gfx1012", CLUE_PRODUCT },
    { "1002:7340", "gfx1012", CLUE_PRODUCT },
    { "RX 6800", "gfx1030", CLUE_PRODUCT },
    { "RX 6900", "gfx1030", CLUE_PRODUCT },
    { "RX 6950", "gfx1030", CLUE_PRODUCT },
    { "RX 6700", "gfx1031", CLUE_PRODUCT },
    { "RX 6750", "gfx1031", CLUE_PRODUCT },
    { "RX 6600", "gfx1032", CLUE_PRODUCT },
    { "RX 6650", "gfx1032", CLUE_PRODUCT },
    { "RX 6500", "gfx1034", CLUE_PRODUCT },
    { "RX 7900", "gfx1100", CLUE_PRODUCT },
    { "RX 7800", "gfx1101", CLUE_PRODUCT },
    { "RX 7700", "gfx1101", CLUE_PRODUCT },
    { "RX 7600", "gfx1102", CLUE_PRODUCT },
    { "RX 9070", "gfx1201", CLUE_PRODUCT },
    { "RX 9060", "gfx1200", CLUE_PRODUCT },
    { "RX 580", "gfx803", CLUE_PRODUCT },
    { "RX 570", "gfx803", CLUE_PRODUCT },
    { "RX 480", "gfx803", CLUE_PRODUCT },
    { "RX 470", "gfx803", CLUE_PRODUCT },
    { "RX Vega", "gfx900", CLUE_PRODUCT },
    { "Radeon VII", "gfx906", CLUE_PRODUCT },
    { "gfx", NULL, CLUE_GFX },
    { NULL, NULL, CLUE_GFX },
};

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
    if (part[1] > 9 || part[2] > 15) return false;
    snprintf(chip, 16, "gfx%u%u%x", part[0], part[1], part[2]);
    return true;
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
    for (const struct explain_clue *clue = explain_clues; clue->words; clue++) {
        char words[32];
        size_t w = 0;
        for (const char *c = clue->words; *c && w + 1 < sizeof words; c++)
            if (isalnum((unsigned char)*c)) words[w++] = (char)tolower((unsigned char)*c);
        words[w] = '\0';
        if (clue->kind == CLUE_PRODUCT && strstr(plain, words)) {
            snprintf(card->chip, sizeof card->chip, "%s", clue->chip);
            return RMCP_OK;
        }
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
