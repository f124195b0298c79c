/* lds.c: which kernels have wide accesses of LDS, and whether they can do without WGP mode. */
#include "repair/lds.h"

enum {
    SIMDS = 2,
    MOST_WAVES = 20,         /* of a SIMD */
    REGISTERS_WAVE32 = 1024, /* of a SIMD; half as many of 64 lanes */
    MOST_ITEMS = 1024,       /* where the note does not say how many work-items there are at most */
    RSRC1_VGPRS = 0x3f
};

unsigned repair_lds_scan(const struct rewrite *rewrite, const struct rewrite_function *function)
{
    unsigned found = 0;
    for (uint32_t i = function->entry; i != function->end && i != REWRITE_NONE;
         i = rewrite_next(rewrite, i)) {
        struct isa_inst inst;
        if (!rewrite_is_reached(rewrite, i) || !rewrite_decode(rewrite, function, i, &inst))
            continue;
        const uint64_t flags = inst.row->flags;
        const bool wide = inst.row->moves >= ISA_MOVES_W2 && inst.row->moves <= ISA_MOVES_W4;
        if (flags & ISA_CALL) found |= REPAIR_CALLS;
        if (wide && flags & ISA_IS_DS && !inst.gds) found |= REPAIR_WIDE_DS;
        if (wide && flags & ISA_IS_FLAT) found |= REPAIR_WIDE_FLAT;
    }
    return found;
}

bool repair_fits_cu(const struct codeobj_kernel_change *kernel)
{
    const bool wave32 = kernel->descriptor.properties & CODEOBJ_PROPERTY_WAVE32;
    const uint32_t lanes = wave32 ? 32 : 64, granule = wave32 ? 8 : 4;
    uint32_t items = kernel->metadata.max_flat_workgroup_size;
    if (!items || items > MOST_ITEMS) items = MOST_ITEMS;
    const uint32_t waves = (items + lanes - 1) / lanes, of_simd = (waves + SIMDS - 1) / SIMDS;
    const uint32_t registers = ((kernel->descriptor.rsrc1 & RSRC1_VGPRS) + 1) * granule;
    return of_simd <= MOST_WAVES &&
           of_simd * registers <= (uint32_t)(wave32 ? REGISTERS_WAVE32 : REGISTERS_WAVE32 / 2);
}
