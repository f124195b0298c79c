/* card.h: which card and which program a log speaks of. Internal to src/help/explain. */
#ifndef RMCP_EXPLAIN_CARD_H
#define RMCP_EXPLAIN_CARD_H

#include "help/explain/facts.h"

/* Words that tell something when met in a log; the scanner finds them. */
struct explain_clue {
    const char *words; /* ends at '\n' or 0 */
    enum {
        CLUE_OVERRIDE,    /* the variable's value follows                         */
        CLUE_GFX,         /* a chip's name                                        */
        CLUE_SURE_GFX,    /* … of the chip itself, where others may be listed too */
        CLUE_PCI,         /* four hexadecimal digits of a device follow           */
        CLUE_PRODUCT,     /* a product's name starts here                         */
        CLUE_PROCESSOR,   /* a processor's name starts here, which may have graphics      */
        CLUE_GRAPHICS,    /* a processor's graphics, where the line speaks of a GPU */
        CLUE_XT,          /* a number before it is a product                      */
        CLUE_FIRMWARE,    /* the name of a file of firmware follows               */
        CLUE_PROGRAM,     /* written by `program`                                 */
        CLUE_CONVOLUTION, /* a convolution was executed                           */
        CLUE_FACT,        /* about the software (facts.h)                         */
    } kind;
    const struct explain_program *program;
};

/* By number; false past the last one. */
bool explain_clue_at(size_t index, struct explain_clue *out);

/* What has been met so far. */
struct explain_evidence {
    bool chip_given, override_given;    /* by options: the log does not change them     */
    const struct rmcp_chip *product;    /* the first card, and the words that say so    */
    const struct rmcp_chip *integrated; /* the first one that is part of a processor    */
    const struct rmcp_chip *number;     /* the first by a bare PCI number               */
    char product_words[48], integrated_words[48], number_words[16];
    char gfx[16], sure_gfx[16]; /* the first chip name met: what a runtime believes */
    char others[4][16];         /* further names: a list of targets is no card  */
    size_t n_others, n_lookups;
    const struct explain_program *program;
    bool convolution;
    struct explain_facts facts;
    uint64_t line; /* that is being read */
};

/* The clue's words are at text[at]; the line as far as it is at hand has `size` bytes. */
void explain_consider(const struct explain_clue *clue, const char *text, size_t at, size_t size,
                      struct explain_evidence *evidence, struct explain_card *card);

/* Draw the conclusions from the evidence into the result: the card, its family, the program, and
 * whether code of another kind of chip runs. */
void explain_conclude(const struct explain_evidence *evidence, struct explain_result *result);

/* Digits of a chip: 3 or 4, the last may be a hexadecimal letter. Returns their number or 0. What
 * is written behind them without a mark, as names of files do, is a setting: "gfx1010xnack". */
size_t explain_chip_digits(const char *text, size_t size);
/* "10.3.0" to "gfx1030". */
bool explain_override_chip(const char *text, size_t size, char chip[static 16]);
/* Four hexadecimal digits that are a device of AMD's; NULL otherwise. */
const struct rmcp_chip *explain_pci_chip(const char *text, size_t size);

/* True when the chip's name starts with one of the words of `chips`. */
bool explain_is_one_of(const char *chip, const char *chips);

#endif
