/* image.c: image descriptors, the places of texels, and the words of image instructions. */
#include "sim/memory/image.h"

#include "sim/check/check.h"
#include "sim/math/formats.h"
#include "sim/memory/memory.h"
#include "sim/state/registers.h"

/* ---- descriptors ---- */

static bool not_modelled(struct wave *w, const struct op *op, const char *what, uint32_t value)
{
    struct finding f = { .kind = SIM_ILLEGAL, .rule = -1 };
    report(w, op, &f, "%s (0x%x) not modelled", what, value);
    return false;
}

static bool is_array(const struct image *i)
{
    return i->type == IMAGE_CUBE || i->type == IMAGE_1D_ARRAY || i->type == IMAGE_2D_ARRAY;
}

static bool is_line(const struct image *i)
{
    return i->type == IMAGE_1D || i->type == IMAGE_1D_ARRAY;
}

static void read_sizes(struct image *i, const uint32_t s[8], bool has_pitch)
{
    struct surface *f = &i->surface;
    f->width = (s[1] >> 30 | (s[2] & 0xfff) << 2) + 1;
    f->height = is_line(i) ? 1 : (s[2] >> 14 & 0x3fff) + 1;
    f->volume = i->type == IMAGE_3D;
    f->depth = f->volume ? (s[4] & 0x1fff) + 1 : 1;
    f->mode = (uint8_t)(s[3] >> 20 & 31);
    f->n_levels = (uint8_t)((s[5] >> 4 & 15) + 1);
    if (is_array(i)) {
        const uint32_t last = s[4] & 0x1fff;
        i->first_layer = s[4] >> 16 & 0x1fff;
        i->layers = last >= i->first_layer ? last - i->first_layer + 1 : 0;
    } else if (has_pitch && !f->volume && f->mode == SURFACE_LINEAR) {
        const uint32_t pitch = (s[4] & 0x3fff) + 1;
        f->pitch = pitch >= f->width ? pitch : 0;
    }
    unsigned last_level = s[3] >> 16 & 15;
    if (last_level >= f->n_levels) last_level = f->n_levels - 1u;
    i->first_level = s[3] >> 12 & 15;
    i->levels = last_level >= i->first_level ? last_level - i->first_level + 1 : 0;
}

bool image_read(struct wave *w, const struct op *op, struct image *i)
{
    const unsigned n = op->inst.r128 ? 4 : 8, reg = op->base->reg, last = reg + n - 1;
    if (last >= ISA_VCC_LO && (reg < ISA_TTMP0 || last >= ISA_M0)) {
        run_illegal(w, op);
        return false;
    }
    uint32_t s[8] = { 0 }, any = 0;
    for (unsigned k = 0; k < n; k++) any |= s[k] = w->sgpr[reg + k];
    *i = (struct image){ .type = s[3] >> 28, .format = s[1] >> 20 & 511 };
    if (!any) return true;
    if (i->type < IMAGE_1D) {
        struct finding f = { .kind = SIM_DESCRIPTOR, .rule = -1, .lanes = w->exec };
        report(w, op, &f, "the descriptor in s[%u:%u] is of type %u, no image's (8 to 15)", reg,
               last, i->type);
        return true;
    }
    if (!i->format) return true;
    if (i->type > IMAGE_2D_ARRAY)
        return not_modelled(w, op, "images with several samples are", i->type);
    i->surface.bytes = (uint8_t)format_bytes(i->format);
    if (!i->surface.bytes) return not_modelled(w, op, "this image format is", i->format);
    if (s[6] >> 21 & 1) return not_modelled(w, op, "compressed images are", s[6]);
    i->base = ((s[1] & 0xff) * (UINT64_C(1) << 32) + s[0]) << 8;
    for (unsigned k = 0; k < 4; k++) i->select[k] = s[3] >> 3 * k & 7;
    i->integer = format_is_integer(i->format);
    i->min_lod = (float)(s[1] >> 8 & 0xfff) / 256;
    read_sizes(i, s, w->core->sim->options.chip == ISA_GFX1030);
    if (!surface_known(&i->surface)) return not_modelled(w, op, "this layout of an image is", s[3]);
    i->bound = true;
    return true;
}

static uint32_t halved(uint32_t size, unsigned level)
{
    return size >> level ? size >> level : 1;
}

void image_size(const struct image *i, unsigned level, uint32_t size[3])
{
    level += i->first_level;
    size[0] = halved(i->surface.width, level);
    size[1] = halved(i->surface.height, level);
    size[2] = is_array(i) ? i->layers : halved(i->surface.depth, level);
}

bool image_place(const struct image *i, const uint32_t at[3], unsigned level, uint64_t *address)
{
    uint32_t size[3];
    if (level >= i->levels) return false;
    image_size(i, level, size);
    /* Instructions for arrays are used on single images, too: what these have not is not looked at.
     */
    const uint32_t y = is_line(i) ? 0 : at[1], z = is_array(i) || i->surface.volume ? at[2] : 0;
    if (at[0] >= size[0] || y >= size[1] || z >= size[2]) return false;
    *address =
        i->base + surface_offset(&i->surface, at[0], y, i->first_layer + z, i->first_level + level);
    return true;
}

/* ---- instructions ---- */

