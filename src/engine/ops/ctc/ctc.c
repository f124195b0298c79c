/* ctc.c: connectionist temporal classification as an operation: its case strings, tensors and data.
 */
#include "engine/ops/ctc/ctc.h"

#include "base/convert.h"
#include "base/random.h"

#include <stdio.h>

extern const struct rmcp_operation rmcp_operation_ctc;
extern const struct rmcp_algo *const rmcp_algos_ctc[];

static const char *const modes[] = { "softmax", "logs", NULL };
static const struct rmcp_trait traits[] = { { "mode", modes },
                                            { "type", rmcp_type_names },
                                            { NULL, NULL } };
static const struct rmcp_form_number numbers[] = { { "labels", 1 }, { "blank", 0 }, { NULL, 0 } };
static const char *const tensors[] = { "x", "targets", "lengths", "loss", "dx", NULL };

static rmcp_status shape(struct rmcp_form *form)
{
    const double labels = form->number[RMCP_CTC_LABELS], blank = form->number[RMCP_CTC_BLANK];
    if (form->dims != 3)
        return rmcp_fail(RMCP_E_ARG, "the size is %u numbers, not steps, batch and classes",
                         form->dims);
    for (unsigned d = 0; d < 3; d++)
        if (form->size[d] > INT32_MAX) return rmcp_fail(RMCP_E_ARG, "a size is 2^31 or more");
    if (!(labels >= 0 && labels <= 65536) || labels != (double)(int64_t)labels)
        return rmcp_fail(RMCP_E_ARG, "labels are %g; 0 to 65536 is known", labels);
    if (!(blank >= 0 && blank < (double)form->size[RMCP_CTC_CLASSES]) ||
        blank != (double)(int64_t)blank)
        return rmcp_fail(RMCP_E_ARG, "blank is %g, which is no class", blank);
    const int64_t batch = form->size[RMCP_CTC_BATCH];
    const int64_t targets[] = { batch, labels > 0 ? (int64_t)labels : 1 };
    const int64_t lengths[] = { batch, 2 };
    rmcp_form_whole(form, RMCP_CTC_X, false);
    rmcp_form_part(form, RMCP_CTC_TARGETS, RMCP_I32, false, 2, targets);
    rmcp_form_part(form, RMCP_CTC_LENGTHS, RMCP_I32, false, 2, lengths);
    rmcp_form_part(form, RMCP_CTC_LOSS, (rmcp_type)form->type, true, 1, &batch);
    rmcp_form_whole(form, RMCP_CTC_DX, true);
    return RMCP_OK;
}

static const struct rmcp_form_rules rules = {
    .fragile = true,
    .operation = &rmcp_operation_ctc,
    .tensors = tensors,
    .numbers = numbers,
    .shape = shape,
    .evaluate = rmcp_ctc_evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rules, text, problems, count);
}

/* All sequences have paths, but for some where there are fewer than two classes besides the blank:
 * where a label with repetitions might be too long for the steps there are none. */
static void fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed, void *host)
{
    const struct rmcp_form *form = problem;
    const struct rmcp_form_tensor *t = &form->tensor[slot];
    if (slot != RMCP_CTC_TARGETS && slot != RMCP_CTC_LENGTHS) {
        rmcp_form_fill(problem, slot, data, seed, host);
        return;
    }
    struct rmcp_random r = { seed + slot };
    const int64_t steps = form->size[RMCP_CTC_STEPS], classes = form->size[RMCP_CTC_CLASSES];
    const int64_t labels = (int64_t)form->number[RMCP_CTC_LABELS];
    const int64_t blank = (int64_t)form->number[RMCP_CTC_BLANK];
    const bool roomy = 4 * labels - 2 <= steps;
    for (int64_t i = 0; i < t->span; i++) rmcp_store_any(host, RMCP_I32, i, 0);
    int64_t last = blank;
    for (int64_t i = 0; i < t->elements; i++) {
        int64_t value;
        if (slot == RMCP_CTC_LENGTHS) {
            const int64_t least = roomy ? (steps + 1) / 2 : labels < steps ? labels : steps;
            const int64_t most = labels < steps ? labels : steps;
            value =
                i % 2 ? rmcp_random_between(&r, 0, most) : rmcp_random_between(&r, least, steps);
        } else {
            value = rmcp_random_below(&r, classes);
            if (roomy && i % t->size[1] && rmcp_random_below(&r, 4) == 0) value = last;
            while (classes > 2 && (value == blank || (!roomy && value == last)))
                value = (value + 1) % classes;
            if (classes == 2) value = 1 - blank;
            last = value;
        }
        rmcp_store_any(host, RMCP_I32, rmcp_form_place(t, i), (double)value);
    }
}

static double flops(const void *problem)
{
    const struct rmcp_form *form = problem;
    const double rows = (double)form->size[RMCP_CTC_STEPS] * (double)form->size[RMCP_CTC_BATCH];
    return rows * (20 * (double)form->size[RMCP_CTC_CLASSES] +
                   40 * (2 * form->number[RMCP_CTC_LABELS] + 1));
}

/* Which reach every kernel; the last with more states than a workgroup has work-items. */
static const char *const trials[] = { "12x3x7:labels3:%s", "9x2x40:logs:labels4:blank39:%s",
                                      "400x1x5:labels140:%s", NULL };

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const int64_t steps = rmcp_random_between(&r, 1, rmcp_random_below(&r, 8) ? 24 : 300);
    const int64_t batch = rmcp_random_between(&r, 1, 5);
    const int64_t classes = rmcp_random_between(&r, 1, rmcp_random_below(&r, 4) ? 12 : 300);
    const int64_t labels = rmcp_random_between(&r, 0, steps);
    const int64_t blank = rmcp_random_below(&r, 2) ? 0 : rmcp_random_below(&r, classes);
    char strides[120] = "";
    if (!rmcp_random_below(&r, 4))
        snprintf(strides, sizeof strides, ":x/%dx%dx%d:dx/%dx%dx%d", (int)classes,
                 (int)(steps * classes + 3), 1, 1, (int)(steps + 1),
                 (int)((steps + 1) * batch + 2));
    rmcp_form_draw(&rules, problem, "%dx%dx%d:%s:%s:labels%d:blank%d%s", (int)steps, (int)batch,
                   (int)classes, modes[rmcp_random_below(&r, 2)],
                   rmcp_type_names[rmcp_random_below(&r, 3)], (int)labels, (int)blank, strides);
}

const struct rmcp_operation rmcp_operation_ctc = {
    RMCP_FORM_FIXED, .name = "ctc",  .n_slots = RMCP_CTC_SLOTS, .algos = rmcp_algos_ctc,
    .flops = flops,  .parse = parse, .traits = traits,          .trials = trials,
    .draw = draw,    .fill = fill,
};
