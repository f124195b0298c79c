/* lds.h: wide accesses of LDS, which gfx10.1 gets wrong in WGP mode where they are not aligned. */
#ifndef RMCP_REPAIR_LDS_H
#define RMCP_REPAIR_LDS_H

#include "code/codeobj/write.h"
#include "code/rewrite/rewrite.h"

/* Of a function. */
enum {
    REPAIR_WIDE = 1,        /* has accesses of 8 bytes and more that are or may be ones of LDS */
    REPAIR_UNPROVEN_DS = 2, /* and the alignment of one is not proven: of a DS instruction …   */
    REPAIR_UNPROVEN_FLAT = 4, /* … or of a FLAT one                                              */
    REPAIR_CALLS = 8,
    REPAIR_LDS_ADDRESS = 16, /* may make an address of LDS that a FLAT access takes, or get one */
    REPAIR_IS_SPLIT = 32,    /* its accesses were taken apart …   */
    REPAIR_NO_SPLIT = 64     /* … or one of them cannot be        */
};

/* What a function (by its number) has. */
rmcp_status repair_lds_scan(const struct rewrite *rewrite, size_t function, unsigned *has);

/* Take the accesses of DS instructions apart whose alignment is not proven; `*done` false: one
 * cannot be. */
rmcp_status repair_lds_split(struct rewrite *rewrite, size_t function, bool *done);

/* Whether a kernel is told where LDS lies among all addresses, so that its code needs no
 * instruction for that. */
bool repair_is_given_aperture(const struct codeobj_kernel *kernel);

/* Whether the largest workgroup that the kernel is made for has room in one CU: two SIMDs with 20
 * waves and 1,024 vector registers (of 32 lanes) each. */
bool repair_fits_cu(const struct codeobj_kernel_change *kernel);

#endif
