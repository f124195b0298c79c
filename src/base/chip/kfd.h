/* kfd.h: the GPUs as the kernel's compute driver lists them, whatever a runtime says of them.
 *
 * Everything is bounded, and a number that is not told, or makes no sense, is 0. */
#ifndef RMCP_CHIP_KFD_H
#define RMCP_CHIP_KFD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chip/pci.h"
#include "base/chip/sysfs.h"

enum {
    RMCP_KFD_NODES = 128, /* the most that are read: eight MI300X in parts are 64 and the CPUs */
    RMCP_KFD_NO_ATOMICS = 0xc /* flags of a link: no 32-bit, no 64-bit atomics */
};

/* One node of the topology: a GPU, or processors. */
struct rmcp_kfd_node {
    uint32_t number; /* its folder's */
    bool is_gpu;
    struct rmcp_pci pci;
    uint32_t vendor, device; /* PCI numbers */
    uint32_t version;        /* gfx_target_version, 100100 */
    char chip[16];           /* "gfx1010"; "" when the version tells none */
    uint32_t compute_units;
    uint32_t clock_mhz; /* highest */
    uint32_t firmware;  /* of the command processor */
    uint32_t render;    /* minor number of its render node: 128 is /dev/dri/renderD128 */
    /* By rmcp_kfd_read_details: */
    uint64_t memory_bytes; /* of its own */
    uint32_t link_flags;   /* of all links from it and to it, together */
};

struct rmcp_kfd {
    char folder[RMCP_SYSFS_PATH]; /* where it was looked for last */
    size_t n_nodes;
    struct rmcp_kfd_node nodes[RMCP_KFD_NODES]; /* by their numbers */
};

/* Read the topology. Returns 0, or an errno when there is none that can be read. */
int rmcp_kfd_read(const struct rmcp_sysfs *sysfs, struct rmcp_kfd *out);

/* Memory and links of the nodes that were read. */
void rmcp_kfd_read_details(const struct rmcp_sysfs *sysfs, struct rmcp_kfd *kfd);

#endif
