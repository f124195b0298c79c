/* pool.c: pooling: its words, shapes and the problems it is tried with. */
#include "engine/ops/pool/pool.h"

#include "base/convert.h"
#include "base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PASS, MODE, TYPE, INDEX, PLACE };           /* traits  */
enum { MAX, AVERAGE, AVERAGE_INCLUSIVE };          /* modes   */
enum { U8, U16, U32, U64, NO_INDEX };              /* indices */
enum { WINDOW, STRIDE, PAD, OUT };                 /* lists   */
enum { ALPHA, BETA };                              /* numbers */
enum { MOST = INT32_MAX, MOST_OUTPUTS = 1 << 30 }; /* of windows, strides and pads; of out */

static const char *const passes[] = { "fwd", "bwd", NULL };
static const char *const modes[] = { "max", "avg", "avg_in", NULL };
static const char *const indices[] = { "u8", "u16", "u32", "u64", "none", NULL };
static const char *const places[] = { "mask", "image", NULL };
static const struct rmcp_trait traits[] = {
    { "pass", passes },   { "mode", modes },   { "type", rmcp_type_names },
    { "index", indices }, { "place", places }, { NULL, NULL },
};
static const char *const tensors[] = { "x", "y", "index", "dy", "dx", NULL };
static const struct rmcp_form_number numbers[] = { { "alpha", 1 }, { "beta", 0 }, { NULL, 0 } };
static const struct rmcp_form_list lists[] = {
    { "window", 1, 2 }, { "stride", 1, 0 }, { "pad", 1, 0 }, { "out", 1, 0 }, { NULL, 0, 0 },
};

/* ---- canonical form ---- */

struct rmcp_pool rmcp_pool_of(const struct rmcp_form *form)
{
    const struct rmcp_form_tensor *y = &form->tensor[form->word[PASS] ? RMCP_POOL_DY : RMCP_POOL_Y];
    struct rmcp_pool pool = {
        .backward = form->word[PASS] == 1,
        .largest = form->word[MODE] == MAX,
        .inclusive = form->word[MODE] == AVERAGE_INCLUSIVE,
        .indexed = form->word[MODE] == MAX && form->word[INDEX] != NO_INDEX,
        .image = form->word[PLACE] == 1,
        .n = form->size[0],
        .c = form->size[1],
        .taps = 1,
        .seen = 1,
        .overlap = 1,
        .alpha = form->number[ALPHA],
        .beta = form->number[BETA],
    };
    const int missing = 5 - (int)form->dims;
    for (int d = 0; d < 3; d++) {
        const int at = d - missing; /* among those that are there */
        pool.in[d] = at < 0 ? 1 : form->size[2 + at];
        pool.out[d] = at < 0 ? 1 : y->size[2 + at];
        pool.window[d] = at < 0 ? 1 : form->list[WINDOW][at];
        pool.stride[d] = at < 0 ? 1 : form->list[STRIDE][at];
        pool.pad[d] = at < 0 ? 0 : form->list[PAD][at];
        pool.taps *= pool.window[d];
        pool.seen *= pool.window[d] < pool.in[d] ? pool.window[d] : pool.in[d];
        const int64_t most = (pool.window[d] + pool.stride[d] - 1) / pool.stride[d];
        pool.overlap *= most < pool.out[d] ? most : pool.out[d];
    }
    return pool;
}

void rmcp_pool_strides(const struct rmcp_form_tensor *tensor, int64_t strides[static 5])
{
    memset(strides, 0, 5 * sizeof *strides);
    if (!tensor->dims) return;
    const unsigned missing = 5 - tensor->dims;
    for (unsigned d = 0; d < tensor->dims; d++)
        strides[d < 2 ? d : d + missing] = tensor->stride[d];
}

struct rmcp_pool_range rmcp_pool_range(const struct rmcp_pool *pool, int d, int64_t o)
{
    const int64_t begin = o * pool->stride[d] - pool->pad[d], end = begin + pool->window[d];
    return (struct rmcp_pool_range){ begin < 0 ? 0 : begin, end < pool->in[d] ? end : pool->in[d] };
}

static int64_t outputs(int64_t in, int64_t window, int64_t stride, int64_t pad)
{
    const int64_t room = in + 2 * pad - window;
    return room < 0 ? 1 : room / stride + 1;
}

