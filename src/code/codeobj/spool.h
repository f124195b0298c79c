/* spool.h: bytes that arrive piece by piece: on the heap, or in an unlinked file when many. */
#ifndef RMCP_CODEOBJ_SPOOL_H
#define RMCP_CODEOBJ_SPOOL_H

#include "base/error.h"

struct spool {
    uint8_t *bytes; /* readable after spool_finish */
    size_t size;
    size_t room;
    uint64_t heap_bytes; /* beyond this it goes to a file */
    int file;            /* -1 while on the heap          */
    int mapped;
};

void spool_init(struct spool *spool, uint64_t heap_bytes);
rmcp_status spool_write(struct spool *spool, const void *bytes, size_t size);
rmcp_status spool_finish(struct spool *spool);
void spool_deinit(struct spool *spool);

#endif
