/* lrn.c: local response normalisation: its words, shapes and the problems it is tried with. */
#include "engine/ops/lrn/lrn.h"

#include "base/convert.h"
#include "base/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PASS, MODE, TYPE, SCALE }; /* traits  */
enum { N, ALPHA, BETA, K };       /* numbers */
enum { MOST_N = 1 << 16 };

static const char *const passes[] = { "fwd", "bwd", NULL };
static const char *const modes[] = { "cross", "within", NULL };
static const char *const scales[] = { "saved", "plain", NULL };
static const struct rmcp_trait traits[] = {
    { "pass", passes },  { "mode", modes }, { "type", rmcp_type_names },
    { "scale", scales }, { NULL, NULL },
};
static const char *const tensors[] = { "x", "y", "scale", "dy", "dx", NULL };
static const struct rmcp_form_number numbers[] = {
    { "n", 5 }, { "alpha", 1e-4 }, { "beta", 0.75 }, { "k", 1 }, { NULL, 0 },
};

struct rmcp_lrn rmcp_lrn_of(const struct rmcp_form *form)
{
    struct rmcp_lrn lrn = {
        .backward = form->word[PASS] == 1,
        .within = form->word[MODE] == 1,
        .saved = form->word[SCALE] == 0,
        .n = (int64_t)form->number[N],
        .alpha = form->number[ALPHA],
        .beta = form->number[BETA],
        .k = form->number[K],
    };
    const int64_t less = (lrn.n - 1) / 2, more = lrn.n / 2;
    lrn.before = lrn.backward ? more : less;
    lrn.after = lrn.backward ? less : more;
    lrn.area = lrn.within ? (double)lrn.n * (double)lrn.n : (double)lrn.n;
    lrn.strip_axis = lrn.within ? form->dims - 2 : 1;
    lrn.column_axis = lrn.within ? form->dims - 1 : 1;
    return lrn;
}

static rmcp_status shape(struct rmcp_form *form)
{
    const double n = form->number[N];
    const bool within = form->word[MODE] == 1, backward = form->word[PASS] == 1;
    if (form->dims < (within ? 4u : 2u))
        return rmcp_fail(RMCP_E_ARG, "%u sizes; '%s' has images, channels%s", form->dims,
                         modes[within], within ? ", height and width" : "");
    if (!(n >= 1 && n <= MOST_N) || n != floor(n))
        return rmcp_fail(RMCP_E_ARG, "n is %g; it must be a whole number from 1 to %d", n, MOST_N);
    for (unsigned i = ALPHA; i <= K; i++)
        if (!isfinite(form->number[i]))
            return rmcp_fail(RMCP_E_ARG, "%s is %g", numbers[i].name, form->number[i]);
    if (backward && form->word[SCALE])
        return rmcp_fail(RMCP_E_ARG, "backward needs the scale that forward saved");
    /* MIOpen keeps the scale of f16 in f16; elsewhere f32 is as good as it gets. */
    const rmcp_type type = form->type == RMCP_F16 ? RMCP_F16 : RMCP_F32;
    rmcp_form_whole(form, RMCP_LRN_X, false);
    rmcp_form_whole(form, RMCP_LRN_Y, !backward);
    if (!form->word[SCALE])
        rmcp_form_part(form, RMCP_LRN_SCALE, type, !backward, form->dims, form->size);
    if (backward) {
        rmcp_form_whole(form, RMCP_LRN_DY, false);
        rmcp_form_whole(form, RMCP_LRN_DX, true);
    }
    return RMCP_OK;
}

/* ---- problems to try ---- */

static const char *const trials[] = {
    "2x9x5x7:cross:%s:n5:alpha0.5:k2",
    "1x20x3x5:cross:%s:n4:beta1:alpha1:x/300x1x100x20:y/300x1x100x20",
    "2x2x11x9:within:%s:n5:alpha1",
    "1x3x6x5:within:%s:n4:alpha1:beta0.5",
    "2x9x3x8:cross:%s:alpha1", /* chunks of four */
    "2x3x9x12:within:%s:alpha1",
    "1x2x7x72:within:%s:alpha1", /* more of them than a line of work-items */
    "1x72x2x3:cross:%s:alpha1:x/432x1x216x72:y/432x1x216x72:scale/432x1x216x72:dy/432x1x216x72:dx/"
    "432x1x216x72",
    "2x12x3x5:cross:fwd:%s:alpha1:x/180x1x60x12:y/180x1x60x12:scale/180x1x60x12",
    "2x12x3x5:cross:bwd:%s:alpha1:x/180x1x60x12:y/180x1x60x12:scale/180x1x60x12:dy/180x1x60x12:dx/"
    "180x1x60x12",
    NULL,
};

