/* pairs.h: elements of 16 bits two at a time, as they lie in a word of memory. */
#ifndef RMCP_KERNEL_PAIRS_H
#define RMCP_KERNEL_PAIRS_H

/* After this nothing is known of x: what was made of it is made again, and takes no registers until
 * then. */
#if defined(BARE) && defined(__AMDGCN__)
#define FORGET(x) __asm__("" : "+v"(x))
#define FORGET_LONG(x) FORGET(x)
#elif defined(BARE) && defined(__NVPTX__)
#define FORGET(x) __asm__("" : "+r"(x))
#define FORGET_LONG(x) __asm__("" : "+l"(x))
#else
#define FORGET(x) ((void)(x))
#define FORGET_LONG(x) FORGET(x)
#endif

/* x is made here and not behind the next branch, to which the conditions that it comes from would
 * have to be carried. */
#if defined(BARE) && defined(__AMDGCN__)
#define MAKE(x) __asm__ volatile("" : "+v"(x))
#elif defined(BARE) && defined(__NVPTX__)
#define MAKE(x) __asm__ volatile("" : "+r"(x))
#else
#define MAKE(x) ((void)(x))
#endif

#if TYPE != 0 && !DRIVER_HALF

INLINE uint pair_of(float a, float b)
{
#if TYPE == 1
    const element2 both = { encode(a), encode(b) };
    return __builtin_astype(both, uint);
#else
    return encode(a) | (uint)encode(b) << 16;
#endif
}

#if TYPE == 2 && defined(BARE)
/* v rounded to the 8 bits of a bf16, to nearest even, with two instructions: the sum of v and 65536
 * v has as many bits more as a float has. Infinities, and numbers whose sum is one, become
 * infinities or NaN; below the normal numbers it truncates. */
INLINE float rounded(float v)
{
    return __builtin_fmaf(v, -65536.0f, v * 65537.0f);
}
#endif

/* 2 n values to n words; they are below 2^110, or NaN. */
INLINE void small_pairs_of(uint *word, const float *v, const uint n)
{
#if TYPE == 2 && defined(BARE)
    UNROLL for (uint i = 0; i < n; i++) word[i] =
        as_uint(rounded(v[2 * i])) >> 16 | (as_uint(rounded(v[2 * i + 1])) & 0xffff0000u);
#else
    UNROLL for (uint i = 0; i < n; i++) word[i] = pair_of(v[2 * i], v[2 * i + 1]);
#endif
}

/* The same of any values. */
INLINE void pairs_of(uint *word, const float *v, const uint n)
{
#if TYPE == 2 && defined(BARE)
    float r[16], odd = 0;
    UNROLL for (uint i = 0; i < 2 * n; i++)
    {
        r[i] = rounded(v[i]);
        odd = __builtin_fmaf(r[i], 0.0f, odd);
    }
    UNROLL for (uint i = 0; i < n; i++) word[i] =
        as_uint(r[2 * i]) >> 16 | (as_uint(r[2 * i + 1]) & 0xffff0000u);
    if (odd == odd) return;
#endif
    UNROLL for (uint i = 0; i < n; i++) word[i] = pair_of(v[2 * i], v[2 * i + 1]);
}

#endif
#endif
