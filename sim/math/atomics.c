/* atomics.c: read-modify-write operations, on LDS and on memory that others share. */
#include <math.h>
#include <string.h>

#include "sim/math/atomics.h"

/* The operation is in the name: "global_atomic_smin_x2", "ds_add_rtn_u32", "s_buffer_atomic_or". */
enum atomic atomic_of(const struct isa_row *row)
{
    static const struct {
        const char *name;
        enum atomic what;
    } memory[] = {
        { "fcmpswap", ATOMIC_FCMPSWAP }, { "cmpswap", ATOMIC_CMPSWAP }, { "swap", ATOMIC_SWAP },
        { "csub", ATOMIC_CSUB },         { "add", ATOMIC_ADD },         { "sub", ATOMIC_SUB },
        { "smin", ATOMIC_SMIN },         { "umin", ATOMIC_UMIN },       { "smax", ATOMIC_SMAX },
        { "umax", ATOMIC_UMAX },         { "fmin", ATOMIC_FMIN },       { "fmax", ATOMIC_FMAX },
        { "and", ATOMIC_AND },           { "or", ATOMIC_OR },           { "xor", ATOMIC_XOR },
        { "inc", ATOMIC_INC },           { "dec", ATOMIC_DEC }
    };
    static const struct {
        const char *name, *type; /* type: last letters of the name, or "" for any */
        enum atomic what;
    } lds[] = {
        { "add_", "f32", ATOMIC_FADD },       { "add_", "", ATOMIC_ADD },
        { "sub_", "", ATOMIC_SUB },           { "rsub_", "", ATOMIC_RSUB },
        { "inc_", "", ATOMIC_INC },           { "dec_", "", ATOMIC_DEC },
        { "min_", "i32", ATOMIC_SMIN },       { "min_", "i64", ATOMIC_SMIN },
        { "min_", "u32", ATOMIC_UMIN },       { "min_", "u64", ATOMIC_UMIN },
        { "min_", "", ATOMIC_FMIN },          { "max_", "i32", ATOMIC_SMAX },
        { "max_", "i64", ATOMIC_SMAX },       { "max_", "u32", ATOMIC_UMAX },
        { "max_", "u64", ATOMIC_UMAX },       { "max_", "", ATOMIC_FMAX },
        { "and_", "", ATOMIC_AND },           { "or_", "", ATOMIC_OR },
        { "xor_", "", ATOMIC_XOR },           { "mskor_", "", ATOMIC_MSKOR },
        { "wrxchg", "", ATOMIC_SWAP },        { "cmpst_", "f32", ATOMIC_FCMPSWAP },
        { "cmpst_", "f64", ATOMIC_FCMPSWAP }, { "cmpst_", "", ATOMIC_CMPSWAP },
        { "wrap_", "", ATOMIC_WRAP },         { "condxchg32_", "", ATOMIC_CONDXCHG },
        { "write_", "", ATOMIC_SWAP },
    };
    const char *name = row->name;
    if (row->flags & ISA_IS_DS) {
        const char *type = name + strlen(name) - 3;
        for (size_t i = 0; i < sizeof lds / sizeof *lds; i++)
            if (!strncmp(name + 3, lds[i].name, strlen(lds[i].name)) &&
                (!*lds[i].type || !strcmp(type, lds[i].type)))
                return lds[i].what;
        return ATOMIC_NONE;
    }
    const char *at = strstr(name, "atomic_");
    if (!at) return ATOMIC_NONE;
    at += strlen("atomic_");
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        size_t n = strlen(memory[i].name);
        if (!strncmp(at, memory[i].name, n) && (!at[n] || !strcmp(at + n, "_x2")))
            return memory[i].what;
    }
    return ATOMIC_NONE;
}

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

uint64_t atomic_new(enum atomic what, unsigned bytes, uint64_t old, uint64_t data, uint64_t other)
{
    const uint64_t mask = bytes == 8 ? ~UINT64_C(0) : UINT32_MAX;
    old &= mask;
    data &= mask;
    other &= mask;
    const int64_t s_old = bytes == 8 ? (int64_t)old : (int32_t)old;
    const int64_t s_data = bytes == 8 ? (int64_t)data : (int32_t)data;
    switch (what) {
    case ATOMIC_SWAP: return data;
    case ATOMIC_CMPSWAP: return old == other ? data : old;
    case ATOMIC_ADD: return old + data;
    case ATOMIC_SUB: return old - data;
    case ATOMIC_RSUB: return data - old;
    case ATOMIC_CSUB: return old >= data ? old - data : 0;
    case ATOMIC_SMIN: return s_data < s_old ? data : old;
    case ATOMIC_SMAX: return s_data > s_old ? data : old;
    case ATOMIC_UMIN: return data < old ? data : old;
    case ATOMIC_UMAX: return data > old ? data : old;
    case ATOMIC_AND: return old & data;
    case ATOMIC_OR: return old | data;
    case ATOMIC_XOR: return old ^ data;
    case ATOMIC_INC: return old >= data ? 0 : old + 1;
    case ATOMIC_DEC: return old == 0 || old > data ? data : old - 1;
    case ATOMIC_FCMPSWAP: return as_float(old, bytes) == as_float(other, bytes) ? data : old;
    case ATOMIC_FMIN: return as_float(data, bytes) < as_float(old, bytes) ? data : old;
    case ATOMIC_FMAX: return as_float(data, bytes) > as_float(old, bytes) ? data : old;
    case ATOMIC_FADD: return add_f32(old, data);
    case ATOMIC_MSKOR: return (old & ~data) | other;
    case ATOMIC_WRAP: return old >= data ? old - data : old + other;
    case ATOMIC_CONDXCHG: /* each half whose highest data bit is set takes the other 31 */
        return ((data & 0x80000000) ? data & 0x7fffffff : old & 0xffffffff) |
               ((data >> 63) ? data & UINT64_C(0x7fffffff00000000)
                             : old & UINT64_C(0xffffffff00000000));
    default: return old;
    }
}

uint64_t atomic_apply(enum atomic what, unsigned bytes, uint8_t *at, uint64_t data, uint64_t other)
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
