/* rewriting.h: for tests of the writer: code whose functions are moved apart, and comparisons. */
#ifndef RMCP_TESTS_CODEOBJ_REWRITING_H
#define RMCP_TESTS_CODEOBJ_REWRITING_H

#include "code/codeobj/write.h"

/* Code in pieces, each from one function to the next, with `gap` x 256 bytes of s_nop in front
 * of each. Addresses that LLVM's s_getpc_b64, s_add_u32, s_addc_u32 make are corrected, in the
 * order of addresses: enough for what compilers make, and no more than a test. */
struct spread {
    const struct codeobj *object;
    struct codeobj_room room;
    size_t n;
    uint64_t *starts;     /* old; n + 1 of them, the last is the end */
    uint64_t *new_starts; /* likewise                               */
    uint8_t *text;
    size_t text_size;
    size_t n_fixed; /* pairs of literals */
};

rmcp_status spread_init(struct spread *spread, const struct codeobj *object, unsigned gap);
void spread_deinit(struct spread *spread);
bool spread_moved(void *spread, uint64_t address, bool is_end, uint64_t *moved);

/* NULL when the two are the same but for what a spread of the first changes; else what differs.
 * `spread` NULL: nothing may differ, not even addresses. The result lives until the next call. */
const char *rewriting_difference(const struct codeobj *a, const struct codeobj *b,
                                 struct spread *spread);

#endif
