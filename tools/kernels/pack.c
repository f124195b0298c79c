/* pack.c: at build time, packs compiled kernels into one archive: pack TARGET ARCHIVE RESULT
 * FILE...
 *
 * ARCHIVE is one zstd frame of struct rmcp_archive (archive.h) and the bytes of all files, named by
 * their stems: variants are alike, so packed together they take a tenth. RESULT is an assembler
 * file that includes it, which is much faster to build than an array in C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "gpu/archive.h"

enum { LEVEL = 19 };

static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long end = -1;
    if (file && !fseek(file, 0, SEEK_END)) end = ftell(file);
    if (end > 0) bytes = malloc((size_t)end);
    if (bytes) {
        rewind(file);
        *size = fread(bytes, 1, (size_t)end, file);
    }
    if (file) fclose(file);
    return bytes;
}

/* "/a/b/gemm.co" becomes "gemm". False when it is too long. */
static bool stem_of(const char *path, char *stem, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    if (length >= size) return false;
    memcpy(stem, name, length);
    stem[length] = '\0';
    return true;
}

static char *gather(char *const *paths, int n, size_t *size)
{
    struct rmcp_archive head = { .n_entries = (uint64_t)n };
    *size = sizeof head + (size_t)n * sizeof(struct rmcp_archive_entry);
    char *bytes = calloc(1, *size);
    if (bytes) memcpy(bytes, &head, sizeof head);
    for (int i = 0; i < n && bytes; i++) {
        struct rmcp_archive_entry entry = { .offset = *size };
        size_t length = 0;
        char *file = read_file(paths[i], &length);
        char *grown = file ? realloc(bytes, *size + length) : NULL;
        if (!grown || !stem_of(paths[i], entry.name, sizeof entry.name)) {
            fprintf(stderr, "pack: %s: cannot be read or has too long a name\n", paths[i]);
            free(file);
            free(grown ? grown : bytes);
            return NULL;
        }
        bytes = grown;
        entry.size = length;
        memcpy(bytes + sizeof head + (size_t)i * sizeof entry, &entry, sizeof entry);
        memcpy(bytes + *size, file, length);
        *size += length;
        free(file);
    }
    return bytes;
}

static bool write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file)) ok = false;
    if (!ok) perror(path);
    return ok;
}

static bool write_assembly(const char *path, const char *target, const char *archive)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return false;
    }
    fprintf(file,
            "    .section .rodata\n    .balign 16\n"
            "    .globl rmcp_archive_%s\n    .hidden rmcp_archive_%s\nrmcp_archive_%s:\n"
            "    .incbin \"%s\"\n"
            "    .globl rmcp_archive_%s_end\n    .hidden rmcp_archive_%s_end\n"
            "rmcp_archive_%s_end:\n    .byte 0\n"
            "    .section .note.GNU-stack,\"\",@progbits\n",
            target, target, target, archive, target, target, target);
    return !fclose(file);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: pack TARGET ARCHIVE RESULT FILE...\n");
        return 2;
    }
    size_t size = 0;
    char *bytes = gather(argv + 4, argc - 4, &size);
    const size_t room = ZSTD_compressBound(size);
    void *packed = bytes ? malloc(room) : NULL;
    const size_t length = packed ? ZSTD_compress(packed, room, bytes, size, LEVEL) : 0;
    bool ok = packed && !ZSTD_isError(length) && write_file(argv[2], packed, length) &&
              write_assembly(argv[3], argv[1], argv[2]);
    if (ok) printf("%s: %zu bytes, %zu packed\n", argv[1], size, length);
    free(packed);
    free(bytes);
    return ok ? 0 : 1;
}
