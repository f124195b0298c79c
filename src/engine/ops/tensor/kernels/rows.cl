/* rows.cl: tensor operations element by element: LANES neighbours along the fastest loop, 16 bytes
 * of c, are one chunk, loaded and stored at once where they are aligned. */
#include "engine/ops/tensor/kernels/math.h"

#define THREADS 256
#define CHUNKS RMCP_TENSOR_ROWS_CHUNKS /* of a work-item */

/* Where a chunk lies. */
struct spot {
    __global const char *a, *b; /* its row */
    __global char *c;
    int first;   /* its first element, which may be before the row             */
    bool exists; /* false: beyond the last chunk                               */
    bool whole;  /* all of it is in the row; a, b and c then point to `first`  */
};

INLINE struct spot find_spot(const struct rmcp_tensor_rows *r, uint chunk, __global const char *pa,
                             __global const char *pb, __global char *pc)
{
    struct spot s;
    uint column = chunk, a = 0, b = 0, c = 0;
    if (r->n_outer) {
        uint row = divide(chunk, r->chunks);
        column -= row * r->chunks.divisor;
        UNROLL for (uint i = 0; i < 4; i++)
            if (i < r->n_outer) row = take_turn(r->outer[i], row, &a, &b, &c);
    }
    s.first = (int)(column * LANES);
    s.a = pa + a * bytes_of(r->math.a_type);
    s.b = pb + b * bytes_of(r->math.b_type);
    s.c = pc + c * (uint)sizeof(element);
    if (r->align) s.first -= (int)((uint)(ulong)s.c / (uint)sizeof(element) % LANES);
    s.exists = chunk < r->count;
    s.whole = s.exists && s.first >= 0 && (uint)s.first + LANES <= r->length;
    if (s.whole) {
        s.a += (uint)s.first * r->a * bytes_of(r->math.a_type);
        s.b += (uint)s.first * r->b * bytes_of(r->math.b_type);
        s.c += (uint)s.first * r->c * (uint)sizeof(element);
    }
    return s;
}

/* The part of a chunk that is in the row. */
INLINE void run_edge(const struct rmcp_tensor_rows *r, const struct spot *s)
{
    const int end = s->first + LANES < (int)r->length ? s->first + LANES : (int)r->length;
    for (int i = s->first < 0 ? 0 : s->first; i < end; i++) {
        __global const char *a = s->a + (uint)i * r->a * bytes_of(r->math.a_type);
        __global const char *b = s->b + (uint)i * r->b * bytes_of(r->math.b_type);
        __global char *c = s->c + (uint)i * r->c * (uint)sizeof(element);
        if (r->math.kind == RMCP_TENSOR_MOVE) {
            *(__global bits *)c = *(__global const bits *)a;
            continue;
        }
        const float x = reads_a(&r->math) ? fetch(a, r->math.a_type) : 0;
        const float y = reads_b(&r->math) ? fetch(b, r->math.b_type) : 0;
        const float z = reads_c(&r->math) ? fetch(c, TYPE) : 0;
        from_float((__global element *)c, compute(&r->math, x, y, z));
    }
}

__kernel WORKGROUP(THREADS) void tensor_rows(TENSOR(a), TENSOR(b), RESULT(c),
                                             struct rmcp_tensor_rows r)
{
    struct spot s[CHUNKS];
    struct lanes a[CHUNKS], b[CHUNKS], c[CHUNKS];
    uint a_way[CHUNKS], b_way[CHUNKS], c_way[CHUNKS];
    const uint first = GROUP_ID_X * (THREADS * CHUNKS) + LOCAL_ID;
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        s[i] = find_spot(&r, first + i * THREADS, ADDRESS(a), ADDRESS(b), ADDRESS(c));
        a_way[i] = b_way[i] = c_way[i] = SINGLY;
        if (!s[i].whole) continue;
        if (reads_a(&r.math)) {
            a_way[i] = way_of(s[i].a, r.math.a_type, r.a);
            load_lanes(&a[i], s[i].a, r.math.a_type, r.a, a_way[i]);
        }
        if (reads_b(&r.math)) {
            b_way[i] = way_of(s[i].b, r.math.b_type, r.b);
            load_lanes(&b[i], s[i].b, r.math.b_type, r.b, b_way[i]);
        }
        if (reads_c(&r.math)) {
            c_way[i] = way_of(s[i].c, TYPE, r.c);
            load_lanes(&c[i], s[i].c, TYPE, r.c, c_way[i]);
        }
    }
    UNROLL for (uint i = 0; i < CHUNKS; i++) {
        if (!s[i].whole) {
            if (s[i].exists) run_edge(&r, &s[i]);
            continue;
        }
        if (r.math.kind == RMCP_TENSOR_MOVE) {
            put_bits(s[i].c, &a[i], r.c, a_way[i]);
            continue;
        }
        float x[LANES], y[LANES], z[LANES];
        UNROLL for (uint k = 0; k < LANES; k++) x[k] = y[k] = z[k] = 0;
        if (reads_a(&r.math)) value_lanes(x, &a[i], r.math.a_type, a_way[i]);
        if (reads_b(&r.math)) value_lanes(y, &b[i], r.math.b_type, b_way[i]);
        if (reads_c(&r.math)) value_lanes(z, &c[i], TYPE, c_way[i]);
        compute_lanes(&r.math, x, y, z, LANES);
        put_lanes(s[i].c, x, r.c);
    }
}
