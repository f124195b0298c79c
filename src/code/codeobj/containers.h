/* containers.h: code objects put back into what they are shipped in: offload bundles, libraries and
 * programs of the host, MIOpen's kernel databases, files.
 *
 * Every byte that is read is taken as hostile; see codeobj.h. Nothing is written when something is
 * wrong, and a file is there whole or not at all; see output.h. */
#ifndef RMCP_CODEOBJ_CONTAINERS_H
#define RMCP_CODEOBJ_CONTAINERS_H

#include "code/codeobj/output.h"
#include "code/codeobj/walk.h"

/* ---- one offload bundle ---- */

struct codeobj_entry {
    const char *id;       /* "hipv4-amdgcn-amd-amdhsa--gfx1030", "host-x86_64-unknown-linux--" */
    const uint8_t *bytes; /* borrowed from the source, from codeobj_bundle_set's caller, or the
                             bundle's own when it was compressed                              */
    size_t size;
};

struct codeobj_bundle {
    struct codeobj_entry *entries;
    size_t n;
    unsigned compressed; /* version of its compressed form, 1 to 3; 0: plain                  */
    bool zstd;           /* else zlib                                                         */
    uint64_t align;      /* of its entries in the bundle                                      */
    size_t extent;       /* bytes that it takes in the source                                 */
    struct codeobj_bundle_own *own;
};

/* The bundle that starts at these bytes, which must outlive it. On any error `*out` is NULL. */
rmcp_status codeobj_bundle_open(const void *bytes, size_t size, struct codeobj_bundle **out);
void codeobj_bundle_close(struct codeobj_bundle *bundle); /* NULL is fine */

/* The bytes of the entry `id`, which is added where it is not there yet; they are not copied. */
rmcp_status codeobj_bundle_set(struct codeobj_bundle *bundle, const char *id, const void *bytes,
                               size_t size);

/* As clang-offload-bundler writes it, in the form in which it was read: a bundle of its own that
 * was not changed comes out byte by byte, unless it is compressed. `*out` is to be freed. */
rmcp_status codeobj_bundle_write(const struct codeobj_bundle *bundle, uint8_t **out,
                                 size_t *out_size);

/* ---- everything that holds code objects ---- */

/* What a rewriter made of one code object. */
struct codeobj_made {
    uint8_t *bytes; /* malloc()ed, then the caller's; NULL: the object stays as it is           */
    size_t size;
    bool add;    /* in a bundle: an entry beside the old one, under the name of the new object's
                    target; an entry that has this name already is replaced. Else, and everywhere
                    outside of bundles: in the place of the old one                              */
    bool remove; /* in a bundle, without bytes: the entry is taken out; elsewhere refused      */
    /* With `add`: whether another entry, by its name, is dropped for the new one; may be NULL. */
    bool (*supersedes)(const void *context, const struct codeobj_target *target);
    const void *context;
};

/* Called for every code object, in the order of the file; `item` is gone after the return. Anything
 * but RMCP_OK ends the writing; then no file is written. */
typedef rmcp_status (*codeobj_rewriter)(void *context, const struct codeobj_item *item,
                                        struct codeobj_made *made);

struct codeobj_rewritten { /* what was done */
    size_t objects, changed, added, removed;
    bool output_failed; /* also told on failure: it was the new file that could not be written */
};

/* A few bytes of a library or program of the host that change where they are. */
struct codeobj_patch {
    uint64_t offset; /* in the file, outside of its GPU code */
    uint8_t bytes[8];
    uint8_t n;
};

struct codeobj_destination {
    const char *path; /* NULL: do all but writing        */
    unsigned mode;    /* the new file's permissions      */
    /* Written where code objects change, too; for libraries and programs of the host alone. Not
     * written where `*n_needing` is 0 when the last code object is made. */
    const struct codeobj_patch *patches;
    size_t n_patches;
    const size_t *n_needing; /* NULL: written in any case */
};

/* Write the file `to`, which may be `from` (NULL: do all but writing): `from` with all its code
 * objects as `rewriter` makes them. A code object alone, bundles behind each other, a library or
 * program of the host (its new bundles in a segment of their own, no other byte of it moves), or a
 * kernel database of MIOpen. RMCP_E_UNSUPPORTED, with the reason, for what has no such form.
 * Without any change the new file has the same bytes. `done` may be NULL. */
rmcp_status codeobj_rewrite_file(const char *from, const char *to, codeobj_rewriter rewriter,
                                 void *context, struct codeobj_rewritten *done);

/* The same from memory; `source->name` is how paths begin. */
rmcp_status codeobj_rewrite_bytes(const struct codeobj_source *source,
                                  const struct codeobj_destination *to, codeobj_rewriter rewriter,
                                  void *context, struct codeobj_rewritten *done);

#endif