static rmcp_status check_lists(struct rmcp_form *form, int64_t *y_size)
{
    int64_t taps = 1;
    for (unsigned d = 0; d + 2 < form->dims; d++) {
        const int64_t window = form->list[WINDOW][d], pad = form->list[PAD][d];
        int64_t *stride = &form->list[STRIDE][d], *out = &form->list[OUT][d];
        if (!*stride) *stride = window;
        if (window < 1 || window > MOST || *stride < 1 || *stride > MOST || pad < 0 || pad > MOST)
            return rmcp_fail(RMCP_E_ARG,
                             "window %" PRId64 ", stride %" PRId64 ", pad %" PRId64
                             ": the first two are at least 1, the last at least 0, and none above "
                             "2^31 - 1",
                             window, *stride, pad);
        if (*out < 0 || *out > MOST_OUTPUTS)
            return rmcp_fail(RMCP_E_ARG, "out %" PRId64 " is not between 0 and 2^30", *out);
        const int64_t usual = outputs(form->size[2 + d], window, *stride, pad);
        y_size[2 + d] = *out ? *out : usual;
        if (*out == usual) *out = 0;
        if (__builtin_mul_overflow(taps, window, &taps) || taps > INT64_C(1) << 48)
            return rmcp_fail(RMCP_E_ARG, "a window of more than 2^48 elements");
    }
    return RMCP_OK;
}

static rmcp_status check_indices(const struct rmcp_form *form, rmcp_type *type)
{
    static const rmcp_type types[] = { RMCP_U8, RMCP_U16, RMCP_I32, RMCP_I64 };
    static const int64_t largest[] = { UINT8_MAX, UINT16_MAX, INT32_MAX, INT64_MAX };
    const unsigned word = form->word[INDEX];
    if (word == NO_INDEX)
        return rmcp_fail(RMCP_E_ARG, "the gradient of max needs indices: u8, u16, u32 or u64");
    int64_t count = 1;
    for (unsigned d = 0; d + 2 < form->dims; d++)
        count *= form->word[PLACE] ? form->size[2 + d] : form->list[WINDOW][d];
    if (count - 1 > largest[word])
        return rmcp_fail(RMCP_E_ARG,
                         "indices of type %s do not count the %" PRId64 " elements of %s",
                         indices[word], count, form->word[PLACE] ? "an image" : "a window");
    *type = types[word];
    return RMCP_OK;
}

static rmcp_status shape(struct rmcp_form *form)
{
    if (form->dims < 3)
        return rmcp_fail(RMCP_E_ARG, "%u sizes; pooling has images, channels and one to three more",
                         form->dims);
    int64_t size[RMCP_FORM_DIMS] = { form->size[0], form->size[1] };
    rmcp_status status = check_lists(form, size);
    if (status) return status;
    const bool backward = form->word[PASS] == 1, largest = form->word[MODE] == MAX;
    rmcp_type index_type = RMCP_U8;
    if (largest && (backward || form->word[INDEX] != NO_INDEX)) {
        status = check_indices(form, &index_type);
        if (status) return status;
        rmcp_form_part(form, RMCP_POOL_INDEX, index_type, !backward, form->dims, size);
    } else {
        if (!largest && form->word[INDEX] != U8)
            return rmcp_fail(RMCP_E_ARG, "only max has indices, no average");
        if (form->word[PLACE])
            return rmcp_fail(RMCP_E_ARG, "'image' is for indices, here are none");
    }
    const rmcp_type type = (rmcp_type)form->type;
    if (!backward) rmcp_form_whole(form, RMCP_POOL_X, false);
    rmcp_form_part(form, backward ? RMCP_POOL_DY : RMCP_POOL_Y, type, !backward, form->dims, size);
    if (backward) rmcp_form_whole(form, RMCP_POOL_DX, true);
    if (form->number[BETA] != 0) form->tensor[backward ? RMCP_POOL_DX : RMCP_POOL_Y].read = true;
    return RMCP_OK;
}

/* ---- problems to try ---- */

