/* walk.h: every AMDGPU code object in a file, a library, a wheel, a database or a folder.
 *
 * Every byte is taken as hostile; see codeobj.h. */
#ifndef RMCP_CODEOBJ_WALK_H
#define RMCP_CODEOBJ_WALK_H

#include "code/codeobj/codeobj.h"

struct codeobj_limits {   /* 0 means the default                                          */
    uint64_t blob_bytes;  /* one decompressed piece; 8 GiB                                */
    uint64_t total_bytes; /* all decompressed pieces of a walk; 64 GiB                    */
    uint64_t heap_bytes;  /* a larger piece goes to an unlinked file in $TMPDIR; 64 MiB   */
    uint32_t depth;       /* containers within containers, and folders; 64                */
    uint32_t troubles;    /* reported before the walk gives up; 1000                      */
};

enum codeobj_item_kind {
    CODEOBJ_OBJECT = 0, /* an AMDGPU code object                                               */
    CODEOBJ_OTHER = 1,  /* GPU code of another form: LLVM bitcode or SPIR-V; see `message`     */
    CODEOBJ_TROUBLE = 2 /* a piece that could not be read; `message` says why; the walk goes on */
};

struct codeobj_bundle;

struct codeobj_item {
    enum codeobj_item_kind kind;
    const char *path;     /* "libfoo.so: .hip_fatbin bundle 12: hipv4-amdgcn-amd-amdhsa--gfx1030";
                             control characters are replaced, overlong ones are cut          */
    const char *entry_id; /* the bundle's name for it, "" outside of bundles                 */
    const uint8_t *bytes; /* the object; NULL for trouble; unaligned                         */
    size_t size;
    uint64_t offset; /* of the object in the innermost file or decompressed piece            */
    struct codeobj_target target; /* from e_flags; zero for others                           */
    const struct codeobj_bundle *bundle; /* when rewriting (containers.h): the one around it, or
                                            NULL; as it is by then                           */
    const char *message;
};

/* Called for every item; everything in it is gone after the return. Anything but RMCP_OK ends the
 * walk and is what the walk returns. */
typedef rmcp_status (*codeobj_visit)(void *context, const struct codeobj_item *item);

struct codeobj_source {
    const char *name; /* how paths begin */
    const void *bytes;
    size_t size;
    struct codeobj_limits limits;
};

/* Find every code object in the bytes: code objects and offload bundles (also compressed), alone or
 * anywhere in other bytes, host libraries and programs, zip files and wheels, MIOpen's kernel
 * databases, and these within each other. Fails only when the caller's function does, when memory
 * runs out (RMCP_E_NOMEM, also for total_bytes), or when there is too much trouble (RMCP_E_IO). */
rmcp_status codeobj_walk(const struct codeobj_source *source, codeobj_visit visit, void *context);

/* What a file is that others are packed in, as "a tar archive", or NULL. Code within compressed
 * ones is not found. */
const char *codeobj_packed_as(const void *bytes, size_t size, bool *compressed);

/* The same for a regular file, which is mapped and not read into memory, or for all regular files
 * below a folder, in the order of their names; symbolic links below the folder are not followed.
 * A file that cannot be opened below a folder is trouble; `path` itself, an error. A file must not
 * shrink while it is walked. */
rmcp_status codeobj_walk_path(const char *path, const struct codeobj_limits *limits,
                              codeobj_visit visit, void *context);

/* What a host library or program tells without its code being touched: a library of gigabytes costs
 * one page for each translation unit it was built from. */
struct codeobj_library_reader {
    void *context;
    void (*soname)(void *context, const char *name, size_t length);
    /* For each entry of each offload bundle in .hip_fatbin, also compressed ones:
     * "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"; the bytes are as hostile as the file. */
    void (*target)(void *context, const char *id, size_t length);
    bool (*go_on)(void *context); /* asked before each bundle; false: leave out the rest */
};

/* RMCP_E_IO when the bytes are no ELF file, or a damaged one; a damaged bundle ends its section. */
rmcp_status codeobj_library_read(const void *bytes, size_t size,
                                 const struct codeobj_library_reader *reader);

#endif
