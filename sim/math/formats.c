/* formats.c: elements of typed buffers and of images, by the format numbers of gfx10. */
#include <math.h>
#include <string.h>

#include "sim/math/formats.h"

/* How a component is stored; the names are those of the instruction set. EXPONENT: three mantissas
 * that share the exponent behind them. */
enum number { UNORM, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT, SRGB, EXPONENT };

struct format {
    uint8_t n, number;
    uint8_t bits[4]; /* of each component, the first in the lowest bits of memory */
};

/* Others have n = 0: those that are compressed or for video. Images alone have those from 128 on. A
 * name begins with the highest bits: 10_11_11 has 10 of them for its last component. */
static struct format find(unsigned format)
{
    static const struct {
        uint8_t first, n, last; /* the number of the first and behind the last in this line */
        uint8_t bits[4];
        uint8_t number; /* of the first: those that follow are counted up from it */
    } table[] = {
        { 1, 1, 7, { 8 }, UNORM },
        { 7, 1, 14, { 16 }, UNORM },
        { 14, 2, 20, { 8, 8 }, UNORM },
        { 20, 1, 23, { 32 }, UINT },
        { 23, 2, 30, { 16, 16 }, UNORM },
        { 30, 3, 37, { 11, 11, 10 }, UNORM },
        { 37, 3, 44, { 10, 11, 11 }, UNORM },
        { 44, 4, 50, { 2, 10, 10, 10 }, UNORM },
        { 50, 4, 56, { 10, 10, 10, 2 }, UNORM },
        { 56, 4, 62, { 8, 8, 8, 8 }, UNORM },
        { 62, 2, 65, { 32, 32 }, UINT },
        { 65, 4, 72, { 16, 16, 16, 16 }, UNORM },
        { 72, 3, 75, { 32, 32, 32 }, UINT },
        { 75, 4, 78, { 32, 32, 32, 32 }, UINT },
        { 128, 1, 129, { 8 }, SRGB },
        { 129, 2, 130, { 8, 8 }, SRGB },
        { 130, 4, 131, { 8, 8, 8, 8 }, SRGB },
        { 132, 3, 133, { 9, 9, 9, 5 }, EXPONENT },
        { 133, 3, 134, { 5, 6, 5 }, UNORM },
        { 134, 4, 135, { 5, 5, 5, 1 }, UNORM },
        { 135, 4, 136, { 1, 5, 5, 5 }, UNORM },
        { 136, 4, 137, { 4, 4, 4, 4 }, UNORM },
        { 137, 2, 138, { 4, 4 }, UNORM },
        { 141, 2, 142, { 24, 8 }, UNORM },
        { 142, 2, 143, { 24, 8 }, UINT },
        { 143, 2, 144, { 8, 24 }, UNORM },
        { 144, 2, 145, { 8, 24 }, UINT },
    };
    struct format f = { 0 };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (format < table[i].first || format >= table[i].last) continue;
        f.n = table[i].n;
        f.number = (uint8_t)(table[i].number + format - table[i].first);
        memcpy(f.bits, table[i].bits, sizeof f.bits);
    }
    return f;
}

static unsigned bits_before(const struct format *f, unsigned component)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < component; i++) bits += f->bits[i];
    return bits;
}

unsigned format_bytes(unsigned format)
{
    struct format f = find(format);
    return bits_before(&f, f.number == EXPONENT ? 4 : f.n) / 8;
}

unsigned format_components(unsigned format)
{
    return find(format).n;
}

bool format_is_integer(unsigned format)
{
    const struct format f = find(format);
    return f.number == UINT || f.number == SINT;
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

/* Floats of 10 and 11 bits have no sign, 5 bits of exponent, and are else as halves. */
static uint32_t small_to_float(uint32_t raw, unsigned bits)
{
    return half_to_float(raw << (15 - bits));
}

/* Rounded toward zero; what is negative becomes 0. */
static uint32_t float_to_small(uint32_t x, unsigned bits)
{
    const uint32_t top = 31u << (bits - 5), e = x >> 23 & 255;
    if (e == 255 && x & 0x7fffff) return top | 1;
    if (x >> 31) return 0;
    if (e == 255) return top;
    if (e >= 143) return top - 1;
    if (e < 113) return (uint32_t)(bits_float(x) * (bits == 11 ? 0x1p20f : 0x1p19f));
    return ((e - 112) << 23 | (x & 0x7fffff)) >> (28 - bits);
}

static float from_srgb(float x)
{
    return x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f);
}

static float to_srgb(float x)
{
    return x <= 0.0031308f ? x * 12.92f : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
}

/* ---- an element ---- */

/* Components of less than 32 bits lie in one dword of the element. */
static uint32_t take_bits(const uint8_t *from, unsigned first, unsigned n)
{
    uint32_t word = 0;
    const unsigned bytes = first % 32 + n > 16 ? 4 : first % 32 + n > 8 ? 2 : 1;
    memcpy(&word, from + first / 32 * 4, bytes);
    word >>= first % 32;
    return n < 32 ? word & ((1u << n) - 1) : word;
}

static void put_bits(uint8_t *to, unsigned first, unsigned n, uint32_t value)
{
    const unsigned bytes = first % 32 + n > 16 ? 4 : first % 32 + n > 8 ? 2 : 1;
    const uint32_t mask = n < 32 ? (1u << n) - 1 : UINT32_MAX;
    uint32_t word = 0;
    memcpy(&word, to + first / 32 * 4, bytes);
    word = (word & ~(mask << first % 32)) | (value & mask) << first % 32;
    memcpy(to + first / 32 * 4, &word, bytes);
}

