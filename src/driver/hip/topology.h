/* topology.h: the GPUs as the kernel driver lists them in sysfs, whatever a runtime says of them.
 */
#ifndef RMCP_DRIVER_HIP_TOPOLOGY_H
#define RMCP_DRIVER_HIP_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place on the PCI bus: "0000:03:00.0". */
struct rmcp_pci {
    uint32_t domain, bus, device, function;
};

/* Read such an address. False: it is none. */
bool rmcp_pci_parse(const char *text, struct rmcp_pci *out);

/* One GPU of the KFD's topology; a number that the driver does not tell is 0. */
struct rmcp_kfd_node {
    uint32_t node; /* its folder's number */
    struct rmcp_pci pci;
    uint32_t vendor_id, device_id;
    uint32_t gfx_target_version; /* 100100 */
    char chip[32];               /* "gfx1010" */
    uint32_t compute_units;
    uint32_t clock_mhz; /* highest */
};

/* Fill `list` with at most `room` GPUs, in the order of their numbers. Returns how many there are,
 * or -1 with the reason in `why` when there is no topology to read. RMCP_SYSFS_ROOT in the
 * environment names a folder to be read in place of /sys. */
int rmcp_kfd_nodes(struct rmcp_kfd_node *list, size_t room, char *why, size_t why_size);

/* Vendor and device number of what is at this address. False: sysfs does not tell. */
bool rmcp_pci_ids(const struct rmcp_pci *pci, uint32_t *vendor, uint32_t *device);

#endif
