/* buffer.h: bytes that are written one behind the other. */
#ifndef RMCP_CODEOBJ_BUFFER_H
#define RMCP_CODEOBJ_BUFFER_H

#include "base/error.h"

/* A zeroed one is empty. A failed allocation is kept in `failed`, and all later calls do nothing:
 * it is enough to ask buffer_status once, at the end. */
struct buffer {
    uint8_t *bytes; /* free() */
    size_t size, room;
    int failed;
};

void buffer_add(struct buffer *buffer, const void *bytes, size_t size);
void buffer_add_zeros(struct buffer *buffer, size_t size);
void buffer_align(struct buffer *buffer, size_t align); /* zeros up to a multiple */
void buffer_add_u32(struct buffer *buffer, uint32_t value);
void buffer_add_u64(struct buffer *buffer, uint64_t value);
rmcp_status buffer_status(const struct buffer *buffer);
void buffer_deinit(struct buffer *buffer);

/* MessagePack, each in its shortest form, as LLVM writes it. */
void buffer_add_msgpack_uint(struct buffer *buffer, uint64_t value);
void buffer_add_msgpack_string(struct buffer *buffer, const char *text, size_t length);
void buffer_add_msgpack_map(struct buffer *buffer, uint32_t n_pairs);
void buffer_add_msgpack_array(struct buffer *buffer, uint32_t n);

#endif
