/* target.c: which chip to judge for, and what code of another target is to it. */
#include <stdio.h>
#include <string.h>

#include "base/chip/chips.h"
#include "base/chip/kfd.h"
#include "code/audit/audit.h"

int audit_chip_parse(const char *name)
{
    for (unsigned chip = 0; chip < ISA_N_CHIPS; chip++)
        if (!strcmp(name, isa_chip_name(chip))) return (int)chip;
    return -1;
}

rmcp_status audit_chip_detect(unsigned *chip)
{
    const struct rmcp_sysfs sysfs = rmcp_sysfs_here();
    struct rmcp_kfd kfd;
    char seen[256] = "";
    const int error = rmcp_kfd_read(&sysfs, &kfd);
    if (error)
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "no chip to detect: %.300s: %s; name one, such as --target gfx1010",
                         kfd.folder, strerror(error));
    for (size_t i = 0; i < kfd.n_nodes; i++) {
        if (!*kfd.nodes[i].chip) continue;
        const struct rmcp_chip *known = rmcp_chip_by_version(kfd.nodes[i].version);
        int found = known ? isa_chip_of_mach(known->mach) : -1;
        if (found < 0 && kfd.nodes[i].version / 100 == 1003) found = ISA_GFX1030; /* a new one */
        if (found >= 0) {
            *chip = (unsigned)found;
            return RMCP_OK;
        }
        const size_t used = strlen(seen);
        snprintf(seen + used, sizeof seen - used, "%s%s", used ? ", " : "", kfd.nodes[i].chip);
    }
    return rmcp_fail(RMCP_E_UNSUPPORTED,
                     "no gfx10 chip in %.300s (%s); name one, such as --target gfx1010", kfd.folder,
                     *seen ? seen : "no GPU at all");
}

enum audit_kind audit_kind_of(unsigned chip, const struct codeobj_target *target)
{
    const char *name = isa_chip_name(chip);
    const struct rmcp_chip *known = rmcp_chip_by_name(name, strlen(name));
    if (!target->chip || isa_chip_of_mach(target->mach) < 0) return AUDIT_OTHER;
    /* No RDNA driver switches XNACK on, so code that insists on it is never loaded. */
    bool named = !strcmp(target->chip, name) ||
                 (known && known->generic && !strcmp(target->chip, known->generic));
    return named && target->xnack != CODEOBJ_ON ? AUDIT_NATIVE : AUDIT_FOREIGN;
}

struct audit_mode audit_mode_of(const struct codeobj *object, const struct codeobj_kernel *kernel)
{
    static const uint32_t rsrc1_wgp_mode = UINT32_C(1) << 29;
    for (size_t i = 0; i < object->n_kernels && !kernel; i++)
        if (object->kernels[i].has_descriptor || object->kernels[i].has_metadata)
            kernel = &object->kernels[i];
    struct audit_mode mode = { .wave64 = false, .wgp = true }; /* what compilers take by default */
    if (!kernel) return mode;
    mode.wave64 = kernel->metadata.wavefront_size == 64;
    if (kernel->has_descriptor) {
        mode.wave64 = !(kernel->descriptor.properties & CODEOBJ_PROPERTY_WAVE32);
        mode.wgp = kernel->descriptor.rsrc1 & rsrc1_wgp_mode;
    }
    return mode;
}
