/* element.h: operations that go element by element, whatever strides their tensors have. One that
 * is a formula is a row of functions.inc; one with more of its own is a file of the folder special.
 * All are problems in table form (engine/core/form.h) and share the algorithms of algo.c and the
 * kernels of kernels/each.h and kernels/packed.h (docs/extending.md). */
#ifndef RMCP_ELEMENTS_ELEMENT_H
#define RMCP_ELEMENTS_ELEMENT_H

#include "base/random.h"
#include "engine/core/form.h"
#include "engine/elements/kernels/args.h"
#include "engine/gpu/fold.h"

/* What a GPU does for a problem; zero at first. */
struct rmcp_element_work {
    bool each; /* kernel NAME_<type> for the elements of `streams`                               */
    struct rmcp_streams streams;
    unsigned n_more, more[4]; /* slots whose memory the kernel takes behind those of the streams */
    double seconds;           /* of launches that finish() appends                               */

    bool sums; /* then kernels NAME_sums_<type> and NAME_end_<type>: scale * sums of `folds` go to
                  elements of slot `sum`, `sum_step` apart                                       */
    struct rmcp_folds folds;
    unsigned sum;
    int64_t sum_step;
    double scale;
};

enum { RMCP_ELEMENT_MATH_BYTES = 128 };

struct rmcp_element {
    struct rmcp_form_rules rules; /* its operation's `form` */

    /* Say what is to be done, with streams and folds cut. */
    void (*work)(const struct rmcp_request *request, struct rmcp_element_work *work);

    /* What its kernels take by value behind the streams. `first`: where each stream's part begins
     * in this launch, in elements; NULL for sums, and where an
     * execution brings scalars. No function: zeros. */
    size_t math_bytes; /* RMCP_ELEMENT_MATH_BYTES at most */
    void (*math)(const struct rmcp_form *form, const int64_t *first, void *math);

    /* Append launches that come last; NULL: none. */
    rmcp_status (*finish)(const struct rmcp_form *form, struct rmcp_launch_list *list);
};

static inline const struct rmcp_element *rmcp_element_of(const struct rmcp_form *form)
{
    return (const struct rmcp_element *)form->rules;
}

/* The algorithms. `version` is each operation's own: raise it when its kernels change. `packed` is
 * for those whose kernel has it (kernels/packed.h). */
rmcp_status rmcp_element_consider(const struct rmcp_request *request, struct rmcp_way *way);
rmcp_status rmcp_element_emit(const struct rmcp_request *request, const struct rmcp_way *way,
                              struct rmcp_launch_list *list);
rmcp_status rmcp_element_consider_packed(const struct rmcp_request *request, struct rmcp_way *way);
rmcp_status rmcp_element_emit_packed(const struct rmcp_request *request, const struct rmcp_way *way,
                                     struct rmcp_launch_list *list);
#define RMCP_ELEMENT_STREAM                                                                        \
    .name = "stream", .kind = RMCP_LAUNCH_KERNEL, .consider = rmcp_element_consider,               \
    .emit = rmcp_element_emit
#define RMCP_ELEMENT_PACKED                                                                        \
    .name = "packed", .kind = RMCP_LAUNCH_KERNEL, .consider = rmcp_element_consider_packed,        \
    .emit = rmcp_element_emit_packed

/* For operations whose first trait is the pass: its words, and the pass as all that kernels take.
 */
extern const char *const rmcp_element_passes[]; /* "fwd", "bwd", NULL */
void rmcp_element_pass(const struct rmcp_form *form, const int64_t *first, void *math);

#endif
