/* slices.h: slices of two matrices on their way from memory to sums: stored into local memory, read
 * from there, and multiplied. A workgroup of THREADS work-items makes ROWS x COLUMNS sums, each of
 * these 8 x 8. Included behind those macros. */
#ifndef RMCP_KERNEL_SLICES_H
#define RMCP_KERNEL_SLICES_H

/* Where the i-th float4 of a work-item stands, in lines of `size`: (line, first of the four). */
INLINE uint2 across_lines(uint i, uint size)
{
    const uint index = LOCAL_ID + i * THREADS;
    return (uint2)(index / (size / 4), index % (size / 4) * 4);
}

INLINE void keep_four(__local float *tile, float4 v, uint2 at, uint pitch, bool along)
{
    if (along) {
        *(__local float4 *)(tile + at.x * pitch + at.y) = v;
        return;
    }
    tile[(at.y + 0) * pitch + at.x] = v.x;
    tile[(at.y + 1) * pitch + at.x] = v.y;
    tile[(at.y + 2) * pitch + at.x] = v.z;
    tile[(at.y + 3) * pitch + at.x] = v.w;
}

/* What a work-item multiplies in one slice: 8 rows of a, 8 columns of b. */
struct slice {
    float4 a[2], b[2];
};

INLINE struct slice read_slice(__local const float *a, __local const float *b)
{
    return (struct slice){
        { *(__local const float4 *)a, *(__local const float4 *)(a + ROWS / 2) },
        { *(__local const float4 *)b, *(__local const float4 *)(b + COLUMNS / 2) },
    };
}

INLINE void multiply(float4 sum[8][2], const struct slice *s)
{
    const float a[8] = { s->a[0].x, s->a[0].y, s->a[0].z, s->a[0].w,
                         s->a[1].x, s->a[1].y, s->a[1].z, s->a[1].w };
    UNROLL
    for (uint i = 0; i < 8; i++) {
        sum[i][1] += a[i] * s->b[1]; /* b[1] was read last: one wait serves the whole slice */
        sum[i][0] += a[i] * s->b[0];
    }
}

#endif
