/* facts.h: what a log says of the software around an error, which changes the answer: whose PyTorch
 * it is and whether that has code for the chip, and the system. Internal to src/explain. */
#ifndef RMCP_EXPLAIN_FACTS_H
#define RMCP_EXPLAIN_FACTS_H

#include "explain/explain.h"

struct explain_facts {
    bool cuda, cpu, zluda, directml, windows; /* words of these were met */
    bool nightly;                             /* a wheel of AMD's own: it has code for one chip */
    int rocm;                                 /* of a wheel: 602 is 6.2; 0 unknown */
};

/* The words of the table, by number; NULL past the last one. */
const char *explain_fact_words(size_t index);

/* Such words were met, and `after` follows them. */
void explain_note_fact(struct explain_facts *facts, const char *words, const char *after,
                       size_t length);

/* The notes that follow, into the result. */
void explain_note_facts(const struct explain_facts *facts, struct explain_result *result);

#endif
