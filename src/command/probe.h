/* probe.h: the devices of all drivers, asked for safely. */
#ifndef RMCP_CLI_PROBE_H
#define RMCP_CLI_PROBE_H

#include "engine/core/device.h"

struct cli_device_list {
    rmcp_device_info *entries; /* the caller's to free */
    size_t n, room;
};

/* As rmcp_device_list, but each driver in a process of its own: one that crashes or hangs becomes
 * an entry that says so. */
rmcp_status cli_probe_devices(struct cli_device_list *list);

/* Call a function that prints, and may end its process, in a process of its own. */
void cli_apart(void (*function)(void));

#endif
