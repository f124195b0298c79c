/* image_access.c: image instructions that name texels: loads, stores, atomics, sizes. */
#include <string.h>

#include "sim/check/check.h"
#include "sim/math/atomics.h"
#include "sim/math/formats.h"
#include "sim/memory/image.h"
#include "sim/memory/memory.h"
#include "sim/memory/vmem.h"
#include "sim/state/registers.h"

/* Where each lane goes, in core->address; lanes outside of the image are in `outside`. */
static void find_texels(struct wave *w, const struct op *op, const struct image *image,
                        const struct image_form *form, struct access *a)
{
    *a = (struct access){ .step = 4 };
    const unsigned n = form->n_coordinates;
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint32_t part[4] = { 0 }, at[3], level = 0;
        for (unsigned k = 0; k < n; k++) part[k] = image_part(w, op, 0, k, op->inst.a16, lane);
        if (form->lod == LOD_GIVEN) level = image_part(w, op, 0, n, op->inst.a16, lane);
        image_order(op, part, at);
        const bool inside = image->bound && image_place(image, at, level, &w->core->address[lane]);
        *(inside ? &a->lanes : &a->outside) |= UINT64_C(1) << lane;
    }
}

static bool prepare(struct wave *w, const struct op *op, struct image *image,
                    struct image_form *form, struct access *a)
{
    image_form(op, form);
    if (!image_read(w, op, image)) return false;
    find_texels(w, op, image, form, a);
    return true;
}

/* ---- without a format: an element as it is ---- */

static bool is_packed(const struct op *op)
{
    const unsigned opcode = op->inst.row->opcode;
    return (opcode >= 2 && opcode <= 5) || opcode == 0x0a || opcode == 0x0b;
}

static void unpack_raw(const struct op *op, unsigned bytes, const uint8_t *from, uint32_t to[4])
{
    const bool is_signed = op->inst.row->opcode == 3 || op->inst.row->opcode == 5;
    memset(to, 0, 4 * sizeof *to);
    memcpy(to, from, bytes);
    if (is_signed && bytes < 4)
        to[0] = bytes == 1 ? (uint32_t)(int8_t)to[0] : (uint32_t)(int16_t)to[0];
}

/* ---- loads and stores ---- */

void run_image_load(struct wave *w, const struct op *op)
{
    struct image image;
    struct image_form form;
    struct access a;
    if (!prepare(w, op, &image, &form, &a)) return;
    const unsigned bytes = image.surface.bytes;
    if (w->core->crossed) vmem_touches(w, op, &a, bytes);
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint8_t memory[16] = { 0 };
        uint32_t c[4] = { 0 };
        if (a.lanes >> lane & 1 &&
            !memory_read(w->core, w->core->address[lane], memory, bytes, SIM_READ)) {
            memory_fault(w, op, UINT64_C(1) << lane, w->core->address[lane], bytes, "load");
            return;
        }
        if (image.bound && is_packed(op)) {
            unpack_raw(op, bytes, memory, c);
        } else if (image.bound) {
            if (a.lanes >> lane & 1) format_unpack(image.format, memory, c);
            format_select(image.select, image.integer, c);
        }
        image_put(w, op, lane, image.integer, false, c);
    }
    w->core->stats.bytes_loaded += (uint64_t)bytes * w->n_active;
    wave_load_begins(w, op, ISA_VMCNT, false);
}

/* What a lane stores: components that dmask leaves out are 0. */
static void take_components(const struct wave *w, const struct op *op, bool integer, unsigned lane,
                            uint32_t c[4])
{
    const uint32_t *row = vgpr_row(w, op->data->reg - ISA_VGPR0) + lane;
    const unsigned mask = op->inst.dmask ? op->inst.dmask : 1;
    unsigned n = 0;
    for (unsigned k = 0; k < 4; k++) {
        c[k] = 0;
        if (!(mask >> k & 1)) continue;
        if (op->inst.d16) {
            const uint32_t half = row[(size_t)(n / 2) * w->n_lanes] >> 16 * (n % 2) & 0xffff;
            c[k] = integer ? half : format_of_half(half);
        } else {
            c[k] = row[(size_t)n * w->n_lanes];
        }
        n++;
    }
}

