/* zip_write.c: zip files: members one behind the other, then their directory; zip64 where needed.
 */
#include "code/codeobj/zip.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "code/codeobj/buffer.h"
#include "code/codeobj/bytes.h"

enum {
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    NEEDS_DEFLATE = 20, /* version 2.0 */
    NEEDS_ZIP64 = 45,
    FLAG_DESCRIPTOR = 8, /* sizes behind the bytes: not here */
    CHUNK = 1 << 18
};
#define FULL UINT32_MAX

struct zip_writer {
    struct codeobj_output *output;
    struct buffer directory;
    uint64_t n;
};

rmcp_status zip_writer_open(struct codeobj_output *output, struct zip_writer **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out) return rmcp_fail_memory("zip file", sizeof **out);
    (*out)->output = output;
    return RMCP_OK;
}

void zip_writer_close(struct zip_writer *writer)
{
    if (!writer) return;
    buffer_deinit(&writer->directory);
    free(writer);
}

static uint32_t narrow(uint64_t value)
{
    return value < FULL ? (uint32_t)value : FULL;
}

/* Sizes and place as far as they do not fit 32 bits; `place` NULL: of a local header, which has
 * both sizes or none. */
static void add_zip64(struct buffer *extra, const struct zip_member *m, const uint64_t *place)
{
    uint8_t head[4];
    const bool large = m->uncompressed >= FULL, large_packed = m->compressed >= FULL;
    const bool far = place && *place >= FULL, local = !place && (large || large_packed);
    const size_t n = (large || local) + (large_packed || local) + far;
    if (!n) return;
    store_u16(head, 1);
    store_u16(head + 2, (uint16_t)(8 * n));
    buffer_add(extra, head, sizeof head);
    if (large || local) buffer_add_u64(extra, m->uncompressed);
    if (large_packed || local) buffer_add_u64(extra, m->compressed);
    if (far) buffer_add_u64(extra, *place);
}

/* What else the old directory had to say: times, owners. */
static void keep_extra(struct buffer *extra, const struct zip_member *from)
{
    const uint8_t *at = from->record + CENTRAL_BYTES + from->name_length;
    size_t left = from->extra_length;
    while (left >= 4) {
        const size_t n = (size_t)load_u16(at + 2) + 4;
        if (n > left) return;
        if (load_u16(at) != 1 && extra->size + n <= UINT16_MAX) buffer_add(extra, at, n);
        at += n;
        left -= n;
    }
}

static rmcp_status add_local(struct zip_writer *w, const struct zip_member *from,
                             const struct zip_member *m)
{
    uint8_t head[LOCAL_BYTES] = { 'P', 'K', 3, 4 };
    struct buffer extra = { 0 };
    add_zip64(&extra, m, NULL);
    store_u16(head + 4, extra.size ? NEEDS_ZIP64 : NEEDS_DEFLATE);
    store_u16(head + 6, (uint16_t)(m->flags & ~(uint32_t)FLAG_DESCRIPTOR));
    store_u16(head + 8, (uint16_t)m->method);
    memcpy(head + 10, from->record + 12, 4); /* time, date */
    store_u32(head + 14, m->crc);
    store_u32(head + 18, extra.size ? FULL : (uint32_t)m->compressed);
    store_u32(head + 22, extra.size ? FULL : (uint32_t)m->uncompressed);
    store_u16(head + 26, (uint16_t)m->name_length);
    store_u16(head + 28, (uint16_t)extra.size);
    rmcp_status status = buffer_status(&extra);
    if (!status) status = codeobj_output_write(w->output, head, sizeof head);
    if (!status) status = codeobj_output_write(w->output, m->name, m->name_length);
    if (!status) status = codeobj_output_write(w->output, extra.bytes, extra.size);
    buffer_deinit(&extra);
    return status;
}