static bool chance(struct rmcp_random *r, int64_t one_in)
{
    return rmcp_random_below(r, one_in) == 0;
}

/* ":NAME/…": channels last with a gap behind each image. */
static void put_strides(char **at, const char *name, unsigned dims, const int64_t *size,
                        int64_t gap)
{
    int64_t stride[RMCP_FORM_DIMS], step = size[1];
    stride[1] = 1;
    for (unsigned d = dims; d-- > 2; step *= size[d]) stride[d] = step;
    stride[0] = step + gap;
    *at += sprintf(*at, ":%s/", name);
    for (unsigned d = 0; d < dims; d++) *at += sprintf(*at, "%s%" PRId64, d ? "x" : "", stride[d]);
}

static const struct rmcp_form_rules rules;

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const bool within = chance(&r, 2), backward = chance(&r, 2);
    const unsigned dims = (unsigned)rmcp_random_between(&r, within ? 4 : 2, 5);
    static const int64_t widest[] = { 0, 0, 90, 40, 16, 8 };
    int64_t size[RMCP_FORM_DIMS];
    char text[768], *at = text;
    /* Half of them as networks have them: whole chunks, the usual window, all tensors alike, packed
     * or channels last. */
    const bool usual = chance(&r, 2), last = usual && !within && chance(&r, 2);
    for (unsigned d = 0; d < dims; d++) {
        size[d] = rmcp_random_between(&r, 1,
                                      d == 0                    ? 3
                                      : d == 1 && chance(&r, 3) ? 70
                                                                : widest[dims]);
        if (usual && d == (last ? 1 : dims - 1)) size[d] = (size[d] + 3) / 4 * 4;
        at += sprintf(at, "%s%" PRId64, d ? "x" : "", size[d]);
    }
    at += sprintf(at, ":%s:%s:%s", passes[backward], modes[within],
                  rmcp_type_names[rmcp_random_below(&r, RMCP_BF16 + 1)]);
    const bool plain = !backward && chance(&r, 2);
    if (plain) at += sprintf(at, ":plain");
    const int64_t n =
        usual || chance(&r, 2) ? 5 : rmcp_random_between(&r, 1, chance(&r, 4) ? 30 : 9);
    at += sprintf(at, ":n%" PRId64 ":alpha%g:beta%g:k%g", n,
                  (double)rmcp_random_between(&r, 0, 32) / 16,
                  chance(&r, 2) ? 0.75 : (double)rmcp_random_between(&r, -8, 24) / 16,
                  (double)rmcp_random_between(&r, 1, 64) / 16);
    const char *const names[] = { "x", "y", plain ? "x" : "scale", backward ? "dy" : "x",
                                  backward ? "dx" : "x" };
    for (unsigned i = 0; i < RMCP_LRN_SLOTS; i++)
        if ((i == 0 || names[i][0] != 'x') && (usual ? last : chance(&r, 3)))
            put_strides(&at, names[i], dims, size,
                        !usual && chance(&r, 3) ? rmcp_random_between(&r, 1, 9) : 0);
    rmcp_form_draw(&rules, problem, "%s", text);
}

/* Scales are positive. */
static void fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed, void *host)
{
    rmcp_form_fill(problem, slot, data, seed, host);
    const struct rmcp_form_tensor *t = &((const struct rmcp_form *)problem)->tensor[slot];
    if (slot != RMCP_LRN_SCALE) return;
    struct rmcp_random r = { seed };
    for (int64_t i = 0; i < t->span; i++)
        rmcp_store(host, (rmcp_type)t->type, i,
                   data == RMCP_DATA_INTEGERS ? (float)rmcp_random_between(&r, 1, 4)
                                              : rmcp_random_real(&r) + 1.5f);
}

static double flops(const void *problem)
{
    const struct rmcp_form *form = problem;
    const struct rmcp_lrn lrn = rmcp_lrn_of(form);
    return (double)form->tensor[RMCP_LRN_X].elements * (lrn.area * (lrn.backward ? 3 : 2) + 30);
}

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rules, text, problems, count);
}

const struct rmcp_operation rmcp_operation_lrn = {
    RMCP_FORM_FIXED,  .name = "lrn",  .n_slots = RMCP_LRN_SLOTS, .algos = rmcp_algos_lrn,
    .flops = flops,   .parse = parse, .traits = traits,          .draw = draw,
    .trials = trials, .fill = fill,
};

static const struct rmcp_form_rules rules = {
    .fragile = true,
    .operation = &rmcp_operation_lrn,
    .tensors = tensors,
    .numbers = numbers,
    .shape = shape,
    .evaluate = rmcp_lrn_evaluate,
};
