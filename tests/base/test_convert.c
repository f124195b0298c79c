/* test_convert.c: half and bfloat16 against arithmetic that shares nothing with the library's. */
#include "support.h"

#include "base/convert.h"
#include "verify/random.h"

#include <math.h>
#include <stdlib.h>

#ifdef __FLT16_MAX__
__extension__ typedef _Float16 half;

static uint16_t compiler_f16(float value)
{
    half h = (half)value;
    uint16_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}
#endif

/* The value of a finite half, from its definition. */
static double value_of_f16(uint16_t h)
{
    const int exponent = h >> 10 & 31, mantissa = h & 0x3ff;
    const double magnitude =
        exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return h & 0x8000 ? -magnitude : magnitude;
}

static void test_every_f16_to_float_and_back(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const uint16_t h = (uint16_t)bits;
        const float value = rmcp_float_of_f16(h);
        if ((h & 0x7c00) != 0x7c00) {
            assert_true((double)value == value_of_f16(h));
            assert_int_equal(signbit(value) != 0, h >> 15);
            assert_int_equal(rmcp_f16_of_float(value), h);
        } else if ((h & 0x3ff) == 0) {
            assert_true(isinf(value));
            assert_int_equal(signbit(value) != 0, h >> 15);
            assert_int_equal(rmcp_f16_of_float(value), h);
        } else {
            assert_true(isnan(value));
            assert_int_equal(rmcp_f16_of_float(value), h | 0x200); /* quiet, payload kept */
        }
    }
}

static void assert_f16(double value, uint16_t expected)
{
    const uint16_t got = rmcp_f16_of_float((float)value);
    if (got != expected) fail_msg("%a becomes %04x, expected %04x", value, got, expected);
}

/* Between each two neighbours: the middle goes to the even one, anything else to the nearer. */
static void test_every_f16_halfway_point(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        const uint16_t low = (uint16_t)bits, high = (uint16_t)(bits + 1);
        const double above = high == 0x7c00 ? 65536 : value_of_f16(high);
        const float middle = (float)((value_of_f16(low) + above) / 2);
        const uint16_t even = bits & 1 ? high : low;
        for (int sign = 0; sign < 2; sign++) {
            const float factor = sign ? -1 : 1;
            const uint16_t mask = (uint16_t)(sign << 15);
            assert_f16((double)(factor * middle), even | mask);
            assert_f16((double)(factor * nextafterf(middle, 0)), low | mask);
            assert_f16((double)(factor * nextafterf(middle, INFINITY)), high | mask);
        }
    }
}

static void test_f16_edges(void **state)
{
    (void)state;
    assert_f16(0.0, 0);
    assert_f16(-0.0, 0x8000);
    assert_f16(65504, 0x7bff);
    assert_f16(65519.996, 0x7bff);
    assert_f16(65520, 0x7c00);
    assert_f16(3.4e38, 0x7c00);
    assert_f16(-3.4e38, 0xfc00);
    assert_f16((double)INFINITY, 0x7c00);
    assert_f16((double)-INFINITY, 0xfc00);
    assert_f16(0x1p-24, 1);
    assert_f16(0x1p-25, 0);
    assert_f16(0x1.000002p-25, 1);
    assert_f16(0x1p-149, 0);
    assert_f16(-0x1p-149, 0x8000);
    assert_f16(0x1.ff8p-15, 0x03ff);
    assert_f16(0x1.ffbffep-15, 0x03ff);
    assert_f16(0x1.ffcp-15, 0x0400);
    const uint16_t nan = rmcp_f16_of_float(NAN);
    assert_true((nan & 0x7c00) == 0x7c00 && (nan & 0x3ff));
    /* a NaN whose payload lies in the bits that are cut off must not become Inf */
    assert_int_equal(rmcp_f16_of_float(rmcp_float_of_bits(0x7f800001)), 0x7e00);
    assert_int_equal(rmcp_f16_of_float(rmcp_float_of_bits(0xff800001)), 0xfe00);
}

static void test_f16_rounds_as_the_compiler_does(void **state)
{
    (void)state;
#ifdef __FLT16_MAX__
    struct rmcp_random r = { 1 };
    for (int i = 0; i < 3000000; i++) {
        uint32_t bits = (uint32_t)rmcp_random_next(&r);
        /* every second one near the range of halves, where rounding happens */
        if (i & 1) bits = (bits & 0x807fffffu) | (uint32_t)rmcp_random_between(&r, 100, 145) << 23;
        const float value = rmcp_float_of_bits(bits);
        if (isnan(value)) continue;
        const uint16_t got = rmcp_f16_of_float(value), expected = compiler_f16(value);
        if (got != expected)
            fail_msg("%a becomes %04x, expected %04x", (double)value, got, expected);
    }
#else
    skip();
#endif
}

