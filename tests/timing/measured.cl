/* measured.cl: kernels of the kind that others timed on RDNA1 cards, for validate.py. */
typedef __attribute__((ext_vector_type(2))) float float2_;
#define GROUP() __builtin_amdgcn_workgroup_id_x()
#define LOCAL() __builtin_amdgcn_workitem_id_x()
#define KERNEL(n) __attribute__((reqd_work_group_size(n, 1, 1))) __kernel void
#define TIMES4(x) x x x x
#define TIMES16(x) TIMES4(TIMES4(x))

/* ---- peaks: sixteen chains of each of 256 work-items ---- */
#define EACH(F, op, a) \
    F(op, x[0], a) F(op, x[1], a) F(op, x[2], a) F(op, x[3], a) F(op, x[4], a) F(op, x[5], a) F(op, x[6], a) \
    F(op, x[7], a) F(op, x[8], a) F(op, x[9], a) F(op, x[10], a) F(op, x[11], a) F(op, x[12], a) \
    F(op, x[13], a) F(op, x[14], a) F(op, x[15], a)
#define TWO(op, x, a) __asm volatile(op " %0, %1, %1" : "+v"(x) : "v"(a));
#define THREE(op, x, a) __asm volatile(op " %0, %1, %1, %0" : "+v"(x) : "v"(a));
#define PEAK(name, F, op, type) \
    KERNEL(256) name(__global type *out, type a, int n) \
    { \
        type x[16], sum = 0; \
        for (int k = 0; k < 16; k++) x[k] = (type)(k + LOCAL()); \
        for (int i = 0; i < n; i++) { TIMES16(EACH(F, op, a)) } \
        for (int k = 0; k < 16; k++) sum += x[k]; \
        out[GROUP() * 256 + LOCAL()] = sum; \
    }
PEAK(peak_f32, TWO, "v_fmac_f32", float)
PEAK(peak_f16x2, TWO, "v_pk_fmac_f16", int)
PEAK(peak_i32, TWO, "v_mul_lo_u32", int)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
PEAK(peak_f64, THREE, "v_fma_f64", double)

/* ---- LDS: eight reads of 16 bytes by each work-item, no conflicts ---- */
KERNEL(256) lds_read(__global float *out, int n)
{
    __local float4 tile[1024];
    for (int i = 0; i < 4; i++) tile[i * 256 + LOCAL()] = (float4)(i);
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    float4 sum = (float4)0;
    const unsigned at = (unsigned)(ulong)(tile + LOCAL());
    for (int i = 0; i < n; i++) {
        float4 a, b, c, d;
        __asm volatile("ds_read_b128 %0, %4\n ds_read_b128 %1, %4 offset:4096\n ds_read_b128 %2, %4 offset:8192\n"
                       "ds_read_b128 %3, %4 offset:12288\n s_waitcnt lgkmcnt(0)"
                       : "=&v"(a), "=&v"(b), "=&v"(c), "=&v"(d) : "v"(at) : "memory");
        sum += a + b + c + d;
    }
    out[GROUP() * 256 + LOCAL()] = sum.x + sum.y + sum.z + sum.w;
}

/* ---- L0: 256 loads by each work-item, as sebbbi/perftest has them: an address, a load, additions ----
 * The mask is 0, but only the card knows. */
typedef __attribute__((ext_vector_type(4))) unsigned buffer;
#define LOADS(name, type, op, bytes, index, first, sum) \
    KERNEL(256) name(__global float *from, __global float *out, unsigned mask, unsigned format) \
    { \
        const buffer b = { (unsigned)(ulong)from, (unsigned)((ulong)from >> 32) | (index ? bytes << 16 : 0), \
                           index ? 1024 : 16384, 0xfac | format << 12 | (index ? 0 : 3u << 28) }; \
        const unsigned start = first; \
        type total = 0; \
        for (unsigned i = 0; i < 256; i += 8) { \
            type v[8]; \
            unsigned at[8]; \
            for (unsigned k = 0; k < 8; k++) at[k] = (start + (i + k) * (index ? 1 : bytes)) | mask; \
            __asm volatile(op(0, 8) op(1, 9) op(2, 10) op(3, 11) op(4, 12) op(5, 13) op(6, 14) op(7, 15) \
                           "s_waitcnt vmcnt(0)" \
                           : "=&v"(v[0]), "=&v"(v[1]), "=&v"(v[2]), "=&v"(v[3]), "=&v"(v[4]), "=&v"(v[5]), \
                             "=&v"(v[6]), "=&v"(v[7]) \
                           : "v"(at[0]), "v"(at[1]), "v"(at[2]), "v"(at[3]), "v"(at[4]), "v"(at[5]), "v"(at[6]), \
                             "v"(at[7]), "s"(b)); \
            for (unsigned k = 0; k < 8; k++) total += v[k]; \
        } \
        out[GROUP() * 256 + LOCAL()] = sum; \
    }