static rmcp_status add_record(struct zip_writer *w, const struct zip_member *from,
                              const struct zip_member *m, uint64_t place)
{
    uint8_t head[CENTRAL_BYTES] = { 'P', 'K', 1, 2 };
    struct buffer extra = { 0 };
    add_zip64(&extra, m, &place);
    const bool wide = extra.size;
    keep_extra(&extra, from);
    memcpy(head + 4, from->record + 4, 2); /* made by */
    store_u16(head + 6, wide ? NEEDS_ZIP64 : NEEDS_DEFLATE);
    store_u16(head + 8, (uint16_t)(m->flags & ~(uint32_t)FLAG_DESCRIPTOR));
    store_u16(head + 10, (uint16_t)m->method);
    memcpy(head + 12, from->record + 12, 4);
    store_u32(head + 16, m->crc);
    store_u32(head + 20, narrow(m->compressed));
    store_u32(head + 24, narrow(m->uncompressed));
    store_u16(head + 28, (uint16_t)m->name_length);
    store_u16(head + 30, (uint16_t)extra.size);
    store_u16(head + 32, (uint16_t)from->comment_length);
    memcpy(head + 36, from->record + 36, 6); /* attributes: permissions */
    store_u32(head + 42, narrow(place));
    buffer_add(&w->directory, head, sizeof head);
    buffer_add(&w->directory, m->name, m->name_length);
    buffer_add(&w->directory, extra.bytes, extra.size);
    buffer_add(&w->directory, from->record + CENTRAL_BYTES + from->name_length + from->extra_length,
               from->comment_length);
    rmcp_status status = buffer_status(&extra);
    buffer_deinit(&extra);
    return status ? status : buffer_status(&w->directory);
}

rmcp_status zip_writer_add(struct zip_writer *w, const struct zip_member *from,
                           const struct zip_member *m, const uint8_t *bytes)
{
    const uint64_t place = codeobj_output_size(w->output);
    if (m->name_length > UINT16_MAX)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "zip: a name of %zu bytes", m->name_length);
    rmcp_status status = add_local(w, from, m);
    if (!status) status = codeobj_output_write(w->output, bytes, (size_t)m->compressed);
    if (!status) status = add_record(w, from, m, place);
    w->n++;
    return status;
}

rmcp_status zip_writer_finish(struct zip_writer *w)
{
    const uint64_t start = codeobj_output_size(w->output), size = w->directory.size;
    uint8_t end64[END64_BYTES] = { 'P', 'K', 6, 6 }, locator[LOCATOR_BYTES] = { 'P', 'K', 6, 7 },
            end[END_BYTES] = { 'P', 'K', 5, 6 };
    rmcp_status status = codeobj_output_write(w->output, w->directory.bytes, (size_t)size);
    if (!status && (w->n >= UINT16_MAX || start >= FULL || size >= FULL)) {
        store_u64(end64 + 4, END64_BYTES - 12);
        store_u16(end64 + 12, NEEDS_ZIP64);
        store_u16(end64 + 14, NEEDS_ZIP64);
        store_u64(end64 + 24, w->n);
        store_u64(end64 + 32, w->n);
        store_u64(end64 + 40, size);
        store_u64(end64 + 48, start);
        store_u64(locator + 8, start + size);
        store_u32(locator + 16, 1); /* disks */
        status = codeobj_output_write(w->output, end64, sizeof end64);
        if (!status) status = codeobj_output_write(w->output, locator, sizeof locator);
    }
    const uint16_t n = (uint16_t)(w->n < UINT16_MAX ? w->n : UINT16_MAX);
    store_u16(end + 8, n);
    store_u16(end + 10, n);
    store_u32(end + 12, narrow(size));
    store_u32(end + 16, narrow(start));
    return status ? status : codeobj_output_write(w->output, end, sizeof end);
}

rmcp_status zip_deflate(const uint8_t *bytes, uint64_t size, struct codeobj_output *output)
{
    z_stream z = { 0 };
    uint8_t *chunk = malloc(CHUNK);
    if (!chunk) return rmcp_fail_memory("compression", CHUNK);
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(chunk);
        return rmcp_fail_memory("zlib", sizeof z);
    }
    rmcp_status status = RMCP_OK;
    for (int result = Z_OK; !status && result != Z_STREAM_END;) {
        const unsigned given = size < INT_MAX ? (unsigned)size : INT_MAX;
        z.next_in = (Bytef *)(uintptr_t)bytes; /* zlib does not write there */
        z.avail_in = given;
        z.next_out = chunk;
        z.avail_out = CHUNK;
        result = deflate(&z, given == size ? Z_FINISH : Z_NO_FLUSH);
        bytes += given - z.avail_in;
        size -= given - z.avail_in;
        if (result == Z_OK || result == Z_STREAM_END)
            status = codeobj_output_write(output, chunk, CHUNK - z.avail_out);
        else
            status = rmcp_fail(RMCP_E_INTERNAL, "zlib could not compress: %d", result);
    }
    deflateEnd(&z);
    free(chunk);
    return status;
}