static const char *const trials[] = {
    "2x3x9x11:max:%s:window3:stride2:pad1",
    "1x5x13x9:max:%s:window2x3:u32:image:alpha0.5:beta1:pad1x0:index/210x1x15x5",
    "2x3x4x9x8:avg:%s:window2x3x3:stride2:pad1",
    "2x9x12x14:avg_in:%s:window2",
    "2x5x20x23:max:%s:window20x23:u16",
    "2x5x20x23:avg:%s:window20x23",
    "1x3x9x20:max:%s:window3:stride1:pad1",
    "2x3x8x17:avg:%s:window3:stride2:pad1",
    "1x8x9x11:max:fwd:%s:window3:stride2:pad1:x/792x1x88x8:y/240x1x48x8",
    "1x8x9x11:max:bwd:%s:window3:stride2:pad1:dx/792x1x88x8:dy/240x1x48x8",
    "1x8x6x7:avg:fwd:%s:window3:stride1:pad1:x/336x1x56x8:y/336x1x56x8",
    "1x8x6x7:avg:bwd:%s:window3:stride1:pad1:dx/336x1x56x8:dy/336x1x56x8",
    "1x8x6x8:max:fwd:%s:window2:x/384x1x64x8:y/96x1x32x8:index/96x1x32x8",
    "1x8x6x8:max:bwd:%s:window2:dx/384x1x64x8:dy/96x1x32x8:index/96x1x32x8",
    "2x8x3x3:max:%s:window3", /* one window is all of an image */
    "2x8x2x2:avg:%s:window2",
    "1x8x3x9x11:max:%s:u32:image:window1x3x3:stride1x2x2:pad0x1x1",
    "1x8x9x7:max:fwd:%s:window3:stride1:pad1:x/504x1x56x8:y/504x1x56x8:index/504x1x56x8",
    "1x8x9x7:max:bwd:%s:window3:stride1:pad1:dx/504x1x56x8:dy/504x1x56x8:index/504x1x56x8",
    NULL,
};

static bool chance(struct rmcp_random *r, int64_t one_in)
{
    return rmcp_random_below(r, one_in) == 0;
}

/* ":NAME/…": strides in any order of the dimensions, with gaps or without. */
static void draw_strides(struct rmcp_random *r, const char *name, unsigned dims,
                         const int64_t *size, bool last, char *text, size_t room)
{
    unsigned order[RMCP_FORM_DIMS] = { 0 };
    for (unsigned i = 0; i < dims; i++) { /* channels last, or any */
        const unsigned at = (unsigned)rmcp_random_between(r, 0, i);
        order[i] = order[at];
        order[at] = i;
    }
    if (last || chance(r, 2)) {
        order[0] = 1, order[dims - 1] = 0;
        for (unsigned i = 1; i + 1 < dims; i++) order[i] = dims - i;
    }
    const bool gaps = !last && chance(r, 3);
    int64_t stride[RMCP_FORM_DIMS], step = gaps && chance(r, 3) ? 2 : 1;
    for (unsigned k = 0; k < dims; k++) {
        stride[order[k]] = step;
        step = step * size[order[k]] + (gaps && chance(r, 2) ? rmcp_random_between(r, 1, 5) : 0);
    }
    size_t used = (size_t)snprintf(text, room, ":%s/", name);
    for (unsigned d = 0; d < dims; d++)
        used += (size_t)snprintf(text + used, room - used, "%s%" PRId64, d ? "x" : "", stride[d]);
}

static void put_list(char **at, const char *name, unsigned count, const int64_t *values)
{
    *at += sprintf(*at, ":%s", name);
    for (unsigned d = 0; d < count; d++) *at += sprintf(*at, "%s%" PRId64, d ? "x" : "", values[d]);
}

