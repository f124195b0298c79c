/* pack.c: at build time, packs compiled kernels into archives: pack TARGET FOLDER RESULT
 * OPERATION/FILE...
 *
 * Each operation gets an archive FOLDER/OPERATION.zst, one zstd frame of struct rmcp_archive
 * (archive.h) and the bytes of its files in FOLDER, named by their stems: variants are alike, so
 * packed together they take a tenth. The files of an operation follow each other. RESULT is an
 * assembler file that includes the archives, which is much faster to build than arrays in C. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zstd.h>

#include "engine/gpu/archive.h"

/* PTX of one operation may have 30 MB: stretches of it are packed beside each other, each with the
 * whole window before it. The bytes do not depend on how many processors there are. */
enum { LEVEL = 19, WORKERS = 4, STRETCH = 4 << 20, WHOLE_WINDOW = 9 };

enum { MOST_PATH = 4096 };

static void *read_whole(const char *path, size_t *size)
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

static void *read_file(const char *folder, const char *name, size_t *size)
{
    char path[MOST_PATH];
    const int used = snprintf(path, sizeof path, "%s/%s", folder, name);
    return used > 0 && used < MOST_PATH ? read_whole(path, size) : NULL;
}

/* "conv/gemm.co" becomes "gemm". False when it is too long. */
static bool stem_of(const char *name, char *stem, size_t size)
{
    name = strchr(name, '/') + 1;
    const char *dot = strrchr(name, '.');
    const size_t length = dot ? (size_t)(dot - name) : strlen(name);
    if (length >= size) return false;
    memcpy(stem, name, length);
    stem[length] = '\0';
    return true;
}

static char *gather(const char *folder, char *const *names, int n, size_t *size)
{
    struct rmcp_archive head = { .n_entries = (uint64_t)n };
    *size = sizeof head + (size_t)n * sizeof(struct rmcp_archive_entry);
    char *bytes = calloc(1, *size);
    if (bytes) memcpy(bytes, &head, sizeof head);
    for (int i = 0; i < n && bytes; i++) {
        struct rmcp_archive_entry entry = { .offset = *size };
        size_t length = 0;
        char *file = read_file(folder, strchr(names[i], '/') + 1, &length);
        char *grown = file ? realloc(bytes, *size + length) : NULL;
        if (!grown || !stem_of(names[i], entry.name, sizeof entry.name)) {
            fprintf(stderr, "pack: %s: cannot be read or has too long a name\n", names[i]);
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

/* Bytes that were written to `packed`; 0 with a message when that failed. */
static size_t compress(void *packed, size_t room, const void *bytes, size_t size)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!context) return 0;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
    /* A zstd without threads refuses these and does it alone. */
    if (!ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, WORKERS))) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, STRETCH);
        ZSTD_CCtx_setParameter(context, ZSTD_c_overlapLog, WHOLE_WINDOW);
    }
    const size_t length = ZSTD_compress2(context, packed, room, bytes, size);
    ZSTD_freeCCtx(context);
    if (!ZSTD_isError(length)) return length;
    fprintf(stderr, "pack: zstd: %s\n", ZSTD_getErrorName(length));
    return 0;
}

static bool write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file)) ok = false;
    if (!ok) perror(path);
    return ok;
}

