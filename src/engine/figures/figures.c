/* figures.c: the tables of all families, and which one a chip belongs to. */
#include "engine/figures/figures.h"

#include <string.h>

const struct rmcp_figure_row rmcp_figure_rows[RMCP_N_FAMILIES][RMCP_N_FIGURES] = {
#define ROW(name, value, source) [RMCP_FIGURE_##name] = { value, source },
    [RMCP_FAMILY_GENERIC] = {
#include "engine/figures/generic.inc"
    },
    [RMCP_FAMILY_NVIDIA] = {
#include "engine/figures/nvidia.inc"
    },
    [RMCP_FAMILY_RDNA] = {
#include "engine/figures/rdna.inc"
    },
    [RMCP_FAMILY_INTEL] = {
#include "engine/figures/intel.inc"
    },
    [RMCP_FAMILY_HOST] = {
#include "engine/figures/host.inc"
    },
#undef ROW
};

/* A later row replaces NVIDIA's, on purpose; the empty lines keep the order of the files. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const double rmcp_figure_values[RMCP_N_FAMILIES][RMCP_N_FIGURES] = {
#define ROW(name, value, source) [RMCP_FIGURE_##name] = (value),
    [RMCP_FAMILY_GENERIC] = {
#include "engine/figures/nvidia.inc"

#include "engine/figures/generic.inc"
    },
    [RMCP_FAMILY_NVIDIA] = {
#include "engine/figures/nvidia.inc"
    },
    [RMCP_FAMILY_RDNA] = {
#include "engine/figures/nvidia.inc"

#include "engine/figures/rdna.inc"
    },
    [RMCP_FAMILY_INTEL] = {
#include "engine/figures/nvidia.inc"

#include "engine/figures/intel.inc"
    },
    [RMCP_FAMILY_HOST] = {
#include "engine/figures/nvidia.inc"

#include "engine/figures/host.inc"
    },
#undef ROW
};
#pragma GCC diagnostic pop

enum rmcp_family rmcp_family_of(const char *chip)
{
    if (!strncmp(chip, "sm_", 3)) return RMCP_FAMILY_NVIDIA;
    if (!strncmp(chip, "gfx1", 4) && strlen(chip) >= strlen("gfx1010")) return RMCP_FAMILY_RDNA;
    return RMCP_FAMILY_GENERIC;
}
