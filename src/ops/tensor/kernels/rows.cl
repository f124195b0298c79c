/* rows.cl: tensor operations element by element: a work-item takes LANES neighbours along the
 * fastest loop, 16 bytes of c, at once where they are aligned. */
#include "ops/tensor/kernels/lanes.h"

#define THREADS 256

__kernel WORKGROUP(THREADS) void tensor_rows(TENSOR(a), TENSOR(b), RESULT(c),
                                             struct rmcp_tensor_rows r)
{
    const uint chunk = GROUP_ID_X * THREADS + LOCAL_ID;
    if (chunk >= r.count) return;
    uint row = divide(chunk, r.chunks), a = 0, b = 0, c = 0;
    int first = (int)((chunk - row * r.chunks.divisor) * LANES);
    UNROLL for (uint i = 0; i < 4; i++)
        if (i < r.n_outer) row = take_turn(r.outer[i], row, &a, &b, &c);

    __global const char *pa = ADDRESS(a) + a * bytes_of(r.math.a_type);
    __global const char *pb = ADDRESS(b) + b * bytes_of(r.math.b_type);
    __global char *pc = ADDRESS(c) + c * (uint)sizeof(element);
    if (r.align) first -= (int)((uint)(ulong)pc / (uint)sizeof(element) % LANES);
    const bool moves = r.math.kind == RMCP_TENSOR_MOVE;

    if (first >= 0 && (uint)first + LANES <= r.length) {
        pa += (uint)first * r.a * bytes_of(r.math.a_type);
        pb += (uint)first * r.b * bytes_of(r.math.b_type);
        pc += (uint)first * r.c * (uint)sizeof(element);
        if (moves) {
            move_lanes(pc, r.c, pa, r.a);
            return;
        }
        float x[LANES], y[LANES], z[LANES];
        UNROLL for (uint i = 0; i < LANES; i++) x[i] = y[i] = z[i] = 0;
        if (reads_a(&r.math)) fetch_lanes(x, pa, r.math.a_type, r.a);
        if (reads_b(&r.math)) fetch_lanes(y, pb, r.math.b_type, r.b);
        if (reads_c(&r.math)) fetch_lanes(z, pc, TYPE, r.c);
        UNROLL for (uint i = 0; i < LANES; i++) x[i] = compute(&r.math, x[i], y[i], z[i]);
        put_lanes(pc, x, r.c);
        return;
    }
    /* the ends of a row */
    const int end = first + LANES < (int)r.length ? first + LANES : (int)r.length;
    for (int i = first < 0 ? 0 : first; i < end; i++) {
        __global const char *qa = pa + (uint)i * r.a * bytes_of(r.math.a_type);
        __global const char *qb = pb + (uint)i * r.b * bytes_of(r.math.b_type);
        __global char *qc = pc + (uint)i * r.c * (uint)sizeof(element);
        if (moves) {
            *(__global bits *)qc = *(__global const bits *)qa;
            continue;
        }
        const float x = reads_a(&r.math) ? fetch(qa, r.math.a_type) : 0;
        const float y = reads_b(&r.math) ? fetch(qb, r.math.b_type) : 0;
        const float z = reads_c(&r.math) ? fetch(qc, TYPE) : 0;
        from_float((__global element *)qc, compute(&r.math, x, y, z));
    }
}
