/* formats.c: elements of typed buffers, by the format numbers of gfx10. */
#include <string.h>

#include "sim/math/formats.h"

/* How a component is stored; the names are those of the instruction set. */
enum number { UNORM, SNORM, UINT, SINT, FLOAT };

struct format {
    uint8_t n, bits, number;
};

/* Formats whose components all have 8, 16 or 32 bits; others have n = 0. */
static struct format find(unsigned format)
{
    static const struct {
        uint8_t first, n, bits;
        const char *numbers; /* what the numbers from `first` on stand for; '-': not modelled */
    } table[] = {
        { 1, 1, 8, "us--UI" },    /* 8: unorm snorm uscaled sscaled uint sint  */
        { 7, 1, 16, "us--UIF" },  /* 16                                       */
        { 14, 2, 8, "us--UI" },   /* 8_8                                       */
        { 20, 1, 32, "UIF" },     /* 32                                        */
        { 23, 2, 16, "us--UIF" }, /* 16_16                                   */
        { 56, 4, 8, "us--UI" },   /* 8_8_8_8                                   */
        { 62, 2, 32, "UIF" },     /* 32_32                                     */
        { 65, 4, 16, "us--UIF" }, /* 16_16_16_16                             */
        { 72, 3, 32, "UIF" },     /* 32_32_32                                  */
        { 75, 4, 32, "UIF" },     /* 32_32_32_32                               */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t length = strlen(table[i].numbers);
        if (format < table[i].first || format >= table[i].first + length) continue;
        struct format f = { .n = table[i].n, .bits = table[i].bits };
        switch (table[i].numbers[format - table[i].first]) {
        case 'u': f.number = UNORM; break;
        case 's': f.number = SNORM; break;
        case 'U': f.number = UINT; break;
        case 'I': f.number = SINT; break;
        case 'F': f.number = FLOAT; break;
        default: f.n = 0; break;
        }
        return f;
    }
    return (struct format){ 0, 0, 0 };
}

unsigned format_bytes(unsigned format)
{
    struct format f = find(format);
    return f.n * f.bits / 8u;
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t half_to_float(uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
    if (e == 31) return sign | 0x7f800000 | m << 13;
    if (e) return sign | (e + 112) << 23 | m << 13;
    return sign | float_bits((float)m * 0x1p-24f);
}

static uint32_t float_to_half(uint32_t x)
{
    uint32_t sign = x >> 16 & 0x8000, e = x >> 23 & 255, m = x & 0x7fffff;
    if (e == 255) return sign | 0x7c00 | (m ? 0x200 | m >> 13 : 0);
    float magnitude = bits_float(x & 0x7fffffff);
    if (magnitude >= 65520.0f) return sign | 0x7c00;
    if (magnitude < 0x1p-14f) { /* denormal: adding 2^-1 leaves the rounded digits at the end */
        return sign | (float_bits(magnitude + 0.5f) - float_bits(0.5f));
    }
    uint32_t odd = m >> 13 & 1;
    return sign | (((e - 112) << 23 | m) + 0xfff + odd) >> 13;
}

void format_unpack(unsigned format, const uint8_t *from, uint32_t to[4])
{
    const struct format f = find(format);
    to[0] = to[1] = to[2] = 0;
    to[3] = f.number == UINT || f.number == SINT ? 1 : 0x3f800000; /* alpha that is not stored */
    for (unsigned i = 0; i < f.n; i++) {
        uint32_t raw = 0, most = f.bits == 32 ? UINT32_MAX : (1u << f.bits) - 1;
        memcpy(&raw, from + (size_t)i * f.bits / 8, f.bits / 8);
        int32_t value = f.bits == 8 ? (int8_t)raw : f.bits == 16 ? (int16_t)raw : (int32_t)raw;
        switch (f.number) {
        case UNORM: to[i] = float_bits((float)raw / (float)most); break;
        case SNORM: {
            float x = (float)value / (float)(most / 2);
            to[i] = float_bits(x < -1 ? -1 : x);
            break;
        }
        case SINT: to[i] = (uint32_t)value; break;
        case FLOAT: to[i] = f.bits == 16 ? half_to_float(raw) : raw; break;
        default: to[i] = raw; break;
        }
    }
}

static float clamped(uint32_t bits, float least)
{
    float x = bits_float(bits);
    if (!(x >= least)) return x < least ? least : 0; /* NaN becomes 0 */
    return x > 1 ? 1 : x;
}

void format_pack(unsigned format, const uint32_t from[4], uint8_t *to)
{
    const struct format f = find(format);
    for (unsigned i = 0; i < f.n; i++) {
        uint32_t most = f.bits == 32 ? UINT32_MAX : (1u << f.bits) - 1, raw = from[i];
        if (f.number == UNORM)
            raw = (uint32_t)(clamped(raw, 0) * (float)most + 0.5f);
        else if (f.number == SNORM) {
            float x = clamped(raw, -1) * (float)(most / 2);
            raw = (uint32_t)(int32_t)(x < 0 ? x - 0.5f : x + 0.5f);
        } else if (f.number == FLOAT && f.bits == 16)
            raw = float_to_half(raw);
        memcpy(to + (size_t)i * f.bits / 8, &raw, f.bits / 8);
    }
}
