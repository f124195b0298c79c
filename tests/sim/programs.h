/* programs.h: the operations of generated programs, the same text for the GPU and for the host.
 *
 * Each is defined for every input: shifts are masked, divisors are not zero, conversions stay in
 * range, signed results wrap. What IEEE leaves open (the bits of a NaN, which zero fmin returns) is
 * decided here, so that two correct machines give the same bits. */
#ifndef SIM_PROGRAMS_H
#define SIM_PROGRAMS_H

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;

#ifdef __OPENCL_C_VERSION__
#define GLOBAL __global
#define LOCAL __local
#define CONSTANT __constant
#define BARRIER()                                                                                  \
    do {                                                                                           \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                     \
        __builtin_amdgcn_s_barrier();                                                              \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");                                     \
    } while (0)
#else
#define GLOBAL
#define LOCAL
#define CONSTANT static const
#endif

#define NOINLINE static __attribute__((noinline, unused))
#define OP static __attribute__((unused))
/* Operations whose operands and result have the same type. */
#define OP_1(T, name, value)                                                                       \
    OP T name(T a)                                                                                 \
    {                                                                                              \
        return value;                                                                              \
    }
#define OP_2(T, name, value)                                                                       \
    OP T name(T a, T b)                                                                            \
    {                                                                                              \
        return value;                                                                              \
    }
#define OP_3(T, name, value)                                                                       \
    OP T name(T a, T b, T c)                                                                       \
    {                                                                                              \
        return value;                                                                              \
    }

enum { N_IN = 1024, N_SLOTS = 8, N_ATOMS = 16 }; /* words; powers of two */

/* A kernel's argument by value, with members of every alignment. */
struct args {
    u32 word;
    u8 byte;
    u64 wide;
    f32 real;
    u16 shorts[3];
};

/* What a phase of a program works on. */
struct ctx {
    GLOBAL const u32 *in; /* N_IN words, never written                              */
    GLOBAL u32 *out;      /* N_SLOTS words of each work-item                        */
    GLOBAL u32 *atom;     /* N_ATOMS words for all, then one u64 of each work-item  */
    u32 lid, gid, group;  /* index in the workgroup, in the grid; the group's index */
    u32 x, y, z;          /* the same index in the workgroup, by dimension          */
    u32 turn;             /* of the loop around the phase                           */
};

/* ---- integers ---- */

/* What clang compiles wrongly for AMDGPU is kept from its sight (19 and, but for the 64-bit
 * divisions, 22): unsigned divisions whose dividend has many equal upper bits are done in the low
 * bits alone; 0 - x becomes -x, which is another zero; -0 as the upper half of a pair of f16
 * becomes 0; an upper word of 64 bits that ~ has made all ones is left undefined. */
#ifdef __OPENCL_C_VERSION__
#define HIDE(a) __asm__("" : "+v"(a))
#else
#define HIDE(a) (void)0
#endif

/* T computed in U, an unsigned type of 32 or 64 bits; B bits. */
#define INTEGER(T, U, B, SIGNED)                                                                   \
    OP_2(T, add_##T, (T)((U)a + (U)b))                                                             \
    OP_2(T, sub_##T, (T)((U)a - (U)b))                                                             \
    OP_2(T, mul_##T, (T)((U)a * (U)b))                                                             \
    OP_3(T, mad_##T, (T)((U)a * (U)b + (U)c))                                                      \
    OP_2(T, and_##T, (T)(a & b))                                                                   \
    OP_2(T, or_##T, (T)(a | b))                                                                    \
    OP_2(T, xor_##T, (T)(a ^ b))                                                                   \
    OP_2(T, andn_##T, (T)(a & ~b))                                                                 \
    OP T not_##T(T a)                                                                              \
    {                                                                                              \
        if (B == 64) HIDE(a);                                                                      \
        return (T)~a;                                                                              \
    }                                                                                              \
    OP_1(T, neg_##T, (T)(0 - (U)a))                                                                \
    OP_2(T, shl_##T, (T)((U)a << (b & (B - 1))))                                                   \
    OP_2(T, shr_##T, (T)(a >> (b & (B - 1))))                                                      \
    OP_2(T, min_##T, a < b ? a : b)                                                                \
    OP_2(T, max_##T, a > b ? a : b)                                                                \
    OP_3(T, clamp_##T, max_##T(min_##T(b, c), min_##T(a, max_##T(b, c))))                          \
    OP T div_##T(T a, T b)                                                                         \
    {                                                                                              \
        if (b == 0) return a;                                                                      \
        if (!SIGNED && B >= 32) HIDE(a);                                                           \
        return SIGNED && b == (T)-1 ? neg_##T(a) : (T)(a / b);                                     \
    }                                                                                              \
    OP T rem_##T(T a, T b)                                                                         \
    {                                                                                              \
        if (b == 0) return a;                                                                      \
        if (!SIGNED && B >= 32) HIDE(a);                                                           \
        return SIGNED && b == (T)-1 ? (T)0 : (T)(a % b);                                           \
    }                                                                                              \
    OP_2(T, addsat_##T, __builtin_elementwise_add_sat(a, b))                                       \
    OP_2(T, subsat_##T, __builtin_elementwise_sub_sat(a, b))                                       \
    OP_3(T, field_##T, (T)((U)a >> (b & (B - 1)) & (((U)1 << (c & (B - 1))) - 1)))
INTEGER(u8, u32, 8, 0)
INTEGER(i8, u32, 8, 1)
INTEGER(u16, u32, 16, 0)
INTEGER(i16, u32, 16, 1)
INTEGER(u32, u32, 32, 0)
INTEGER(i32, u32, 32, 1)
INTEGER(u64, u64, 64, 0)
INTEGER(i64, u64, 64, 1)

#define BITS(T, U, B, L)                                                                           \
    OP_1(T, popcount_##T, (T)__builtin_popcount##L((U)a))                                          \
    OP_1(T, clz_##T, (T)(a ? __builtin_clz##L((U)a) : B))                                          \
    OP_1(T, ctz_##T, (T)(a ? __builtin_ctz##L((U)a) : B))                                          \
    OP_1(T, bitreverse_##T, (T)__builtin_bitreverse##B((U)a))                                      \
    OP_1(T, bswap_##T, (T)__builtin_bswap##B((U)a))                                                \
    OP_2(T, rotate_##T, (T)__builtin_rotateleft##B((U)a, (U)b))
BITS(u32, u32, 32, )
BITS(i32, u32, 32, )
BITS(u64, u64, 64, l)
BITS(i64, u64, 64, l)

OP_2(u32, mulhi_u32, (u32)(((u64)a * b) >> 32))
OP_2(i32, mulhi_i32, (i32)(((i64)a * b) >> 32))
OP_2(u32, mul24_u32, (a & 0xffffff) * (b & 0xffffff))
OP u64 mulwide_u64(u32 a, u32 b)
{
    return (u64)a * b;
}
OP u64 mulhi_u64(u64 a, u64 b)
{
    const u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
    const u64 middle = (al * bl >> 32) + (u32)(ah * bl) + (u32)(al * bh);
    return ah * bh + (ah * bl >> 32) + (al * bh >> 32) + (middle >> 32);
}
OP_2(u32, perm_u32, (a & 0xff00ff) << 8 | (b >> 8 & 0xff00ff))
OP_3(u32, sad_u32, (a > b ? a - b : b - a) + c)

/* Sums of products of the parts of two words: one instruction each where the chip has them. */
#ifdef __gfx1030__
typedef i16 dot_i16x2 __attribute__((ext_vector_type(2)));
typedef u16 dot_u16x2 __attribute__((ext_vector_type(2)));
#define DOT(T, name, BITS, PART, BUILTIN)                                                          \
    OP T name(u32 a, u32 b, T c)                                                                   \
    {                                                                                              \
        return BUILTIN;                                                                            \
    }
#else
#define DOT(T, name, BITS, PART, BUILTIN)                                                          \
    OP T name(u32 a, u32 b, T c)                                                                   \
    {                                                                                              \
        u32 sum = (u32)c;                                                                          \
        for (u32 i = 0; i < 32; i += BITS) sum += (u32)PART(a >> i) * (u32)PART(b >> i);           \
        return (T)sum;                                                                             \
    }
#endif
#define PART_I4(word) ((i32)((word) << 28) >> 28)
#define PART_U4(word) ((word)&15)
DOT(u32, dot2_u32, 16, (u16),
    __builtin_amdgcn_udot2(__builtin_astype(a, dot_u16x2), __builtin_astype(b, dot_u16x2), c, 0))
DOT(i32, dot2_i32, 16, (i16),
    __builtin_amdgcn_sdot2(__builtin_astype(a, dot_i16x2), __builtin_astype(b, dot_i16x2), c, 0))
DOT(u32, dot4_u32, 8, (u8), __builtin_amdgcn_udot4(a, b, c, 0))
DOT(i32, dot4_i32, 8, (i8), __builtin_amdgcn_sdot4((i32)a, (i32)b, c, 0))
DOT(u32, dot8_u32, 4, PART_U4, __builtin_amdgcn_udot8(a, b, c, 0))
DOT(i32, dot8_i32, 4, PART_I4, __builtin_amdgcn_sdot8((i32)a, (i32)b, c, 0))

/* ---- floating point ---- */

union bits32 {
    u32 u;
    f32 f;
};
union bits64 {
    u64 u;
    f64 f;
};
union bits16 {
    u16 u;
    f16 f;
};

/* The host's library has no functions of f16; those of f32 give the same after rounding. */
#ifdef __OPENCL_C_VERSION__
#define HALF(name) OP_1(f16, half_##name, __builtin_##name##f16(a))
#define HALF_2(name) OP_2(f16, half_##name, __builtin_##name##f16(a, b))
#else
#define HALF(name) OP_1(f16, half_##name, (f16)__builtin_##name##f((f32)a))
#define HALF_2(name) OP_2(f16, half_##name, (f16)__builtin_##name##f((f32)a, (f32)b))
#endif
HALF(fabs)
HALF(sqrt)
HALF(floor)
HALF(ceil)
HALF(trunc)
HALF(rint)
HALF_2(fmin)
HALF_2(fmax)
HALF_2(copysign)

#define OP_SUB(T)                                                                                  \
    OP T sub_##T(T a, T b)                                                                         \
    {                                                                                              \
        HIDE(a);                                                                                   \
        return a - b;                                                                              \
    }

/* Any bits as a number: signalling NaN become quiet, since machines differ in who quiets them.
 * Which zero fmin and fmax return is open, so that compilers drop a sum with 0 in front of them;
 * behind them it makes a positive one. */
#define REAL(T, U, UNION, QUIET, INFINITE, LIBRARY, SUFFIX)                                        \
    OP U bits_##T(T a)                                                                             \
    {                                                                                              \
        union UNION v;                                                                             \
        v.f = a;                                                                                   \
        return a != a ? (U)QUIET : v.u;                                                            \
    }                                                                                              \
    OP T from_bits_##T(U a)                                                                        \
    {                                                                                              \
        union UNION v;                                                                             \
        if (sizeof(T) == 2) HIDE(a);                                                               \
        v.u = (a & INFINITE) == INFINITE && (a & (U) ~(U)(INFINITE | (U)1 << (sizeof(U) * 8 - 1))) \
                  ? (U)QUIET                                                                       \
                  : a;                                                                             \
        return v.f;                                                                                \
    }                                                                                              \
    OP_2(T, add_##T, a + b)                                                                        \
    OP_SUB(T)                                                                                      \
    OP_2(T, mul_##T, (a * b))                                                                      \
    OP_2(T, div_##T, a / b)                                                                        \
    OP_1(T, neg_##T, -a)                                                                           \
    OP_1(T, abs_##T, LIBRARY##fabs##SUFFIX(a))                                                     \
    OP_1(T, sqrt_##T, LIBRARY##sqrt##SUFFIX(LIBRARY##fabs##SUFFIX(a)))                             \
    OP_1(T, floor_##T, LIBRARY##floor##SUFFIX(a))                                                  \
    OP_1(T, ceil_##T, LIBRARY##ceil##SUFFIX(a))                                                    \
    OP_1(T, trunc_##T, LIBRARY##trunc##SUFFIX(a))                                                  \
    OP_1(T, rint_##T, LIBRARY##rint##SUFFIX(a))                                                    \
    OP_2(T, min_##T, (LIBRARY##fmin##SUFFIX(a, b) + (T)0))                                         \
    OP_2(T, max_##T, (LIBRARY##fmax##SUFFIX(a, b) + (T)0))                                         \
    OP_1(T, clamp_##T, (LIBRARY##fmin##SUFFIX(LIBRARY##fmax##SUFFIX(a, (T)0), (T)1) + (T)0))       \
    OP_2(T, copysign_##T, b != b ? a : LIBRARY##copysign##SUFFIX(a, b))
REAL(f16, u16, bits16, 0x7e00, 0x7c00, half_, )
REAL(f32, u32, bits32, 0x7fc00000, 0x7f800000, __builtin_, f)
REAL(f64, u64, bits64, 0x7ff8000000000000, 0x7ff0000000000000, __builtin_, )

OP_3(f32, fma_f32, __builtin_fmaf(a, b, c))
OP_3(f64, fma_f64, __builtin_fma(a, b, c))
OP f32 ldexp_f32(f32 a, i32 b)
{
    return __builtin_ldexpf(a, b % 64);
}
OP f64 ldexp_f64(f64 a, i32 b)
{
    return __builtin_ldexp(a, b % 512);
}
/* f16 operands, f32 sum: v_fma_mix_f32. */
OP f32 mix_f32(f16 a, f16 b, f32 c)
{
    return __builtin_fmaf((f32)a, (f32)b, c);
}

OP f16 fma_f16(f16 a, f16 b, f16 c)
{
#ifdef __OPENCL_C_VERSION__
    return __builtin_fmaf16(a, b, c);
#else
    /* In double, rounded to odd, so that the second rounding sees what the first has dropped. */
    const f64 product = (f64)a * (f64)b, addend = (f64)c;
    union bits64 sum = { .f = product + addend };
    if (!(sum.f - sum.f == 0)) return (f16)sum.f;
    const f64 part = sum.f - product;
    const f64 error = (product - (sum.f - part)) + (addend - part);
    if (error != 0 && !(sum.u & 1)) sum.u += (error > 0) == (sum.f > 0) ? 1 : (u64)-1;
    return (f16)sum.f;
#endif
}

/* ---- conversions ---- */

#define TO_INTEGER(F, I, LOW, HIGH)                                                                \
    OP I I##_of_##F(F a)                                                                           \
    {                                                                                              \
        return a > (F)(LOW) && a < (F)(HIGH) ? (I)a : (I)0;                                        \
    }
#define TO_INTEGERS(F)                                                                             \
    TO_INTEGER(F, u8, -1, 256)                                                                     \
    TO_INTEGER(F, i8, -128, 128)                                                                   \
    TO_INTEGER(F, u16, -1, 65536.0)                                                                \
    TO_INTEGER(F, i16, -32768, 32768.0)                                                            \
    TO_INTEGER(F, u32, -1, 0x1p32)                                                                 \
    TO_INTEGER(F, i32, -0x1p31, 0x1p31)                                                            \
    TO_INTEGER(F, u64, -1, 0x1p64)                                                                 \
    TO_INTEGER(F, i64, -0x1p63, 0x1p63)
TO_INTEGERS(f16)
TO_INTEGERS(f32)
TO_INTEGERS(f64)

/* ---- vectors ---- */

#define VECTOR(V, T, N)                                                                            \
    typedef T V __attribute__((ext_vector_type(N)));                                               \
    OP_2(V, add_##V, (a + b))                                                                      \
    OP_2(V, mul_##V, (a * b))
#define REAL_VECTOR(V, T, N)                                                                       \
    VECTOR(V, T, N)                                                                                \
    OP_SUB(V)
#define INTEGER_VECTOR(V, T, N)                                                                    \
    VECTOR(V, T, N)                                                                                \
    OP_2(V, sub_##V, (a - b))                                                                      \
    OP_2(V, and_##V, (a & b))                                                                      \
    OP_2(V, xor_##V, (a ^ b))                                                                      \
    OP_2(V, or_##V, (a | b))                                                                       \
    OP_2(V, shl_##V, (a << (b & (T)(sizeof(T) * 8 - 1))))                                          \
    OP_2(V, shr_##V, (a >> (b & (T)(sizeof(T) * 8 - 1))))                                          \
    OP_2(V, min_##V, __builtin_elementwise_min(a, b))                                              \
    OP_2(V, max_##V, __builtin_elementwise_max(a, b))                                              \
    OP_2(V, addsat_##V, __builtin_elementwise_add_sat(a, b))                                       \
    OP_2(V, less_##V, __builtin_convertvector(a < b, V))
INTEGER_VECTOR(u8x4, u8, 4)
INTEGER_VECTOR(u16x2, u16, 2)
INTEGER_VECTOR(u16x4, u16, 4)
INTEGER_VECTOR(u32x2, u32, 2)
INTEGER_VECTOR(u32x4, u32, 4)
INTEGER_VECTOR(u64x2, u64, 2)
REAL_VECTOR(f16x2, f16, 2)
REAL_VECTOR(f16x4, f16, 4)
REAL_VECTOR(f32x2, f32, 2)
REAL_VECTOR(f32x4, f32, 4)
REAL_VECTOR(f64x2, f64, 2)
OP i16 narrow_i16(i32 a)
{
    return (i16)(a < -32768 ? -32768 : a > 32767 ? 32767 : a);
}

/* ---- other lanes ---- */

#ifdef __OPENCL_C_VERSION__
/* What `value` is in the work-item whose index differs by the bits of `mask`, a constant below 32.
 * All 32 of them must be there. */
#define SWAP_DPP(value, control) __builtin_amdgcn_update_dpp(0u, value, control, 0xf, 0xf, 1)
#define SWAP_1(value, lid) SWAP_DPP(value, 0xb1)   /* quad_perm:[1,0,3,2] */
#define SWAP_2(value, lid) SWAP_DPP(value, 0x4e)   /* quad_perm:[2,3,0,1] */
#define SWAP_3(value, lid) SWAP_DPP(value, 0x1b)   /* quad_perm:[3,2,1,0] */
#define SWAP_7(value, lid) SWAP_DPP(value, 0x141)  /* row_half_mirror     */
#define SWAP_15(value, lid) SWAP_DPP(value, 0x140) /* row_mirror          */
#define SWAP_8(value, lid) SWAP_DPP(value, 0x128)  /* row_ror:8           */
#define SWAP_16(value, lid)                                                                        \
    __builtin_amdgcn_permlanex16(0u, value, 0x76543210u, 0xfedcba98u, false, false)
#define SWAP_5(value, lid) ((u32)__builtin_amdgcn_ds_swizzle((i32)(value), 5 << 10 | 0x1f))
#define SWAP_12(value, lid) ((u32)__builtin_amdgcn_ds_bpermute((i32)((lid) ^ 12) * 4, (i32)(value)))
#define SWAP_31(value, lid) ((u32)__builtin_amdgcn_ds_permute((i32)((lid) ^ 31) * 4, (i32)(value)))
#define SWAP_4(value, lid)                                                                         \
    __builtin_amdgcn_permlane16(0u, value, 0x32107654u, 0xba98fedcu, false, false)
#define SWAP(member, mask) SWAP_##mask(p->member, c->lid)
#else
#define SWAP(member, mask) ((p - c->lid + (c->lid ^ (mask)))->member)
#endif

/* ---- folding everything into one word ---- */

OP u32 mix(u32 hash, u32 word)
{
    hash = (hash ^ word) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}
OP u32 mix64(u32 hash, u64 word)
{
    return mix(mix(hash, (u32)word), (u32)(word >> 32));
}

#endif
