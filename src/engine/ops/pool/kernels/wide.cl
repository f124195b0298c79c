/* wide.cl: pooling forward with large windows: several work-items share one. */
#include "engine/ops/pool/kernels/pool.h"

#define THREADS 256
#define AHEAD 8             /* loads under way */
#define NOWHERE 0xffffffffu /* in place of an element of the window */

/* Whether (v, at) takes the place of (best, best_at), whichever was found first: larger, or as
 * large and before it; the last NaN beats all. */
INLINE bool wins(float v, uint at, float best, uint best_at)
{
    if (at == NOWHERE) return false;
    if (best_at == NOWHERE) return true;
    if (v != v) return best == best || at > best_at;
    return v > best || (v == best && at < best_at);
}

/* One element more of those of a work-item. */
INLINE void take(uint kind, float v, uint tap, float *value, uint *place)
{
    if (kind == RMCP_POOL_MEAN) {
        *value += v;
    } else if (*place == NOWHERE || beats(v, *value)) {
        *value = v;
        *place = tap;
    }
}

__kernel WORKGROUP(THREADS) void pool_wide(INPUT(x), OUTPUT(y), OUTPUT(index),
                                           struct rmcp_pool_args p)
{
    __local float values[THREADS];
    __local uint places[THREADS];
    const uint lanes = 1u << p.lane_bits, outputs = THREADS >> p.lane_bits;
    const uint number = p.along ? LOCAL_ID >> p.lane_bits : LOCAL_ID & (outputs - 1);
    const uint lane = p.along ? LOCAL_ID & (lanes - 1) : LOCAL_ID / outputs;
    const uint output = GROUP_ID_X * outputs + number;
    const struct spot s = find_spot(&p, smaller(output, p.count - 1));
    const struct range d = range_of(s.d, p.stride[0], p.pad[0], p.window[0], p.in[0]);
    const struct range h = range_of(s.h, p.stride[1], p.pad[1], p.window[1], p.in[1]);
    const struct range w = range_of(s.w, p.stride[2], p.pad[2], p.window[2], p.in[2]);
    const uint taps = p.taps;
    float value = 0;
    uint place = NOWHERE;
    if (p.line) {
        const uint first =
            s.x + (uint)d.begin * p.x[0] + (uint)h.begin * p.x[1] + ((uint)w.begin + lane) * p.x[2];
        uint at = first, tap = lane;
        const uint step = lanes * p.x[2];
        for (; tap + (AHEAD - 1) * lanes < taps; tap += AHEAD * lanes, at += AHEAD * step) {
            float v[AHEAD];
            UNROLL for (uint i = 0; i < AHEAD; i++) v[i] = load(ADDRESS(x), at + i * step);
            UNROLL for (uint i = 0; i < AHEAD; i++)
                take(p.kind, v[i], tap + i * lanes, &value, &place);
        }
        for (; tap < taps; tap += lanes, at += step)
            take(p.kind, load(ADDRESS(x), at), tap, &value, &place);
    } else {
        for (uint tap = lane; tap < taps; tap += lanes) {
            const uint line = divide(tap, p.divider[2]), column = tap - line * p.window[2];
            const uint layer = divide(line, p.divider[1]), row = line - layer * p.window[1];
            const uint i = (uint)d.begin + layer, k = (uint)h.begin + row,
                       m = (uint)w.begin + column;
            if (i >= p.in[0] || k >= p.in[1] || m >= p.in[2]) continue;
            take(p.kind, load(ADDRESS(x), s.x + i * p.x[0] + k * p.x[1] + m * p.x[2]), tap, &value,
                 &place);
        }
    }
    values[LOCAL_ID] = value;
    places[LOCAL_ID] = place;
    const uint step = p.along ? 1 : outputs;
    for (uint other = lanes / 2; other > 0; other /= 2) {
        BARRIER();
        if (lane < other) {
            const float v = values[LOCAL_ID + other * step];
            const uint at = places[LOCAL_ID + other * step];
            if (p.kind == RMCP_POOL_MEAN) {
                value += v;
            } else if (wins(v, at, value, place)) {
                value = v;
                place = at;
            }
            values[LOCAL_ID] = value;
            places[LOCAL_ID] = place;
        }
    }
    if (lane != 0 || output >= p.count) return;
    const uint count = (uint)(d.end - d.first) * (uint)(h.end - h.first) * (uint)(w.end - w.first);
    if (p.kind == RMCP_POOL_MEAN)
        value = mean(&p, value, count);
    else if (place == NOWHERE)
        value = LOWEST, place = 0;
    put_result(&p, ADDRESS(y), s.y, value);
    if (p.kind != RMCP_POOL_MAX_INDEX) return;
    if (p.image && count) {
        const uint line = divide(place, p.divider[2]), column = place - line * p.window[2];
        const uint layer = divide(line, p.divider[1]), row = line - layer * p.window[1];
        place = (((uint)d.begin + layer) * p.in[1] + (uint)h.begin + row) * p.in[2] +
                (uint)w.begin + column;
    }
    put_index(ADDRESS(index), s.index, p.index_bytes, place);
}