/* What an archive was made of and how, kept beside it. False when it does not fit. */
static bool say_parts(char *text, size_t size, char *const *names, int n)
{
    int used = snprintf(text, size, "level %d, stretches of %d\n", LEVEL, STRETCH);
    for (int i = 0; i < n && used > 0 && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s\n", names[i]);
    return used > 0 && (size_t)used < size;
}

/* Whether the archive was made of these files as they are: builds share a folder of kernels, and
 * packing takes as long as many tests. */
static bool is_made(const char *archive, const char *note, const char *parts, const char *folder,
                    char *const *names, int n)
{
    struct stat made, file;
    char path[MOST_PATH];
    size_t size = 0;
    if (stat(archive, &made)) return false;
    char *old = read_whole(note, &size);
    const bool same = old && size == strlen(parts) && !memcmp(old, parts, size);
    free(old);
    for (int i = 0; i < n && same; i++) {
        const int used = snprintf(path, sizeof path, "%s/%s", folder, strchr(names[i], '/') + 1);
        if (used < 0 || used >= MOST_PATH || stat(path, &file) || file.st_mtime >= made.st_mtime)
            return false;
    }
    return same;
}

static bool make(const char *target, const char *operation, const char *folder, const char *archive,
                 char *const *names, int n)
{
    size_t size = 0;
    char *bytes = gather(folder, names, n, &size);
    const size_t room = ZSTD_compressBound(size);
    void *packed = bytes ? malloc(room) : NULL;
    const size_t length = packed ? compress(packed, room, bytes, size) : 0;
    const bool ok = length && write_file(archive, packed, length);
    if (ok)
        printf("%s: %s: %d kernels, %zu bytes, %zu packed\n", target, operation, n, size, length);
    free(packed);
    free(bytes);
    return ok;
}

/* One operation's archive, on disk and as a part of the assembler file. */
static bool pack(const char *target, const char *operation, const char *folder, char *const *names,
                 int n, FILE *result)
{
    char archive[MOST_PATH], note[MOST_PATH];
    static char parts[1 << 18];
    const int used = snprintf(archive, sizeof archive, "%s/%s.zst", folder, operation);
    if (used < 0 || used >= MOST_PATH || !say_parts(parts, sizeof parts, names, n)) {
        fprintf(stderr, "pack: %s: too many or too long names\n", operation);
        return false;
    }
    snprintf(note, sizeof note, "%.*s.parts", used - (int)strlen(".zst"), archive);
    if (!is_made(archive, note, parts, folder, names, n)) {
        remove(note); /* first: an archive that was cut off must not pass for a whole one */
        if (!make(target, operation, folder, archive, names, n) ||
            !write_file(note, parts, strlen(parts)))
            return false;
    }
    fprintf(result,
            "    .balign 16\n"
            "    .globl rmcp_archive_%s_%s\n    .hidden rmcp_archive_%s_%s\n"
            "rmcp_archive_%s_%s:\n"
            "    .incbin \"%s\"\n"
            "    .globl rmcp_archive_%s_%s_end\n    .hidden rmcp_archive_%s_%s_end\n"
            "rmcp_archive_%s_%s_end:\n    .byte 0\n",
            target, operation, target, operation, target, operation, archive, target, operation,
            target, operation, target, operation);
    return true;
}

/* How many of the names begin with the operation of the first; 0 when it names none. */
static int operation_of(char *const *names, int n, char *operation, size_t size)
{
    const size_t length = strcspn(*names, "/");
    if (!(*names)[length] || !length || length >= size) return 0;
    memcpy(operation, *names, length);
    operation[length] = '\0';
    int same = 1;
    while (same < n && !strncmp(names[same], *names, length + 1)) same++;
    return same;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: pack TARGET FOLDER RESULT OPERATION/FILE...\n");
        return 2;
    }
    FILE *result = fopen(argv[3], "w");
    if (!result) {
        perror(argv[3]);
        return 1;
    }
    fprintf(result, "    .section .rodata\n");
    bool ok = true;
    for (int i = 4, n; i < argc && ok; i += n) {
        char operation[64];
        n = operation_of(argv + i, argc - i, operation, sizeof operation);
        if (!n) fprintf(stderr, "pack: '%s' is no OPERATION/FILE\n", argv[i]);
        ok = n && pack(argv[1], operation, argv[2], argv + i, n, result);
    }
    fprintf(result, "    .section .note.GNU-stack,\"\",@progbits\n");
    if (fclose(result)) ok = false;
    return ok ? 0 : 1;
}
