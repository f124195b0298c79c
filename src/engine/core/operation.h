/* operation.h: the contract of an operation, which has a folder of its own (docs/extending.md).
 * Planner, caches, guard, judge and the command work for all of them alike. */
#ifndef RMCP_CORE_OPERATION_H
#define RMCP_CORE_OPERATION_H

#include "base/error.h"

#include <stdbool.h>

/* An operation numbers its tensors from 0; the last number is the workspace in all of them. */
enum { RMCP_MOST_SLOTS = 16, RMCP_SLOT_WORKSPACE = RMCP_MOST_SLOTS - 1 };

/* Room for a problem of any operation, in its canonical form. */
enum { RMCP_PROBLEM_BYTES = 2048 };
struct rmcp_any_problem {
    _Alignas(16) unsigned char bytes[RMCP_PROBLEM_BYTES];
};

/* The most passes of an operation: words of its first trait, and problems that one text stands for
 * when it leaves the pass open. */
enum { RMCP_MOST_PASSES = 8 };

/* The most scalars of an operation. */
enum { RMCP_MOST_SCALARS = 8 };

/* A number that an execution may bring in place of the problem's own: no algorithm may depend on it
 * in anything but the values that it computes with. */
struct rmcp_scalar {
    const char *name;   /* as in case strings; static storage. NULL: the last was before         */
    double value;       /* the problem's own                                                      */
    double usual;       /* of a case string that does not say                                     */
    double least, most; /* what it may be; both infinite: anything, NaN as well                */
    bool whole;
};

/* What a problem has in a slot. */
struct rmcp_slot {
    const char *name; /* as in the public struct of tensors; static storage            */
    int64_t elements; /* 0: the problem does not use it                                */
    rmcp_type type;
    bool read, written; /* both: updated in place. Never both false when it has elements */
};

/* Values to compute with. Small integers make results exact, so that one missing or doubled term
 * shows as a wrong bit; reals test rounding against a computed bound. */
enum rmcp_data { RMCP_DATA_INTEGERS, RMCP_DATA_REALS, RMCP_N_DATA };

/* What a reference expects in one element. */
struct rmcp_expected {
    double value;   /* not yet rounded to the slot's type                                      */
    double allowed; /* how far a result may be from it: the computed bound, with the final
                       rounding. 0: only the value itself, rounded to the type                 */
    bool open;      /* whatever comes out is right: f32 overflowed on the way, or NaN and Inf meet
                       what rmcp.h leaves open. Never with the judge's own data                */
};

/* The reference of one problem: plain loops in double precision over tensors in host memory. */
struct rmcp_reference {
    const void *problem;
    const void *host[RMCP_MOST_SLOTS]; /* as they were before; NULL where the problem has none
                                          or the slot is only written                          */
    enum rmcp_data data;
    bool strict;         /* the plan promises NaN and Inf exactly as IEEE 754 says             */
    double error_factor; /* of the algorithm that is judged: see rmcp_algo                     */
    void *state;         /* the operation's own, from reference_begin                          */
};

/* A property of problems that lists of cases are counted by: "layout": nchw, nhwc. */
struct rmcp_trait {
    const char *name;
    const char *const *words; /* ends with NULL */
};

struct rmcp_algo;
struct rmcp_form_rules;

struct rmcp_operation {
    const char *name;                     /* the folder's; case strings begin with it      */
    bool nameless;                        /* but for one operation's, which have no name   */
    size_t problem_bytes;                 /* of a problem in canonical form                */
    unsigned n_slots;                     /* besides the workspace                         */
    const struct rmcp_algo *const *algos; /* ends with NULL                                */

    /* The rules of problems in table form (form.h), which need no parse and no draw; else NULL. */
    const struct rmcp_form_rules *form;

    /* What the problem has in slot 0 … n_slots - 1. */
    struct rmcp_slot (*slot)(const void *problem, unsigned slot);

    /* Scalar number 0 and on; and setting all of them. Both NULL: it has none. */
    struct rmcp_scalar (*scalar)(const void *problem, unsigned scalar);
    void (*set_scalars)(void *problem, const double *scalars);

