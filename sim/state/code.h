/* code.h: decoded code, in pages. */
#ifndef RMCP_SIM_STATE_CODE_H
#define RMCP_SIM_STATE_CODE_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/state/op.h"

enum {
    PAGE_WORDS = 1024, /* code is decoded in pages of 4 KiB */
    PAGE_TABLE = 256,  /* hash buckets of pages             */
};

struct page {
    struct page *next;
    uint64_t address;    /* of the first word                               */
    uint64_t generation; /* dispatch that last compared it with memory      */
    unsigned n_words;    /* readable, from the first on                     */
    uint32_t words[PAGE_WORDS + ISA_MAX_WORDS - 1];
    _Atomic(const struct op *) ops[PAGE_WORDS];
};

struct code {
    unsigned chip_mode; /* of every page: chip, ISA_WAVE64                 */
    uint64_t generation;
    pthread_mutex_t lock;
    struct page *pages[PAGE_TABLE];
};

#endif
