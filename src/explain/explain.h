/* explain.h: what a log, a traceback or a kernel log says about a GPU, why, and what to do.
 *
 * The text is read once, in pieces of bounded size; what is looked for stands in signatures.inc. */
#ifndef RMCP_EXPLAIN_H
#define RMCP_EXPLAIN_H

#include "rmcp.h"

#include <stdbool.h>

/* How a signature's answer depends on the card and on HSA_OVERRIDE_GFX_VERSION. */
enum explain_override {
    EXPLAIN_ANY,     /* it does not                                                     */
    EXPLAIN_FOREIGN, /* foreign code under an override explains it; without, it is a bug */
};

/* One row of signatures.inc. */
struct explain_signature {
    const char *id;
    int weight; /* the heavier comes first */
    enum explain_override override;
    const char *patterns; /* alternatives, one per line; '*' separates parts of one line of text */
    const char *what, *why, *remedy;
    const char *source;  /* address of a public thread or file; "" when it is common knowledge */
    const char *example; /* a line that it must find */
};
extern const struct explain_signature explain_signatures[]; /* ends with a NULL id */

/* What is known of the card: from the options, or from the log itself. */
struct explain_card {
    char chip[16];      /* the silicon: "gfx1010"; "" when unknown                     */
    char chip_from[96]; /* "--gpu", or the words in the log                            */
    char pretends[16];  /* the chip that an override makes of it: "gfx1030"; "" unknown */
    char override_from[96];
};

struct explain_match {
    const struct explain_signature *signature;
    uint64_t count, line; /* how often, and where first */
    char excerpt[240];    /* printable, shortened       */
};

enum { EXPLAIN_MOST = 96 };

struct explain_result {
    struct explain_card card;
    bool foreign; /* the card is known to run code of another chip's kind */
    uint64_t bytes, lines;
    size_t n_matches;
    struct explain_match matches[EXPLAIN_MOST]; /* the most important first */
};

/* Take the card from a name: "gfx1010", "rx5600xt", "RX 5600 XT". RMCP_E_ARG when it is none that
 * is known. */
rmcp_status explain_set_chip(struct explain_card *card, const char *name);
/* And the override as the variable has it: "10.3.0". */
rmcp_status explain_set_override(struct explain_card *card, const char *value);

/* Read everything from `fd` into `*result`, whose card may be set already; the rest of it is
 * overwritten. Memory does not grow with the text. */
rmcp_status explain_read(int fd, struct explain_result *result);

/* True when foreign code under the override is the first suspect for this match: then these texts
 * stand before the signature's own. */
bool explain_by_override(const struct explain_result *result, const struct explain_match *match);
extern const char *const explain_foreign_why, *const explain_foreign_remedy;

#endif
