/* spool.c: bytes that arrive piece by piece: on the heap, or in an unlinked file when many. */
#include "code/codeobj/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void spool_init(struct spool *spool, uint64_t heap_bytes)
{
    *spool = (struct spool){ .heap_bytes = heap_bytes, .file = -1 };
}

static rmcp_status write_all(int file, const uint8_t *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(file, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return rmcp_fail(RMCP_E_IO, "temporary file: %s", strerror(errno));
        bytes += n;
        size -= (size_t)n;
    }
    return RMCP_OK;
}

/* /var/tmp, because /tmp is memory on many machines. */
static rmcp_status to_file(struct spool *spool)
{
    char name[4096];
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/var/tmp";
    if ((size_t)snprintf(name, sizeof name, "%s/rmcp-XXXXXX", folder) >= sizeof name)
        return rmcp_fail(RMCP_E_IO, "TMPDIR is too long");
    spool->file = mkstemp(name);
    if (spool->file < 0)
        return rmcp_fail(RMCP_E_IO, "temporary file %s: %s", name, strerror(errno));
    unlink(name);
    fcntl(spool->file, F_SETFD, FD_CLOEXEC);
    rmcp_status status = write_all(spool->file, spool->bytes, spool->size);
    free(spool->bytes);
    spool->bytes = NULL;
    return status;
}

rmcp_status spool_write(struct spool *spool, const void *bytes, size_t size)
{
    if (!size) return RMCP_OK;
    if (size > SIZE_MAX / 4 || spool->size > SIZE_MAX / 4)
        return rmcp_fail(RMCP_E_IO, "too many bytes");
    rmcp_status status = RMCP_OK;
    if (spool->file < 0 && spool->size + size > spool->heap_bytes) status = to_file(spool);
    if (spool->file >= 0) {
        if (!status) status = write_all(spool->file, bytes, size);
        if (!status) spool->size += size;
        return status;
    }
    if (spool->room - spool->size < size) {
        size_t room = 2 * spool->room + 65536;
        if (room - spool->size < size) room = spool->size + size;
        uint8_t *grown = realloc(spool->bytes, room);
        if (!grown) return rmcp_fail_memory("decompressed bytes", room);
        spool->bytes = grown;
        spool->room = room;
    }
    memcpy(spool->bytes + spool->size, bytes, size);
    spool->size += size;
    return RMCP_OK;
}

rmcp_status spool_finish(struct spool *spool)
{
    if (spool->file < 0 || !spool->size) return RMCP_OK;
    void *at = mmap(NULL, spool->size, PROT_READ, MAP_PRIVATE, spool->file, 0);
    if (at == MAP_FAILED)
        return rmcp_fail(RMCP_E_NOMEM, "temporary file of %zu bytes: %s", spool->size,
                         strerror(errno));
    spool->bytes = at;
    spool->mapped = 1;
    return RMCP_OK;
}

void spool_deinit(struct spool *spool)
{
    if (spool->mapped)
        munmap(spool->bytes, spool->size);
    else
        free(spool->bytes);
    if (spool->file >= 0) close(spool->file);
    spool_init(spool, 0);
}
