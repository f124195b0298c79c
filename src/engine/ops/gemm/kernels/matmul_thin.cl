/* matmul_thin.cl: matrix products where one factor has few lines, as a step of a recurrent network has:
 * the other, wide factor is read once and is all that takes time.
 *
 * A work-item has FEW x 4 sums: four neighbours of the wide factor. WORKERS of them share the reduction of
 * the same sums, four of its terms each in turn, and add up at the end. Where neighbours along the reduction
 * are neighbours in memory (ALONG_SUM) the workers are neighbours, else those with other sums are: both
 * times loads of a wave are of whole lines.
 *
 * -D: TYPE, FEW, ALONG_SUM */
#include "engine/ops/gemm/kernels/matmul.h"

#define THREADS 128
#define WORKERS (ALONG_SUM ? 32 : 4)
#define TEAMS (THREADS / WORKERS)
#define WIDTH (4 * TEAMS) /* of a workgroup */
#define PART (WIDTH * FEW + 4)
#define TURNS (CPU ? 1 : FEW == 1 ? 4 : 2) /* whose loads are on their way at once */

/* Four terms of a line, `left` before the end of the reduction; zeros beyond it. */
INLINE float4 load_terms(__global const char *line, uint index, uint step, uint left, bool whole)
{
    if (whole && left >= 4) return load4(line, index);
    float v[4];
    UNROLL
    for (uint j = 0; j < 4; j++) {
        const float value = load(line, j < left ? index + j * step : index);
        v[j] = j < left ? value : 0;
    }
    return (float4)(v[0], v[1], v[2], v[3]);
}

/* The wide factor's four terms of four neighbours: w[term] has the neighbours. `columns` of these exist;
 * the last is repeated. */
INLINE void load_wide(float4 w[4], const struct rmcp_matmul_thin *p, __global const char *wide, uint term,
                      uint left, uint columns, bool whole)
{
#if ALONG_SUM
    float4 line[4];
    UNROLL
    for (uint j = 0; j < 4; j++)
        line[j] = load_terms(wide, smaller(j, columns - 1) * p->wide_pitch + term, 1, left, whole);
    w[0] = (float4)(line[0].x, line[1].x, line[2].x, line[3].x);
    w[1] = (float4)(line[0].y, line[1].y, line[2].y, line[3].y);
    w[2] = (float4)(line[0].z, line[1].z, line[2].z, line[3].z);
    w[3] = (float4)(line[0].w, line[1].w, line[2].w, line[3].w);
#else
    UNROLL
    for (uint q = 0; q < 4; q++) {
        const bool exists = q < left;
        const uint index = (exists ? term + q : term) * p->wide_pitch;
        float4 v;
        if (whole && columns >= 4) {
            v = load4(wide, index);
        } else {
            const float first = load(wide, index);
            v = (float4)(first, columns > 1 ? load(wide, index + 1) : first,
                         columns > 2 ? load(wide, index + 2) : first,
                         columns > 3 ? load(wide, index + 3) : first);
        }
        w[q] = exists ? v : (float4)(0, 0, 0, 0);
    }
#endif
}

INLINE void add_terms(float4 *sum, float4 v, const float4 w[4])
{
    *sum += v.x * w[0];
    *sum += v.y * w[1];
    *sum += v.z * w[2];
    *sum += v.w * w[3];
}

__kernel WORKGROUP(THREADS) void matmul_thin(INPUT(few), INPUT(wide), OUTPUT(c), INPUT(bias),
                                             struct rmcp_matmul_thin p)
{
    __local float part[WORKERS * PART] __attribute__((aligned(16)));
    const uint worker = ALONG_SUM ? LOCAL_ID % WORKERS : LOCAL_ID / TEAMS;
    const uint team = ALONG_SUM ? LOCAL_ID / WORKERS : LOCAL_ID % TEAMS;
    const uint task = GROUP_ID_X + p.first_group;
    const uint chunk = divide(task, p.groups);
    const uint first_column = (task - chunk * p.groups.divisor) * WIDTH;
    const uint first_line = chunk * FEW, lines = smaller(FEW, p.few - first_line);
    const uint first = GROUP_ID_Z * p.share;
    const uint length = first < p.k ? smaller(p.share, p.k - first) : 0;

    /* A team beyond the last neighbour repeats the last and stores nothing. */
    const uint column = smaller(first_column + team * 4, p.wide - 1), columns = p.wide - column;
    __global const char *const few =
        ADDRESS(few) + ((ulong)GROUP_ID_Y * p.few_stride + (ulong)first_line * p.few_line +
                        (ulong)first * p.few_sum) * sizeof(element);
    __global const char *const wide =
        ADDRESS(wide) + ((ulong)GROUP_ID_Y * p.wide_stride +
                         (ALONG_SUM ? (ulong)column * p.wide_pitch + first
                                    : (ulong)first * p.wide_pitch + column)) * sizeof(element);
    const bool few_whole = p.few_sum == 1 && aligned4(few, p.few_line);
    const bool wide_whole = aligned4(wide, p.wide_pitch);

    float4 sum[FEW];
    UNROLL
    for (uint i = 0; i < FEW; i++) sum[i] = (float4)(0, 0, 0, 0);
    uint term = worker * 4;
    if (few_whole && wide_whole && (ALONG_SUM || columns >= 4)) {
        #pragma unroll TURNS
        for (; term + 4 <= length; term += WORKERS * 4) {
            float4 w[4];
            load_wide(w, &p, wide, term, 4, columns, true);
            UNROLL
            for (uint i = 0; i < FEW; i++)
                add_terms(&sum[i], load4(few, smaller(i, lines - 1) * p.few_line + term), w);
        }
    }
    #pragma unroll 1
    for (; term < length; term += WORKERS * 4) {
        const uint left = length - term;
        float4 w[4];
        load_wide(w, &p, wide, term, left, columns, wide_whole);
        UNROLL
        for (uint i = 0; i < FEW; i++)
            add_terms(&sum[i],
                      load_terms(few, smaller(i, lines - 1) * p.few_line + term * p.few_sum, p.few_sum,
                                 left, few_whole),
                      w);
    }

    UNROLL
    for (uint i = 0; i < FEW; i++)
        *(__local float4 *)(part + worker * PART + (i * TEAMS + team) * 4) = sum[i];
    BARRIER();
    #pragma unroll 1
    for (uint index = LOCAL_ID; index < WIDTH * FEW; index += THREADS) {
        const uint i = index / WIDTH, at = first_column + index % WIDTH;
        if (i >= lines || at >= p.wide) continue;
        float total = 0;
        for (uint from = 0; from < WORKERS; from++) total += part[from * PART + index];
        const uint row = p.turned ? at : first_line + i, other = p.turned ? first_line + i : at;
        if (p.partial) {
            const uint m = p.turned ? p.wide : p.few, n = p.turned ? p.few : p.wide;
            ((__global float *)ADDRESS(c))[(ulong)GROUP_ID_Z * p.part + ((ulong)GROUP_ID_Y * m + row) * n +
                                           other] = total;
        } else {
            __global char *const place =
                ADDRESS(c) + ((ulong)GROUP_ID_Y * p.c_stride + (ulong)row * p.c_pitch + other) *
                                 sizeof(element);
            store(place, 0, finish(&p.math, total, place, ADDRESS(bias), row, other));
        }
    }
}
