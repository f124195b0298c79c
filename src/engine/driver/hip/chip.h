/* chip.h: which chip a HIP device really is, and which code is right for it. */
#ifndef RMCP_DRIVER_HIP_CHIP_H
#define RMCP_DRIVER_HIP_CHIP_H

#include "base/error.h"

#include <stdbool.h>

enum { RMCP_HIP_NAME = 64 };

/* What is known of the chip behind a device; numbers are 0 when unknown. */
struct rmcp_hip_chip {
    char silicon[RMCP_HIP_NAME];  /* "gfx1010"                                              */
    char believed[RMCP_HIP_NAME]; /* what the runtime takes it for: "gfx1030", no features  */
    uint32_t compute_units, clock_mhz;
    char remark[160]; /* how sure `silicon` is when it is not from the kernel driver; else "" */
};

/* Find the silicon. `believed` is the runtime's gcnArchName ("gfx1010:xnack-"), `address` the PCI
 * address that it tells ("0000:03:00.0"). The kernel driver's topology is asked first, then the
 * card's PCI numbers; the runtime's own word counts only where nothing suggests that it was told a
 * lie (HSA_OVERRIDE_GFX_VERSION). RMCP_E_UNSUPPORTED with the reason when the chip stays unknown.
 */
rmcp_status rmcp_hip_chip_find(const char *believed, const char *address,
                               struct rmcp_hip_chip *out);

/* Which embedded code to take, and whether the loader has to be told that it is for `believed`. */
struct rmcp_hip_code {
    const char *target; /* as in kernels/images.h; static */
    bool retag;
};

/* RMCP_E_UNSUPPORTED with the reason when no code is right. */
rmcp_status rmcp_hip_code_choose(const struct rmcp_hip_chip *chip, struct rmcp_hip_code *out);

#endif