void format_unpack(unsigned format, const uint8_t *from, uint32_t to[4])
{
    const struct format f = find(format);
    to[0] = to[1] = to[2] = 0;
    to[3] = f.number == UINT || f.number == SINT ? 1 : 0x3f800000; /* alpha that is not stored */
    const float scale = f.number == EXPONENT ? ldexpf(1, (int)take_bits(from, 27, 5) - 24) : 1;
    for (unsigned i = 0; i < f.n; i++) {
        const unsigned bits = f.bits[i];
        const uint32_t raw = take_bits(from, bits_before(&f, i), bits);
        const uint32_t most = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
        const int32_t value = (int32_t)(raw << (32 - bits)) >> (32 - bits);
        switch (f.number) {
        case UNORM: to[i] = float_bits((float)raw / (float)most); break;
        case SNORM: {
            float x = (float)value / (float)(most / 2);
            to[i] = float_bits(x < -1 ? -1 : x);
            break;
        }
        case USCALED: to[i] = float_bits((float)raw); break;
        case SSCALED: to[i] = float_bits((float)value); break;
        case SINT: to[i] = (uint32_t)value; break;
        case FLOAT:
            to[i] = bits == 32 ? raw : bits == 16 ? half_to_float(raw) : small_to_float(raw, bits);
            break;
        case SRGB: {
            float x = (float)raw / (float)most;
            to[i] = float_bits(i < 3 ? from_srgb(x) : x);
            break;
        }
        case EXPONENT: to[i] = float_bits((float)raw * scale); break;
        default: to[i] = raw; break;
        }
    }
}

static float clamped(uint32_t bits, float least, float most)
{
    float x = bits_float(bits);
    if (!(x >= least)) return x < least ? least : 0; /* NaN becomes 0 */
    return x > most ? most : x;
}

/* Integers that do not fit become the nearest that does. */
static uint32_t clamped_int(uint32_t value, unsigned bits, bool is_signed)
{
    const int32_t most = (int32_t)((UINT64_C(1) << (bits - 1)) - 1), x = (int32_t)value;
    if (is_signed) return (uint32_t)(x > most ? most : x < -most - 1 ? -most - 1 : x);
    const uint32_t top = (uint32_t)((UINT64_C(1) << bits) - 1);
    return value > top ? top : value;
}

/* Three components in 9 bits each, by the exponent that the largest needs. */
static void pack_exponent(const uint32_t from[4], uint8_t *to)
{
    float x[3], largest = 0;
    for (unsigned i = 0; i < 3; i++) {
        x[i] = clamped(from[i], 0, 65408);
        if (x[i] > largest) largest = x[i];
    }
    int e = largest > 0 ? ilogbf(largest) + 16 : 0;
    if (e < 0) e = 0;
    if (rintf(largest * ldexpf(1, 24 - e)) >= 512) e++;
    for (unsigned i = 0; i < 3; i++)
        put_bits(to, 9 * i, 9, (uint32_t)rintf(x[i] * ldexpf(1, 24 - e)));
    put_bits(to, 27, 5, (uint32_t)e);
}

static uint32_t rounded(float x)
{
    return (uint32_t)(int32_t)(x < 0 ? x - 0.5f : x + 0.5f);
}

void format_pack(unsigned format, const uint32_t from[4], uint8_t *to)
{
    const struct format f = find(format);
    if (f.number == EXPONENT) {
        pack_exponent(from, to);
        return;
    }
    for (unsigned i = 0; i < f.n; i++) {
        const unsigned bits = f.bits[i];
        const uint32_t most = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
        const float top = (float)most, half = (float)(most / 2);
        uint32_t raw = from[i];
        switch (f.number) {
        case UNORM: raw = (uint32_t)(clamped(raw, 0, 1) * top + 0.5f); break;
        case SNORM: raw = rounded(clamped(raw, -1, 1) * half); break;
        case USCALED: raw = (uint32_t)(clamped(raw, 0, top) + 0.5f); break;
        case SSCALED: raw = rounded(clamped(raw, -half - 1, half)); break;
        case FLOAT:
            if (bits < 32) raw = bits == 16 ? float_to_half(raw) : float_to_small(raw, bits);
            break;
        case SRGB: {
            float x = clamped(raw, 0, 1);
            raw = (uint32_t)((i < 3 ? to_srgb(x) : x) * top + 0.5f);
            break;
        }
        default: raw = clamped_int(raw, bits, f.number == SINT); break;
        }
        put_bits(to, bits_before(&f, i), bits, raw);
    }
}

uint32_t format_of_half(uint32_t half)
{
    return half_to_float(half);
}

uint32_t format_to_half(uint32_t bits)
{
    return float_to_half(bits);
}

void format_select(const uint8_t select[4], bool integer, uint32_t c[4])
{
    const uint32_t old[4] = { c[0], c[1], c[2], c[3] };
    for (unsigned i = 0; i < 4; i++)
        c[i] = select[i] >= 4 ? old[select[i] & 3] : select[i] == 1 ? integer ? 1 : 0x3f800000 : 0;
}

void format_unselect(const uint8_t select[4], uint32_t c[4])
{
    const uint32_t old[4] = { c[0], c[1], c[2], c[3] };
    memset(c, 0, sizeof old);
    for (unsigned i = 4; i-- > 0;)
        if (select[i] >= 4) c[select[i] & 3] = old[i];
}
