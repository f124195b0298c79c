/* functions.h: exponential, logarithm and what is made of them, written out: a kernel compiled
 * ahead of time has no library, and every device computes the same. Errors are in units of 2^-24 of
 * the value, with divisions that are off by as much as OpenCL allows (5 of these units). NaN stays
 * NaN. */
#ifndef RMCP_KERNEL_FUNCTIONS_H
#define RMCP_KERNEL_FUNCTIONS_H

/* e^x for any x: 2^k e^r with |r| <= ln(2) / 2; 3 units. */
INLINE float exp_of(float x)
{
    const float bounded = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
    const float k = (bounded * 0x1.715476p+0f + 12582912.0f) - 12582912.0f;
    float r = k * -0x1.62e400p-1f + bounded;
    r = k * -0x1.7f7d1cp-20f + r;
    float p = 0x1.6d4942p-10f * r + 0x1.121072p-7f;
    p = p * r + 0x1.5554e4p-5f;
    p = p * r + 0x1.5554d8p-3f;
    p = p * r + 0.5f;
    p = (p * r * r + r) + 1.0f;
    /* in two steps, since 2^k itself may be too large or too small */
    const int whole = (int)k, part = whole >> 1;
    const float e =
        p * as_float((uint)(part + 127) << 23) * as_float((uint)(whole - part + 127) << 23);
    return x != x ? x : e;
}

/* e^x - 1; 12 units. */
INLINE float expm1_of(float x)
{
    if (x > -0.35f && x < 0.35f) {
        float p = x * (1 / 5040.0f) + 1 / 720.0f;
        p = p * x + 1 / 120.0f;
        p = p * x + 1 / 24.0f;
        p = p * x + 1 / 6.0f;
        p = p * x + 0.5f;
        return p * x * x + x;
    }
    return exp_of(x) - 1.0f;
}

/* ln(x): 2^e m with m between sqrt(1/2) and sqrt(2), and 2 atanh((m - 1) / (m + 1)); 12 units. */
INLINE float log_of(float x)
{
    const float scaled = x < 0x1p-126f ? x * 0x1p+32f : x;
    const int bits = (int)as_uint(scaled), e = (bits - 0x3f3504f3) >> 23;
    const float f = as_float((uint)(bits - (e << 23))) - 1.0f, s = f / (2.0f + f), z = s * s;
    float p = z * (1 / 11.0f) + 1 / 9.0f;
    p = p * z + 1 / 7.0f;
    p = p * z + 1 / 5.0f;
    p = p * z + 1 / 3.0f;
    const float n = (float)(x < 0x1p-126f ? e - 32 : e);
    const float log = n * 0x1.62e400p-1f + (n * 0x1.7f7d1cp-20f + (p * z * (2 * s) + 2 * s));
    if (x > 0 && x < INFINITY) return log;
    return x == 0 ? -INFINITY : x > 0 ? x : NAN;
}

/* ln(1 + x) for 0 <= x <= 1; 12 units. */
INLINE float log1p_of(float x)
{
    const float u = 1.0f + x;
    return log_of(u) + (x - (u - 1.0f)) / u;
}

/* a^b for a > 0; 6 units, and 14 for each that |b ln(a)| is large. */
INLINE float pow_of(float a, float b)
{
    return b == 0 ? 1.0f : exp_of(b * log_of(a));
}

/* 1 / (1 + e^-x); 12 units. */
INLINE float sigmoid_of(float x)
{
    const float e = exp_of(x < 0 ? x : -x);
    return (x < 0 ? e : 1.0f) / (1.0f + e);
}

/* ln(1 + e^x); 16 units. */
INLINE float softplus_of(float x)
{
    const float e = exp_of(x < 0 ? x : -x);
    return (x < 0 ? 0 : x) + log1p_of(e);
}

/* 32 units. */
INLINE float tanh_of(float x)
{
    const float a = x < 0 ? -x : x, e = expm1_of(a > 10.0f ? 20.0f : 2 * a), t = e / (e + 2.0f);
    return x < 0 ? -t : t;
}

/* sqrt(x) to the last bit or so, for x >= 0. */
INLINE float sqrt_of(float x)
{
#if defined(BARE)
    return __builtin_sqrtf(x);
#else
    return sqrt(x);
#endif
}

#endif