    /* The type that decides which variant of a kernel runs: guarded one by one. */
    rmcp_type (*type)(const void *problem);

    /* Options of a plan that do not go with the problem. NULL: fixed_weights does not. */
    rmcp_status (*check_options)(const void *problem, const rmcp_plan_options *options);

    /* Operations and bytes that it takes at the least, for rates. */
    double (*flops)(const void *problem);
    double (*bytes)(const void *problem);

    /* Read a case string without the operation's name into problems[0 … *count - 1], each
     * problem_bytes long and room for RMCP_MOST_PASSES of them: one for each pass that the text
     * leaves open. On error nothing is written but the message. */
    rmcp_status (*parse)(const char *text, void *problems, size_t *count);

    /* The case string of a problem without the operation's name; RMCP_CASE_MAX bytes are enough. */
    rmcp_status (*print)(const void *problem, char *text, size_t size);

    /* The traits that cases are counted by, first the pass or what takes its place; ends with a
     * NULL name. And the word of a problem: an index into traits[trait].words. */
    const struct rmcp_trait *traits;
    unsigned (*trait)(const void *problem, unsigned trait);

    /* A random problem, small enough that the reference takes milliseconds. */
    void (*draw)(uint64_t seed, void *problem);

    /* Small problems for first use, as case strings with "%s" where the type stands and no pass:
     * they reach every kernel. Ends with NULL. */
    const char *const *trials;

    /* Fill a slot that is read with values of the kind, drawn from the seed. */
    void (*fill)(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed,
                 void *host);

    /* Prepare r->state (NULL: nothing to prepare); the other fields are set. reference_end frees
     * it. Both may be NULL. */
    rmcp_status (*reference_begin)(struct rmcp_reference *r);
    void (*reference_end)(struct rmcp_reference *r);

    /* Element `index`, as it lies in memory, of a slot that is written. Called from many threads.
     */
    struct rmcp_expected (*expect)(const struct rmcp_reference *r, unsigned slot, int64_t index);

    /* The same for an algorithm whose error_factor is above 1, with any data: what one element has
     * of the errors of its neighbours, where `expect` is too strict. NULL: nothing. */
    struct rmcp_expected (*expect_near)(const struct rmcp_reference *r, unsigned slot,
                                        int64_t index);

    /* Multiplications, or so, behind one call of expect: how many of them can be afforded. */
    double (*expect_cost)(const void *problem, unsigned slot);
};

extern const struct rmcp_operation *const rmcp_operations[]; /* ends with NULL */

/* The operation of that name; NULL when there is none. `length` characters of `name` count. */
const struct rmcp_operation *rmcp_operation_find(const char *name, size_t length);

/* Read a case string of any operation, its name in front; one without is the nameless one's. */
rmcp_status rmcp_case_parse(const char *text, const struct rmcp_operation **operation,
                            struct rmcp_any_problem problems[static RMCP_MOST_PASSES],
                            size_t *count);

/* The whole case string of a problem. */
rmcp_status rmcp_case_print(const struct rmcp_operation *operation, const void *problem, char *text,
                            size_t size);

/* A random problem: the operation's draw, or that of its table. */
void rmcp_operation_draw(const struct rmcp_operation *operation, uint64_t seed, void *problem);

/* ---- bounds that references share ---- */

size_t rmcp_type_bytes(rmcp_type type);

/* "f32", "f16", "bf16", then NULL */
extern const char *const rmcp_type_names[];

static inline bool rmcp_type_is_integer(rmcp_type type)
{
    return type > RMCP_BF16;
}

/* The largest error of rounding a value to a type: relative, or that of its smallest number. */
double rmcp_rounding_error(rmcp_type type, double value);

/* Whether a sum in f32 of terms that add up to `magnitude` may overflow on its way; false for NaN
 * and Inf, which are values of the caller's. */
bool rmcp_sum_overflows(double magnitude);

#endif
