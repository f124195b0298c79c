/* decompress.c: zlib, raw deflate, zstd and bzip2 streams into a spool, within the limits. */
#include <bzlib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "code/codeobj/walker.h"

enum { CHUNK = 1 << 18 };

struct stream {
    struct walk *walk;
    const uint8_t *in;
    size_t size, used;
    uint64_t expected;
    struct spool *out;
    uint8_t *chunk;
};

static rmcp_status deliver(struct stream *s, size_t n)
{
    if (n > s->expected - s->out->size)
        return rmcp_fail(RMCP_E_IO, "decompresses to more than the %llu bytes announced",
                         (unsigned long long)s->expected);
    s->walk->decompressed += n;
    if (s->walk->decompressed > s->walk->limits.total_bytes)
        return rmcp_fail(RMCP_E_NOMEM, "more than %llu bytes of decompressed data in all",
                         (unsigned long long)s->walk->limits.total_bytes);
    return spool_write(s->out, s->chunk, n);
}

static rmcp_status damaged(const char *what)
{
    return rmcp_fail(RMCP_E_IO, "damaged %s data", what);
}

static unsigned piece(size_t left)
{
    return left < INT_MAX ? (unsigned)left : INT_MAX;
}

static rmcp_status run_zlib(struct stream *s, int window_bits)
{
    z_stream z = { 0 };
    if (inflateInit2(&z, window_bits) != Z_OK) return rmcp_fail_memory("zlib", sizeof z);
    rmcp_status status = RMCP_OK;
    int result = Z_OK;
    while (!status && result != Z_STREAM_END) {
        unsigned given = piece(s->size - s->used);
        z.next_in = (Bytef *)(uintptr_t)(s->in + s->used); /* zlib does not write there */
        z.avail_in = given;
        z.next_out = s->chunk;
        z.avail_out = CHUNK;
        result = inflate(&z, Z_NO_FLUSH);
        s->used += given - z.avail_in;
        if (result == Z_OK || result == Z_STREAM_END)
            status = deliver(s, CHUNK - z.avail_out);
        else
            status = damaged(window_bits < 0 ? "deflate" : "zlib");
    }
    inflateEnd(&z);
    return status;
}

static rmcp_status run_zstd(struct stream *s)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    if (!z) return rmcp_fail_memory("zstd", 0);
    ZSTD_inBuffer in = { s->in, s->size, 0 };
    rmcp_status status = RMCP_OK;
    size_t result = 1;
    while (!status && result) {
        ZSTD_outBuffer out = { s->chunk, CHUNK, 0 };
        size_t before = in.pos;
        result = ZSTD_decompressStream(z, &out, &in);
        if (ZSTD_isError(result))
            status = rmcp_fail(RMCP_E_IO, "zstd: %s", ZSTD_getErrorName(result));
        else if (result && !out.pos && in.pos == before)
            status = damaged("zstd"); /* it wants more input */
        else
            status = deliver(s, out.pos);
    }
    s->used = in.pos;
    ZSTD_freeDStream(z);
    return status;
}

static rmcp_status run_bzip2(struct stream *s)
{
    bz_stream z = { 0 };
    if (BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK) return rmcp_fail_memory("bzip2", sizeof z);
    rmcp_status status = RMCP_OK;
    int result = BZ_OK;
    while (!status && result != BZ_STREAM_END) {
        unsigned given = piece(s->size - s->used);
        z.next_in = (char *)(uintptr_t)(s->in + s->used);
        z.avail_in = given;
        z.next_out = (char *)s->chunk;
        z.avail_out = CHUNK;
        result = BZ2_bzDecompress(&z);
        size_t n = CHUNK - z.avail_out, taken = given - z.avail_in;
        s->used += taken;
        if ((result == BZ_OK && (n || taken)) || result == BZ_STREAM_END)
            status = deliver(s, n);
        else
            status = damaged("bzip2");
    }
    BZ2_bzDecompressEnd(&z);
    return status;
}

rmcp_status walk_decompress(struct walk *walk, enum method method, const uint8_t *in, size_t size,
                            uint64_t expected, struct spool *out, size_t *used)
{
    *used = 0;
    if (expected > walk->limits.blob_bytes)
        return rmcp_fail(RMCP_E_IO, "decompresses to %llu bytes, the limit is %llu",
                         (unsigned long long)expected, (unsigned long long)walk->limits.blob_bytes);
    struct stream s = { .walk = walk, .in = in, .size = size, .expected = expected, .out = out };
    s.chunk = malloc(CHUNK);
    if (!s.chunk) return rmcp_fail_memory("decompression", CHUNK);
    rmcp_status status = RMCP_OK;
    switch (method) {
    case METHOD_ZLIB: status = run_zlib(&s, 15); break;
    case METHOD_RAW_DEFLATE: status = run_zlib(&s, -15); break;
    case METHOD_ZSTD: status = run_zstd(&s); break;
    case METHOD_BZIP2: status = run_bzip2(&s); break;
    }
    free(s.chunk);
    *used = s.used;
    if (!status && out->size != expected)
        status = rmcp_fail(RMCP_E_IO, "decompresses to %zu bytes, %llu were announced", out->size,
                           (unsigned long long)expected);
    return status ? status : spool_finish(out);
}
