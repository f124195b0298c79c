/* write_kernels.c: kernel descriptors as they shall be. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/write_parts.h"

enum { DESCRIPTOR_BYTES = 64, RSRC1_VGPRS = 0x3f, MOST_VGPRS = 256 };
#define RSRC1_WGP_MODE (1u << 29)

void codeobj_kernel_change_init(struct codeobj_kernel_change *change, const struct codeobj *object,
                                size_t kernel)
{
    *change = (struct codeobj_kernel_change){ .kernel = kernel };
    if (kernel >= object->n_kernels) return;
    change->descriptor = object->kernels[kernel].descriptor;
    change->metadata = object->kernels[kernel].metadata;
}

/* gfx10, gfx11 and gfx12 have the same fields. */
static rmcp_status check_chip(const struct codeobj *object)
{
    const char *chip = object->target.chip ? object->target.chip : "";
    if (strncmp(chip, "gfx10", 5) && strncmp(chip, "gfx11", 5) && strncmp(chip, "gfx12", 5))
        return rmcp_fail(RMCP_E_ARG, "%s has other kernel descriptors than gfx10",
                         object->target.text);
    return RMCP_OK;
}

rmcp_status codeobj_kernel_set_vgprs(const struct codeobj *object,
                                     struct codeobj_kernel_change *change, uint32_t n)
{
    rmcp_status status = check_chip(object);
    if (status) return status;
    if (n > MOST_VGPRS)
        return rmcp_fail(RMCP_E_ARG, "%u VGPRs; there are %d", (unsigned)n, MOST_VGPRS);
    const bool wave32 = change->descriptor.properties & CODEOBJ_PROPERTY_WAVE32;
    const uint32_t granule = wave32 ? 8 : 4, field = n ? (n - 1) / granule : 0;
    change->descriptor.rsrc1 = (change->descriptor.rsrc1 & ~(uint32_t)RSRC1_VGPRS) | field;
    change->metadata.vgpr_count = n;
    return RMCP_OK;
}

rmcp_status codeobj_kernel_set_wgp_mode(const struct codeobj *object,
                                        struct codeobj_kernel_change *change, bool on)
{
    rmcp_status status = check_chip(object);
    if (status) return status;
    change->descriptor.rsrc1 &= ~RSRC1_WGP_MODE;
    if (on) change->descriptor.rsrc1 |= RSRC1_WGP_MODE;
    /* Where the note says nothing (version 4 and older), off stays nothing. */
    change->metadata.workgroup_processor_mode = on;
    if (on && object->version < 5 &&
        !object->kernels[change->kernel].metadata.workgroup_processor_mode)
        change->metadata.workgroup_processor_mode = 0;
    return RMCP_OK;
}

void codeobj_kernel_set_private_bytes(struct codeobj_kernel_change *change, uint32_t bytes)
{
    change->descriptor.private_bytes = bytes;
    change->metadata.private_bytes = bytes;
}

static void store_descriptor(uint8_t *at, const struct codeobj_descriptor *d)
{
    store_u32(at, d->group_bytes);
    store_u32(at + 4, d->private_bytes);
    store_u32(at + 8, d->kernarg_bytes);
    store_u32(at + 44, d->rsrc3);
    store_u32(at + 48, d->rsrc1);
    store_u32(at + 52, d->rsrc2);
    store_u16(at + 56, d->properties);
    store_u16(at + 58, d->kernarg_preload);
}

static rmcp_status move_entry(const struct writing *w, const struct codeobj_kernel *kernel,
                              uint8_t *at)
{
    const uint64_t entry = kernel->descriptor_address + (uint64_t)kernel->descriptor.entry_offset;
    uint64_t moved = 0;
    char what[256];
    snprintf(what, sizeof what, "the entry of %.200s", kernel->name);
    if (!write_in_text(w, entry))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "%s at %#" PRIx64 " is not in the code", what, entry);
    rmcp_status status = write_moved(w, entry, false, what, &moved);
    if (!status && moved % CODEOBJ_TEXT_ALIGN)
        return rmcp_fail(RMCP_E_ARG, "%s would move to %#" PRIx64 ", no multiple of %d", what,
                         moved, CODEOBJ_TEXT_ALIGN);
    store_u64(at + 16, moved - kernel->descriptor_address);
    return status;
}

rmcp_status write_kernels_patch(struct writing *w)
{
    const struct codeobj *object = w->object;
    rmcp_status status = RMCP_OK;
    uint64_t offset;
    for (size_t i = 0; !status && i < object->n_kernels && w->change->text; i++) {
        const struct codeobj_kernel *kernel = &object->kernels[i];
        if (!kernel->has_descriptor) continue;
        if (!write_offset(w, kernel->descriptor_address, DESCRIPTOR_BYTES, &offset))
            return rmcp_fail(RMCP_E_UNSUPPORTED, "the descriptor of %.200s lies in the code",
                             kernel->name);
        status = move_entry(w, kernel, w->out + offset);
    }
    for (size_t i = 0; !status && i < w->change->n_kernels; i++) {
        const struct codeobj_kernel_change *change = &w->change->kernels[i];
        const struct codeobj_kernel *kernel = &object->kernels[change->kernel];
        if (!kernel->has_descriptor) continue;
        if (!write_offset(w, kernel->descriptor_address, DESCRIPTOR_BYTES, &offset))
            return rmcp_fail(RMCP_E_UNSUPPORTED, "the descriptor of %.200s is not in the file",
                             kernel->name);
        store_descriptor(w->out + offset, &change->descriptor);
    }
    return status;
}
