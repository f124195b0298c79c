/* figures.h: what was measured or modelled about a family of devices, by name. Algorithms estimate
 * with these and hold no times of their own. names.inc says what each figure is; the file of each
 * family has its rows, with the source of each. */
#ifndef RMCP_FIGURES_FIGURES_H
#define RMCP_FIGURES_FIGURES_H

#include "engine/core/device.h"

enum rmcp_figure {
#define FIGURE(name, unit, meaning) RMCP_FIGURE_##name,
#include "engine/figures/names.inc"
#undef FIGURE
    RMCP_N_FIGURES
};

struct rmcp_figure_row {
    double value;
    const char *source; /* NULL: the family has no such row */
};

/* One table a family; rows that it lacks are those of RMCP_FAMILY_NVIDIA. */
extern const struct rmcp_figure_row rmcp_figure_rows[RMCP_N_FAMILIES][RMCP_N_FIGURES];

/* The row that holds for a family: its own, or NVIDIA's, which may have none either. */
static inline const struct rmcp_figure_row *rmcp_figure_row(enum rmcp_family family,
                                                            enum rmcp_figure figure)
{
    const struct rmcp_figure_row *own = &rmcp_figure_rows[family][figure];
    return own->source ? own : &rmcp_figure_rows[RMCP_FAMILY_NVIDIA][figure];
}

/* The values of these rows, for estimates, which ask for hundreds. */
extern const double rmcp_figure_values[RMCP_N_FAMILIES][RMCP_N_FIGURES];

/* The figure of a device; 0 where nothing is known. */
static inline double rmcp_figure(const struct rmcp_caps *caps, enum rmcp_figure figure)
{
    return rmcp_figure_values[caps->family][figure];
}

/* Whether there is one: some models of time are known for one family alone. */
static inline bool rmcp_figure_known(const struct rmcp_caps *caps, enum rmcp_figure figure)
{
    return rmcp_figure_row((enum rmcp_family)caps->family, figure)->source;
}

/* The family of a chip, "gfx1010" or "sm_90"; RMCP_FAMILY_GENERIC for any other text. */
enum rmcp_family rmcp_family_of(const char *chip);

#endif
