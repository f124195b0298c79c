/* facts.h: what a log says of the software around an error, which changes the answer: whose PyTorch
 * it is and whether that has code for the chip, and the system. Internal to src/help/explain. */
#ifndef RMCP_EXPLAIN_FACTS_H
#define RMCP_EXPLAIN_FACTS_H

#include "help/explain/explain.h"

struct explain_facts {
    bool cuda, cpu, zluda, directml, windows; /* words of these were met */
    bool nightly;                             /* a wheel of AMD's own: it has code for one chip */
    int rocm;                                 /* of a wheel: 602 is 6.2; 0 unknown */
    bool nvidia;                              /* a card of NVIDIA's is named */
    uint64_t line;                            /* where the first wheel is named, and how */
    char excerpt[160];
};

/* The words of the table, by number; NULL past the last one. */
const char *explain_fact_words(size_t index);

/* Such words were met at text[at], in line `line`; `size` bytes of it are at hand. */
void explain_note_fact(struct explain_facts *facts, const char *words, uint64_t line,
                       const char *text, size_t at, size_t size);

/* What is known not to work of the software with the card, where nothing in the log says more: a
 * finding. True when there is one; it stands last then. */
bool explain_read_facts(const struct explain_facts *facts, bool runs,
                        struct explain_result *result);

/* The notes that follow, into the result. */
void explain_note_facts(const struct explain_facts *facts, struct explain_result *result);

#endif
