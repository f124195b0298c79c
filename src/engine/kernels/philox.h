/* philox.h: a counter-based generator, the same numbers on every device and on the host; the same
 * text for C and OpenCL C.
 *
 * Philox4x32-10, as J. Salmon, M. Moraes, R. Dror and D. Shaw define it ("Parallel random numbers:
 * as easy as 1, 2, 3", 2011): a key of two words and a counter of four give four words. */
#ifndef RMCP_KERNEL_PHILOX_H
#define RMCP_KERNEL_PHILOX_H

#ifdef __OPENCL_C_VERSION__
typedef uint rmcp_word;
typedef ulong rmcp_words;
#define RMCP_PHILOX_FUNCTION INLINE
#else
#include <stdint.h>
typedef uint32_t rmcp_word;
typedef uint64_t rmcp_words;
#define RMCP_PHILOX_FUNCTION static inline
#endif

struct rmcp_philox {
    rmcp_word word[4];
};

RMCP_PHILOX_FUNCTION struct rmcp_philox rmcp_philox(struct rmcp_philox counter, rmcp_word key,
                                                    rmcp_word key_high)
{
    for (int round = 0; round < 10; round++) {
        const rmcp_words a = (rmcp_words)0xd2511f53u * counter.word[0];
        const rmcp_words b = (rmcp_words)0xcd9e8d57u * counter.word[2];
        const struct rmcp_philox next = {
            { (rmcp_word)(b >> 32) ^ counter.word[1] ^ key, (rmcp_word)b,
              (rmcp_word)(a >> 32) ^ counter.word[3] ^ key_high, (rmcp_word)a }
        };
        counter = next;
        key += 0x9e3779b9u;
        key_high += 0xbb67ae85u;
    }
    return counter;
}

/* Number `index` of the stream that `state` names: seed in words 0 and 1, the number of the stream
 * in words 2 and 3. */
RMCP_PHILOX_FUNCTION rmcp_word rmcp_philox_at(const rmcp_word *state, rmcp_words index)
{
    const rmcp_words block = index >> 2;
    const struct rmcp_philox counter = { { (rmcp_word)block, (rmcp_word)(block >> 32), state[2],
                                           state[3] } };
    const struct rmcp_philox four = rmcp_philox(counter, state[0], state[1]);
    const rmcp_word at = (rmcp_word)index & 3;
    return at == 0 ? four.word[0] : at == 1 ? four.word[1] : at == 2 ? four.word[2] : four.word[3];
}

#endif