/* Nearest bfloat16 by distances in double, where they are exact. */
static uint16_t nearest_bf16(float value)
{
    const uint32_t bits = rmcp_bits_of_float(value);
    const uint16_t toward_zero = (uint16_t)(bits >> 16), away = (uint16_t)(toward_zero + 1);
    const double magnitude = fabs((double)value);
    const double low = fabs((double)rmcp_float_of_bf16(toward_zero));
    const double high =
        (away & 0x7fff) == 0x7f80 ? 0x1p128 : fabs((double)rmcp_float_of_bf16(away));
    if (magnitude - low != high - magnitude)
        return magnitude - low < high - magnitude ? toward_zero : away;
    return toward_zero & 1 ? away : toward_zero;
}

static void assert_bf16(float value)
{
    const uint16_t got = rmcp_bf16_of_float(value), expected = nearest_bf16(value);
    if (got != expected) fail_msg("%a becomes %04x, expected %04x", (double)value, got, expected);
}

static void test_every_bf16_to_float_and_back(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const uint16_t b = (uint16_t)bits;
        const float value = rmcp_float_of_bf16(b);
        assert_int_equal(rmcp_bits_of_float(value), bits << 16);
        assert_int_equal(rmcp_bf16_of_float(value), isnan(value) ? b | 0x40 : b);
    }
}

static void test_bf16_rounds_to_the_nearest(void **state)
{
    (void)state;
    for (uint32_t high = 0; high < 65536; high++) {
        if ((high & 0x7f80) == 0x7f80) continue;
        static const uint32_t low[] = { 0, 1, 0x7fff, 0x8000, 0x8001, 0xffff };
        for (size_t i = 0; i < SUPPORT_LENGTH(low); i++)
            assert_bf16(rmcp_float_of_bits(high << 16 | low[i]));
    }
    struct rmcp_random r = { 2 };
    for (int i = 0; i < 1000000; i++) {
        const float value = rmcp_float_of_bits((uint32_t)rmcp_random_next(&r));
        if (isfinite(value)) assert_bf16(value);
    }
}

static void test_bf16_edges(void **state)
{
    (void)state;
    assert_int_equal(rmcp_bf16_of_float(-0.0f), 0x8000);
    assert_int_equal(rmcp_bf16_of_float(INFINITY), 0x7f80);
    assert_int_equal(rmcp_bf16_of_float(-INFINITY), 0xff80);
    assert_int_equal(rmcp_bf16_of_float(0x1.fffffep127f), 0x7f80); /* the largest float overflows */
    assert_int_equal(rmcp_bf16_of_float(0x1p-149f), 0);
    assert_int_equal(rmcp_bf16_of_float(0x1p-133f), 1);
    assert_int_equal(rmcp_bf16_of_float(rmcp_float_of_bits(0x7f800001)), 0x7fc0);
    assert_int_equal(rmcp_bf16_of_float(rmcp_float_of_bits(0xffffffff)), 0xffff);
}

/* Long enough for several threads, and an odd length for the tail of a vector loop. */
static void test_arrays_convert_like_single_values(void **state)
{
    (void)state;
    enum { N = 65536 + 37 };
    uint16_t *halves = malloc(N * sizeof *halves), *back = malloc(N * sizeof *back);
    float *floats = malloc(N * sizeof *floats), *copy = malloc(N * sizeof *copy);
    assert_true(halves && back && floats && copy);
    for (int i = 0; i < N; i++) halves[i] = (uint16_t)i;
    for (unsigned threads = 1; threads <= 2; threads++)
        for (int type = RMCP_F16; type <= RMCP_BF16; type++) {
            rmcp_convert_to_float(floats, halves, (rmcp_type)type, N, threads);
            rmcp_convert_from_float(back, floats, (rmcp_type)type, N, threads);
            for (int64_t i = 0; i < N; i++) {
                const float one = rmcp_load(halves, (rmcp_type)type, i);
                assert_int_equal(rmcp_bits_of_float(floats[i]), rmcp_bits_of_float(one));
                uint16_t stored[1];
                rmcp_store(stored, (rmcp_type)type, 0, one);
                assert_int_equal(back[i], stored[0]);
            }
        }
    rmcp_convert_to_float(copy, floats, RMCP_F32, N, 1);
    assert_memory_equal(copy, floats, N * sizeof *copy);
    memset(copy, 0, N * sizeof *copy);
    rmcp_convert_from_float(copy, floats, RMCP_F32, N, 1);
    assert_memory_equal(copy, floats, N * sizeof *copy);
    free(halves), free(back), free(floats), free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_f16_to_float_and_back),
        cmocka_unit_test(test_every_f16_halfway_point),
        cmocka_unit_test(test_f16_edges),
        cmocka_unit_test(test_f16_rounds_as_the_compiler_does),
        cmocka_unit_test(test_every_bf16_to_float_and_back),
        cmocka_unit_test(test_bf16_rounds_to_the_nearest),
        cmocka_unit_test(test_bf16_edges),
        cmocka_unit_test(test_arrays_convert_like_single_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
