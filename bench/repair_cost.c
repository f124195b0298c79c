/* repair_cost.c: ten kernels in the manner of rocPRIM, ggml and matrix libraries, to be compiled
 * for gfx1030 and for gfx1010 (bench/repair_cost.py).
 *
 * All take (out, in, n): words, in workgroups of 64, one element or row of 64 a work-item. */
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
#define KERNEL __attribute__((amdgpu_kernel))
#define KEPT __attribute__((noinline))

typedef unsigned u32;
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x2 __attribute__((ext_vector_type(2)));

enum { BLOCK = 64 };

#define LANE ((u32)__builtin_amdgcn_workitem_id_x())
#define ITEM ((u32)__builtin_amdgcn_workgroup_id_x() * BLOCK + LANE)

static LOCAL float reals[BLOCK * 4] __attribute__((loader_uninitialized));
static LOCAL u32 words[256] __attribute__((loader_uninitialized));
static LOCAL f32x4 quads[BLOCK] __attribute__((loader_uninitialized));

static void meet(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

static float real(u32 word)
{
    return (float)(int)(word & 1023) * 0.015625f - 8.0f;
}

static u32 bits(float x)
{
    union {
        float f;
        u32 u;
    } both = { x };
    return both.u;
}

/* Four products of bytes and a sum, by one instruction where there is one. */
static int dot4(u32 a, u32 b, int c)
{
#ifdef __gfx1030__
    return __builtin_amdgcn_sdot4((int)a, (int)b, c, 0);
#else
    for (int i = 0; i < 32; i += 8) c += (signed char)(a >> i) * (signed char)(b >> i);
    return c;
#endif
}

KERNEL void reduce(GLOBAL u32 *out, GLOBAL const u32 *in, u32 n)
{
    float sum = 0;
    for (u32 i = ITEM; i < n; i += 4 * BLOCK) sum += real(in[i]);
    reals[LANE] = sum;
    meet();
    for (u32 half = BLOCK / 2; half; half /= 2) {
        if (LANE < half) reals[LANE] += reals[LANE + half];
        meet();
    }
    if (LANE == 0) out[ITEM / BLOCK] = bits(reals[0]);
}

KERNEL void scan(GLOBAL u32 *out, GLOBAL const u32 *in, u32 n)
{
    u32 value = ITEM < n ? in[ITEM] & 255 : 0;
    words[LANE] = value;
    meet();
    for (u32 step = 1; step < BLOCK; step *= 2) {
        u32 left = LANE >= step ? words[LANE - step] : 0;
        meet();
        words[LANE] = value += left;
        meet();
    }
    if (ITEM < n) out[ITEM] = value;
}

KERNEL void histogram(GLOBAL u32 *out, GLOBAL const u32 *in, u32 n)
{
    for (u32 i = LANE; i < 256; i += BLOCK) words[i] = 0;
    meet();
    for (u32 i = ITEM; i < n; i += 4 * BLOCK)
        __atomic_fetch_add(&words[in[i] >> 7 & 255], 1, __ATOMIC_RELAXED);
    meet();
    for (u32 i = LANE; i < 256; i += BLOCK)
        if (words[i]) __atomic_fetch_add(&out[i], words[i], __ATOMIC_RELAXED);
}

KERNEL void sort(GLOBAL u32 *out, GLOBAL const u32 *in, u32 n)
{
    words[LANE] = ITEM < n ? in[ITEM] : ~0u;
    meet();
    for (u32 k = 2; k <= BLOCK; k *= 2)
        for (u32 j = k / 2; j; j /= 2) {
            u32 other = LANE ^ j, a = words[LANE], b = words[other];
            meet();
            if (other > LANE && (a > b) == !(LANE & k)) {
                words[LANE] = b;
                words[other] = a;
            }
            meet();
        }
    if (ITEM < n) out[ITEM] = words[LANE];
}

KERNEL void product_q8(GLOBAL u32 *out, GLOBAL const u32 *in, u32 n)
{
    float sum = 0;
    for (u32 block = 0; block < 8; block++) {
        int dot = 0;
        for (u32 k = 0; k < 8; k++)
            dot = dot4(in[(ITEM * 8 + block * 64 + k) % n], in[(block * 8 + k) % n], dot);
        sum += (float)dot * real(in[(ITEM + block) % n]);
    }
    out[ITEM] = bits(sum);
}

KERNEL void product_f16(GLOBAL u32 *out, GLOBAL const u32 *in, u32 n)
{
    float sum = 0;
    for (u32 k = 0; k < 64; k++) {
        u32 a = in[(ITEM * 64 + k) % n], b = in[k % n];
        f16x2 x = { (_Float16)real(a), (_Float16)real(a >> 10) };
        f16x2 y = { (_Float16)real(b), (_Float16)real(b >> 10) };
        sum += (float)(x.x * y.x) + (float)(x.y * y.y);
    }
    out[ITEM] = bits(sum);
}

KERNEL void soft_max(GLOBAL u32 *out, GLOBAL const u32 *in, u32 n)
{
    float most = -1e30f, sum = 0;
    for (u32 k = 0; k < 64; k++) {
        float x = real(in[(ITEM * 64 + k) % n]);
        if (x > most) {
            sum *= __builtin_exp2f(most - x);
            most = x;
        }
        sum += __builtin_exp2f(x - most);
    }
    out[ITEM] = bits(sum);
}

KERNEL void matrix_tile(GLOBAL u32 *out, GLOBAL const u32 *in, u32 n)
{
    f32x4 sum = { 0, 0, 0, 0 };
    for (u32 tile = 0; tile < 8; tile++) {
        u32 at = tile * 256 + LANE * 4;
        quads[LANE] = (f32x4){ real(in[at % n]), real(in[(at + 1) % n]), real(in[(at + 2) % n]),
                               real(in[(at + 3) % n]) };
        meet();
        for (u32 k = 0; k < BLOCK; k++) sum += quads[k] * quads[(k + LANE) % BLOCK].x;
        meet();
    }
    out[ITEM] = bits(sum.x + sum.y + sum.z + sum.w);
}

/* Generic pointers to a structure: FLAT accesses with offsets. */
struct node {
    u32 key, left, right, value;
};

KEPT static u32 visit(const struct node *nodes, u32 key, u32 n)
{
    u32 at = key % n, sum = 0;
    for (u32 i = 0; i < 12; i++) {
        const struct node *node = &nodes[at];
        sum += node->value;
        at = (node->key < key ? node->left : node->right) % n;
    }
    return sum;
}

KERNEL void tree(GLOBAL u32 *out, GLOBAL const u32 *in, u32 n)
{
    out[ITEM] = visit((const struct node *)in, in[ITEM % n], n / 4);
}

KERNEL void branches(GLOBAL u32 *out, GLOBAL const u32 *in, u32 n)
{
    u32 x = in[ITEM % n], steps = 0;
    while (x > 1 && steps < 100) {
        if (x & 1)
            x = x * 3 + 1;
        else if (x & 2)
            x >>= 1;
        else
            x >>= 2;
        if ((steps & 15) == 7) x ^= in[(x + steps) % n] & 1;
        steps++;
    }
    out[ITEM] = steps;
}
