/* rows.cl: the multi margin loss of rows: how far other classes come near the right one, or beyond. */
#include "engine/kernels/target.h"

#include "engine/kernels/common.h"
#include "engine/kernels/fold.h"
#include "engine/ops/multimargin/kernels/args.h"

#define THREADS 256
#define WIDTH RMCP_MULTIMARGIN_WIDTH
#define ROWS (THREADS / WIDTH) /* at a time */

__kernel WORKGROUP(THREADS) void multimargin(INPUT(x), INPUT(t), INPUT(w), OUTPUT(out),
                                             struct rmcp_multimargin_math m)
{
    __local float room[THREADS];
    const uint lane = LOCAL_ID % WIDTH;
    struct folder sum = { 0, 0, 0 };
    for (uint i = 0; i < m.each; i++) {
        const uint row = (GROUP_ID_X * m.each + i) * ROWS + LOCAL_ID / WIDTH;
        const bool exists = row < m.rows;
        const ulong at = exists ? row : 0;
        const long target = ((__global const long *)ADDRESS(t))[at * m.t_step];
        const bool valid = target >= 0 && target < (long)m.classes;
        __global const element *line = (__global const element *)ADDRESS(x) + at * m.x_row;
        const ulong right = valid ? (ulong)target : 0;
        const float own = to_float(line + right * m.x_class);
        const float weight = to_float((__global const element *)ADDRESS(w) + right * m.w_step);
        struct folder terms = { 0, 0, 0 };
        for (uint c = lane; c < m.classes; c += WIDTH) {
            const float near = m.margin - own + to_float(line + (ulong)c * m.x_class);
            const float term = m.square ? near * near : near;
            if (c != (uint)right && !(near < 0)) fold_in(&terms, weight * term);
        }
        float loss = fold_up(terms.total + terms.block, room, WIDTH) * m.scale;
        BARRIER(); /* before the next row's sums take the room */
        if (!valid) loss = as_float(0x7fc00000u);
        if (lane == 0 && exists) {
            if (m.summed)
                fold_in(&sum, loss);
            else
                from_float((__global element *)ADDRESS(out) + at * m.y_step, loss);
        }
    }
    if (!m.summed) return;
    const float all = fold_up(sum.total + sum.block, room, THREADS);
    if (LOCAL_ID == 0) ((__global float *)ADDRESS(out))[GROUP_ID_X] = all;
}
