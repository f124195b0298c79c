/* tiles.cl: tensor operations whose a lies across c: a tile is read along a, turned in local memory
 * and written along c. */
#include "ops/tensor/kernels/lanes.h"

#define THREADS 256
#define SIDE 64
#define EACH (SIDE * SIDE / THREADS) /* elements of a work-item */
#define APART (THREADS / SIDE)
#define PITCH (SIDE + 1) /* so that columns, too, meet all banks */

__kernel WORKGROUP(THREADS) void tensor_tiles(TENSOR(a), TENSOR(b), RESULT(c),
                                              struct rmcp_tensor_tiles t)
{
    __local uint tile[SIDE * PITCH]; /* floats or, when nothing is computed, bits */
    const bool moves = t.math.kind == RMCP_TENSOR_MOVE;
    const uint near = LOCAL_ID % SIDE, far = LOCAL_ID / SIDE;
    uint a = 0, b = 0, c = 0;
    const uint x_rest = divide(GROUP_ID_X, t.x_tiles);
    const uint x_first = (GROUP_ID_X - x_rest * t.x_tiles.divisor) * SIDE;
    uint rest = divide(x_rest, t.y_tiles);
    const uint y_first = (x_rest - rest * t.y_tiles.divisor) * SIDE;
    UNROLL for (uint i = 0; i < 3; i++)
        if (i < t.n_outer) rest = take_turn(t.outer[i], rest, &a, &b, &c);

    const uint x_end = smaller(t.x.size.divisor - x_first, SIDE);
    const uint y_end = smaller(t.y.size.divisor - y_first, SIDE);
    /* beyond the end the last one is read again */
    const uint x_read = smaller(near, x_end - 1), y_read = smaller(far, y_end - 1);
    const uint y_last = (y_end - 1 - y_read) / APART, a_bytes = bytes_of(t.math.a_type);
    __global const char *pa =
        ADDRESS(a) + (a + (x_first + x_read) * t.x.a + (y_first + y_read) * t.y.a) * a_bytes;
    const uint apart = APART * t.y.a * a_bytes;
    uint got[EACH];
    if (a_bytes == 4) {
        UNROLL for (uint i = 0; i < EACH; i++)
            got[i] = *(__global const uint *)(pa + smaller(i, y_last) * apart);
    } else {
        UNROLL for (uint i = 0; i < EACH; i++)
            got[i] = *(__global const ushort *)(pa + smaller(i, y_last) * apart);
    }
    if (!moves) {
        UNROLL for (uint i = 0; i < EACH; i++) got[i] = as_uint(value_of(got[i], t.math.a_type));
    }
    UNROLL for (uint i = 0; i < EACH; i++) tile[(far + i * APART) * PITCH + near] = got[i];
    BARRIER();

    if (near >= y_end) return;
    const uint x_far = x_first + far, y_near = y_first + near;
    __global char *pc = ADDRESS(c) + (c + x_far * t.x.c + y_near * t.y.c) * (uint)sizeof(element);
    const uint c_apart = APART * t.x.c * (uint)sizeof(element);
    if (moves) {
        UNROLL for (uint i = 0; i < EACH; i++)
            if (far + i * APART < x_end)
                *(__global bits *)(pc + i * c_apart) = (bits)tile[near * PITCH + far + i * APART];
        return;
    }
    const uint b_bytes = bytes_of(t.math.b_type), b_apart = APART * t.x.b * b_bytes;
    __global const char *pb = ADDRESS(b) + (b + x_far * t.x.b + y_near * t.y.b) * b_bytes;
    UNROLL for (uint i = 0; i < EACH; i++) {
        if (far + i * APART >= x_end) continue;
        const float x = as_float(tile[near * PITCH + far + i * APART]);
        const float y = reads_b(&t.math) ? fetch(pb + i * b_apart, t.math.b_type) : 0;
        const float z = t.math.update ? fetch(pc + i * c_apart, TYPE) : 0;
        from_float((__global element *)(pc + i * c_apart), compute(&t.math, x, y, z));
    }
}
