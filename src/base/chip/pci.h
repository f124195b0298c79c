/* pci.h: places on the PCI bus, and what is there. */
#ifndef RMCP_CHIP_PCI_H
#define RMCP_CHIP_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chip/sysfs.h"

/* A place on the PCI bus: "0000:03:00.0". */
struct rmcp_pci {
    uint32_t domain, bus, device, function;
};

/* Read such an address. False: it is none. */
bool rmcp_pci_parse(const char *text, struct rmcp_pci *out);

bool rmcp_pci_same(const struct rmcp_pci *one, const struct rmcp_pci *other);

/* Vendor, device number and revision of what is at this address; a revision that is not told is 0.
 * False: sysfs does not tell. */
bool rmcp_pci_ids(const struct rmcp_sysfs *sysfs, const struct rmcp_pci *pci, uint32_t *vendor,
                  uint32_t *device, uint32_t *revision);

#endif
