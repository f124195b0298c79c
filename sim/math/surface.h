/* surface.h: where the texels of an image lie in its memory. */
#ifndef RMCP_SIM_MATH_SURFACE_H
#define RMCP_SIM_MATH_SURFACE_H

#include <stdbool.h>
#include <stdint.h>

enum { SURFACE_LINEAR = 0, SURFACE_MODES = 32 };

/* In texels, of the first level. */
struct surface {
    uint32_t width, height, depth; /* depth: slices of a volume; 1 of others                   */
    uint32_t pitch;                /* of linear surfaces with one level; 0: as usual           */
    uint8_t mode;                  /* the descriptor's SW_MODE                                 */
    uint8_t bytes;                 /* of a texel: 1, 2, 4, 8 or 16                             */
    uint8_t n_levels;              /* that there is memory for                                 */
    bool volume;                   /* 3-D: some modes put neighbouring slices into one block   */
};

/* False: there is no such mode, or it is not modelled with these texels or levels. */
bool surface_known(const struct surface *surface);
/* Bytes from the beginning to a texel, of a surface that is known; `z`: slice or layer. */
uint64_t surface_offset(const struct surface *surface, uint32_t x, uint32_t y, uint32_t z,
                        unsigned level);

#endif
