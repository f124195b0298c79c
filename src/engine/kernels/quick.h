/* quick.h: exponentials and what is made of them where there is one for each element and arithmetic
 * takes as long as memory: as in functions.h, without what other arguments need. Errors are in
 * units of 2^-24 of the value. NaN stays NaN. */
#ifndef RMCP_KERNEL_QUICK_H
#define RMCP_KERNEL_QUICK_H

/* What the hardware has for 2^x, 0 below the normal numbers; 4 units (2^-22, PTX ISA; a card of
 * AMD's 2). */
#if defined(BARE) && defined(__AMDGCN__)
#define HARDWARE_EXP2(x) __builtin_amdgcn_exp2f(x)
#elif defined(BARE) && defined(__NVPTX__)
#define HARDWARE_EXP2(x) __nvvm_ex2_approx_ftz_f(x)
#endif

/* e^x for x <= 0; 0 below the normal numbers; 3 units. In 16 bits: for any x; 5 units and 2 for
 * each that |x| is large. */
INLINE float exp_down(float x)
{
#if TYPE != 0 && defined(HARDWARE_EXP2)
    return HARDWARE_EXP2(x * 0x1.715476p+0f);
#else
    const float shifted = x * 0x1.715476p+0f + 12582912.0f, k = shifted - 12582912.0f;
    float r = k * -0x1.62e400p-1f + x;
    r = k * -0x1.7f7d1cp-20f + r;
    float p = 0x1.6d4942p-10f * r + 0x1.121072p-7f;
    p = p * r + 0x1.5554e4p-5f;
    p = p * r + 0x1.5554d8p-3f;
    p = p * r + 0.5f;
    p = (p * r * r + r) + 1.0f;
    const float e = p * as_float((as_uint(shifted) + 127) << 23); /* k is in the lowest bits */
    return x < -87.3f ? 0.0f : e;                                 /* whatever became of x there */
#endif
}

/* The same in all types within 6 units, by half as many instructions: 2^k 2^f with what the
 * hardware has for the second. */
INLINE float exp_term(float x)
{
#if TYPE == 0 && defined(HARDWARE_EXP2)
    const float shifted = x * 0x1.715476p+0f + 12582912.0f, k = shifted - 12582912.0f;
    const float f = x * 0x1.4ae0c0p-26f + (x * 0x1.715476p+0f - k);
    const float e = HARDWARE_EXP2(f) * as_float((as_uint(shifted) + 127) << 23);
    return x < -87.0f ? 0.0f : e;
#else
    return exp_down(x);
#endif
}

/* 1 / x for x from 1 on; 2 units, and 0 for 2^126 and more. */
INLINE float inverse_of(float x)
{
#if defined(BARE) && defined(__AMDGCN__)
    return __builtin_amdgcn_rcpf(x);
#elif defined(BARE) && defined(__NVPTX__)
    return __nvvm_rcp_approx_ftz_f(x);
#else
    return 1.0f / x;
#endif
}

/* 1 / (1 + e^-x); 12 units, in 16 bits 2 more for each that |x| is large. */
INLINE float quick_sigmoid(float x)
{
#if TYPE != 0 && defined(HARDWARE_EXP2)
    return inverse_of(1.0f + exp_down(-x));
#else
    const float e = exp_down(x < 0 ? x : -x), r = inverse_of(1.0f + e);
    return x < 0 ? e * r : r;
#endif
}

/* 32 units: its series, or (1 - e) / (1 + e) with e = e^-2|x|. */
INLINE float quick_tanh(float x)
{
#if TYPE != 0 && defined(HARDWARE_EXP2)
    const float a = x < 0 ? -x : x, z = x * x, e = HARDWARE_EXP2(x * 0x1.715476p+1f);
    const float p = (z * (-17 / 315.0f) + 2 / 15.0f) * z + -1 / 3.0f;
    return a < 0.25f ? p * z * x + x : 1.0f - 2.0f * inverse_of(1.0f + e);
#else
    const float a = x < 0 ? -x : x, z = x * x, e = exp_down(-2 * a);
    float p = z * -0x1.226e36p-7f + 0x1.664f48p-6f;
    p = p * z + -0x1.ba1ba2p-5f;
    p = p * z + 0x1.111112p-3f;
    p = p * z + -0x1.555556p-2f;
    const float t = (1.0f - e) * inverse_of(1.0f + e), far = x < 0 ? -t : t;
    return a < 0.35f ? p * z * x + x : far;
#endif
}

/* e^x - 1 for x <= 0; 12 units, in 16 bits 48. */
INLINE float quick_expm1(float x)
{
#if TYPE != 0 && defined(HARDWARE_EXP2)
    const float p = (x * (1 / 24.0f) + 1 / 6.0f) * x + 0.5f, e = exp_down(x);
    return x > -0.125f ? p * x * x + x : e - 1.0f;
#else
    float p = x * (1 / 5040.0f) + 1 / 720.0f;
    p = p * x + 1 / 120.0f;
    p = p * x + 1 / 24.0f;
    p = p * x + 1 / 6.0f;
    p = p * x + 0.5f;
    const float e = exp_down(x);
    return x > -0.35f ? p * x * x + x : e - 1.0f;
#endif
}

#endif
