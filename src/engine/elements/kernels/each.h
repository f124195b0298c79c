/* each.h: the kernel of an operation that goes element by element. What is its own comes before:
 *
 * NAME, MATH: its function's name, and the struct that it takes by value.
 * TENSORS: how many tensors it has.
 * STREAMS(OUT, IN): the tensors in order, the first one called `out`: OUT(name, number, writes) or
 * IN(name, number, reads), with whether `m` has it written or read.
 * apply(m, n, …): makes of n elements of each that is read those of the ones that are written; the
 * arrays come in the same order, and what is not read is 0.
 * BYTES, if there are any: a bit for the number of each tensor of bytes; the others are of TYPE.
 * OLD and blend(m, n, out, old), if what `out` was before may count: whether it does, and how. */
#include "engine/elements/kernels/bytes.h"
#include "engine/kernels/stream.h"

#ifndef BYTES
#define BYTES 0
#endif
#define IS_BYTES(number) (BYTES >> (number)&1)

#define NOTHING(name, number, when)
#define OUT_ARGUMENT(name, number, writes) RESULT(name),
#define IN_ARGUMENT(name, number, reads) TENSOR(name),
#define FLOW(name, number, reads) struct flow name##_flow[RMCP_STREAM_CHUNKS];
#define TAKE(name, number, reads)                                                                  \
    if (reads && IS_BYTES(number))                                                                 \
        take_bytes(&name##_flow[i], &p[i], number, &s, ADDRESS(name));                             \
    else if (reads)                                                                                \
        take(&name##_flow[i], &p[i], number, &s, ADDRESS(name), TYPE);
#define ROOM(name, number, when)                                                                   \
    float name[LANES];                                                                             \
    UNROLL for (uint k = 0; k < LANES; k++) name[k] = 0;
#define VALUES(name, number, reads)                                                                \
    if (reads && IS_BYTES(number))                                                                 \
        byte_values(name, &name##_flow[i]);                                                        \
    else if (reads)                                                                                \
        values(name, &name##_flow[i], TYPE);
#define PASS(name, number, when) , name
#define GIVE(name, number, writes)                                                                 \
    if (writes && IS_BYTES(number))                                                                \
        give_bytes(name, &p[i], number, &s, ADDRESS(name));                                        \
    else if (writes)                                                                               \
        give(name, &p[i], number, &s, ADDRESS(name));

__kernel WORKGROUP(THREADS) void NAME(STREAMS(OUT_ARGUMENT, IN_ARGUMENT) struct rmcp_stream s,
                                      struct MATH m)
{
    struct spot p[RMCP_STREAM_CHUNKS];
    STREAMS(NOTHING, FLOW)
#ifdef OLD
    FLOW(old, 0, OLD)
#endif
    const uint first = GROUP_ID_X * (THREADS * RMCP_STREAM_CHUNKS) + LOCAL_ID;
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++)
    {
        p[i] = find_spot(&s, first + i * THREADS, ADDRESS(out), IS_BYTES(0) ? 1 : sizeof(element));
        STREAMS(NOTHING, TAKE)
#ifdef OLD
        if (OLD) take(&old_flow[i], &p[i], 0, &s, ADDRESS(out), TYPE);
#endif
    }
    UNROLL for (uint i = 0; i < RMCP_STREAM_CHUNKS; i++)
    {
        STREAMS(NOTHING, ROOM)
        STREAMS(ROOM, NOTHING)
        STREAMS(NOTHING, VALUES)
        apply(&m, LANES STREAMS(PASS, PASS));
#ifdef OLD
        if (OLD) {
            ROOM(old, 0, OLD)
            values(old, &old_flow[i], TYPE);
            blend(&m, LANES, out, old);
        }
#endif
        STREAMS(GIVE, NOTHING)
    }
}
