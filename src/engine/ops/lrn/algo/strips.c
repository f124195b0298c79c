/* strips: local response normalisation, a few rows of the window's dimension a work-item. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"
#include "engine/ops/lrn/kernels/args.h"
#include "engine/ops/lrn/lrn.h"

enum { UNIT_ITEMS = 2048 /* that keep a compute unit busy */, MOST_LAUNCHES = 1024 };

static double seconds(const struct rmcp_request *request)
{
    const double memory = request->operation->bytes(request->problem) /
                          (rmcp_figure(request->caps, RMCP_FIGURE_LRN_STRIPS_EFFICIENCY) *
                           request->caps->bytes_per_second);
    const double compute =
        request->operation->flops(request->problem) * 6 / request->caps->flops_per_second;
    return memory > compute ? memory : compute;
}

/* Work-items of one image. */
static int64_t image_items(const struct rmcp_form *form)
{
    const struct rmcp_lrn lrn = rmcp_lrn_of(form);
    int64_t items = 1;
    for (unsigned d = 1; d < form->dims; d++)
        items *=
            d == lrn.strip_axis ? rmcp_ceil_divide(form->size[d], RMCP_LRN_STRIP) : form->size[d];
    return items;
}

/* Whether 32 bits hold every offset in bytes of so many images. */
static bool fits(const struct rmcp_form *form, int64_t images)
{
    for (unsigned slot = 0; slot < RMCP_LRN_SLOTS; slot++) {
        const struct rmcp_form_tensor *t = &form->tensor[slot];
        if (!t->dims) continue;
        int64_t span = 1 + (images - 1) * t->stride[0];
        for (unsigned d = 1; d < t->dims; d++) span += (t->size[d] - 1) * t->stride[d];
        if (span > ((INT64_C(1) << 32) - 64) / (int64_t)rmcp_type_bytes((rmcp_type)t->type))
            return false;
    }
    return true;
}

/* Images of one launch. */
static int64_t cut(const struct rmcp_request *request, double seconds)
{
    const struct rmcp_form *form = request->problem;
    const int64_t items = image_items(form), limit = INT64_C(1) << 30;
    const int64_t busy = (int64_t)request->caps->compute_units * UNIT_ITEMS;
    int64_t most = rmcp_launch_quota(items * form->size[0], busy, seconds);
    int64_t images = form->size[0];
    if (most > limit) most = limit;
    while (images > 1 && (items * images > most || !fits(form, images)))
        images = rmcp_ceil_divide(images, 2);
    return images;
}

struct strips_way {
    int64_t images; /* of a launch */
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = request->problem;
    struct strips_way *mine = RMCP_WAY_DETAILS(way, struct strips_way);
    if (!fits(form, 1)) return rmcp_refuse(way, "an image that spans more than 4 GiB");
    if (image_items(form) > INT64_C(1) << 30)
        return rmcp_refuse(way, "an image of more than 2^30 work-items");
    const double busy = seconds(request);
    mine->images = cut(request, busy);
    const int64_t launches = rmcp_ceil_divide(form->size[0], mine->images);
    if (launches > MOST_LAUNCHES) return rmcp_refuse(way, "more than 1024 launches");
    way->seconds = busy + (double)launches * request->caps->launch_seconds;
    return RMCP_OK;
}

/* ---- arguments ---- */

static struct rmcp_lrn_steps steps_of(const struct rmcp_form *form, unsigned d, int64_t times)
{
    int64_t s[RMCP_LRN_SLOTS];
    for (unsigned slot = 0; slot < RMCP_LRN_SLOTS; slot++)
        s[slot] =
            form->tensor[slot].dims && form->size[d] > 1 ? form->tensor[slot].stride[d] * times : 0;
    return (struct rmcp_lrn_steps){ (unsigned)s[RMCP_LRN_X], (unsigned)s[RMCP_LRN_Y],
                                    (unsigned)s[RMCP_LRN_SCALE], (unsigned)s[RMCP_LRN_DY],
                                    (unsigned)s[RMCP_LRN_DX] };
}

