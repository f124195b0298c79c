/* allocations.h: the engine's allocations counted, and failed on demand. Programs that link
 * allocations.c need the linker's arguments wrap_allocations. */
#ifndef RMCP_TESTS_ALLOCATIONS_H
#define RMCP_TESTS_ALLOCATIONS_H

#include <stdbool.h>

/* Count from 0 again; fail the call number `first` (0: none), and all that follow it with `rest`.
 */
void allocations_arm(long first, bool rest);

long allocations_calls(void); /* since then                        */
long allocations_live(void);  /* blocks allocated and not yet freed */

#endif
