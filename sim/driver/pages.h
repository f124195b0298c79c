/* pages.h: changing the page tables of the simulated cards; all with the driver's lock held. */
#ifndef RMCP_SIM_DRIVER_PAGES_H
#define RMCP_SIM_DRIVER_PAGES_H

#include "sim/driver/driver.h"

#define PAGE 4096u
/* In sim_mapping.access, besides what the executor knows: memory of the program itself. */
enum { OF_PROGRAM = 1 << 8 };

/* A range put in or taken out; 0 or an errno. */
int pages_change(struct gpu *gpu, const struct sim_mapping *range, bool map);
/* Unmap memory, and free its piece of a file (-1: none), when no queue thread can see it. */
void pages_retire(uint8_t *host, uint64_t size, uint64_t offset, int fd);
/* Do so now, if none of them is inside. */
void pages_release(void);
void pages_forget(void); /* in a child process */

#endif
