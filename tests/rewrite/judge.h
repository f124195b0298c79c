/* judge.h: random insertions, and whether a rewritten text does what the old one did. */
#ifndef RMCP_TESTS_REWRITE_JUDGE_H
#define RMCP_TESTS_REWRITE_JUDGE_H

#include "code/rewrite/rewrite.h"

/* Put an s_nop before `percent` of the instructions of all functions that are not refused; above
 * 100, several. `*n` grows by their number. */
rmcp_status judge_insert(struct rewrite *rewrite, unsigned percent, uint64_t seed, size_t *n);

struct judge {
    const struct rewrite *rewrite;
    const struct rewrite_text *text;
    const struct rewrite_options *options;
    bool no_sums;    /* not those on s_getpc: what the order of addresses tells holds for real code
                        only */
    char first[256]; /* what was wrong first */
};

/* Goes through old and new words side by side, without the rewriter's own knowledge of references:
 * the same instructions in the same order but for s_nop, s_clause and added branches; branches that
 * lead to the same; sums on s_getpc, followed in the order of addresses, that give the same.
 * Returns the number of places that are wrong. */
size_t judge_text(struct judge *judge);

/* Write the object with the new text, read that and lift it: the same functions, none refused that
 * was not. `vgprs` (may be NULL) is rewrite_lowered.vgprs. On RMCP_OK `*out` is the caller's to
 * free(). */
rmcp_status judge_write(struct rewrite *rewrite, const struct codeobj *object,
                        const struct rewrite_text *text, const uint16_t *vgprs, uint8_t **out,
                        size_t *size);

#endif
