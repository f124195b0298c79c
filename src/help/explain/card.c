/* card.c: which card a name or a log's evidence stands for, and what an override makes of it. */
#include "help/explain/card.h"

#include "base/chip/chips.h"
#include "base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

size_t explain_chip_digits(const char *text, size_t size)
{
    size_t n = 0;
    while (n < size && n < 5 &&
           (isdigit((unsigned char)text[n]) || (n >= 2 && strchr("abc", text[n]) && text[n])))
        n++;
    const bool setting = size - n >= 5 && !memcmp(text + n, "xnack", 5);
    const bool end = n == size || !isalnum((unsigned char)text[n]) || setting;
    return n >= 3 && n <= 4 && end ? n : 0;
}

bool explain_override_chip(const char *text, size_t size, char chip[static 16])
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

const struct rmcp_chip *explain_pci_chip(const char *text, size_t size)
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
    if (!strncmp(plain, "gfx", 3) && explain_chip_digits(plain + 3, n - 3) == n - 3 && n > 3) {
        snprintf(card->chip, sizeof card->chip, "%.15s", plain);
        return RMCP_OK;
    }
    for (const char *at = name; (at = strstr(at, "gfx")); at += 3) { /* among other words */
        const size_t digits = explain_chip_digits(at + 3, strlen(at + 3));
        if (!digits) continue;
        snprintf(card->chip, sizeof card->chip, "gfx%.*s", (int)digits, at + 3);
        return RMCP_OK;
    }
    const char *hex = strstr(name, "1002:");
    hex = hex ? hex + 5 : name;
    if (hex[0] == '0' && (hex[1] == 'x' || hex[1] == 'X')) hex += 2;
    const struct rmcp_chip *chip = rmcp_chip_by_product(name);
    if (!chip && hex != name) chip = explain_pci_chip(hex, strlen(hex));
    if (chip) {
        snprintf(card->chip, sizeof card->chip, "%s", chip->name);
        return RMCP_OK;
    }
    *card->chip_from = '\0';
    return rmcp_fail(RMCP_E_ARG, "no card '%.60s' is known; give the chip, such as gfx1010", name);
}

rmcp_status explain_set_override(struct explain_card *card, const char *value)
{
    if (!explain_override_chip(value, strlen(value), card->pretends))
        return rmcp_fail(RMCP_E_ARG, "the override '%.40s' is not three numbers such as 10.3.0",
                         value);
    snprintf(card->override_from, sizeof card->override_from, "--override %.20s", value);
    return RMCP_OK;
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

/* The one chip that the text names beside the one of the override: what runs under it prints the
 * latter. NULL where there are none or several. */
static const char *beside_override(const struct explain_evidence *e, const char *pretends)
{
    const char *found = *e->gfx && strcmp(e->gfx, pretends) ? e->gfx : NULL;
    for (size_t i = 0; i < e->n_others; i++) {
        if (!strcmp(e->others[i], pretends)) continue;
        if (found) return NULL;
        found = e->others[i];
    }
    return found;
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
    else if (*card->pretends && beside_override(e, card->pretends))
        set_chip(card, beside_override(e, card->pretends), beside_override(e, card->pretends));
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