/* Whether dimension `outer` goes on where `inner` ends, in all tensors. */
static bool joins(const struct rmcp_form *form, unsigned inner, unsigned outer)
{
    for (unsigned slot = 0; slot < RMCP_LRN_SLOTS; slot++) {
        const struct rmcp_form_tensor *t = &form->tensor[slot];
        if (t->dims && t->stride[outer] != t->stride[inner] * t->size[inner]) return false;
    }
    return true;
}

static void set_turns(const struct rmcp_form *form, const struct rmcp_lrn *lrn, int64_t images,
                      struct rmcp_lrn_args *a)
{
    const int64_t *stride = form->tensor[lrn->backward ? RMCP_LRN_DX : RMCP_LRN_Y].stride;
    unsigned order[RMCP_FORM_DIMS], n = 0;
    for (unsigned d = 0; d < form->dims; d++) {
        if (form->size[d] == 1) continue;
        unsigned at = n++;
        for (; at > 0 && stride[order[at - 1]] > stride[d]; at--) order[at] = order[at - 1];
        order[at] = d;
    }
    a->n_turns = 0;
    a->count = 1;
    int64_t turns = 1; /* of the last loop */
    for (unsigned i = 0; i < n; i++) {
        const unsigned d = order[i], before = i ? order[i - 1] : d;
        const bool strip = d == lrn->strip_axis, column = lrn->within && d == lrn->column_axis;
        const bool plain = i && !strip && !column && before != lrn->strip_axis &&
                           !(lrn->within && before == lrn->column_axis) && before != 0;
        const int64_t step = strip ? RMCP_LRN_STRIP : 1;
        const int64_t size = d == 0 ? images : rmcp_ceil_divide(form->size[d], step);
        a->count *= (unsigned)size;
        if (plain && joins(form, before, d)) {
            turns *= size;
            a->turn[a->n_turns - 1].size = rmcp_divider_of(turns);
            continue;
        }
        turns = size;
        a->turn[a->n_turns++] = (struct rmcp_lrn_turn){
            .size = rmcp_divider_of(size),
            .steps = steps_of(form, d, step),
            .row = strip ? RMCP_LRN_STRIP : 0,
            .column = column,
        };
    }
}

static struct rmcp_lrn_args arguments(const struct rmcp_form *form, int64_t images)
{
    const struct rmcp_lrn lrn = rmcp_lrn_of(form);
    const double share = lrn.alpha / lrn.area * (lrn.backward ? 2 * lrn.beta : 1);
    struct rmcp_lrn_args a = {
        .row = steps_of(form, lrn.strip_axis, 1),
        .column = steps_of(form, lrn.column_axis, 1),
        .rows = (unsigned)form->size[lrn.strip_axis],
        .columns = (unsigned)form->size[lrn.column_axis],
        .n = (unsigned)lrn.n,
        .before = (unsigned)lrn.before,
        .within = lrn.within,
        .saved = lrn.saved,
        .share = (float)share,
        .beta = (float)lrn.beta,
        .k = (float)lrn.k,
    };
    set_turns(form, &lrn, images, &a);
    return a;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_lrn lrn = rmcp_lrn_of(form);
    const int64_t most = RMCP_WAY_DETAILS_CONST(way, struct strips_way)->images;
    for (int64_t n = 0; n < form->size[0]; n += most) {
        const int64_t images = form->size[0] - n < most ? form->size[0] - n : most;
        const struct rmcp_lrn_args args = arguments(form, images);
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status = rmcp_kernel_append(list, lrn.backward ? "lrn_backward" : "lrn_forward",
                                                (rmcp_type)form->type, "", args.count, &launch);
        if (status) return status;
        for (unsigned slot = 0; slot < (lrn.backward ? RMCP_LRN_SLOTS : RMCP_LRN_DY); slot++) {
            const unsigned there = form->tensor[slot].dims ? slot : RMCP_LRN_Y;
            const struct rmcp_form_tensor *t = &form->tensor[there];
            rmcp_arg_memory(launch, there,
                            (uint64_t)(n * t->stride[0]) * rmcp_type_bytes((rmcp_type)t->type));
        }
        rmcp_arg_value(launch, &args, sizeof args);
    }
    return RMCP_OK;
}

const struct rmcp_algo rmcp_algo_lrn_strips = {
    .name = "strips",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
