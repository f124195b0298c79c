/* kernels.c: the table of GPU kernels, made from every operation's variants.inc and the embedded
 * sources. */
#include "engine/gpu/kernels.h"

#include "base/hash.h"

#include <pthread.h>
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

/* Rows by the hash of their names, 0 where there is none, else the number of the row plus 1: every
 * launch of every plan looks one up. */
enum { N_KERNELS = sizeof rmcp_kernels / sizeof *rmcp_kernels - 1, ROOM = 4096 };
_Static_assert(2 * N_KERNELS < ROOM, "the table of names is to be mostly empty");
static uint16_t rows[ROOM];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint16_t *place_of(const char *name)
{
    size_t at = (size_t)rmcp_hash_text(RMCP_HASH_START, name) % ROOM;
    while (rows[at] && strcmp(rmcp_kernels[rows[at] - 1].name, name)) at = (at + 1) % ROOM;
    return &rows[at];
}

static void list_rows(void)
{
    for (size_t i = 0; i < N_KERNELS; i++) *place_of(rmcp_kernels[i].name) = (uint16_t)(i + 1);
}

const struct rmcp_kernel *rmcp_kernel_find(const char *name)
{
    pthread_once(&once, list_rows);
    const uint16_t row = *place_of(name);
    return row ? &rmcp_kernels[row - 1] : NULL;
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
