/* gpu.c: pooling's launches. */
#include "engine/ops/pool/gpu.h"
#include "base/round.h"
#include "engine/figures/figures.h"

#include <stdio.h>

enum { MOST_LAUNCHES = 1024, UNIT_ITEMS = 2048 /* that keep a compute unit busy */ };

/* One launch: `n` images and `c` channels of them. */
struct block {
    int64_t n, c;
};

static unsigned x_slot(const struct rmcp_pool *pool)
{
    return pool->backward ? RMCP_POOL_DX : RMCP_POOL_X;
}

static unsigned y_slot(const struct rmcp_pool *pool)
{
    return pool->backward ? RMCP_POOL_DY : RMCP_POOL_Y;
}

/* Work-items of one channel of one image, or of as many channels as a work-item has. */
static int64_t channel_items(const struct rmcp_pool *pool, const struct rmcp_pool_way *way)
{
    const int64_t *size = pool->backward ? pool->in : pool->out;
    return size[0] * rmcp_ceil_divide(size[1] + way->before, way->rows) *
           rmcp_ceil_divide(size[2], way->columns);
}

/* Whether 32 bits hold every offset in bytes. */
static bool fits(const struct rmcp_form *form, struct block block)
{
    for (unsigned slot = 0; form->rules->tensors[slot]; slot++) {
        const struct rmcp_form_tensor *t = &form->tensor[slot];
        if (!t->dims) continue;
        int64_t span = 1 + (block.n - 1) * t->stride[0] + (block.c - 1) * t->stride[1];
        for (unsigned d = 2; d < t->dims; d++) span += (t->size[d] - 1) * t->stride[d];
        if (span > ((INT64_C(1) << 32) - 64) / (int64_t)rmcp_type_bytes((rmcp_type)t->type))
            return false;
    }
    return true;
}

static struct block cut(const struct rmcp_request *request, const struct rmcp_pool_way *way)
{
    const struct rmcp_pool pool = rmcp_pool_of(request->problem);
    const int64_t items = channel_items(&pool, way), limit = INT64_C(1) << 30;
    const int64_t busy = (int64_t)request->caps->compute_units * UNIT_ITEMS;
    struct block block = { pool.n, pool.c };
    const int64_t each = way->channels;
    int64_t most =
        rmcp_launch_quota(items * pool.n * rmcp_ceil_divide(pool.c, each), busy, way->seconds);
    if (most > limit) most = limit;
    while ((block.n > 1 || block.c > each) &&
           (items * block.n * rmcp_ceil_divide(block.c, each) > most ||
            !fits(request->problem, block))) {
        if (block.n > 1)
            block.n = rmcp_ceil_divide(block.n, 2);
        else
            block.c = rmcp_ceil_divide(rmcp_ceil_divide(block.c, each), 2) * each;
    }
    return block;
}

rmcp_status rmcp_pool_consider(const struct rmcp_request *request, struct rmcp_way *way,
                               struct rmcp_pool_way mine)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    const int64_t limit = INT64_C(1) << 30;
    for (int d = 0; d < 3; d++)
        if (pool.in[d] + pool.pad[d] > limit ||
            pool.out[d] * pool.stride[d] + pool.window[d] > limit)
            return rmcp_refuse(way, "coordinates beyond 2^30");
    if (pool.taps > limit || pool.in[0] * pool.in[1] > limit ||
        pool.in[0] * pool.in[1] * pool.in[2] > limit)
        return rmcp_refuse(way, "a window or an image of more than 2^30 elements");
    if (channel_items(&pool, &mine) > limit)
        return rmcp_refuse(way, "a channel of more than 2^30 work-items");
    if (!fits(form, (struct block){ 1, mine.channels }))
        return rmcp_refuse(way, "a channel that spans more than 4 GiB");
    const struct block block = cut(request, &mine);
    const int64_t launches = rmcp_ceil_divide(pool.n, block.n) * rmcp_ceil_divide(pool.c, block.c);
    if (launches > MOST_LAUNCHES) return rmcp_refuse(way, "more than 1024 launches");
    mine.n = block.n;
    mine.c = block.c;
    *RMCP_WAY_DETAILS(way, struct rmcp_pool_way) = mine;
    way->seconds = mine.seconds + (double)launches * request->caps->launch_seconds;
    return RMCP_OK;
}