#define TYPED1(to, at) "buffer_load_format_x %" #to ", %" #at ", %16, 0 idxen\n"
#define TYPED2(to, at) "buffer_load_format_xy %" #to ", %" #at ", %16, 0 idxen\n"
#define TYPED4(to, at) "buffer_load_format_xyzw %" #to ", %" #at ", %16, 0 idxen\n"
#define RAW1(to, at) "buffer_load_dword %" #to ", %" #at ", %16, 0 offen\n"
#define RAW2(to, at) "buffer_load_dwordx2 %" #to ", %" #at ", %16, 0 offen\n"
#define RAW4(to, at) "buffer_load_dwordx4 %" #to ", %" #at ", %16, 0 offen\n"
#define SCATTERED (LOCAL() * 37 % 256)
LOADS(l0_r32f, float, TYPED1, 4u, 1, LOCAL(), total)
LOADS(l0_rg32f, float2_, TYPED2, 8u, 1, LOCAL(), total.x + total.y)
LOADS(l0_rgba32f, float4, TYPED4, 16u, 1, LOCAL(), total.x + total.y + total.z + total.w)
LOADS(l0_rgba32f_random, float4, TYPED4, 16u, 1, SCATTERED, total.x + total.y + total.z + total.w)
LOADS(l0_raw, float, RAW1, 4u, 0, LOCAL() * 4, total)
LOADS(l0_raw2, float2_, RAW2, 8u, 0, LOCAL() * 8, total.x + total.y)
LOADS(l0_raw4, float4, RAW4, 16u, 0, LOCAL() * 16, total.x + total.y + total.z + total.w)
LOADS(l0_raw4_unaligned, float4, RAW4, 16u, 0, SCATTERED * 16 + 4, total.x + total.y + total.z + total.w)

/* ---- a chain of loads by one work-item ---- */
KERNEL(32) chase(__global unsigned *next, unsigned n)
{
    unsigned at = LOCAL() & 0; /* zeros, which only the card knows */
    for (unsigned i = 0; i < n; i += 16) {
        TIMES16(__asm volatile("global_load_dword %0, %0, %1\n s_waitcnt vmcnt(0)" : "+v"(at) : "s"(next));)
    }
    next[1] = at;
}

/* ---- memory ---- */
KERNEL(256) copy(__global const float4 *from, __global float4 *to)
{
    const unsigned i = GROUP() * 1024 + LOCAL();
    float4 v[4];
    for (unsigned k = 0; k < 4; k++) v[k] = from[i + 256 * k];
    for (unsigned k = 0; k < 4; k++) to[i + 256 * k] = v[k];
}

/* A row of a matrix of 4-bit numbers in blocks of 32 with a scale of 16 bits, times a vector: one wave a row, as
 * token generation of language models does it. A row has 4096 numbers: 128 blocks of 18 bytes. */
KERNEL(32) gemv_q4(__global const ushort *matrix, __global const float *vector, __global float *out)
{
    const unsigned lane = LOCAL();
    __global const ushort *row = matrix + (size_t)GROUP() * 128 * 9;
    float sum = 0;
    for (unsigned block = lane; block < 128; block += 32) {
        __global const ushort *b = row + block * 9;
        __global const float4 *x = (__global const float4 *)(vector + block * 32);
        float part = 0;
        for (unsigned k = 0; k < 8; k++) {
            const unsigned q = b[1 + k];
            const float4 v = x[k];
            part += (float)((int)(q & 15) - 8) * v.x + (float)((int)(q >> 4 & 15) - 8) * v.y +
                    (float)((int)(q >> 8 & 15) - 8) * v.z + (float)((int)(q >> 12) - 8) * v.w;
        }
        sum += part * (float)b[0] * 0x1p-15f;
    }
    for (int k = 16; k; k >>= 1) sum += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(
                                                  (int)(4 * (lane ^ k)), __builtin_bit_cast(int, sum)));
    if (!lane) out[GROUP()] = sum;
}

