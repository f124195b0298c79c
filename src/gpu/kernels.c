/* kernels.c: the table of GPU kernels, made from every operation's variants.inc and the embedded
 * sources. */
#include "gpu/kernels.h"

#include "base/hash.h"

#include <stddef.h>
#include <string.h>

#include "kernel_sources.inc" /* static const char source_<stem>[]; static const ... sources[] */

const struct rmcp_kernel rmcp_kernels[] = {
#define K(name, file, entry, block, options)                                                       \
    { name, OPERATION, FOLDER "/" file, entry, options, block },
#include "kernel_variants.inc" /* OPERATION, FOLDER and the rows of each operation */
#undef K
    { NULL, NULL, NULL, NULL, NULL, 0 },
};

const struct rmcp_kernel *rmcp_kernel_find(const char *name)
{
    for (const struct rmcp_kernel *k = rmcp_kernels; k->name; k++)
        if (!strcmp(k->name, name)) return k;
    return NULL;
}

const char *rmcp_kernel_source(const char *file)
{
    for (size_t i = 0; sources[i].file; i++)
        if (!strcmp(sources[i].file, file)) return sources[i].text;
    return NULL;
}

uint64_t rmcp_kernel_digest(const struct rmcp_kernel *kernel)
{
    const char *source = rmcp_kernel_source(kernel->file);
    uint64_t hash = rmcp_hash_text(RMCP_HASH_START, source ? source : "");
    return rmcp_hash_text(rmcp_hash_text(hash, kernel->entry), kernel->options);
}