/* ---- arguments ---- */

static bool all_full(const struct rmcp_pool *pool)
{
    for (int d = 0; d < 3; d++)
        if (pool->pad[d] || (pool->out[d] - 1) * pool->stride[d] + pool->window[d] > pool->in[d])
            return false;
    return true;
}

struct strides {
    int64_t x[5], y[5], index[5];
};

static struct strides strides_of(const struct rmcp_form *form, const struct rmcp_pool *pool)
{
    struct strides s;
    rmcp_pool_strides(&form->tensor[x_slot(pool)], s.x);
    rmcp_pool_strides(&form->tensor[y_slot(pool)], s.y);
    rmcp_pool_strides(&form->tensor[RMCP_POOL_INDEX], s.index);
    return s;
}

/* The loops over n, c, d, h and w of one launch, those with the smallest strides of the tensor that
 * is written first. n and c are one where they lie so. */
static void set_turns(const struct rmcp_pool *pool, const struct strides *s, struct block block,
                      const struct rmcp_pool_way *way, struct rmcp_pool_args *a)
{
    const int64_t *size = pool->backward ? pool->in : pool->out;
    const int64_t *written = pool->backward ? s->x : s->y;
    const int64_t step[] = { 1, way->channels, 1, way->rows, way->columns };
    const int64_t before = a->align ? way->columns - 1 : 0; /* elements that are not there */
    const int64_t turns[] = { block.n, rmcp_ceil_divide(block.c, way->channels), size[0],
                              rmcp_ceil_divide(size[1] + way->before, way->rows),
                              rmcp_ceil_divide(size[2] + before, way->columns) };
    unsigned order[5], n = 0;
    for (unsigned d = 0; d < 5; d++) {
        if (turns[d] == 1) continue;
        unsigned at = n++;
        for (; at > 0 && written[order[at - 1]] * step[order[at - 1]] > written[d] * step[d]; at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    a->n_turns = 0;
    a->count = 1;
    for (unsigned i = 0; i < n; i++) {
        const unsigned d = order[i];
        /* A coordinate moves what is written only; the other tensor follows from it in the kernel.
         */
        const bool spatial = d > 1;
        a->count *= (unsigned)turns[d];
        if (d == 0 && i > 0 && order[i - 1] == 1 && s->x[0] == s->x[1] * block.c &&
            s->y[0] == s->y[1] * block.c && s->index[0] == s->index[1] * block.c) {
            a->turn[a->n_turns - 1].size = rmcp_divider_of(turns[1] * block.n);
            continue;
        }
        a->turn[a->n_turns++] = (struct rmcp_pool_turn){
            .size = rmcp_divider_of(turns[d]),
            .x = (unsigned)(spatial && !pool->backward ? 0 : s->x[d] * step[d]),
            .y = (unsigned)(spatial && pool->backward ? 0 : s->y[d] * step[d]),
            .index = (unsigned)(spatial && pool->backward ? 0 : s->index[d] * step[d]),
            .d = d == 2,
            .h = d == 3 ? (unsigned)step[d] : 0,
            .w = d == 4 ? (unsigned)step[d] : 0,
        };
    }
}

/* Whether one window is all of a dimension. */
static bool is_whole(const struct rmcp_pool *pool, int d)
{
    return pool->window[d] == pool->in[d] && !pool->pad[d] && pool->out[d] == 1;
}

/* Dimensions as one where one window is all of them and they lie so: global pooling has one row. */
static void join(struct rmcp_pool *pool, const struct strides *s)
{
    for (int d = 1; d >= 0 && is_whole(pool, 2) && is_whole(pool, d); d--) {
        if (pool->in[d] > 1 && s->x[2 + d] != s->x[4] * pool->in[2]) return;
        pool->in[2] *= pool->in[d];
        pool->window[2] = pool->in[2];
        pool->in[d] = pool->window[d] = pool->stride[d] = 1;
    }
}

static struct rmcp_pool_args arguments(const struct rmcp_form *form, struct block block,
                                       const struct rmcp_pool_way *way)
{
    struct rmcp_pool pool = rmcp_pool_of(form);
    const struct strides s = strides_of(form, &pool);
    if (!way->fixed) join(&pool, &s);
    struct rmcp_pool_args a = {
        .alpha = (float)pool.alpha,
        .beta = (float)pool.beta,
        .share = (float)(1.0 / (double)pool.taps),
        .taps = (unsigned)pool.taps,
        .kind = !pool.largest  ? RMCP_POOL_MEAN
                : pool.indexed ? RMCP_POOL_MAX_INDEX
                               : RMCP_POOL_MAX,
        .full = pool.inclusive || all_full(&pool),
        .index_bytes = (unsigned)rmcp_type_bytes((rmcp_type)form->tensor[RMCP_POOL_INDEX].type),
        .image = pool.image,
        .index_channel = pool.c > 1 ? (unsigned)s.index[1] : 0,
        .line = all_full(&pool) && pool.window[0] == 1 && pool.window[1] == 1,
    };
    /* Rows of different alignment, so long that one strip more does not count. */
    a.align = pool.backward && way->rows == 1 && s.x[4] == 1 && pool.in[2] % way->columns &&
              pool.in[2] >= 4 * way->columns;
    for (int d = 0; d < 3; d++) {
        a.in[d] = (unsigned)pool.in[d];
        a.out[d] = (unsigned)pool.out[d];
        a.window[d] = (unsigned)pool.window[d];
        a.stride[d] = (unsigned)pool.stride[d];
        a.pad[d] = (unsigned)pool.pad[d];
        /* The stride of a dimension of size 1 may be anything. */
        a.x[d] = pool.in[d] > 1 ? (unsigned)s.x[2 + d] : 0;
        a.y[d] = pool.out[d] > 1 ? (unsigned)s.y[2 + d] : 0;
        a.index[d] = pool.out[d] > 1 ? (unsigned)s.index[2 + d] : 0;
        a.divider[d] = rmcp_divider_of(pool.backward ? pool.stride[d] : pool.window[d]);
    }
    set_turns(&pool, &s, block, way, &a);
    return a;
}

/* ---- launches ---- */

static void add_memory(struct rmcp_kernel_launch *launch, const struct rmcp_form *form,
                       unsigned slot, unsigned otherwise, int64_t n, int64_t c)
{
    if (!form->tensor[slot].dims) slot = otherwise;
    const struct rmcp_form_tensor *t = &form->tensor[slot];
    rmcp_arg_memory(launch, slot,
                    (uint64_t)(n * t->stride[0] + c * t->stride[1]) *
                        rmcp_type_bytes((rmcp_type)t->type));
}

rmcp_status rmcp_pool_emit(const struct rmcp_request *request, const struct rmcp_way *way,
                           const char *stem, rmcp_pool_adjust *adjust,
                           struct rmcp_launch_list *list)
{
    const struct rmcp_pool_way *mine = RMCP_WAY_DETAILS_CONST(way, struct rmcp_pool_way);
    const struct rmcp_form *form = request->problem;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    const struct block most = { mine->n, mine->c };
    for (int64_t n = 0; n < pool.n; n += most.n)
        for (int64_t c = 0; c < pool.c; c += most.c) {
            const struct block block = { pool.n - n < most.n ? pool.n - n : most.n,
                                         pool.c - c < most.c ? pool.c - c : most.c };
            struct rmcp_pool_args args = arguments(form, block, mine);
            int64_t items = args.count;
            if (adjust) adjust(request, mine, &args, &items);
            struct rmcp_kernel_launch *launch = NULL;
            rmcp_status status =
                rmcp_kernel_append(list, stem, (rmcp_type)form->type, mine->rest, items, &launch);
            if (status) return status;
            const unsigned first = pool.backward ? RMCP_POOL_DY : RMCP_POOL_X;
            const unsigned second = pool.backward ? RMCP_POOL_INDEX : RMCP_POOL_Y;
            const unsigned third = pool.backward ? RMCP_POOL_DX : RMCP_POOL_INDEX;
            add_memory(launch, form, first, first, n, c);
            add_memory(launch, form, second, first, n, c);
            add_memory(launch, form, third, second, n, c);
            rmcp_arg_value(launch, &args, sizeof args);
        }
    return RMCP_OK;
}

/* ---- estimates ---- */

double rmcp_pool_seconds(const struct rmcp_request *request, double instructions)
{
    const double bytes = request->operation->bytes(request->problem);
    const double memory = bytes / (rmcp_figure(request->caps, RMCP_FIGURE_POOL_EFFICIENCY) *
                                   request->caps->bytes_per_second);
    const double compute = request->operation->flops(request->problem) * 2 * instructions /
                           request->caps->flops_per_second;
    return memory > compute ? memory : compute;
}

int64_t rmcp_pool_step(const struct rmcp_form *form)
{
    const struct rmcp_pool pool = rmcp_pool_of(form);
    const struct strides s = strides_of(form, &pool);
    const int64_t turns[] = { pool.n, pool.c, pool.out[0], pool.out[1], pool.out[2] };
    int fastest = -1;
    for (int d = 0; d < 5; d++)
        if (turns[d] > 1 && (fastest < 0 || s.y[d] < s.y[fastest])) fastest = d;
    return fastest < 0 ? 1 : s.x[fastest] * (fastest > 1 ? pool.stride[fastest - 2] : 1);
}

/* ---- windows that are known ---- */

rmcp_status rmcp_pool_known(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_pool pool = rmcp_pool_of(form);
    const struct strides s = strides_of(form, &pool);
    const int64_t window = pool.window[1], stride = pool.stride[1];
    if (pool.window[0] != 1 || pool.stride[0] != 1 || pool.pad[0] || pool.in[0] != pool.out[0])
        return rmcp_refuse(way, "windows of several layers");
    if (pool.window[2] != window || pool.stride[2] != stride ||
        !(window == 3 ? stride == 1 || stride == 2 : window == 2 && stride == 2))
        return rmcp_refuse(way, "windows are neither 2 x 2 / 2, 3 x 3 / 2 nor 3 x 3 / 1");
    const bool last = pool.c > 1 && s.x[1] == 1 && s.y[1] == 1;
    const int64_t chunk = RMCP_POOL_CHANNELS((int64_t)rmcp_type_bytes((rmcp_type)form->type));
    if (last && pool.c % chunk)
        return rmcp_refuse(way, "channels last that are no chunks of 16 bytes");
    if (!last && ((pool.in[2] > 1 && s.x[4] != 1) || (pool.out[2] > 1 && s.y[4] != 1)))
        return rmcp_refuse(way, "neither rows nor channels are neighbours in memory");
    if (!last && pool.pad[2] > 1) return rmcp_refuse(way, "padding of more than 1");
    struct rmcp_pool_way mine = {
        .rows = pool.backward ? RMCP_POOL_HIGH_BACK(window, stride, last)
                              : RMCP_POOL_HIGH(16 / chunk, stride, last),
        .columns = last            ? 2
                   : pool.backward ? RMCP_POOL_SPAN(16 / chunk, stride, true)
                                   : RMCP_POOL_SPAN(16 / chunk, stride, false) / stride,
        .channels = last ? chunk : 1,
        .before = pool.backward ? pool.pad[1] % stride : 0,
        .seconds =
            rmcp_figure(request->caps, RMCP_FIGURE_POOL_KNOWN) * rmcp_pool_seconds(request, 2),
        .fixed = true,
    };
    snprintf(mine.rest, sizeof mine.rest, "_%d_%d%s", (int)window, (int)stride,
             last ? "_last" : "");
    return rmcp_pool_consider(request, way, mine);
}
