/* interpose.h: calling the C library's own functions from those that replace them. */
#ifndef RMCP_SIM_DRIVER_INTERPOSE_H
#define RMCP_SIM_DRIVER_INTERPOSE_H

#include <stddef.h>

/* The next definition of a function, kept in `*slot`, a pointer to it. */
void interpose_real(const char *name, void *slot);

/* `real` becomes a pointer to the C library's function of that name. */
#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (!real) interpose_real(#name, &real)

enum { INTERPOSE_PATH = 4096 };

/* The path that a program's path stands for: in the simulated machine's folder, or itself. */
const char *interpose_path(const char *path, char buffer[static INTERPOSE_PATH]);
/* 0 /dev/kfd, 1 + index a render node, -1 another path. */
int interpose_device(const char *path);

#endif
