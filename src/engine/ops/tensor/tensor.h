/* tensor.h: a checked tensor operation in canonical form, for its algorithms and its reference. */
#ifndef RMCP_OPS_TENSOR_TENSOR_H
#define RMCP_OPS_TENSOR_TENSOR_H

#include "engine/core/operation.h"

/* Its tensors by number, which are its slots, too. */
enum { RMCP_TENSOR_A, RMCP_TENSOR_B, RMCP_TENSOR_C, RMCP_TENSOR_N };

/* One loop over all three tensors. Strides in elements; 0 where a tensor takes its element again
 * (a, b), adds to it (c of a sum) or is not there. */
struct rmcp_tensor_loop {
    int64_t size, stride[RMCP_TENSOR_N];
};

struct rmcp_tensor_form {
    rmcp_tensor tensor; /* as given, all sizes and strides filled in */
    rmcp_tensor_kind kind;
    rmcp_type type[RMCP_TENSOR_N];
    float alpha, alpha_b, beta;
    int64_t span[RMCP_TENSOR_N]; /* elements from the first to the last; 0: it is not there      */
    int64_t outputs;             /* elements of c                                               */
    int64_t terms;               /* that a sum adds up for each of them; 1 for other kinds      */

    /* The same as loops: dimensions of size 1 left out, neighbours that continue each other in
     * every tensor merged, slowest first: by c's strides, those of a sum by a's. */
    unsigned n_loops; /* at least 1 */
    struct rmcp_tensor_loop loop[RMCP_TENSOR_DIMS];
};

/* Check a caller's struct and bring it into canonical form. Each thing that can be wrong has its
 * own message with the value. */
rmcp_status rmcp_tensor_init(struct rmcp_tensor_form *form, const rmcp_tensor *tensor);

/* Whether the kind has tensor a, b or c. */
bool rmcp_tensor_has(rmcp_tensor_kind kind, unsigned slot);

/* Whether the elements of c are read before they are written. */
bool rmcp_tensor_reads_output(const struct rmcp_tensor_form *form);

/* A copy that keeps every bit: nothing is computed. */
bool rmcp_tensor_moves(const struct rmcp_tensor_form *form);

/* The size and the strides of tensor a, b or c in the public struct. */
int64_t *rmcp_tensor_size(rmcp_tensor *tensor, unsigned slot);
int64_t *rmcp_tensor_stride(rmcp_tensor *tensor, unsigned slot);

/* How many roundings of an addition lie behind one sum of so many terms, at the most: what every
 * algorithm must keep to and the reference counts on. Any order of n terms has n - 1 of them;
 * beyond that, blocks of RMCP_TENSOR_BLOCK terms are summed, at most RMCP_TENSOR_BLOCK such blocks
 * one after the other, twice (a work-item's terms, then the workgroups' sums), and a tree over 256
 * work-items of 8 lanes each, twice as well. */
enum { RMCP_TENSOR_BLOCK = 64, RMCP_TENSOR_MOST_ROUNDINGS = 2 * (2 * RMCP_TENSOR_BLOCK + 8 + 3) };
double rmcp_tensor_roundings(int64_t terms);

/* ---- the operation's other files ---- */

extern const char *const rmcp_tensor_kinds[]; /* "set", "scale" …; ends with NULL */

rmcp_status rmcp_tensor_parse_case(const char *text, void *problems, size_t *count);
rmcp_status rmcp_tensor_print_case(const void *problem, char *text, size_t size);

void rmcp_tensor_draw(uint64_t seed, void *problem);
void rmcp_tensor_fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed,
                      void *host);

/* The largest integer of test data: sums of so many of them are exact in f32 where they can be. */
int64_t rmcp_tensor_largest_integer(const struct rmcp_tensor_form *form);

/* The index of the element of c at a place in memory; false where there is none. And where a or b
 * has its element of an index. */
bool rmcp_tensor_index_of(const struct rmcp_tensor_form *form, int64_t place,
                          int64_t index[RMCP_TENSOR_DIMS]);
int64_t rmcp_tensor_place_of(const struct rmcp_tensor_form *form, unsigned slot,
                             const int64_t index[RMCP_TENSOR_DIMS]);

struct rmcp_expected rmcp_tensor_expect(const struct rmcp_reference *reference, unsigned slot,
                                        int64_t index);
double rmcp_tensor_expect_cost(const void *problem, unsigned slot);

extern const struct rmcp_operation rmcp_operation_tensor;

#endif
