/* random.h: a small generator with a printable seed (splitmix64), the same on every machine. */
#ifndef RMCP_BASE_RANDOM_H
#define RMCP_BASE_RANDOM_H

#include <stdint.h>

struct rmcp_random {
    uint64_t state;
};

static inline uint64_t rmcp_random_next(struct rmcp_random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 … n-1; n at least 1. */
static inline int64_t rmcp_random_below(struct rmcp_random *r, int64_t n)
{
    return (int64_t)(rmcp_random_next(r) % (uint64_t)n);
}

/* least … most */
static inline int64_t rmcp_random_between(struct rmcp_random *r, int64_t least, int64_t most)
{
    return least + rmcp_random_below(r, most - least + 1);
}

/* [-1, 1), a multiple of 2^-23 */
static inline float rmcp_random_real(struct rmcp_random *r)
{
    return (float)(rmcp_random_next(r) >> 40) * 0x1p-23f - 1.0f;
}

#endif
