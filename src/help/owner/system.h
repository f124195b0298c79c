/* system.h: what the system itself says: kernel, clocks, kernel log. */
#ifndef RMCP_OWNER_SYSTEM_H
#define RMCP_OWNER_SYSTEM_H

#include "help/owner/journal.h"

/* Kernel and distribution, as notes. */
rmcp_status system_note_versions(struct journal *journal);

/* Clocks and firmware of the amdgpu cards, and the last lines of the kernel log about them, as
 * notes. What cannot be read is said to be so. */
rmcp_status system_note_cards(struct journal *journal);

#endif
