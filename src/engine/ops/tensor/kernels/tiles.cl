/* tiles.cl: tensor operations whose a lies across c: a tile is read along a, turned in local memory
 * and written along c. */
#include "engine/ops/tensor/kernels/math.h"

#define THREADS 256
#define SIDE 64
#define EACH (SIDE * SIDE / THREADS) /* elements of a work-item */
#define APART (THREADS / SIDE)       /* lines between two of them */
#define PITCH (SIDE + 1)             /* so that columns, too, meet all banks */

/* Bits of elements `apart` bytes from each other; beyond the last one it is read again. */
INLINE void load_column(uint *raw, __global const char *p, uint bytes, uint apart, uint last)
{
    if (bytes == 4) {
        UNROLL for (uint i = 0; i < EACH; i++)
            raw[i] = *(__global const uint *)(p + smaller(i, last) * apart);
    } else {
        UNROLL for (uint i = 0; i < EACH; i++)
            raw[i] = *(__global const ushort *)(p + smaller(i, last) * apart);
    }
}

__kernel WORKGROUP(THREADS) void tensor_tiles(TENSOR(a), TENSOR(b), RESULT(c),
                                              struct rmcp_tensor_tiles t)
{
    __local uint tile[SIDE * PITCH]; /* bits of a */
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

    /* neighbours along x */
    const uint a_bytes = bytes_of(t.math.a_type);
    const uint a_x = smaller(near, x_end - 1), a_y = smaller(far, y_end - 1);
    a += (x_first + a_x) * t.x.a + (y_first + a_y) * t.y.a;
    uint raw[EACH];
    load_column(raw, ADDRESS(a) + a * a_bytes, a_bytes, APART * t.y.a * a_bytes,
                (y_end - 1 - a_y) / APART);

    /* neighbours along y */
    const uint c_x = smaller(far, x_end - 1), c_y = smaller(near, y_end - 1);
    const uint last = (x_end - 1 - c_x) / APART;
    const uint x_place = x_first + c_x, y_place = y_first + c_y;
    const uint b_bytes = bytes_of(t.math.b_type), c_bytes = (uint)sizeof(element);
    __global char *pc = ADDRESS(c) + (c + x_place * t.x.c + y_place * t.y.c) * c_bytes;
    const uint c_apart = APART * t.x.c * c_bytes;
    uint b_raw[EACH], c_raw[EACH];
    UNROLL for (uint i = 0; i < EACH; i++) b_raw[i] = c_raw[i] = 0;
    if (reads_b(&t.math))
        load_column(b_raw, ADDRESS(b) + (b + x_place * t.x.b + y_place * t.y.b) * b_bytes, b_bytes,
                    APART * t.x.b * b_bytes, last);
    if (t.math.update) load_column(c_raw, pc, c_bytes, c_apart, last);

    UNROLL for (uint i = 0; i < EACH; i++) tile[(far + i * APART) * PITCH + near] = raw[i];
    BARRIER();
    if (near >= y_end || far >= x_end) return;
    if (t.math.kind == RMCP_TENSOR_MOVE) {
        UNROLL for (uint i = 0; i < EACH; i++)
            if (i <= last)
                *(__global bits *)(pc + i * c_apart) = (bits)tile[near * PITCH + far + i * APART];
        return;
    }
    UNROLL for (uint i = 0; i < EACH; i++) {
        if (i > last) continue;
        const float x = value_of(tile[near * PITCH + far + i * APART], t.math.a_type);
        const float y = value_of(b_raw[i], t.math.b_type), z = value_of(c_raw[i], TYPE);
        from_float((__global element *)(pc + i * c_apart), compute(&t.math, x, y, z));
    }
}
