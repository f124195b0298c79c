/* form.h: problems that are a table: sizes, words, numbers, lists and strided tensors. An operation
 * that can be told so writes down its words and what it computes on dense arrays of doubles; case
 * strings, slots, traits, the reference, the plain algorithm of the CPU and the public functions
 * (rmcp_case_plan) come from that alone (docs/extending.md). */
#ifndef RMCP_CORE_FORM_H
#define RMCP_CORE_FORM_H

#include "engine/core/algo.h"

enum {
    RMCP_FORM_DIMS = 5,    /* of sizes and tensors        */
    RMCP_FORM_LONGEST = 8, /* list                        */
    RMCP_FORM_WORDS = 8,   /* traits                      */
    RMCP_FORM_NUMBERS = 12,
    RMCP_FORM_LISTS = 4,
    RMCP_FORM_TENSORS = 14,
};

/* A tensor of a problem. `shape` sets all but stride and span; a stride that the text gives is
 * there before, else it becomes that of a packed tensor. */
struct rmcp_form_tensor {
    uint32_t dims; /* 0: the problem does not use it                                      */
    uint32_t type; /* rmcp_type                                                           */
    bool read, written, gaps; /* gaps: places between its elements, which keep what they have */
    bool strided;             /* the text gave strides                                     */
    int64_t size[RMCP_FORM_DIMS], stride[RMCP_FORM_DIMS];
    int64_t elements; /* the product of its sizes                                         */
    int64_t span;     /* elements from the first place to the last                        */
};

/* A problem in canonical form. */
struct rmcp_form {
    const struct rmcp_form_rules *rules;
    uint32_t type; /* rmcp_type: the word of the trait called "type"                      */
    uint32_t dims;
    int64_t size[RMCP_FORM_DIMS];
    uint8_t word[RMCP_FORM_WORDS]; /* of each trait, an index into its words                */
    uint8_t listed[RMCP_FORM_LISTS];
    int64_t list[RMCP_FORM_LISTS][RMCP_FORM_LONGEST]; /* listed[i] of them count            */
    double number[RMCP_FORM_NUMBERS];
    struct rmcp_form_tensor tensor[RMCP_FORM_TENSORS];
};
_Static_assert(sizeof(struct rmcp_form) <= RMCP_PROBLEM_BYTES, "a form is a problem");

/* "alpha2" in a text; what it is without. */
struct rmcp_form_number {
    const char *name;
    double standard;
};

/* A number that an execution may bring, too: which of them, and what it may be (rmcp_scalar). No
 * tensor and no algorithm depends on it. */
struct rmcp_form_scalar {
    unsigned number;
    double least, most;
    bool whole;
};

/* "window3x3" in a text. */
struct rmcp_form_list {
    const char *name;
    uint32_t
        spatial; /* 1: one for each dimension behind the first two; one number stands for all */
    int64_t standard; /* what it is without, with spatial; else an absent list is empty */
};

/* Tensors as dense arrays in the order of their dimensions, whatever their strides and types. */
struct rmcp_form_values {
    const double *in[RMCP_FORM_TENSORS]; /* of those that are read */
    double *out[RMCP_FORM_TENSORS]; /* of those that are written, to be set; NULL else            */
    double *allowed[RMCP_FORM_TENSORS]; /* beside out, 0 at first: how far f32 arithmetic may be
                                           from it, the final rounding not counted; INFINITY:
                                           anything is right */
    enum rmcp_data data;
};

struct rmcp_form_rules {
    const struct rmcp_operation
        *operation;             /* its traits are the words of its case strings: each word
                                   belongs to one trait alone. The first trait is "pass" if
                                   there are several: a text without one means all of them.
                                   Of other traits the first word may be left out          */
    const char *const *tensors; /* names of the slots, ends with NULL                      */
    const struct rmcp_form_number *numbers; /* NULL, or ends with a NULL name. No name is the
                                               beginning of another's, nor of a word or a list */
    const char *const *samples; /* of each number, for random problems (core/draw.h): "0 0.5 1".
                                   NULL, or a NULL: anything from -2 to 2                        */
    const struct rmcp_form_list *lists;     /* ends with a NULL name, as numbers do         */
    const struct rmcp_form_scalar *scalars; /* NULL, or n_scalars of them                    */
    unsigned n_scalars;

