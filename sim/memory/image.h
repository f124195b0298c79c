/* image.h: images: what their descriptors say, their texels, the words of their instructions. */
#ifndef RMCP_SIM_MEMORY_IMAGE_H
#define RMCP_SIM_MEMORY_IMAGE_H

#include "sim/math/surface.h"
#include "sim/state/core.h"

/* Types in descriptors; those below are buffers. */
enum {
    IMAGE_1D = 8,
    IMAGE_2D = 9,
    IMAGE_3D = 10,
    IMAGE_CUBE = 11, /* or an array of cubes; a layer is a face */
    IMAGE_1D_ARRAY = 12,
    IMAGE_2D_ARRAY = 13,
};

/* What a descriptor says: a view of a surface, and how its texels are read. */
struct image {
    bool bound; /* else loads give 0, stores do nothing */
    bool integer;
    uint64_t base;
    unsigned type, format;
    uint8_t select[4];            /* see format_select                     */
    uint32_t first_layer, layers; /* of arrays                             */
    unsigned first_level, levels; /* of the view                           */
    float min_lod;
    struct surface surface;
};

/* The descriptor of an instruction; false: reported, the wave has ended. */
bool image_read(struct wave *wave, const struct op *op, struct image *image);
/* Sides of a level of the view, in texels; the third is that of slices or layers. */
void image_size(const struct image *image, unsigned level, uint32_t size[3]);
/* The address of a texel; false: it is outside of the view. */
bool image_place(const struct image *image, const uint32_t at[3], unsigned level,
                 uint64_t *address);

/* ---- words of an instruction ---- */

enum image_lod { LOD_NONE, LOD_ZERO, LOD_GIVEN, LOD_CLAMP };

/* In which order its address words come: offset, bias, reference, gradients, coordinates, level. */
struct image_form {
    bool offset, bias, compare, gradients, half_gradients;
    uint8_t n_coordinates, n_gradients;
    uint8_t lod;        /* enum image_lod; an instruction with a mip level has LOD_GIVEN */
    uint8_t components; /* of data */
};

/* False: it has no semantics here, or registers that do not fit what it says. */
bool image_form(const struct op *op, struct image_form *form);
/* An address word of a lane. */
uint32_t image_word(const struct wave *wave, const struct op *op, unsigned k, unsigned lane);
/* A half of 16 bits (`half`) or a word, from a number of them on. */
uint32_t image_part(const struct wave *wave, const struct op *op, unsigned word, unsigned k,
                    bool half, unsigned lane);
/* Coordinates in the order x, y, and slice or layer, from those that the instruction's shape has.
 */
void image_order(const struct op *op, const uint32_t from[4], uint32_t to[3]);
/* The components that dmask names, or all four when it gathers, into a lane's registers. */
void image_put(struct wave *wave, const struct op *op, unsigned lane, bool integer, bool gather,
               const uint32_t components[4]);

#endif
