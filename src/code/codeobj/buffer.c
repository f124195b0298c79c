/* buffer.c: bytes that are written one behind the other. */
#include "code/codeobj/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "code/codeobj/bytes.h"

static uint8_t *make_room(struct buffer *buffer, size_t size)
{
    if (buffer->failed) return NULL;
    if (buffer->room - buffer->size < size) {
        if (size > SIZE_MAX / 4 || buffer->size > SIZE_MAX / 4) {
            buffer->failed = 1;
            return NULL;
        }
        size_t room = buffer->room + buffer->room / 2 + 256;
        if (room - buffer->size < size) room = buffer->size + size;
        uint8_t *grown = realloc(buffer->bytes, room);
        if (!grown) {
            buffer->failed = 1;
            return NULL;
        }
        buffer->bytes = grown;
        buffer->room = room;
    }
    uint8_t *at = buffer->bytes + buffer->size;
    buffer->size += size;
    return at;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t size)
{
    uint8_t *at = size ? make_room(buffer, size) : NULL;
    if (at) memcpy(at, bytes, size);
}

void buffer_add_zeros(struct buffer *buffer, size_t size)
{
    uint8_t *at = size ? make_room(buffer, size) : NULL;
    if (at) memset(at, 0, size);
}

void buffer_align(struct buffer *buffer, size_t align)
{
    buffer_add_zeros(buffer, (align - buffer->size % align) % align);
}

void buffer_add_u32(struct buffer *buffer, uint32_t value)
{
    uint8_t bytes[4];
    store_u32(bytes, value);
    buffer_add(buffer, bytes, sizeof bytes);
}

void buffer_add_u64(struct buffer *buffer, uint64_t value)
{
    uint8_t bytes[8];
    store_u64(bytes, value);
    buffer_add(buffer, bytes, sizeof bytes);
}

rmcp_status buffer_status(const struct buffer *buffer)
{
    return buffer->failed ? rmcp_fail_memory("bytes to be written", buffer->size) : RMCP_OK;
}

void buffer_deinit(struct buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct buffer){ 0 };
}

static void add_head(struct buffer *buffer, unsigned head, uint64_t value, unsigned n)
{
    uint8_t bytes[9] = { (uint8_t)head };
    for (unsigned i = 0; i < n; i++) bytes[1 + i] = (uint8_t)(value >> 8 * (n - 1 - i));
    buffer_add(buffer, bytes, 1 + n);
}

void buffer_add_msgpack_uint(struct buffer *buffer, uint64_t value)
{
    if (value < 0x80)
        add_head(buffer, (unsigned)value, 0, 0);
    else if (value <= UINT8_MAX)
        add_head(buffer, 0xcc, value, 1);
    else if (value <= UINT16_MAX)
        add_head(buffer, 0xcd, value, 2);
    else if (value <= UINT32_MAX)
        add_head(buffer, 0xce, value, 4);
    else
        add_head(buffer, 0xcf, value, 8);
}

void buffer_add_msgpack_string(struct buffer *buffer, const char *text, size_t length)
{
    if (length < 32)
        add_head(buffer, 0xa0 | (unsigned)length, 0, 0);
    else if (length <= UINT8_MAX)
        add_head(buffer, 0xd9, length, 1);
    else if (length <= UINT16_MAX)
        add_head(buffer, 0xda, length, 2);
    else
        add_head(buffer, 0xdb, length, 4);
    buffer_add(buffer, text, length);
}

void buffer_add_msgpack_map(struct buffer *buffer, uint32_t n_pairs)
{
    if (n_pairs < 16)
        add_head(buffer, 0x80 | n_pairs, 0, 0);
    else
        add_head(buffer, n_pairs <= UINT16_MAX ? 0xde : 0xdf, n_pairs,
                 n_pairs <= UINT16_MAX ? 2 : 4);
}

void buffer_add_msgpack_array(struct buffer *buffer, uint32_t n)
{
    if (n < 16)
        add_head(buffer, 0x90 | n, 0, 0);
    else
        add_head(buffer, n <= UINT16_MAX ? 0xdc : 0xdd, n, n <= UINT16_MAX ? 2 : 4);
}
