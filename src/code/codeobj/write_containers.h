/* write_containers.h: what the writers of the kinds of container share. */
#ifndef RMCP_CODEOBJ_WRITE_CONTAINERS_H
#define RMCP_CODEOBJ_WRITE_CONTAINERS_H

#include "code/codeobj/buffer.h"
#include "code/codeobj/containers.h"
#include "code/codeobj/walker.h"

struct rewriting {
    codeobj_rewriter rewriter;
    void *context;
    const struct codeobj_destination *to;
    const struct codeobj_bundle *bundle; /* around the object at hand; NULL: none */
    struct codeobj_rewritten done;
    struct walk walk;                                                      /* how paths read */
    char changed_from[CODEOBJ_TARGET_MAX], changed_to[CODEOBJ_TARGET_MAX]; /* chips, the last */
};

/* write_file.c: code objects and bundles behind each other, written again. `*out` is NULL when
 * nothing changed, else to be freed. */
rmcp_status rewrite_blob(struct rewriting *r, const uint8_t *bytes, size_t size, uint8_t **out,
                         size_t *out_size);
bool rewrite_is_bundle(const uint8_t *bytes, size_t size);
/* One bundle at these bytes; `*extent` is what it takes. */
rmcp_status rewrite_bundle(struct rewriting *r, const uint8_t *bytes, size_t size, uint8_t **out,
                           size_t *out_size, size_t *extent);

/* write_bundle.c: a copy that lives as long as the bundle; NULL: out of memory. */
const char *codeobj_bundle_text(struct codeobj_bundle *bundle, const char *text);

/* write_host.c, write_kdb.c: whole files. `output` is empty when nothing changed. */
rmcp_status rewrite_host(struct rewriting *r, const uint8_t *bytes, size_t size,
                         struct codeobj_output *output);
rmcp_status rewrite_kdb(struct rewriting *r, const uint8_t *bytes, size_t size,
                        struct codeobj_output *output);

#endif
