/* images.h: the kernels compiled when the library was built: code objects for AMD, PTX for NVIDIA.
 *
 * A target is what was compiled for. It serves each chip that has its instructions and needs its
 * workarounds: code for gfx1010 runs on gfx1010 to gfx1013 once it is retagged (codeobj_retag). */
#ifndef RMCP_GPU_IMAGES_H
#define RMCP_GPU_IMAGES_H

#include "base/error.h"

#include <stdbool.h>

struct rmcp_kernel_target {
    const char *name; /* "gfx1010", "nvptx"                       */
    char chips[128];  /* "gfx1010 gfx1011 …", "sm_60 and up"      */
    uint64_t bytes, packed_bytes;
};

/* The targets in this build by number; false past the last one. */
bool rmcp_kernel_target_at(size_t index, struct rmcp_kernel_target *out);

/* The compiler of the kernels, "clang 19.1.7", or "" in a build without any; then
 * rmcp_kernel_missing says why. Static storage, never NULL. */
const char *rmcp_kernel_compiler(void);
const char *rmcp_kernel_missing(void);

/* The target of this build that serves a chip: "gfx1012" and "gfx1012:xnack-" give "gfx1010",
 * "sm_90" gives "nvptx". NULL when there is none. Static storage. */
const char *rmcp_kernel_target_for(const char *chip);

/* The same, and RMCP_E_UNSUPPORTED with the reason when there is none. */
rmcp_status rmcp_kernel_target_find(const char *chip, const char **target);

/* The code object or the PTX text (with a zero behind it, not counted) of a kernel for a target.
 * On RMCP_OK `*bytes` is the caller's to free(); on any error it is NULL. Thread-safe. */
rmcp_status rmcp_kernel_image(const char *target, const char *kernel, void **bytes, size_t *size);

#endif