enum { DIM_1D, DIM_2D, DIM_3D, DIM_CUBE, DIM_1D_ARRAY, DIM_2D_ARRAY, DIM_MSAA };

/* What the opcodes of samples are made of: _c, _o, and one of eight ways to the level. */
static bool sample_form(const struct isa_row *row, struct image_form *f)
{
    const unsigned plain = row->opcode & 127;
    f->half_gradients = row->flags & ISA_G16;
    if (row->id == ISA_image_get_lod_MIMG) return true;
    if (plain >= 0x68 && plain < 0x70) { /* gradients that need not be exact */
        f->gradients = true;
        f->lod = plain & 1 ? LOD_CLAMP : LOD_NONE;
        f->compare = plain >> 1 & 1;
        f->offset = plain >> 2 & 1;
        return true;
    }
    static const uint8_t lod[8] = { LOD_NONE,  LOD_CLAMP, LOD_NONE,  LOD_CLAMP,
                                    LOD_GIVEN, LOD_NONE,  LOD_CLAMP, LOD_ZERO };
    const unsigned way = plain & 7;
    f->lod = lod[way];
    f->gradients = way == 2 || way == 3;
    f->bias = way == 5 || way == 6;
    f->compare = plain >> 3 & 1;
    f->offset = plain >> 4 & 1;
    return plain >= 0x20 && plain < 0x60;
}

static unsigned address_words(const struct op *op, const struct image_form *f)
{
    const bool level = f->lod == LOD_GIVEN || f->lod == LOD_CLAMP;
    const unsigned parts = f->n_coordinates + level;
    unsigned n = f->offset + f->bias + f->compare + (op->inst.a16 ? (parts + 1) / 2 : parts);
    if (f->gradients) n += f->half_gradients ? (f->n_gradients / 2u + 1) / 2 * 2 : f->n_gradients;
    return n;
}

bool image_form(const struct op *op, struct image_form *f)
{
    static const uint8_t coordinates[] = { 1, 2, 3, 3, 2, 3 }, gradients[] = { 2, 4, 6, 4, 2, 4 };
    const struct isa_inst *inst = &op->inst;
    const struct isa_row *row = inst->row;
    *f = (struct image_form){ 0 };
    if (row->flags & (ISA_BVH | ISA_MSAA) || inst->dim >= DIM_MSAA || inst->lwe) return false;
    if (row->flags & ISA_SAMPLER) {
        if (inst->dim == DIM_CUBE || !sample_form(row, f)) return false;
    } else if (row->src[2]) {
        f->lod = LOD_GIVEN;
    }
    f->n_coordinates = row->id == ISA_image_get_resinfo_MIMG ? 0 : coordinates[inst->dim];
    f->n_gradients = gradients[inst->dim];
    unsigned n = (unsigned)__builtin_popcount(inst->dmask);
    f->components = (uint8_t)(row->flags & ISA_GATHER ? 4 : n ? n : 1);
    n = (inst->d16 ? (f->components + 1u) / 2 : f->components) + inst->tfe;
    const struct isa_operand *data = op->out ? op->out : op->data;
    unsigned words = 0;
    for (unsigned k = 0; k < inst->n_operands; k++)
        if (inst->op[k].role == ISA_OP_ADDR) words += inst->op[k].n_regs;
    return data && data->n_regs >= n && words >= address_words(op, f);
}

uint32_t image_word(const struct wave *w, const struct op *op, unsigned k, unsigned lane)
{
    const unsigned reg = op->inst.n_nsa ? op->address[k].reg : op->address->reg + k;
    return vgpr_row(w, reg - ISA_VGPR0)[lane];
}

uint32_t image_part(const struct wave *w, const struct op *op, unsigned word, unsigned k, bool half,
                    unsigned lane)
{
    if (!half) return image_word(w, op, word + k, lane);
    return image_word(w, op, word + k / 2, lane) >> 16 * (k % 2) & 0xffff;
}

void image_order(const struct op *op, const uint32_t from[4], uint32_t to[3])
{
    const unsigned dim = op->inst.dim;
    to[0] = from[0];
    to[1] = dim == DIM_1D || dim == DIM_1D_ARRAY ? 0 : from[1];
    to[2] = dim == DIM_1D || dim == DIM_2D ? 0 : from[dim == DIM_1D_ARRAY ? 1 : 2];
}

void image_put(struct wave *w, const struct op *op, unsigned lane, bool integer, bool gather,
               const uint32_t c[4])
{
    uint32_t *row = vgpr_row(w, op->out->reg - ISA_VGPR0) + lane;
    const unsigned mask = gather ? 15 : op->inst.dmask ? op->inst.dmask : 1;
    unsigned n = 0;
    for (unsigned k = 0; k < 4; k++) {
        if (!(mask >> k & 1)) continue;
        if (!op->inst.d16) {
            row[(size_t)n * w->n_lanes] = c[k];
        } else {
            uint32_t *word = &row[(size_t)(n / 2) * w->n_lanes];
            const uint32_t half = integer ? c[k] & 0xffff : format_to_half(c[k]);
            *word = n % 2 ? (*word & 0xffff) | half << 16 : half;
        }
        n++;
    }
    if (op->inst.d16) n = (n + 1) / 2;
    if (op->inst.tfe) row[(size_t)n * w->n_lanes] = 0; /* all of it was there */
}
