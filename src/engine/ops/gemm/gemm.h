/* gemm.h: a checked matrix product in canonical form, for its algorithms and its reference. */
#ifndef RMCP_OPS_GEMM_GEMM_H
#define RMCP_OPS_GEMM_GEMM_H

#include "engine/matmul/matmul.h"

/* Its slots. */
enum { RMCP_GEMM_A, RMCP_GEMM_B, RMCP_GEMM_C, RMCP_GEMM_BIAS, RMCP_GEMM_SLOTS };

struct rmcp_gemm_form {
    rmcp_gemm gemm;                /* as given, pitches and strides filled in                  */
    struct rmcp_matmul product;    /* the same on the slots above                              */
    int64_t span[RMCP_GEMM_SLOTS]; /* elements from the first to the last; 0: it is not used */
    int64_t outputs;               /* elements of c                                            */
    int64_t terms;                 /* k, or 0 when alpha is                                    */
};

/* Check a caller's struct and bring it into canonical form. Each thing that can be wrong has its
 * own message with the value. */
rmcp_status rmcp_gemm_form_init(struct rmcp_gemm_form *form, const rmcp_gemm *gemm);

static inline const struct rmcp_gemm_form *rmcp_gemm_of(const struct rmcp_request *request)
{
    return request->problem;
}

/* ---- the operation's other files ---- */

rmcp_status rmcp_gemm_parse_case(const char *text, void *problems, size_t *count);
rmcp_status rmcp_gemm_print_case(const void *problem, char *text, size_t size);

void rmcp_gemm_draw(uint64_t seed, void *problem);
void rmcp_gemm_fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed,
                    void *host);

/* The largest integer of test data: sums are exact in f32 where they can be. */
int64_t rmcp_gemm_largest_integer(const struct rmcp_gemm_form *form);

/* Which element of c is at a place in memory; false where there is none. */
struct rmcp_gemm_index {
    int64_t batch, row, column;
};
bool rmcp_gemm_index_of(const struct rmcp_gemm_form *form, int64_t place,
                        struct rmcp_gemm_index *index);

struct rmcp_expected rmcp_gemm_expect(const struct rmcp_reference *reference, unsigned slot,
                                      int64_t place);

extern const struct rmcp_operation rmcp_operation_gemm;

#endif
