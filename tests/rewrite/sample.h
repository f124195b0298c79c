/* sample.h: words as the code of a kernel and a function behind it. */
#ifndef RMCP_TESTS_REWRITE_SAMPLE_H
#define RMCP_TESTS_REWRITE_SAMPLE_H

#include "code/rewrite/rewrite.h"

enum { SAMPLE_TEXT_AT = 0x1000, SAMPLE_DATA_AT = 0x400 };

/* An object as codeobj_open would give it, without the file around. */
struct sample {
    struct codeobj object;
    struct codeobj_section sections[2];
    struct codeobj_function functions[2];
    struct codeobj_kernel kernel;
    uint8_t data[64];
};

/* `code` is borrowed. Its first `kernel_size` bytes are a kernel for gfx1030, the rest, if there is
 * any, is a function. */
void sample_make(struct sample *sample, const uint8_t *code, size_t size, size_t kernel_size,
                 bool wave64);

#endif
