/* chip.c: which chip a HIP device really is, and which code is right for it. */
#include "driver/hip/chip.h"

#include "driver/hip/topology.h"
#include "gpu/images.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 64, AMD = 0x1002 };

/* The family that is run under an override, by PCI number, for systems without the topology. */
static const char *chip_of_pci_id(uint32_t device)
{
    switch (device) {
    case 0x7310:
    case 0x7312:
    case 0x7318:
    case 0x7319:
    case 0x731a:
    case 0x731b:
    case 0x731e:
    case 0x731f: return "gfx1010";
    case 0x7360:
    case 0x7362: return "gfx1011";
    case 0x7340:
    case 0x7341:
    case 0x7347:
    case 0x734f: return "gfx1012";
    default: return NULL;
    }
}

static const struct rmcp_kfd_node *node_at(const struct rmcp_kfd_node *nodes, int n,
                                           const struct rmcp_pci *pci)
{
    for (int i = 0; i < n; i++)
        if (nodes[i].pci.domain == pci->domain && nodes[i].pci.bus == pci->bus &&
            nodes[i].pci.device == pci->device && nodes[i].pci.function == pci->function)
            return &nodes[i];
    return NULL;
}

/* Without the kernel driver's word. */
static rmcp_status guess(const struct rmcp_pci *pci, const char *why, struct rmcp_hip_chip *chip)
{
    uint32_t vendor = 0, device = 0;
    const bool has_ids = pci && rmcp_pci_ids(pci, &vendor, &device) && vendor == AMD;
    const char *known = has_ids ? chip_of_pci_id(device) : NULL;
    if (known) {
        snprintf(chip->silicon, sizeof chip->silicon, "%s", known);
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

    struct rmcp_kfd_node nodes[MOST_NODES];
    struct rmcp_pci pci;
    char why[256] = "";
    const bool placed = rmcp_pci_parse(address, &pci);
    int n = rmcp_kfd_nodes(nodes, MOST_NODES, why, sizeof why);
    if (n > MOST_NODES) n = MOST_NODES;
    const struct rmcp_kfd_node *node = placed ? node_at(nodes, n, &pci) : NULL;
    if (!node) {
        if (n >= 0) snprintf(why, sizeof why, "the kernel driver lists no GPU at '%.40s'", address);
        return guess(placed ? &pci : NULL, why, out);
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
