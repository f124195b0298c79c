/* bytes.h: little-endian numbers in unaligned, untrusted bytes. */
#ifndef RMCP_CODEOBJ_BYTES_H
#define RMCP_CODEOBJ_BYTES_H

#include <stdbool.h>
#include <stdint.h>

static inline uint16_t load_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t load_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t load_u64(const uint8_t *at)
{
    return load_u32(at) | (uint64_t)load_u32(at + 4) << 32;
}

static inline void store_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void store_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> 8 * i);
}

static inline void store_u64(uint8_t *at, uint64_t value)
{
    store_u32(at, (uint32_t)value);
    store_u32(at + 4, (uint32_t)(value >> 32));
}

/* Whether `length` bytes from `offset` lie within `size` bytes. */
static inline bool in_range(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

#endif
