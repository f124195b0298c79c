/* gather.cl: pooling backward: neighbours along the width a work-item, each summing over the
 * windows that it is in. */
#include "engine/ops/pool/kernels/pool.h"

#define THREADS 256
#define LANES RMCP_POOL_LANES

/* The windows that elements `first` to `last` of one dimension are in. */
struct windows {
    uint first, end;
};

INLINE struct windows windows_of(uint first, uint last, uint pad, uint window,
                                 struct rmcp_divider stride, uint out)
{
    struct windows w;
    const uint a = first + pad;
    w.first = a < window ? 0 : divide(a - window, stride) + 1;
    w.end = smaller(divide(last + pad, stride) + 1, out);
    return w;
}

/* How many elements of a window are no padding. */
INLINE uint length_of(uint o, uint stride, uint pad, uint window, uint in)
{
    const struct range r = range_of(o, stride, pad, window, in);
    return (uint)(r.end - r.first);
}

/* What a work-item has: elements w … w + LANES - 1 of a row, of which the first may be before it.
 */
struct job {
    struct windows d, h, w;
    struct spot at;
    int first;
};

/* One element of dy, which is a mean's: `count` elements of its window in the other dimensions. */
INLINE void spread(const struct rmcp_pool_args *p, const struct job *job, uint o, uint count,
                   float dy, bool there, float *sum)
{
    const int begin = (int)(o * p->stride[2]) - (int)p->pad[2];
    const uint length = p->full ? 1 : length_of(o, p->stride[2], p->pad[2], p->window[2], p->in[2]);
    const float part = mean(p, dy, count * length);
    UNROLL for (uint i = 0; i < LANES; i++) sum[i] +=
        there && (uint)(job->first + (int)i - begin) < p->window[2] ? part : 0;
}

/* The same for the largest: `base` is the index of the window's first element in this row. */
INLINE void pick(const struct rmcp_pool_args *p, const struct job *job, uint o, uint base,
                 uint index, float dy, bool there, float *sum)
{
    const uint begin = o * p->stride[2] - p->pad[2];
    const uint column = index - base - (p->image ? begin : 0);
    const uint lane = there && column < p->window[2] ? column + begin - (uint)job->first : LANES;
    UNROLL for (uint i = 0; i < LANES; i++) sum[i] += lane == i ? dy : 0;
}

/* Of the windows in layer i and row k: what a mean counts, or where indices begin. */
INLINE uint count_of(const struct rmcp_pool_args *p, uint i, uint k)
{
    return p->full ? 1
                   : length_of(i, p->stride[0], p->pad[0], p->window[0], p->in[0]) *
                         length_of(k, p->stride[1], p->pad[1], p->window[1], p->in[1]);
}

INLINE uint base_of(const struct rmcp_pool_args *p, const struct job *job, uint i, uint k)
{
    const uint layer = job->at.d + p->pad[0] - i * p->stride[0];
    const uint row = job->at.h + p->pad[1] - k * p->stride[1];
    return p->image ? (job->at.d * p->in[1] + job->at.h) * p->in[2]
                    : (layer * p->window[1] + row) * p->window[2];
}

/* All windows, one after the other. */
INLINE void many(const struct rmcp_pool_args *p, __global const char *dy,
                 __global const char *index, const struct job *job, float *sum)
{
    for (uint i = job->d.first; i < job->d.end; i++)
        for (uint k = job->h.first; k < job->h.end; k++) {
            const uint at = job->at.y + i * p->y[0] + k * p->y[1];
            const uint index_at = job->at.index + i * p->index[0] + k * p->index[1];
            const uint count = count_of(p, i, k), base = base_of(p, job, i, k);
            for (uint o = job->w.first; o < job->w.end; o++) {
                const float v = load(dy, at + o * p->y[2]);
                if (p->kind == RMCP_POOL_MEAN)
                    spread(p, job, o, count, v, true, sum);
                else
                    pick(p, job, o, base,
                         get_index(index, index_at + o * p->index[2], p->index_bytes), v, true,
                         sum);
            }
        }
}

/* Indices of a type that is known; `place` is where they are, and then what they are. */
INLINE void get_indices(__global const char *index, uint bytes, uint count, uint *place)
{
    UNROLL for (uint i = 0; i < count; i++) place[i] = get_index(index, place[i], bytes);
}

/* No more than rows x columns windows, in one layer, from row `first` on: all loads are under way
 * at once, those of windows that there are not from the last one. */