    /* Intermediate values reach far beyond the inputs (squares, exponentials, products of sums):
     * where an input is NaN, infinite or above 2^60, f32 may overflow on the way and
     * whatever comes out is right. */
    bool fragile;

    /* Check sizes (each is at least 1, their product no more than 2^48), words, numbers and lists;
     * describe the tensors. The message need not name the case. */
    rmcp_status (*shape)(struct rmcp_form *form);

    /* Compute all outputs and their bounds. Must not fail but for memory. */
    rmcp_status (*evaluate)(const struct rmcp_form *form, const struct rmcp_form_values *values);
};

/* ---- for an operation's own functions ---- */

/* Its parse. */
rmcp_status rmcp_form_parse(const struct rmcp_form_rules *rules, const char *text, void *problems,
                            size_t *count);

/* For its draw: the problem of a text that must be right, with one pass. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void rmcp_form_draw(const struct rmcp_form_rules *rules, struct rmcp_form *form, const char *format,
                    ...);

/* Describe tensor `slot` in `shape`: the form's own size, or any other. */
void rmcp_form_whole(struct rmcp_form *form, unsigned slot, bool written);
void rmcp_form_part(struct rmcp_form *form, unsigned slot, rmcp_type type, bool written,
                    uint32_t dims, const int64_t *size);

/* The columns of rmcp_operation that come from the form alone; an operation may replace any. */
struct rmcp_slot rmcp_form_slot(const void *problem, unsigned slot);
struct rmcp_scalar rmcp_form_scalar(const void *problem, unsigned scalar);
void rmcp_form_set_scalars(void *problem, const double *scalars);
rmcp_type rmcp_form_type(const void *problem);
double rmcp_form_flops(const void *problem); /* one for each element of the outputs */
double rmcp_form_bytes(const void *problem);
rmcp_status rmcp_form_print(const void *problem, char *text, size_t size);
unsigned rmcp_form_trait(const void *problem, unsigned trait);
void rmcp_form_fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed,
                    void *host);
rmcp_status rmcp_form_reference_begin(struct rmcp_reference *reference);
void rmcp_form_reference_end(struct rmcp_reference *reference);
struct rmcp_expected rmcp_form_expect(const struct rmcp_reference *reference, unsigned slot,
                                      int64_t place);
double rmcp_form_expect_cost(const void *problem, unsigned slot);

/* FIXED is for operations with work or data of their own (flops, fill), COLUMNS for the others. */
#define RMCP_FORM_FIXED                                                                            \
    .problem_bytes = sizeof(struct rmcp_form), .slot = rmcp_form_slot, .scalar = rmcp_form_scalar, \
    .set_scalars = rmcp_form_set_scalars, .type = rmcp_form_type, .bytes = rmcp_form_bytes,        \
    .print = rmcp_form_print, .trait = rmcp_form_trait,                                            \
    .reference_begin = rmcp_form_reference_begin, .reference_end = rmcp_form_reference_end,        \
    .expect = rmcp_form_expect, .expect_cost = rmcp_form_expect_cost
#define RMCP_FORM_COLUMNS RMCP_FORM_FIXED, .flops = rmcp_form_flops, .fill = rmcp_form_fill

/* ---- for algorithms ---- */

static inline const struct rmcp_form *rmcp_form_of(const struct rmcp_request *request)
{
    return request->problem;
}

/* The place in memory, in elements, of element number `index` of a tensor, counted densely. */
int64_t rmcp_form_place(const struct rmcp_form_tensor *tensor, int64_t index);

/* Whether the tensor's elements lie one behind the other in the order of its dimensions. */
bool rmcp_form_packed(const struct rmcp_form_tensor *tensor);

/* Loops over several tensors of one size: dimensions of size 1 are left out, those that are one in
 * all of them are joined, and the order is that of the first tensor's strides, the smallest last.
 * Returns how many there are, at least 1. One loop with stride 1 in all: element by element as it
 * lies. */
struct rmcp_form_loop {
    int64_t size, stride[RMCP_FORM_TENSORS];
};
unsigned rmcp_form_loops(const struct rmcp_form *form, const unsigned *slots, unsigned n_slots,
                         struct rmcp_form_loop loops[static RMCP_FORM_DIMS]);

/* The reference as an algorithm of the CPU device: that of every operation without a file
 * algo/reference.c. */
extern const struct rmcp_algo rmcp_algo_form_reference;

#endif
