/* card.h: which card a log speaks of. Internal to src/explain. */
#ifndef RMCP_EXPLAIN_CARD_H
#define RMCP_EXPLAIN_CARD_H

#include "explain/explain.h"

/* Words that tell something about the card when met in a log; the scanner finds them. */
struct explain_clue {
    const char *words;
    const char *chip; /* the silicon that a product name means; NULL: see `kind` */
    enum { CLUE_PRODUCT, CLUE_OVERRIDE, CLUE_GFX } kind;
};

/* By number; false past the last one. */
bool explain_clue_at(size_t index, struct explain_clue *out);

/* What has been met so far. */
struct explain_evidence {
    bool chip_given, override_given; /* by options: the log does not change them */
    char gfx[16];                    /* the first chip name met: what a runtime believes, perhaps */
};

/* `text` starts at the clue's words and has `size` bytes, at least as far as the line goes. */
void explain_consider(const struct explain_clue *clue, const char *text, size_t size,
                      struct explain_evidence *evidence, struct explain_card *card);

/* Draw the conclusion: is code of another kind of chip running? */
bool explain_conclude(const struct explain_evidence *evidence, struct explain_card *card);

#endif