INLINE void few(const struct rmcp_pool_args *p, __global const char *dy, __global const char *index,
                const struct job *job, uint first, uint rows, uint columns, float *sum)
{
    float v[LANES + 2];
    uint place[LANES + 2];
    const uint layer = smaller(job->d.first, p->out[0] - 1);
    const uint at = job->at.y + layer * p->y[0];
    const uint index_at = job->at.index + layer * p->index[0];
    UNROLL for (uint r = 0; r < rows; r++)
    {
        const uint k = smaller(first + r, p->out[1] - 1);
        UNROLL for (uint c = 0; c < columns; c++)
        {
            const uint o = smaller(job->w.first + c, p->out[2] - 1);
            v[r * columns + c] = load(dy, at + k * p->y[1] + o * p->y[2]);
            place[r * columns + c] = index_at + k * p->index[1] + o * p->index[2];
        }
    }
    if (p->kind != RMCP_POOL_MEAN) {
        if (p->index_bytes == 1)
            get_indices(index, 1, rows * columns, place);
        else if (p->index_bytes == 2)
            get_indices(index, 2, rows * columns, place);
        else if (p->index_bytes == 4)
            get_indices(index, 4, rows * columns, place);
        else
            get_indices(index, 8, rows * columns, place);
    }
    UNROLL for (uint r = 0; r < rows; r++)
    {
        const uint k = first + r;
        const bool row = job->d.first < job->d.end && k < job->h.end;
        const uint count = count_of(p, layer, k), base = base_of(p, job, layer, k);
        UNROLL for (uint c = 0; c < columns; c++)
        {
            const uint o = job->w.first + c, number = r * columns + c;
            const bool there = row && o < job->w.end;
            if (p->kind == RMCP_POOL_MEAN)
                spread(p, job, o, count, v[number], there, sum);
            else
                pick(p, job, o, base, place[number], v[number], there, sum);
        }
    }
}

/* Strips begin where dx is aligned to four elements: the first of a row then begins before it. */
INLINE struct job find_job(const struct rmcp_pool_args *p, __global const char *dx, uint item)
{
    struct job job;
    job.at = find_spot(p, item);
    job.first = (int)job.at.w;
    if (p->align) {
        const uint row = (uint)((ulong)dx / sizeof(element)) + job.at.x - job.at.w;
        job.first -= (int)(row % LANES);
    }
    const uint from = job.first < 0 ? 0 : (uint)job.first;
    const uint to = smaller((uint)(job.first + LANES), p->in[2]);
    job.d = windows_of(job.at.d, job.at.d, p->pad[0], p->window[0], p->divider[0], p->out[0]);
    job.h = windows_of(job.at.h, job.at.h, p->pad[1], p->window[1], p->divider[1], p->out[1]);
    job.w = windows_of(from, to - 1, p->pad[2], p->window[2], p->divider[2], p->out[2]);
    return job;
}

/* alpha * sum + beta * what was there, from element `first` of the row on, which is at `begin`. */
INLINE void write_row(const struct rmcp_pool_args *p, __global char *dx, uint begin, int first, float *sum)
{
    UNROLL for (uint i = 0; i < LANES; i++)
    {
        sum[i] *= p->alpha;
        if (p->beta != 0 && (uint)(first + (int)i) < p->in[2]) sum[i] += p->beta * load(dx, begin + i * p->x[2]);
    }
    if (p->x[2] == 1 && first >= 0 && (uint)first + LANES <= p->in[2]) {
        store4(dx, begin, (float4)(sum[0], sum[1], sum[2], sum[3]));
    } else {
        UNROLL for (uint i = 0; i < LANES; i++) if ((uint)(first + (int)i) < p->in[2])
            store(dx, begin + i * p->x[2], sum[i]);
    }
}

__kernel WORKGROUP(THREADS) void pool_gather(INPUT(dy), INPUT(index), OUTPUT(dx),
                                             struct rmcp_pool_args p)
{
    const uint item = GROUP_ID_X * THREADS + LOCAL_ID;
    if (item >= p.count) return;
    float sum[LANES];
    const struct job job = find_job(&p, ADDRESS(dx), item);
    if (job.first >= (int)p.in[2]) return;
    UNROLL for (uint i = 0; i < LANES; i++) sum[i] = 0;
    const bool flat = p.window[0] == 1 && p.window[1] == p.window[2] && p.stride[1] == p.stride[2];
    if (flat && p.window[1] == 2 && p.stride[1] == 2)
        few(&p, ADDRESS(dy), ADDRESS(index), &job, job.h.first, 1, LANES / 2 + 1, sum);
    else if (flat && p.window[1] == 3 && p.stride[1] == 2)
        few(&p, ADDRESS(dy), ADDRESS(index), &job, job.h.first, 2, LANES / 2 + 1, sum);
    else if (flat && p.window[1] == 3 && p.stride[1] == 1)
        for (uint k = job.h.first; k < job.h.end; k++)
            few(&p, ADDRESS(dy), ADDRESS(index), &job, k, 1, LANES + 2, sum);
    else
        many(&p, ADDRESS(dy), ADDRESS(index), &job, sum);
    write_row(&p, ADDRESS(dx), job.at.x + (uint)(job.first - (int)job.at.w) * p.x[2], job.first, sum);
}
