/* surface.c: where the texels of an image lie in its memory: lines, or blocks of texels.
 *
 * Blocks have the size and the shape of gfx10's, so that surfaces take the memory that drivers give
 * them. The order of the texels inside of a block is a plain interleaving of the bits of their
 * coordinates: on a chip it depends on the kind of the mode and on the number of memory channels,
 * and shows only where the memory of a tiled image is read by other means than images. */
#include "sim/math/surface.h"

enum { LINE = 256 }; /* bytes that a line is rounded up to */

/* Logarithms of a block's size in bytes; 0: no such mode. Those of variable size have 16 KiB for
 * each of 16 channels. */
static const uint8_t block_log2[SURFACE_MODES] = {
    [1] = 8,   [2] = 8,   [5] = 12,  [6] = 12,  [9] = 16,  [10] = 16, [17] = 16, [18] = 16,
    [21] = 12, [22] = 12, [24] = 16, [25] = 16, [26] = 16, [27] = 16, [28] = 18, [31] = 18,
};

/* Standard and display orders: blocks of volumes are cubes then, not slices. */
static bool is_thick(const struct surface *s)
{
    const unsigned kind = s->mode & 3;
    return s->volume && (kind == 1 || kind == 2);
}

static unsigned log2_of(uint32_t x)
{
    return 31u - (unsigned)__builtin_clz(x);
}

bool surface_known(const struct surface *s)
{
    if (!s->bytes || s->bytes & (s->bytes - 1) || s->bytes > 16) return false;
    if (s->mode == SURFACE_LINEAR) return s->n_levels >= 1;
    if (s->mode >= SURFACE_MODES || !block_log2[s->mode]) return false;
    if (is_thick(s) && block_log2[s->mode] < 12) return false;
    return s->n_levels == 1; /* of more levels the small ones share blocks */
}

/* Logarithms of a block's sides in texels. */
struct block {
    unsigned x, y, z;
};

static struct block block_of(const struct surface *s)
{
    const unsigned size = block_log2[s->mode], texel = log2_of(s->bytes);
    if (!is_thick(s)) {
        const unsigned n = size - texel, x = (n + 1) / 2;
        return (struct block){ x, n - x, 0 };
    }
    /* Blocks of 1 KiB, doubled in turn: z first, then y. */
    static const struct block small[] = {
        { 4, 3, 3 }, { 3, 3, 3 }, { 3, 3, 2 }, { 3, 2, 2 }, { 2, 2, 2 }
    };
    const unsigned all = (size - 10) / 3, rest = (size - 10) % 3;
    const struct block b = small[texel];
    return (struct block){ b.x + all, b.y + all + rest / 2, b.z + all + (rest != 0) };
}

static uint64_t tiled_offset(const struct surface *s, uint32_t x, uint32_t y, uint32_t z)
{
    const struct block b = block_of(s);
    const uint64_t across = ((uint64_t)s->width + (1u << b.x) - 1) >> b.x;
    const uint64_t down = ((uint64_t)s->height + (1u << b.y) - 1) >> b.y;
    const uint64_t block = ((z >> b.z) * down + (y >> b.y)) * across + (x >> b.x);
    uint32_t texel = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < b.x || i < b.y || i < b.z; i++) {
        if (i < b.x) texel |= (x >> i & 1) << n++;
        if (i < b.y) texel |= (y >> i & 1) << n++;
        if (i < b.z) texel |= (z >> i & 1) << n++;
    }
    return (block << block_log2[s->mode]) + (uint64_t)texel * s->bytes;
}

static uint64_t line_texels(const struct surface *s, unsigned level)
{
    const uint32_t line = LINE / s->bytes, width = s->width >> level ? s->width >> level : 1;
    if (s->pitch && s->n_levels == 1) return s->pitch;
    return ((uint64_t)width + line - 1) / line * line;
}

static uint64_t level_texels(const struct surface *s, unsigned level)
{
    return line_texels(s, level) * (s->height >> level ? s->height >> level : 1);
}

uint64_t surface_offset(const struct surface *s, uint32_t x, uint32_t y, uint32_t z, unsigned level)
{
    if (s->mode != SURFACE_LINEAR) return tiled_offset(s, x, y, z);
    uint64_t slice = 0, before = 0; /* a slice has its levels, the smallest first */
    for (unsigned i = s->n_levels; i-- > 0;) {
        slice += level_texels(s, i);
        if (i > level) before += level_texels(s, i);
    }
    return (slice * z + before + line_texels(s, level) * y + x) * s->bytes;
}
