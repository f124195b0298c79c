/* kth.cl: the k-th smallest element of each line and its place, by counting digits of four bits: a
 * workgroup has one line and reads it once for each digit and once more.
 *
 * Elements are compared as integers that are in the same order; NaN comes last, and of equal
 * elements the first is found. Each work-item has counters of its own: no atomics, and the same
 * result every time. */
#include "engine/ops/kth/kernels/args.h"
#include "engine/kernels/lanes.h"

#define THREADS 256
#define DIGITS 16
#define SIGN (TYPE == 0 ? 0x80000000u : 0x8000u)
#define HIGHEST (TYPE == 0 ? 0xffffffffu : 0xffffu)
#define EXPONENT (TYPE == 0 ? 0x7f800000u : TYPE == 1 ? 0x7c00u : 0x7f80u)

/* In the order of the values. */
INLINE uint key_of(uint raw)
{
    const uint size = raw & (SIGN - 1);
    if (size > EXPONENT) return HIGHEST; /* NaN */
    if (size == 0) return SIGN;          /* -0 is 0 */
    return raw & SIGN ? HIGHEST - raw : raw | SIGN;
}

INLINE uint raw_of(__global const char *line, const struct rmcp_kth_args *f, uint i)
{
    return *(__global const bits *)(line + i * f->step * (uint)sizeof(bits));
}

__kernel WORKGROUP(THREADS) void kth(TENSOR(x), RESULT(y), RESULT(places), struct rmcp_kth_args f)
{
    __local uint counts[DIGITS * THREADS];
    __local uint sums[THREADS];
    const uint thread = LOCAL_ID;
    uint a = 0, c = 0, d = 0, rest = GROUP_ID_X;
    UNROLL for (uint i = 0; i < 5; i++)
    {
        if (i >= f.n_across) continue;
        const uint more = divide(rest, f.across[i].size),
                   digit = rest - more * f.across[i].size.divisor;
        a += digit * f.across[i].a;
        c += digit * f.across[i].c;
        d += digit * f.across[i].d;
        rest = more;
    }
    __global const char *line = ADDRESS(x) + a * (uint)sizeof(bits);

    uint found = 0, k = f.k; /* the digits so far; the k-th of the elements that have them */
    for (uint shift = sizeof(bits) * 8; shift > 0;) {
        shift -= 4;
        const uint above = shift + 4 < 32 ? 0xffffffffu << (shift + 4) & HIGHEST : 0;
        for (uint i = 0; i < DIGITS; i++) counts[i * THREADS + thread] = 0;
        for (uint i = thread; i < f.count; i += THREADS) {
            const uint key = key_of(raw_of(line, &f, i));
            if ((key & above) == found) counts[(key >> shift & (DIGITS - 1)) * THREADS + thread]++;
        }
        BARRIER();
        uint sum = 0;
        for (uint i = 0; i < DIGITS; i++) sum += counts[thread * DIGITS + i];
        sums[thread] = sum;
        BARRIER();
        uint digit = 0, before = 0;
        for (uint i = 0, all = 0; i < DIGITS; i++) {
            for (uint part = 0; part < THREADS / DIGITS; part++)
                all += sums[i * (THREADS / DIGITS) + part];
            if (all < k) {
                digit = i + 1;
                before = all;
            }
        }
        found |= digit << shift;
        k -= before;
        BARRIER();
    }

    uint place = f.count;
    for (uint i = thread; i < f.count; i += THREADS)
        if (key_of(raw_of(line, &f, i)) == found && i < place) place = i;
    sums[thread] = place;
    for (uint half_way = THREADS / 2; half_way > 0; half_way /= 2) {
        BARRIER();
        if (thread < half_way) sums[thread] = smaller(sums[thread], sums[thread + half_way]);
    }
    if (thread > 0) return;
    ((__global bits *)ADDRESS(y))[c] = (bits)raw_of(line, &f, sums[0]);
    ((__global ulong *)ADDRESS(places))[d] = sums[0];
}
