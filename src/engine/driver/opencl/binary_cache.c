/* binary_cache.c: built programs, kept on disk between processes. */
#include "engine/driver/opencl/binary_cache.h"

#include "base/cache_path.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file is this, the key without its end, and the data. The name is only a hash of the key; the
 * whole of it is compared. Byte order is the machine's own, as is the code. */
struct header {
    char magic[8];
    uint64_t key_bytes, data_bytes;
    uint64_t checksum; /* of key and data */
};
static const char magic[8] = "RMCPCL1";

enum { MOST_PATH = 1024 };
static const uint64_t MOST_DATA = UINT64_C(1) << 30;

/* Path of the file for `key`. False when there is no place for a cache. */
static bool find_path(const char *key, char path[MOST_PATH])
{
    char name[40];
    snprintf(name, sizeof name, "opencl/%016llx.bin",
             (unsigned long long)rmcp_hash(RMCP_HASH_START, key, strlen(key)));
    return rmcp_cache_path(name, path, MOST_PATH);
}

static bool read_all(int file, void *data, size_t bytes)
{
    char *at = data;
    while (bytes) {
        ssize_t n = read(file, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool write_all(int file, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes) {
        ssize_t n = write(file, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Key and data of an open file as one block, when all of it is as it was written. */
static char *read_file(int file, const char *key, struct header *header)
{
    struct stat stat;
    const size_t key_bytes = strlen(key);
    if (fstat(file, &stat) || !S_ISREG(stat.st_mode) || stat.st_uid != geteuid() ||
        !read_all(file, header, sizeof *header) || memcmp(header->magic, magic, sizeof magic) ||
        header->key_bytes != key_bytes || header->data_bytes == 0 ||
        header->data_bytes > MOST_DATA ||
        (uint64_t)stat.st_size != sizeof *header + key_bytes + header->data_bytes)
        return NULL;
    const size_t bytes = key_bytes + (size_t)header->data_bytes;
    char *content = malloc(bytes);
    if (content && read_all(file, content, bytes) && !memcmp(content, key, key_bytes) &&
        rmcp_hash(RMCP_HASH_START, content, bytes) == header->checksum)
        return content;
    free(content);
    return NULL;
}

void *rmcp_binary_cache_read(const char *key, size_t *bytes)
{
    char path[MOST_PATH];
    struct header header;
    *bytes = 0;
    if (!find_path(key, path)) return NULL;
    /* Not blocking, lest a pipe in the way hangs us. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return NULL;
    char *content = read_file(file, key, &header);
    close(file);
    if (!content) return NULL;
    *bytes = (size_t)header.data_bytes;
    memmove(content, content + header.key_bytes, *bytes);
    return content;
}

void rmcp_binary_cache_write(const char *key, const void *data, size_t bytes)
{
    char path[MOST_PATH], aside[MOST_PATH + 8];
    if (!bytes || bytes > MOST_DATA || !find_path(key, path) || !rmcp_cache_make_folders(path))
        return;
    snprintf(aside, sizeof aside, "%s.XXXXXX", path);
    int file = mkstemp(aside);
    if (file < 0) return;

    struct header header = { .key_bytes = strlen(key), .data_bytes = bytes };
    memcpy(header.magic, magic, sizeof magic);
    header.checksum = rmcp_hash(rmcp_hash(RMCP_HASH_START, key, strlen(key)), data, bytes);
    bool written = write_all(file, &header, sizeof header) && write_all(file, key, strlen(key)) &&
                   write_all(file, data, bytes);
    if (close(file)) written = false;
    if (!written || rename(aside, path)) unlink(aside);
}