static void draw_text(struct rmcp_random *r, char *text)
{
    const bool common = chance(r, 3); /* what networks have, for which there are kernels */
    const unsigned dims = common ? 4 : (unsigned)rmcp_random_between(r, 3, 5);
    static const int64_t widest[] = { 0, 0, 0, 200, 24, 9 };
    int64_t x[5], y[5], window[3], stride[3], pad[3], out[3];
    x[0] = y[0] = rmcp_random_between(r, 1, 3);
    x[1] = y[1] = common ? 8 * rmcp_random_between(r, 1, 3)
                         : rmcp_random_between(r, 1, chance(r, 3) ? 40 : 5);
    for (unsigned d = 0; d + 2 < dims; d++) {
        x[2 + d] = rmcp_random_between(r, 1, widest[dims]);
        window[d] = chance(r, 5) ? x[2 + d] : rmcp_random_between(r, 1, 4);
        stride[d] = chance(r, 6) ? rmcp_random_between(r, 1, 9) : rmcp_random_between(r, 1, 3);
        pad[d] = chance(r, 8)   ? rmcp_random_between(r, 0, window[d] + 2)
                 : chance(r, 2) ? rmcp_random_between(r, 0, window[d] / 2)
                                : 0;
        if (common) {
            if (chance(r, 2)) x[2 + d] = (x[2 + d] + 7) / 8 * 8;
            window[d] = d ? window[0] : rmcp_random_between(r, 2, 3);
            stride[d] = d ? stride[0] : rmcp_random_between(r, window[0] == 3 ? 1 : 2, 2);
            pad[d] = d && !chance(r, 8) ? pad[0] : rmcp_random_between(r, 0, 1);
        }
        y[2 + d] = outputs(x[2 + d], window[d], stride[d], pad[d]);
        if (chance(r, 8)) y[2 + d] += rmcp_random_between(r, 0, 2);
        if (chance(r, 8)) y[2 + d] = (y[2 + d] + 1) / 2;
        out[d] = y[2 + d];
    }
    char *at = text;
    for (unsigned d = 0; d < dims; d++) at += sprintf(at, "%s%" PRId64, d ? "x" : "", x[d]);
    const bool backward = chance(r, 2), largest = chance(r, 2);
    at += sprintf(at, ":%s:%s:%s", passes[backward], largest ? "max" : modes[1 + chance(r, 2)],
                  rmcp_type_names[rmcp_random_below(r, RMCP_BF16 + 1)]);
    const bool indexed = largest && (backward || !chance(r, 4));
    const bool bytes = common && chance(r, 2), last = common && chance(r, 2);
    if (indexed)
        at += sprintf(at, ":%s:%s", indices[bytes ? 0 : rmcp_random_below(r, NO_INDEX)],
                      places[!bytes && chance(r, 2)]);
    else if (largest)
        at += sprintf(at, ":none");
    put_list(&at, "window", dims - 2, window);
    put_list(&at, "stride", dims - 2, stride);
    put_list(&at, "pad", dims - 2, pad);
    put_list(&at, "out", dims - 2, out);
    const unsigned rare = common ? 12 : 4;
    if (chance(r, rare)) at += sprintf(at, ":alpha%g", (double)rmcp_random_real(r) * 2);
    if (chance(r, rare))
        at += sprintf(at, ":beta%g", chance(r, 2) ? 1 : (double)rmcp_random_real(r));
    const struct {
        bool there;
        const char *name;
        const int64_t *size;
    } all[] = { { true, backward ? "dx" : "x", x },
                { true, backward ? "dy" : "y", y },
                { indexed, "index", y } };
    for (int i = 0; i < 3; i++)
        if (all[i].there && (last || (!common && chance(r, 2)))) {
            draw_strides(r, all[i].name, dims, all[i].size, last, at, 120);
            at += strlen(at);
        }
}

static const struct rmcp_form_rules rules;

/* Until the indices fit their type. */
static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    struct rmcp_form *form = problem;
    do {
        char text[1024];
        draw_text(&r, text);
        rmcp_form_draw(&rules, form, "%s", text);
    } while (!form->dims);
}

/* Indices of one window: an element of it, seldom something else. */
static int64_t draw_index(const struct rmcp_pool *pool, struct rmcp_random *r, int64_t output)
{
    int64_t at[3], index = 0;
    for (int d = 2; d >= 0; d--) {
        at[d] = output % pool->out[d];
        output /= pool->out[d];
    }
    for (int d = 0; d < 3; d++) {
        const struct rmcp_pool_range in = rmcp_pool_range(pool, d, at[d]);
        const int64_t begin = at[d] * pool->stride[d] - pool->pad[d];
        int64_t place = in.first < in.end ? rmcp_random_between(r, in.first, in.end - 1) : 0;
        if (!pool->image) place = in.first < in.end ? place - begin : 0;
        index = index * (pool->image ? pool->in[d] : pool->window[d]) + place;
    }
    return chance(r, 16) ? rmcp_random_between(r, 0, 200) : index;
}

static void fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed, void *host)
{
    rmcp_form_fill(problem, slot, data, seed, host);
    const struct rmcp_form *form = problem;
    const struct rmcp_form_tensor *t = &form->tensor[slot];
    if (slot != RMCP_POOL_INDEX || t->written) return;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    struct rmcp_random r = { seed };
    for (int64_t i = 0; i < t->elements; i++)
        rmcp_store_any(host, (rmcp_type)t->type, rmcp_form_place(t, i),
                       (double)draw_index(&pool, &r, i));
}

static double flops(const void *problem)
{
    const struct rmcp_form *form = problem;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    return pool.backward ? (double)form->tensor[RMCP_POOL_DX].elements * (double)pool.overlap
                         : (double)form->tensor[RMCP_POOL_Y].elements * (double)pool.seen;
}

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rules, text, problems, count);
}

const struct rmcp_operation rmcp_operation_pool = {
    RMCP_FORM_FIXED, .name = "pool",   .n_slots = 5, .algos = rmcp_algos_pool, .flops = flops,
    .parse = parse,  .traits = traits, .draw = draw, .trials = trials,         .fill = fill,
};

static const struct rmcp_form_rules rules = {
    .operation = &rmcp_operation_pool,
    .tensors = tensors,
    .numbers = numbers,
    .lists = lists,
    .shape = shape,
    .evaluate = rmcp_pool_evaluate,
};
