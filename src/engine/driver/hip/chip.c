/* chip.c: which chip a HIP device really is, and which code is right for it. */
#include "engine/driver/hip/chip.h"

#include "base/chip/chips.h"
#include "base/chip/kfd.h"
#include "engine/gpu/images.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rmcp_kfd_node *node_at(const struct rmcp_kfd *kfd, const struct rmcp_pci *pci)
{
    for (size_t i = 0; i < kfd->n_nodes; i++)
        if (*kfd->nodes[i].chip && rmcp_pci_same(&kfd->nodes[i].pci, pci)) return &kfd->nodes[i];
    return NULL;
}

/* Without the kernel driver's word. */
static rmcp_status guess(const struct rmcp_sysfs *sysfs, const struct rmcp_pci *pci,
                         const char *why, struct rmcp_hip_chip *chip)
{
    uint32_t vendor = 0, device = 0, revision = 0;
    const bool is_amd =
        pci && rmcp_pci_ids(sysfs, pci, &vendor, &device, &revision) && vendor == RMCP_PCI_AMD;
    const struct rmcp_chip *known = is_amd ? rmcp_chip_by_pci(device, revision, NULL) : NULL;
    if (known) {
        snprintf(chip->silicon, sizeof chip->silicon, "%s", known->name);
        snprintf(chip->remark, sizeof chip->remark, "chip by its PCI number %04" PRIx32, device);
        return RMCP_OK;
    }
    const char *override = getenv("HSA_OVERRIDE_GFX_VERSION");
    if (override && *override)
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "which chip this is cannot be told: HSA_OVERRIDE_GFX_VERSION is set "
                         "(%.20s), and %.200s",
                         override, why);
    snprintf(chip->silicon, sizeof chip->silicon, "%s", chip->believed);
    snprintf(chip->remark, sizeof chip->remark, "chip by the runtime's word only");
    return RMCP_OK;
}

rmcp_status rmcp_hip_chip_find(const char *believed, const char *address, struct rmcp_hip_chip *out)
{
    *out = (struct rmcp_hip_chip){ 0 };
    const size_t length = strcspn(believed, ":");
    if (strncmp(believed, "gfx", 3) || length >= sizeof out->believed)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "the runtime calls the chip '%.40s', no AMD chip",
                         believed);
    memcpy(out->believed, believed, length);

    const struct rmcp_sysfs sysfs = rmcp_sysfs_here();
    struct rmcp_kfd kfd;
    struct rmcp_pci pci;
    char why[256];
    const bool placed = rmcp_pci_parse(address, &pci);
    const int error = rmcp_kfd_read(&sysfs, &kfd);
    const struct rmcp_kfd_node *node = placed && !error ? node_at(&kfd, &pci) : NULL;
    if (!node) {
        if (error)
            snprintf(why, sizeof why, "%.160s cannot be read: %s", kfd.folder, strerror(error));
        else
            snprintf(why, sizeof why, "the kernel driver lists no GPU at '%.40s'", address);
        return guess(&sysfs, placed ? &pci : NULL, why, out);
    }
    snprintf(out->silicon, sizeof out->silicon, "%s", node->chip);
    out->compute_units = node->compute_units;
    out->clock_mhz = node->clock_mhz;
    return RMCP_OK;
}

/* gfx1010 and gfx1030 are of one generation: they differ in the last two digits only. */
static bool same_generation(const char *one, const char *other)
{
    const size_t length = strlen(one);
    return length > 5 && length == strlen(other) && !strncmp(one, other, length - 2);
}

rmcp_status rmcp_hip_code_choose(const struct rmcp_hip_chip *chip, struct rmcp_hip_code *out)
{
    const char *target = NULL;
    rmcp_status status = rmcp_kernel_target_find(chip->silicon, &target);
    if (status) return status;
    *out = (struct rmcp_hip_code){ .target = target, .retag = strcmp(target, chip->believed) };
    /* Code of one chip can be called that of another, see codeobj_retag. */
    if (out->retag && !same_generation(target, chip->believed))
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "the chip is %s, but the HIP runtime takes it for %s and refuses code "
                         "for the chip; unset HSA_OVERRIDE_GFX_VERSION",
                         chip->silicon, chip->believed);
    return RMCP_OK;
}
