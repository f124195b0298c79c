/* output.c: a file that is there whole or not at all: written under another name, then renamed. */
#include "code/codeobj/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/codeobj/bytes.h"

enum { LARGEST_WRITE = 1 << 24 };

struct codeobj_output {
    int file;
    uint64_t size;
    bool failed; /* then it is not committed */
    char *path, *temporary;
};

static rmcp_status failure(struct codeobj_output *output, const char *what)
{
    const int error = errno;
    output->failed = true;
    return rmcp_fail(RMCP_E_IO, "%s %.300s: %s", what, output->path ? output->path : "nothing",
                     strerror(error));
}

static void release(struct codeobj_output *output)
{
    if (output->file >= 0) close(output->file);
    free(output->path);
    free(output->temporary);
    free(output);
}

rmcp_status codeobj_output_open(const char *path, unsigned mode, struct codeobj_output **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    if (path && !*path) return rmcp_fail(RMCP_E_ARG, "the name of a file to write is empty");
    static const char suffix[] = ".rmcp-XXXXXX";
    struct codeobj_output *output = calloc(1, sizeof *output);
    if (!output) return rmcp_fail_memory("output", sizeof *output);
    output->file = -1;
    if (!path) {
        *out = output;
        return RMCP_OK;
    }
    /* A name that is as long as can be has no room for the suffix. */
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const size_t most = NAME_MAX + 1 - sizeof suffix, whole = strlen(path);
    const size_t length = strlen(base) > most ? (size_t)(base - path) + most : whole;
    output->path = strdup(path);
    output->temporary = malloc(length + sizeof suffix);
    if (!output->path || !output->temporary) {
        release(output);
        return rmcp_fail_memory("name of a file", whole);
    }
    /* In the same folder, since only there a rename is atomic. */
    memcpy(output->temporary, path, length);
    memcpy(output->temporary + length, suffix, sizeof suffix);
    rmcp_status status = RMCP_OK;
    output->file = mkstemp(output->temporary);
    if (output->file < 0)
        status = failure(output, "writing");
    else if (fcntl(output->file, F_SETFD, FD_CLOEXEC) || fchmod(output->file, mode & 07777))
        status = failure(output, "writing");
    if (status) {
        if (output->file >= 0) unlink(output->temporary);
        release(output);
        return status;
    }
    *out = output;
    return RMCP_OK;
}

static rmcp_status write_at(struct codeobj_output *output, uint64_t offset, const uint8_t *bytes,
                            size_t size)
{
    while (size && output->path) {
        const ssize_t n =
            pwrite(output->file, bytes, size < LARGEST_WRITE ? size : LARGEST_WRITE, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return failure(output, "writing");
        bytes += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return RMCP_OK;
}

rmcp_status codeobj_output_write(struct codeobj_output *output, const void *bytes, size_t size)
{
    rmcp_status status = write_at(output, output->size, bytes, size);
    if (!status) output->size += size;
    return status;
}

rmcp_status codeobj_output_extend(struct codeobj_output *output, uint64_t size)
{
    if (size <= output->size) return RMCP_OK;
    if (size > (uint64_t)1 << 50 || (output->path && ftruncate(output->file, (off_t)size)))
        return failure(output, "extending");
    output->size = size;
    return RMCP_OK;
}

uint64_t codeobj_output_size(const struct codeobj_output *output)
{
    return output->size;
}

rmcp_status codeobj_output_patch(struct codeobj_output *output, uint64_t offset, const void *bytes,
                                 size_t size)
{
    if (!in_range(offset, size, output->size)) {
        output->failed = true;
        return rmcp_fail(RMCP_E_INTERNAL, "a change at %llu lies outside of the file",
                         (unsigned long long)offset);
    }
    return write_at(output, offset, bytes, size);
}

bool codeobj_output_failed(const struct codeobj_output *output)
{
    return output->failed;
}

rmcp_status codeobj_output_restart(struct codeobj_output *output)
{
    if (output->path && ftruncate(output->file, 0)) return failure(output, "writing");
    output->size = 0;
    return RMCP_OK;
}

/* So that the name, too, survives a loss of power; where it cannot be had, it is not. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    const int file = folder ? open(folder, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        fsync(file);
        close(file);
    }
    free(folder);
}

rmcp_status codeobj_output_commit(struct codeobj_output *output)
{
    rmcp_status status = RMCP_OK;
    if (!output->path) {
        release(output);
        return RMCP_OK;
    }
    if (output->failed) {
        status = rmcp_fail(RMCP_E_IO, "%.300s was not written completely", output->path);
    } else {
        const int unsynced = fsync(output->file), unclosed = close(output->file);
        output->file = -1;
        if (unsynced || unclosed)
            status = failure(output, "writing");
        else if (rename(output->temporary, output->path))
            status = failure(output, "renaming to");
        else
            sync_folder(output->path);
    }
    if (status) unlink(output->temporary);
    release(output);
    return status;
}

void codeobj_output_abandon(struct codeobj_output *output)
{
    if (!output) return;
    if (output->path) unlink(output->temporary);
    release(output);
}

rmcp_status codeobj_output_file(const char *path, unsigned mode, const void *bytes, size_t size)
{
    struct codeobj_output *output = NULL;
    rmcp_status status = codeobj_output_open(path, mode, &output);
    if (status) return status;
    status = codeobj_output_write(output, bytes, size);
    if (!status) return codeobj_output_commit(output);
    codeobj_output_abandon(output);
    return status;
}
