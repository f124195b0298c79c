/* dropout.cl: y = kept ? scale * x : 0, element by element; each element has a number of a counter-based generator,
 * or a byte of a mask. */
#include "engine/kernels/lanes.h"

#define TENSORS 3 /* y, x, the mask: one byte an element */
#include "engine/kernels/philox.h"
#include "engine/kernels/stream.h"
#include "engine/elements/kernels/args.h"

/* One bit for each element of a chunk that lies in the row; `index` is the number of the launch's first. */
INLINE uint draw(const uint *state, ulong index, const struct spot *p, uint step, uint threshold)
{
    uint kept = 0;
    if (p->whole && step == 1 && ((uint)index + p->at[2]) % 4 == 0) {
        UNROLL for (uint i = 0; i < LANES; i += 4) {
            const ulong block = (index + p->at[2] + i) / 4;
            const struct rmcp_philox counter = { { (uint)block, (uint)(block >> 32), state[2],
                                                   state[3] } };
            const struct rmcp_philox four = rmcp_philox(counter, state[0], state[1]);
            UNROLL for (uint k = 0; k < 4; k++)
                kept |= (four.word[k] >= threshold ? 1u : 0u) << (i + k);
        }
        return kept;
    }
    _Pragma("unroll 1") for (int i = p->begin; i < p->end; i++) {
        const uint at = p->at[2] + (uint)i * step; /* a chunk may begin before the row */
        kept |= (rmcp_philox_at(state, index + at) >= threshold ? 1u : 0u) << i;
    }
    return kept;
}

INLINE uint take_mask(const struct spot *p, uint step, __global const uchar *mask)
{
    uint kept = 0;
    UNROLL for (int i = 0; i < LANES; i++)
        if (i >= p->begin && i < p->end)
            kept |= (mask[p->at[2] + (uint)i * step] ? 1u : 0u) << i;
    return kept;
}

/* Four neighbouring bytes of a mask. */
INLINE uint bytes_of_mask(uint kept)
{
    return (kept & 1) | (kept & 2) << 7 | (kept & 4) << 14 | (kept & 8) << 21;
}

INLINE void give_mask(uint kept, const struct spot *p, uint step, __global uchar *mask)
{
    __global uchar *to = mask + p->at[2];
    if (p->whole && step == 1 && (uint)(ulong)to % LANES == 0) {
#if LANES == 4
        *(__global uint *)to = bytes_of_mask(kept);
#else
        *(__global uint2 *)to = (uint2)(bytes_of_mask(kept), bytes_of_mask(kept >> 4));
#endif
        return;
    }
    UNROLL for (int i = 0; i < LANES; i++)
        if (i >= p->begin && i < p->end)
            mask[p->at[2] + (uint)i * step] = (uchar)(kept >> i & 1);
}

__kernel WORKGROUP(THREADS) void dropout(RESULT(y), TENSOR(x), RESULT(mask), TENSOR(state),
                                         struct rmcp_stream s, struct rmcp_dropout_math m)
{
    struct spot p[RMCP_STREAM_CHUNKS];
    struct flow x[RMCP_STREAM_CHUNKS];
    uint kept[RMCP_STREAM_CHUNKS];
    const uint first = GROUP_ID_X * (THREADS * RMCP_STREAM_CHUNKS) + LOCAL_ID;
    uint words[4] = { 0, 0, 0, 0 };
    if (m.mask != RMCP_DROPOUT_GIVEN) {
        __global const uint *state = (__global const uint *)ADDRESS(state);
        UNROLL for (uint i = 0; i < 4; i++) words[i] = state[i];
        if (m.before) {
            words[3] -= words[2] == 0;
            words[2] -= 1;
        }
    }
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        p[i] = find_spot(&s, first + i * THREADS, ADDRESS(y), sizeof(element));
        take(&x[i], &p[i], 1, &s, ADDRESS(x), TYPE);
        if (m.mask == RMCP_DROPOUT_GIVEN)
            kept[i] = take_mask(&p[i], s.step[2], (__global const uchar *)ADDRESS(mask));
    }
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++) {
        float v[LANES];
        values(v, &x[i], TYPE);
        if (m.mask != RMCP_DROPOUT_GIVEN)
            kept[i] = m.all ? 0 : draw(words, (ulong)m.index, &p[i], s.step[2], m.threshold);
        UNROLL for (uint k = 0; k < LANES; k++) v[k] = kept[i] >> k & 1 ? v[k] * m.scale : 0;
        if (m.mask == RMCP_DROPOUT_SAVED)
            give_mask(kept[i], &p[i], s.step[2], (__global uchar *)ADDRESS(mask));
        give(v, &p[i], 0, &s, ADDRESS(y));
    }
}
