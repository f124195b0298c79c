/* copies.c: the packets of the copy queue: copies, fills, writes, atomics. */
#include "driver.h"

#include <string.h>

void copies(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4 * PAGE; i++) from.host[i] = (uint8_t)(i * 7 + i / 256);
    memset(to.host, 0, 4 * PAGE);
    PUT(0x00020000, 0, 0); /* NOP of three words */
    PUT(1, 5000 - 1, 0, ADDRESS(from.va + 3), ADDRESS(to.va + 1));
    drain();
    assert_memory_equal(to.host + 1, from.host + 3, 5000);
    assert_int_equal(to.host[0] | to.host[5001], 0);
    /* A box of 5x3x2 elements of 4 bytes, pitch 20 and 10, from (1,2,1) to (2,0,0). */
    memset(to.host, 0, 4 * PAGE);
    PUT(1 | 4 << 8 | 2u << 29, ADDRESS(from.va), 1 | 2 << 16, 1 | 19 << 13, 100 - 1, ADDRESS(to.va),
        2, 9 << 13, 40 - 1, 4 | 2 << 16, 1);
    drain();
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 3; y++)
            assert_memory_equal(to.host + 4 * (z * 40 + y * 10 + 2),
                                from.host + 4 * ((z + 1) * 100 + (y + 2) * 20 + 1), 20);
    assert_int_equal(to.host[4 * 1], 0);
    assert_int_equal(to.host[4 * 7], 0);
}

void writes_and_fills(void **state)
{
    uint32_t *words = (uint32_t *)(void *)to.host;
    (void)state;
    memset(to.host, 0xff, PAGE);
    PUT(11 | 2u << 30, ADDRESS(to.va + 4), 0x11223344, 40 - 1);
    PUT(2, ADDRESS(to.va + 100), 3 - 1, 7, 8, 9);
    PUT(5, ADDRESS(to.va + 200), 0xabcdef01);
    PUT(13 | 2 << 8, ADDRESS(to.va + 208));
    PUT(17, 0, 0, 0, 0);
    drain();
    assert_true(words[0] == UINT32_MAX && words[1] == 0x11223344 && words[10] == 0x11223344 &&
                words[11] == UINT32_MAX);
    assert_true(words[25] == 7 && words[26] == 8 && words[27] == 9 && words[28] == UINT32_MAX);
    assert_int_equal(words[50], 0xabcdef01);
    struct kfd_clock_counters clocks = { .gpu_id = gpu };
    uint64_t stamp;
    memcpy(&stamp, to.host + 208, 8);
    assert_int_equal(CALL(KFD_GET_CLOCK_COUNTERS, clocks), 0);
    assert_true(stamp > 0 && stamp <= clocks.gpu && clocks.gpu - stamp < UINT64_C(60) * 100000000);
    clocks.gpu_id = 0;
    assert_int_equal(CALL(KFD_GET_CLOCK_COUNTERS, clocks), 0);
    assert_true(clocks.gpu == 0 && clocks.system > 0 && clocks.system_frequency == 1000000000);
}

void atomics(void **state)
{
    static const struct {
        unsigned op;
        uint64_t old, operand, comparison, new;
    } cases[] = {
        { 0x2f, 5, UINT64_MAX, 0, 4 },
        { 0x0f, 0xffffffff00000005, 0xfffffffe, 0, 0xffffffff00000003 },
        { 0x30, 5, 7, 0, UINT64_MAX - 1 },
        { 0x27, 1, 2, 0, 2 },
        { 0x28, 1, 2, 1, 2 },
        { 0x28, 1, 2, 3, 1 },
        { 0x31, (uint64_t)-4, 3, 0, (uint64_t)-4 },
        { 0x32, (uint64_t)-4, 3, 0, 3 },
        { 0x33, (uint64_t)-4, 3, 0, 3 },
        { 0x34, (uint64_t)-4, 3, 0, (uint64_t)-4 },
        { 0x11, 0xfffffffc, 3, 0, 0xfffffffc },
        { 0x35, 0xff, 0xf0f, 0, 0xf },
        { 0x36, 0xf0, 0xf, 0, 0xff },
        { 0x37, 0xff, 0xf, 0, 0xf0 },
        { 0x38, 7, 7, 0, 0 },
        { 0x38, 6, 7, 0, 7 },
        { 0x39, 0, 9, 0, 9 },
        { 0x39, 6, 9, 0, 5 },
        { 0x6f, 40, 2, 0, 42 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = cases[i].old;
        memcpy(to.host, &value, 8);
        PUT(10 | cases[i].op << 25, ADDRESS(to.va), ADDRESS(cases[i].operand),
            ADDRESS(cases[i].comparison), 0);
        drain();
        memcpy(&value, to.host, 8);
        if (value != cases[i].new)
            fail_msg("atomic %u: 0x%llx", cases[i].op, (unsigned long long)value);
    }
}
