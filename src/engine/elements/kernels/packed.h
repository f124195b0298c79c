/* packed.h: the same kernel as each.h where every tensor is one row of neighbours. apply(m, n, …)
 * takes n elements, LANES or one. All chunks of a work-item are under way before it waits for the
 * first. */
#include "engine/kernels/stream.h"

#define CHUNKS RMCP_PACKED_CHUNKS
#define ITEM (CHUNKS * LANES)

INLINE void read_chunks(struct lanes raw[CHUNKS], __global const char *base, uint at, uint apart,
                        bool reads)
{
    UNROLL for (uint i = 0; i < CHUNKS; i++) UNROLL for (uint k = 0; k < WORDS; k++) raw[i]
        .word[k] = 0;
    if (!reads) return;
    UNROLL for (uint i = 0; i < CHUNKS; i++)
        load_words(raw[i].word, base + (at + i * apart) * (uint)sizeof(element));
}

#define NOTHING(name, number, when)
#define OUT_ARGUMENT(name, number, writes) RESULT(name),
#define IN_ARGUMENT(name, number, reads) TENSOR(name),
#define OUT_BITS(name, number, writes) | ((writes) ? (uint)(ulong)ADDRESS(name) : 0)
#define READ(name, number, reads)                                                                  \
    struct lanes name##_lanes[CHUNKS];                                                             \
    read_chunks(name##_lanes, ADDRESS(name), at, apart, reads);
#define ROOM(name, number, when) float name[LANES];
#define VALUES(name, number, reads) values_of_words(name, name##_lanes[i].word);
#define PASS(name, number, when) , name
#define GIVE(name, number, writes)                                                                 \
    if (writes) put_lanes(ADDRESS(name) + (at + i * apart) * (uint)sizeof(element), name, 1);
#define ONE(name, number, writes) float name;
#define LOAD(name, number, reads) const float name = (reads) ? load(ADDRESS(name), at) : 0;
#define PASS_ONE(name, number, when) , &name
#define STORE(name, number, writes)                                                                \
    if (writes) store(ADDRESS(name), at, name);

__kernel WORKGROUP(THREADS) void NAME(STREAMS(OUT_ARGUMENT, IN_ARGUMENT) struct rmcp_stream s,
                                      struct MATH m)
{
    const uint addresses = 0 STREAMS(OUT_BITS, OUT_BITS);
    const uint first = GROUP_ID_X * (THREADS * ITEM);
    if (addresses % 16 == 0 && first + THREADS * ITEM <= s.length) {
        const uint at = first + LOCAL_ID * LANES, apart = THREADS * LANES;
        STREAMS(NOTHING, READ)
#ifdef OLD
        struct lanes old_lanes[CHUNKS];
        read_chunks(old_lanes, ADDRESS(out), at, apart, OLD);
#endif
        UNROLL for (uint i = 0; i < CHUNKS; i++)
        {
            STREAMS(ROOM, ROOM)
            STREAMS(NOTHING, VALUES)
            apply(&m, LANES STREAMS(PASS, PASS));
#ifdef OLD
            if (OLD) {
                ROOM(old, 0, OLD)
                values_of_words(old, old_lanes[i].word);
                blend(&m, LANES, out, old);
            }
#endif
            STREAMS(GIVE, NOTHING)
        }
        return;
    }
    _Pragma("unroll 1") for (uint i = 0; i < ITEM; i++)
    {
        const uint at = first + i * THREADS + LOCAL_ID;
        if (at >= s.length) continue;
        STREAMS(ONE, LOAD)
#ifdef OLD
        const float old = OLD ? load(ADDRESS(out), at) : 0;
#endif
        apply(&m, 1 STREAMS(PASS_ONE, PASS_ONE));
#ifdef OLD
        if (OLD) blend(&m, 1, &out, &old);
#endif
        STREAMS(STORE, NOTHING)
    }
}
