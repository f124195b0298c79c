/* atomics.c: read-modify-write operations, on LDS and on memory that others share. */
#include <math.h>
#include <string.h>

#include "sim/math/atomics.h"

static double as_float(uint64_t bits, unsigned bytes)
{
    if (bytes == 4) {
        float f;
        uint32_t low = (uint32_t)bits;
        memcpy(&f, &low, sizeof f);
        return f;
    }
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static uint64_t of_float(double value, unsigned bytes)
{
    if (bytes == 4) {
        float f = (float)value;
        uint32_t low;
        memcpy(&low, &f, sizeof low);
        return low;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t add_f32(uint64_t a, uint64_t b)
{
    float sum = (float)as_float(a, 4) + (float)as_float(b, 4);
    return of_float(sum, 4);
}

uint64_t atomic_new(enum isa_does what, unsigned bytes, uint64_t old, uint64_t data, uint64_t other)
{
    const uint64_t mask = bytes == 8 ? ~UINT64_C(0) : UINT32_MAX;
    old &= mask;
    data &= mask;
    other &= mask;
    const int64_t s_old = bytes == 8 ? (int64_t)old : (int32_t)old;
    const int64_t s_data = bytes == 8 ? (int64_t)data : (int32_t)data;
    switch (what) {
    case ISA_DOES_SWAP: return data;
    case ISA_DOES_CMPSWAP: return old == other ? data : old;
    case ISA_DOES_ADD: return old + data;
    case ISA_DOES_SUB: return old - data;
    case ISA_DOES_RSUB: return data - old;
    case ISA_DOES_CSUB: return old >= data ? old - data : 0;
    case ISA_DOES_SMIN: return s_data < s_old ? data : old;
    case ISA_DOES_SMAX: return s_data > s_old ? data : old;
    case ISA_DOES_UMIN: return data < old ? data : old;
    case ISA_DOES_UMAX: return data > old ? data : old;
    case ISA_DOES_AND: return old & data;
    case ISA_DOES_OR: return old | data;
    case ISA_DOES_XOR: return old ^ data;
    case ISA_DOES_INC: return old >= data ? 0 : old + 1;
    case ISA_DOES_DEC: return old == 0 || old > data ? data : old - 1;
    case ISA_DOES_FCMPSWAP: return as_float(old, bytes) == as_float(other, bytes) ? data : old;
    case ISA_DOES_FMIN: return as_float(data, bytes) < as_float(old, bytes) ? data : old;
    case ISA_DOES_FMAX: return as_float(data, bytes) > as_float(old, bytes) ? data : old;
    case ISA_DOES_FADD: return add_f32(old, data);
    case ISA_DOES_MSKOR: return (old & ~data) | other;
    case ISA_DOES_WRAP: return old >= data ? old - data : old + other;
    case ISA_DOES_CONDXCHG: /* each half whose highest data bit is set takes the other 31 */
        return ((data & 0x80000000) ? data & 0x7fffffff : old & 0xffffffff) |
               ((data >> 63) ? data & UINT64_C(0x7fffffff00000000)
                             : old & UINT64_C(0xffffffff00000000));
    default: return old;
    }
}

uint64_t atomic_apply(enum isa_does what, unsigned bytes, uint8_t *at, uint64_t data,
                      uint64_t other)
{
    if (bytes == 8) {
        uint64_t *p = (uint64_t *)(void *)at, old = __atomic_load_n(p, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(p, &old, atomic_new(what, 8, old, data, other), false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            continue;
        return old;
    }
    uint32_t *p = (uint32_t *)(void *)at, old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, (uint32_t)atomic_new(what, 4, old, data, other),
                                        false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        continue;
    return old;
}
