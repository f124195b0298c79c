/* walk.c: the walk itself: what a blob is, how its path reads, and the caller's function. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "code/codeobj/elf.h"
#include "code/codeobj/walker.h"
#include "code/codeobj/zip.h"

void walk_init(struct walk *walk, const struct codeobj_limits *limits, codeobj_visit visit,
               void *context)
{
    *walk = (struct walk){ .visit = visit, .context = context, .entry_id = "" };
    if (limits) walk->limits = *limits;
    struct codeobj_limits *l = &walk->limits;
    if (!l->blob_bytes) l->blob_bytes = (uint64_t)8 << 30;
    if (!l->total_bytes) l->total_bytes = (uint64_t)64 << 30;
    if (!l->heap_bytes) l->heap_bytes = (uint64_t)64 << 20;
    if (!l->depth) l->depth = 64;
    if (!l->troubles) l->troubles = 1000;
}

/* `separator` and the text; control characters would make a mess of terminals and logs. */
static size_t append(struct walk *walk, const char *separator, const char *format,
                     va_list arguments)
{
    size_t before = walk->path_length, room = sizeof walk->path - before;
    char text[sizeof walk->path];
    walk->depth++;
    vsnprintf(text, sizeof text, format, arguments);
    if (!*text) return before;
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    snprintf(walk->path + before, room, "%s%s", before ? separator : "", text);
    walk->path_length = before + strlen(walk->path + before);
    return before;
}

size_t walk_enter(struct walk *walk, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t before = append(walk, ": ", format, arguments);
    va_end(arguments);
    return before;
}

static size_t enter_file(struct walk *walk, const char *format, ...)
{
    bool has_slash = walk->path_length && walk->path[walk->path_length - 1] == '/';
    va_list arguments;
    va_start(arguments, format);
    size_t before = append(walk, has_slash ? "" : "/", format, arguments);
    va_end(arguments);
    return before;
}

size_t walk_enter_file(struct walk *walk, const char *name)
{
    return enter_file(walk, "%s", name);
}

void walk_leave(struct walk *walk, size_t before)
{
    walk->depth--;
    walk->path_length = before;
    walk->path[before] = 0;
}

rmcp_status walk_trouble(struct walk *walk, rmcp_status failure)
{
    if (failure != RMCP_E_IO && failure != RMCP_E_UNSUPPORTED) return failure;
    char message[512];
    snprintf(message, sizeof message, "%s", rmcp_last_error());
    if (++walk->troubles > walk->limits.troubles)
        return rmcp_fail(RMCP_E_IO, "%.300s: given up after %u unreadable pieces", walk->path,
                         (unsigned)walk->limits.troubles);
    return walk->visit(walk->context, &(struct codeobj_item){ .kind = CODEOBJ_TROUBLE,
                                                              .path = walk->path,
                                                              .entry_id = walk->entry_id,
                                                              .message = message });
}

rmcp_status walk_object(struct walk *walk, const uint8_t *bytes, size_t size, uint64_t offset)
{
    struct codeobj_item item = { .kind = CODEOBJ_OBJECT,
                                 .path = walk->path,
                                 .entry_id = walk->entry_id,
                                 .bytes = bytes,
                                 .size = size,
                                 .offset = offset,
                                 .message = "" };
    struct elf_view view;
    rmcp_status status = elf_view_init(&view, bytes, size);
    if (status) return walk_trouble(walk, status);
    unsigned version = view.os_abi == ELFOSABI_AMDGPU_HSA ? view.abi_version + 2u : 4;
    codeobj_target_read(view.flags, version, &item.target);
    if (version == 2 && !item.target.chip) { /* the finalizer's: only a note tells */
        struct codeobj *object = NULL;
        if (!codeobj_open(bytes, size, &object)) item.target = object->target;
        codeobj_close(object);
    }
    return walk->visit(walk->context, &item);
}

rmcp_status walk_other(struct walk *walk, const uint8_t *bytes, size_t size, uint64_t offset,
                       const char *what)
{
    return walk->visit(walk->context, &(struct codeobj_item){ .kind = CODEOBJ_OTHER,
                                                              .path = walk->path,
                                                              .entry_id = walk->entry_id,
                                                              .bytes = bytes,
                                                              .size = size,
                                                              .offset = offset,
                                                              .message = what });
}

static bool starts(const uint8_t *bytes, size_t size, const char *magic, size_t length)
{
    return size >= length && !memcmp(bytes, magic, length);
}

const char *codeobj_packed_as(const void *bytes, size_t size, bool *compressed)
{
    static const struct {
        const char *name, *magic;
        size_t length, at;
        bool compressed;
    } kinds[] = {
        { "a Debian package", "!<arch>\ndebian-binary", 21, 0, true },
        { "a static library", "!<arch>\n", 8, 0, false },
        { "a tar archive", "ustar", 5, 257, false },
        { "a zip file", "PK\3\4", 4, 0, false },
        { "compressed by gzip", "\x1f\x8b", 2, 0, true },
        { "compressed by xz", "\3757zXZ", 5, 0, true },
        { "compressed by zstd", "\x28\xb5\x2f\xfd", 4, 0, true },
        { "compressed by bzip2", "BZh", 3, 0, true },
        { "an archive of 7-Zip", "7z\xbc\xaf", 4, 0, true },
        { "an RPM package", "\xed\xab\xee\xdb", 4, 0, true },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (size < kinds[i].at + kinds[i].length) continue;
        if (memcmp((const uint8_t *)bytes + kinds[i].at, kinds[i].magic, kinds[i].length)) continue;
        *compressed = kinds[i].compressed;
        return kinds[i].name;
    }
    return NULL;
}

/* Python's zip applications begin with a line for the shell. */
static bool is_zip_application(const uint8_t *bytes, size_t size)
{
    struct zip zip;
    return starts(bytes, size, "#!", 2) && !zip_open(&zip, bytes, size);
}

rmcp_status walk_blob(struct walk *walk, const uint8_t *bytes, size_t size)
{
    if (walk->depth > walk->limits.depth)
        return walk_trouble(walk, rmcp_fail(RMCP_E_IO, "%u containers within each other",
                                            (unsigned)walk->limits.depth));
    uint16_t machine = 0;
    if (elf_is(bytes, size, &machine) && machine != EM_AMDGPU)
        return walk_host_elf(walk, bytes, size);
    if (starts(bytes, size, "PK\3\4", 4) || starts(bytes, size, "PK\5\6", 4) ||
        is_zip_application(bytes, size))
        return walk_zip(walk, bytes, size);
    if (starts(bytes, size, "SQLite format 3", 16)) return walk_kdb(walk, bytes, size);
    /* In what is a bundle from its first byte, an invalid one is damage. */
    bool quiet = !starts(bytes, size, BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES);
    return walk_scan(walk, bytes, 0, size, "", quiet);
}

rmcp_status codeobj_walk(const struct codeobj_source *source, codeobj_visit visit, void *context)
{
    if (!source || !visit || (!source->bytes && source->size))
        return rmcp_fail(RMCP_E_ARG, "source, visit or bytes is NULL");
    struct walk walk;
    walk_init(&walk, &source->limits, visit, context);
    size_t before = walk_enter(&walk, "%s", source->name ? source->name : "");
    rmcp_status status = walk_blob(&walk, source->bytes, source->size);
    walk_leave(&walk, before);
    return status;
}