/* Compilers leave components undefined that the image does not store. */
static void check_components(struct wave *w, const struct op *op, const struct image *image,
                             uint64_t lanes)
{
    const unsigned mask = op->inst.dmask ? op->inst.dmask : 1;
    unsigned needed = 0, taken = 0, n = 0;
    for (unsigned k = 0; k < 4; k++) {
        const unsigned select = image->select[k], to = select & 3;
        if (is_packed(op))
            needed |= k * 4 < image->surface.bytes ? 1u << k : 0;
        else if (select >= 4 && to < format_components(image->format) && !(taken >> to & 1))
            needed |= 1u << k;
        if (select >= 4) taken |= 1u << to;
    }
    for (unsigned k = 0; k < 4; k++) {
        if (!(mask >> k & 1)) continue;
        const unsigned reg = op->inst.d16 ? n / 2 : n;
        const uint32_t bits = !op->inst.d16 ? UINT32_MAX : n % 2 ? 0xffff0000 : 0xffff;
        if (needed >> k & 1)
            undefined_vgpr(w, op, op->data->reg - (unsigned)ISA_VGPR0 + reg, lanes, bits, "memory");
        n++;
    }
}

void run_image_store(struct wave *w, const struct op *op)
{
    struct image image;
    struct image_form form;
    struct access a;
    if (!prepare(w, op, &image, &form, &a)) return;
    const unsigned bytes = image.surface.bytes;
    if (a.lanes) check_components(w, op, &image, a.lanes);
    for (uint64_t rest = a.lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint8_t memory[16] = { 0 };
        uint32_t c[4];
        take_components(w, op, image.integer, lane, c);
        if (is_packed(op)) {
            memcpy(memory, c, sizeof c);
        } else {
            format_unselect(image.select, c);
            format_pack(image.format, c, memory);
        }
        if (memory_write(w->core, w->core->address[lane], memory, bytes)) continue;
        memory_fault(w, op, UINT64_C(1) << lane, w->core->address[lane], bytes, "store");
        return;
    }
    w->core->stats.bytes_stored += (uint64_t)bytes * w->n_active;
    vmem_counts_store(w, op, &a, bytes);
}

/* ---- atomics ---- */

enum isa_does image_atomic(unsigned isa_id)
{
    switch (isa_id) {
    case ISA_image_atomic_swap_MIMG: return ISA_DOES_SWAP;
    case ISA_image_atomic_cmpswap_MIMG: return ISA_DOES_CMPSWAP;
    case ISA_image_atomic_add_MIMG: return ISA_DOES_ADD;
    case ISA_image_atomic_sub_MIMG: return ISA_DOES_SUB;
    case ISA_image_atomic_smin_MIMG: return ISA_DOES_SMIN;
    case ISA_image_atomic_umin_MIMG: return ISA_DOES_UMIN;
    case ISA_image_atomic_smax_MIMG: return ISA_DOES_SMAX;
    case ISA_image_atomic_umax_MIMG: return ISA_DOES_UMAX;
    case ISA_image_atomic_and_MIMG: return ISA_DOES_AND;
    case ISA_image_atomic_or_MIMG: return ISA_DOES_OR;
    case ISA_image_atomic_xor_MIMG: return ISA_DOES_XOR;
    case ISA_image_atomic_inc_MIMG: return ISA_DOES_INC;
    case ISA_image_atomic_dec_MIMG: return ISA_DOES_DEC;
    case ISA_image_atomic_fcmpswap_MIMG: return ISA_DOES_FCMPSWAP;
    case ISA_image_atomic_fmin_MIMG: return ISA_DOES_FMIN;
    case ISA_image_atomic_fmax_MIMG: return ISA_DOES_FMAX;
    default: return ISA_DOES_NONE;
    }
}

