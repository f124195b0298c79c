/* evaluate.c: what pooling computes, in double, with bounds for f32 arithmetic. */
#include "engine/ops/pool/pool.h"

#include <float.h>
#include <math.h>

static const double unit = 0x1p-24; /* rounding of f32 */

/* What the largest of no elements is: the lowest finite number. */
static double lowest(uint32_t type)
{
    return type == RMCP_F32 ? -(double)FLT_MAX : type == RMCP_F16 ? -65504.0 : -0x1.fep127;
}

/* alpha * value + beta * old, `off` being how far the value may be from f32's. */
static void finish(const struct rmcp_pool *pool, double value, double off, double magnitude,
                   const double *old, double *out, double *allowed)
{
    const double product = pool->alpha * value, kept = old ? pool->beta * *old : 0;
    *out = product + kept;
    *allowed = fabs(pool->alpha) * off;
    if (pool->alpha != 1 || old) *allowed += 4 * unit * (fabs(product) + fabs(kept));
    if (!isfinite(*out))
        *allowed = 0; /* the caller's NaN or Inf: sums keep it in any order */
    else if (rmcp_sum_overflows(fabs(pool->alpha) * magnitude + fabs(kept)) ||
             rmcp_sum_overflows(magnitude))
        *allowed = INFINITY;
}

struct window {
    struct rmcp_pool_range in[3];
    int64_t begin[3];
    bool empty;
};

static struct window window_of(const struct rmcp_pool *pool, int64_t output)
{
    struct window w = { .empty = false };
    for (int d = 2; d >= 0; d--) {
        const int64_t o = output % pool->out[d];
        output /= pool->out[d];
        w.in[d] = rmcp_pool_range(pool, d, o);
        w.begin[d] = o * pool->stride[d] - pool->pad[d];
        w.empty = w.empty || w.in[d].first >= w.in[d].end;
    }
    return w;
}

/* What a mean divides by. */
static double count_of(const struct rmcp_pool *pool, const struct window *w)
{
    if (pool->inclusive) return (double)pool->taps;
    double count = 1;
    for (int d = 0; d < 3; d++) count *= (double)(w->in[d].end - w->in[d].first);
    return w->empty ? 1 : count;
}

static int64_t index_of(const struct rmcp_pool *pool, const struct window *w, const int64_t *at)
{
    int64_t index = 0;
    for (int d = 0; d < 3; d++)
        index = pool->image ? index * pool->in[d] + at[d]
                            : index * pool->window[d] + at[d] - w->begin[d];
    return index;
}

struct result {
    double value, magnitude;
    int64_t terms, index;
};

/* All elements of a window in the image x. The first of the largest counts, or the last NaN. */
static struct result look(const struct rmcp_pool *pool, const struct window *w, const double *x)
{
    struct result r = { .value = pool->largest ? -INFINITY : 0 };
    int64_t at[3];
    if (w->empty) return r;
    for (at[0] = w->in[0].first; at[0] < w->in[0].end; at[0]++)
        for (at[1] = w->in[1].first; at[1] < w->in[1].end; at[1]++)
            for (at[2] = w->in[2].first; at[2] < w->in[2].end; at[2]++) {
                const double v = x[(at[0] * pool->in[1] + at[1]) * pool->in[2] + at[2]];
                if (!pool->largest) {
                    r.value += v;
                    r.magnitude += fabs(v);
                } else if (!r.terms || v > r.value || isnan(v)) {
                    r.value = v;
                    r.index = index_of(pool, w, at);
                }
                r.terms++;
            }
    return r;
}

static void forward(const struct rmcp_form *form, const struct rmcp_pool *pool,
                    const struct rmcp_form_values *values)
{
    const int64_t image = pool->in[0] * pool->in[1] * pool->in[2];
    const int64_t outputs = pool->out[0] * pool->out[1] * pool->out[2];
    const double *old = pool->beta != 0 ? values->in[RMCP_POOL_Y] : NULL;
    for (int64_t i = 0; i < form->tensor[RMCP_POOL_Y].elements; i++) {
        const struct window w = window_of(pool, i % outputs);
        struct result r = look(pool, &w, values->in[RMCP_POOL_X] + i / outputs * image);
        double off = 0;
        if (pool->largest) {
            if (w.empty) r.value = lowest(form->type);
        } else {
            const double count = count_of(pool, &w);
            off = (double)(r.terms + 3) * unit * r.magnitude / count;
            r.value /= count;
        }
        finish(pool, r.value, off, r.magnitude, old ? &old[i] : NULL, &values->out[RMCP_POOL_Y][i],
               &values->allowed[RMCP_POOL_Y][i]);
        if (pool->indexed) values->out[RMCP_POOL_INDEX][i] = (double)r.index;
    }
}

/* The element of the image that an index means, or -1: none of the window. */
static int64_t element_of(const struct rmcp_pool *pool, const struct window *w, double index)
{
    int64_t rest = index >= 0 && index < 0x1p62 ? (int64_t)index : -1, at[3];
    if (rest < 0 || w->empty) return -1;
    for (int d = 2; d >= 0; d--) {
        const int64_t size = pool->image ? pool->in[d] : pool->window[d];
        at[d] = rest % size + (pool->image ? 0 : w->begin[d]);
        rest /= size;
        if (at[d] < w->in[d].first || at[d] >= w->in[d].end) return -1;
    }
    return rest ? -1 : (at[0] * pool->in[1] + at[1]) * pool->in[2] + at[2];
}

static void backward(const struct rmcp_form *form, const struct rmcp_pool *pool,
                     const struct rmcp_form_values *values)
{
    const int64_t image = pool->in[0] * pool->in[1] * pool->in[2];
    const int64_t outputs = pool->out[0] * pool->out[1] * pool->out[2];
    double *dx = values->out[RMCP_POOL_DX], *magnitude = values->allowed[RMCP_POOL_DX];
    for (int64_t i = 0; i < form->tensor[RMCP_POOL_DY].elements; i++) {
        const struct window w = window_of(pool, i % outputs);
        const double dy = values->in[RMCP_POOL_DY][i];
        const int64_t first = i / outputs * image;
        if (pool->largest) {
            const int64_t at = element_of(pool, &w, values->in[RMCP_POOL_INDEX][i]);
            if (at >= 0) dx[first + at] += dy, magnitude[first + at] += fabs(dy);
            continue;
        }
        const double part = dy / count_of(pool, &w);
        for (int64_t d = w.in[0].first; d < w.in[0].end; d++)
            for (int64_t h = w.in[1].first; h < w.in[1].end; h++)
                for (int64_t c = w.in[2].first; c < w.in[2].end; c++) {
                    const int64_t at = first + (d * pool->in[1] + h) * pool->in[2] + c;
                    dx[at] += part;
                    magnitude[at] += fabs(part);
                }
    }
    /* Sums of integers are exact, and so is a single element. */
    const bool exact = pool->largest && (values->data == RMCP_DATA_INTEGERS || pool->overlap == 1);
    const double *old = pool->beta != 0 ? values->in[RMCP_POOL_DX] : NULL;
    for (int64_t i = 0; i < form->tensor[RMCP_POOL_DX].elements; i++) {
        const double off = exact ? 0 : ((double)pool->overlap + 4) * unit * magnitude[i];
        finish(pool, dx[i], off, magnitude[i], old ? &old[i] : NULL, &dx[i], &magnitude[i]);
    }
}

rmcp_status rmcp_pool_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const struct rmcp_pool pool = rmcp_pool_of(form);
    (pool.backward ? backward : forward)(form, &pool, values);
    return RMCP_OK;
}
