/* lds.h: wide accesses of LDS, which gfx10.1 gets wrong in WGP mode where they are not aligned. */
#ifndef RMCP_REPAIR_LDS_H
#define RMCP_REPAIR_LDS_H

#include "codeobj/write.h"
#include "rewrite/rewrite.h"

enum { REPAIR_WIDE_DS = 1, REPAIR_WIDE_FLAT = 2, REPAIR_CALLS = 4 };

/* What a function has: accesses of 8 bytes and more by DS or FLAT instructions, and calls. */
unsigned repair_lds_scan(const struct rewrite *rewrite, const struct rewrite_function *function);

/* Whether the largest workgroup that the kernel is made for has room in one CU: two SIMDs with 20
 * waves and 1,024 vector registers (of 32 lanes) each. */
bool repair_fits_cu(const struct codeobj_kernel_change *kernel);

#endif