/* Bytes of an atomic, by the registers that dmask says there are; 0: none that exists. */
static unsigned atomic_bytes(const struct op *op)
{
    const bool compares = op->atomic == ISA_DOES_CMPSWAP || op->atomic == ISA_DOES_FCMPSWAP;
    const unsigned narrow = compares ? 3 : 1, wide = compares ? 15 : 3;
    return op->inst.dmask == narrow ? 4 : op->inst.dmask == wide ? 8 : 0;
}

static uint64_t word_pair(const struct wave *w, const uint32_t *row, unsigned k, unsigned bytes)
{
    const uint64_t low = row[(size_t)k * w->n_lanes];
    return bytes == 4 ? low : low | (uint64_t)row[(size_t)(k + 1) * w->n_lanes] << 32;
}

static bool atomic_texel(struct wave *w, const struct op *op, unsigned lane, uint64_t *old)
{
    const uint32_t *row = vgpr_row(w, op->data->reg - ISA_VGPR0) + lane;
    const unsigned bytes = atomic_bytes(op);
    const uint64_t at = w->core->address[lane];
    const bool compares = op->atomic == ISA_DOES_CMPSWAP || op->atomic == ISA_DOES_FCMPSWAP;
    uint8_t *host = memory_at(w->core, at, bytes, SIM_READ | SIM_WRITE);
    if (!host) {
        memory_fault(w, op, UINT64_C(1) << lane, at, bytes, "atomic");
        return false;
    }
    *old = atomic_apply(op->atomic, bytes, host, word_pair(w, row, 0, bytes),
                        compares ? word_pair(w, row, bytes / 4, bytes) : 0);
    return true;
}

void run_image_atomic(struct wave *w, const struct op *op)
{
    struct image image;
    struct image_form form;
    struct access a;
    if (!prepare(w, op, &image, &form, &a)) return;
    const unsigned bytes = atomic_bytes(op);
    if (image.bound && image.surface.bytes != bytes) {
        struct finding f = { .kind = SIM_DESCRIPTOR, .rule = -1, .lanes = w->exec };
        report(w, op, &f, "an atomic of %u bytes on texels of %u", bytes, image.surface.bytes);
        a.outside |= a.lanes;
        a.lanes = 0;
    }
    if (w->core->crossed) vmem_touches(w, op, &a, bytes);
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t old = 0;
        if (a.lanes >> lane & 1 && !atomic_texel(w, op, lane, &old)) return;
        if (!op->inst.glc) continue;
        uint32_t *to = vgpr_row(w, op->data->reg - ISA_VGPR0) + lane;
        *to = (uint32_t)old;
        if (bytes == 8) to[w->n_lanes] = (uint32_t)(old >> 32);
    }
    w->core->stats.bytes_stored += (uint64_t)bytes * w->n_active;
    vmem_counts_store(w, op, &a, bytes);
}

/* ---- sizes ---- */

/* Width, height, depth or layers, levels; those of lines have their layers in the place of the
 * height. Of a level that there is not, all but the last are 0. */
void run_image_resinfo(struct wave *w, const struct op *op)
{
    struct image image;
    if (!image_read(w, op, &image)) return;
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(rest);
        const uint32_t level = image_part(w, op, 0, 0, op->inst.a16, lane);
        uint32_t c[4] = { 0 };
        if (image.bound && level < image.levels) image_size(&image, level, c);
        if (image.type == IMAGE_1D_ARRAY) c[1] = c[2];
        c[3] = image.bound ? image.levels : 0;
        image_put(w, op, lane, true, false, c);
    }
    wave_load_begins(w, op, ISA_VMCNT, false);
}

op_fn *image_function(const struct op *op)
{
    const struct isa_row *row = op->inst.row;
    struct image_form form;
    if (!op->address || !image_form(op, &form)) return NULL;
    if (row->id == ISA_image_get_resinfo_MIMG) return run_image_resinfo;
    if (row->flags & ISA_ATOMIC)
        return op->atomic && !op->inst.tfe && atomic_bytes(op) ? run_image_atomic : NULL;
    if (row->flags & ISA_SAMPLER) return op->sampler ? run_image_sample : NULL;
    if (row->flags & ISA_STORE) return op->inst.tfe ? NULL : run_image_store;
    return run_image_load;
}
