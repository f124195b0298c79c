/* hash.h: FNV-1a, 64 bits: digests of names and texts, no secrets. */
#ifndef RMCP_BASE_HASH_H
#define RMCP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define RMCP_HASH_START UINT64_C(0xcbf29ce484222325)

/* One step: a byte, or a whole word where a format says so. */
static inline uint64_t rmcp_hash_word(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x100000001b3);
}

static inline uint64_t rmcp_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) hash = rmcp_hash_word(hash, at[i]);
    return hash;
}

/* With its end, so that "a", "bc" differs from "ab", "c". */
static inline uint64_t rmcp_hash_text(uint64_t hash, const char *text)
{
    do hash = rmcp_hash_word(hash, (unsigned char)*text);
    while (*text++);
    return hash;
}

#endif
