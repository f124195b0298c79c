/* compare.h: results in host memory against an operation's reference: as many as can be afforded.
 */
#ifndef RMCP_CORE_COMPARE_H
#define RMCP_CORE_COMPARE_H

#include "engine/core/operation.h"

/* The error of `got` as a share of what is allowed; more than 1 is wrong. */
typedef double rmcp_share_function(struct rmcp_expected expected, rmcp_type type, float got);
rmcp_share_function rmcp_error_share;

/* One output. */
struct rmcp_comparison {
    /* What to compare. */
    const struct rmcp_operation *operation;
    const struct rmcp_reference *reference; /* begun */
    unsigned slot;
    const void *values;         /* all elements of the slot                                  */
    rmcp_share_function *share; /* rmcp_error_share, or one that knows more of the data      */
    uint64_t seed;              /* which elements are taken when not all are                 */
    bool near;                  /* neighbours' errors are allowed: see rmcp_operation        */
    double effort;              /* multiplications of the reference; 0: the usual, INFINITY: all */
    /* What was found. */
    int64_t checked;
    double worst; /* the largest share, and the first element that has it */
    int64_t element;
    float got;
    struct rmcp_expected expected;
};
void rmcp_compare(struct rmcp_comparison *comparison);

/* What the element is allowed to be, with the errors of its neighbours if the algorithm has them.
 */
struct rmcp_expected rmcp_expect_near(const struct rmcp_operation *operation,
                                      const struct rmcp_reference *reference, unsigned slot,
                                      int64_t element);

#endif
