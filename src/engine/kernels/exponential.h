/* exponential.h: e^x, tanh and the sigmoid, written out, so that every device computes the same. */
#ifndef RMCP_KERNEL_EXPONENTIAL_H
#define RMCP_KERNEL_EXPONENTIAL_H

#include "engine/kernels/common.h"

#define FLOATS(name) ((__global float *)ADDRESS(name))
#define CONST_FLOATS(name) ((__global const float *)ADDRESS(name))

/* e^x for |x| <= 88: 2^k e^r with |r| <= ln(2) / 2. */
INLINE float exponential(float x)
{
    const float k = (x * 0x1.715476p+0f + 12582912.0f) - 12582912.0f;
    float r = k * -0x1.62e400p-1f + x;
    r = k * -0x1.7f7d1cp-20f + r;
    float p = 0x1.6d4942p-10f * r + 0x1.121072p-7f;
    p = p * r + 0x1.5554e4p-5f;
    p = p * r + 0x1.5554d8p-3f;
    p = p * r + 0.5f;
    p = (p * r * r + r) + 1.0f;
    return p * as_float((uint)((int)k + 127) << 23);
}

INLINE float sigmoid(float x)
{
    const float bounded = x < -87.0f ? -87.0f : x > 87.0f ? 87.0f : x;
    return 1.0f / (1.0f + exponential(-bounded));
}

INLINE float tanh_of(float x)
{
    const float a = x < 0 ? -x : x, s = x * x;
    if (a < 0.55f) {
        float p = -0x1.ae949ep-8f * s + 0x1.5cc996p-6f;
        p = p * s + -0x1.b99930p-5f;
        p = p * s + 0x1.110fd4p-3f;
        p = p * s + -0x1.555554p-2f;
        return p * s * x + x;
    }
    const float t = 1.0f - 2.0f / (exponential(a > 15.0f ? 30.0f : 2 * a) + 1.0f);
    return x < 0 ? -t : t;
}

#endif
