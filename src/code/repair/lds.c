/* lds.c: which kernels have wide accesses of LDS, and whether they can do without WGP mode. */
#include "code/repair/lds.h"

#include <stdlib.h>
#include <string.h>

#include "code/rewrite/aligned.h"
#include "code/rewrite/cures.h"

enum {
    HWREG_NUMBERS = 0x3f,
    HWREG_SH_MEM_BASES = 15, /* the apertures of LDS and scratch among all addresses */
    SIMDS = 2,
    MOST_WAVES = 20,         /* of a SIMD */
    REGISTERS_WAVE32 = 1024, /* of a SIMD; half as many of 64 lanes */
    MOST_ITEMS = 1024,       /* where the note does not say how many work-items there are at most */
    RSRC1_VGPRS = 0x3f
};

/* Whether it reads where LDS lies among all addresses: without that no code makes an address of LDS
 * that a FLAT access could use. */
static bool reads_aperture(const struct isa_inst *inst)
{
    if (inst->id == ISA_s_getreg_b32_SOPK && (inst->imm & HWREG_NUMBERS) == HWREG_SH_MEM_BASES)
        return true;
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].kind == ISA_KIND_SPECIAL &&
            (inst->op[i].reg == ISA_SHARED_BASE || inst->op[i].reg == ISA_SHARED_LIMIT))
            return true;
    return false;
}

static unsigned look_around(const struct rewrite *rewrite, const struct rewrite_function *function)
{
    unsigned has = function->calls_unknown ? REPAIR_LDS_ADDRESS : 0;
    for (uint32_t i = function->entry; i != function->end && i != REWRITE_NONE;
         i = rewrite_next(rewrite, i)) {
        struct isa_inst inst;
        if (!rewrite_is_reached(rewrite, i) || !rewrite_decode(rewrite, function, i, &inst))
            continue;
        if (inst.row->flags & ISA_CALL) has |= REPAIR_CALLS;
        if (reads_aperture(&inst)) has |= REPAIR_LDS_ADDRESS;
    }
    return has;
}

rmcp_status repair_lds_scan(const struct rewrite *rewrite, size_t function, unsigned *has)
{
    struct rewrite_wide *wide;
    size_t n, n_functions;
    const struct rewrite_function *f = rewrite_functions(rewrite, &n_functions) + function;
    rmcp_status status = rewrite_find_wide(rewrite, function, &wide, &n);
    *has = n ? REPAIR_WIDE : 0;
    if (status) return status;
    for (size_t i = 0; i < n; i++)
        if (!wide[i].is_proven) *has |= wide[i].is_flat ? REPAIR_UNPROVEN_FLAT : REPAIR_UNPROVEN_DS;
    *has |= look_around(rewrite, f);
    free(wide);
    return RMCP_OK;
}

rmcp_status repair_lds_split(struct rewrite *rewrite, size_t function, bool *done)
{
    struct rewrite_wide *wide;
    size_t n, n_functions;
    const struct rewrite_function *f = rewrite_functions(rewrite, &n_functions) + function;
    *done = true;
    rmcp_status status = rewrite_find_wide(rewrite, function, &wide, &n);
    if (status) return status;
    for (size_t i = 0; i < n && *done && !status; i++)
        if (!wide[i].is_proven && !wide[i].is_flat)
            status = rewrite_split_access(rewrite, f, wide[i].item, done);
    free(wide);
    return status;
}

bool repair_is_given_aperture(const struct codeobj_kernel *kernel)
{
    if (!kernel->has_metadata || kernel->descriptor.properties & CODEOBJ_PROPERTY_QUEUE_PTR)
        return true;
    for (size_t i = 0; i < kernel->n_arguments; i++)
        if (!strcmp(kernel->arguments[i].kind, "hidden_shared_base") ||
            !strcmp(kernel->arguments[i].kind, "hidden_queue_ptr"))
            return true;
    return false;
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