/* ---- D3Q19 lattice Boltzmann, one step: 19 numbers read from neighbours, relaxed, 19 written; cells of a power of
 * two in each direction, periodic. Numbers of a direction lie together. */
constant char direction[19][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }, { 0, 0, 1 },
    { 0, 0, -1 }, { 1, 1, 0 }, { -1, -1, 0 }, { 1, 0, 1 }, { -1, 0, -1 }, { 0, 1, 1 }, { 0, -1, -1 }, { 1, -1, 0 },
    { -1, 1, 0 }, { 1, 0, -1 }, { -1, 0, 1 }, { 0, 1, -1 }, { 0, -1, 1 } };
KERNEL(256) lattice(__global const float *from, __global float *to, __global const uchar *flags, unsigned log_side,
                    float omega)
{
    const unsigned side = 1u << log_side, n = GROUP() * 256 + LOCAL(), cells = 1u << 3 * log_side;
    const unsigned x = n & (side - 1), y = n >> log_side & (side - 1), z = n >> 2 * log_side;
    if (flags[n]) return;
    float f[19], rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
    for (int i = 0; i < 19; i++) {
        const unsigned xs = (x - direction[i][0]) & (side - 1), ys = (y - direction[i][1]) & (side - 1),
                       zs = (z - direction[i][2]) & (side - 1);
        f[i] = from[(size_t)i * cells + (xs | ys << log_side | zs << 2 * log_side)];
    }
#pragma unroll
    for (int i = 0; i < 19; i++) {
        rho += f[i];
        ux += (float)direction[i][0] * f[i];
        uy += (float)direction[i][1] * f[i];
        uz += (float)direction[i][2] * f[i];
    }
    const float density = rho + 1.0f, inverse = __builtin_amdgcn_rcpf(density);
    ux *= inverse, uy *= inverse, uz *= inverse;
    const float square = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
    for (int i = 0; i < 19; i++) {
        const float c = 3.0f * ((float)direction[i][0] * ux + (float)direction[i][1] * uy +
                                (float)direction[i][2] * uz);
        const float weight = i == 0 ? 1.0f / 3 : i < 7 ? 1.0f / 18 : 1.0f / 36;
        const float equal = weight * (density * (c + 0.5f * c * c - square) + rho);
        to[(size_t)i * cells + n] = f[i] + omega * (equal - f[i]);
    }
}

/* ---- matrix product: 128x128 of a workgroup, 8x8 of a work-item, steps of 8 in K; sizes are multiples ---- */
KERNEL(256) sgemm(__global const float *A, __global const float *B, __global float *C, int n)
{
    __local float4 a[2][8][32], b[2][8][32];
    const unsigned t = LOCAL(), tiles = (unsigned)n / 128, row = GROUP() / tiles * 128, column = GROUP() % tiles * 128;
    const unsigned k0 = t / 32, m4 = t % 32, ty = t / 16, tx = t % 16;
    float sum[8][8];
    for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) sum[i][j] = 0;
    __global const float4 *pa = (__global const float4 *)(A + (size_t)k0 * n + row) + m4;
    __global const float4 *pb = (__global const float4 *)(B + (size_t)k0 * n + column) + m4;
    float4 next_a = *pa, next_b = *pb;
    a[0][k0][m4] = next_a;
    b[0][k0][m4] = next_b;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    for (int k = 0; k < n; k += 8) {
        const int now = k / 8 & 1;
        if (k + 8 < n) {
            pa += 2 * (size_t)n, pb += 2 * (size_t)n;
            next_a = *pa, next_b = *pb;
        }
#pragma unroll
        for (int kk = 0; kk < 8; kk++) {
            const float4 a0 = a[now][kk][ty], a1 = a[now][kk][16 + ty], b0 = b[now][kk][tx], b1 = b[now][kk][16 + tx];
            const float va[8] = { a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w };
            const float vb[8] = { b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w };
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++) sum[i][j] = __builtin_fmaf(va[i], vb[j], sum[i][j]);
        }
        if (k + 8 < n) {
            a[!now][k0][m4] = next_a;
            b[!now][k0][m4] = next_b;
        }
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j += 4)
            *(__global float4 *)(C + (size_t)(row + i % 4 + 4 * ty + 64 * (i / 4)) * n + column + 4 * tx + 16 * j) =
                (float4)(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}
