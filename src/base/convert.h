/* convert.h: half and bfloat16 to and from f32. Rounds to nearest even, keeps denormals and NaN. */
#ifndef RMCP_BASE_CONVERT_H
#define RMCP_BASE_CONVERT_H

#include "rmcp.h"

#include <string.h>

static inline float rmcp_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t rmcp_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float rmcp_float_of_bf16(uint16_t b)
{
    return rmcp_float_of_bits((uint32_t)b << 16);
}

static inline uint16_t rmcp_bf16_of_float(float value)
{
    uint32_t bits = rmcp_bits_of_float(value);
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    uint32_t quiet = (bits >> 16) | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/* Written without branches, so that loops over it vectorise. */
static inline float rmcp_float_of_f16(uint16_t h)
{
    /* The exponent is re-biased by a product, which is exact also for denormals. */
    float scaled = rmcp_float_of_bits((uint32_t)(h & 0x7fffu) << 13) * 0x1p112f;
    uint32_t bits = rmcp_bits_of_float(scaled);
    bits |= scaled >= 65536.0f ? 0x7f800000u : 0u; /* Inf and NaN */
    return rmcp_float_of_bits(bits | (uint32_t)(h & 0x8000u) << 16);
}

/* Masks in place of choices: compilers make vector code of that. */
static inline uint16_t rmcp_f16_of_float(float value)
{
    const uint32_t bits = rmcp_bits_of_float(value), magnitude = bits & 0x7fffffffu;
    const uint32_t small = 0u - ((int32_t)magnitude < 113 << 23);  /* below 2^-14   */
    const uint32_t large = 0u - ((int32_t)magnitude > 0x477fefff); /* rounds to Inf */
    const uint32_t nan = 0u - ((int32_t)magnitude > 0x7f800000);
    const uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
    /* Adding 0.5 lets the adder round at the last denormal bit. */
    const uint32_t denormal =
        rmcp_bits_of_float(rmcp_float_of_bits(magnitude) + 0.5f) - (126u << 23);
    const uint32_t payload = 0x200u | (magnitude >> 13 & 0x1ffu);
    const uint32_t result =
        (denormal & small) | (normal & ~(small | large)) | (0x7c00u & large) | (payload & nan);
    return (uint16_t)(result | (bits >> 16 & 0x8000u));
}

/* Element `index` of an array of `type`. */
static inline float rmcp_load(const void *data, rmcp_type type, int64_t index)
{
    if (type == RMCP_F32) return ((const float *)data)[index];
    uint16_t half = ((const uint16_t *)data)[index];
    return type == RMCP_F16 ? rmcp_float_of_f16(half) : rmcp_float_of_bf16(half);
}

static inline void rmcp_store(void *data, rmcp_type type, int64_t index, float value)
{
    if (type == RMCP_F32)
        ((float *)data)[index] = value;
    else
        ((uint16_t *)data)[index] =
            type == RMCP_F16 ? rmcp_f16_of_float(value) : rmcp_bf16_of_float(value);
}

/* The same with the integer types; of i64 only what a double holds. */
static inline double rmcp_load_any(const void *data, rmcp_type type, int64_t index)
{
    switch (type) {
    case RMCP_I32: return ((const int32_t *)data)[index];
    case RMCP_I64: return (double)((const int64_t *)data)[index];
    case RMCP_U8: return ((const uint8_t *)data)[index];
    case RMCP_U16: return ((const uint16_t *)data)[index];
    default: return (double)rmcp_load(data, type, index);
    }
}

static inline void rmcp_store_any(void *data, rmcp_type type, int64_t index, double value)
{
    switch (type) {
    case RMCP_I32: ((int32_t *)data)[index] = (int32_t)value; break;
    case RMCP_I64: ((int64_t *)data)[index] = (int64_t)value; break;
    case RMCP_U8: ((uint8_t *)data)[index] = (uint8_t)value; break;
    case RMCP_U16: ((uint16_t *)data)[index] = (uint16_t)value; break;
    default: rmcp_store(data, type, index, (float)value);
    }
}

/* Whole arrays, on `threads` threads. */
void rmcp_convert_to_float(float *target, const void *source, rmcp_type type, int64_t n,
                           unsigned threads);
void rmcp_convert_from_float(void *target, const float *source, rmcp_type type, int64_t n,
                             unsigned threads);

#endif
