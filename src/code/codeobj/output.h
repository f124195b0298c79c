/* output.h: a file that is there whole or not at all: written under another name, then renamed. */
#ifndef RMCP_CODEOBJ_OUTPUT_H
#define RMCP_CODEOBJ_OUTPUT_H

#include "base/error.h"

#include <stdbool.h>

struct codeobj_output;

/* Nothing is at `path` before codeobj_output_commit but what was there. `mode`: permissions, as of
 * chmod. `path` NULL: all that is written is counted, and no file made. On any error `*out` is
 * NULL.
 */
rmcp_status codeobj_output_open(const char *path, unsigned mode, struct codeobj_output **out);

/* Append. */
rmcp_status codeobj_output_write(struct codeobj_output *output, const void *bytes, size_t size);
/* Zeros up to this size of the file, without taking space on disk where that can be had. */
rmcp_status codeobj_output_extend(struct codeobj_output *output, uint64_t size);
uint64_t codeobj_output_size(const struct codeobj_output *output);
/* Overwrite what was written; `offset` and `size` within the file. */
rmcp_status codeobj_output_patch(struct codeobj_output *output, uint64_t offset, const void *bytes,
                                 size_t size);

/* Whether anything could not be written; then it cannot be committed. */
bool codeobj_output_failed(const struct codeobj_output *output);

/* Forget all that was written. */
rmcp_status codeobj_output_restart(struct codeobj_output *output);

/* To disk, and to its name. Frees `output`, also on failure; then nothing is at `path` but what was
 * there. */
rmcp_status codeobj_output_commit(struct codeobj_output *output);
/* Give up: no file. NULL is fine. */
void codeobj_output_abandon(struct codeobj_output *output);

/* All at once. */
rmcp_status codeobj_output_file(const char *path, unsigned mode, const void *bytes, size_t size);

#endif
