/* hip_world.h: a fake HIP library and a sysfs tree to go with it, for the tests of the HIP device.
 */
#ifndef RMCP_TESTS_HIP_WORLD_H
#define RMCP_TESTS_HIP_WORLD_H

#include "fake_hip.h"

#include <stdbool.h>

/* Load the library and make a folder for the tree and the cache; false with a message when that
 * fails. The environment then leads to all three. */
bool world_begin(const char *library);
void world_end(void);
extern struct fake_hip *fake;

/* Back to a library where all goes well, without what was remembered. */
void world_calm(void);

/* Which devices the library has, as in FAKE_HIP_DEVICES. */
void world_devices(const char *devices);

/* Empty the tree. */
void world_no_sysfs(void);
/* Add a GPU to the kernel driver's list: its number, gfx_target_version, bus number. */
void world_node(int number, unsigned version, unsigned bus);
/* Write a file below the tree; missing folders are made. */
void world_file(const char *path, const char *text);

/* Remove what the library remembers between processes. */
void world_forget(void);

#endif
