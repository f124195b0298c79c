/* old_glibc.h: put before every file on x86-64: functions of which glibc 2.35 and later have newer
 * versions are taken in their old ones, so that what is built on Debian 12 runs with glibc 2.34. */
#ifndef RMCP_BASE_OLD_GLIBC_H
#define RMCP_BASE_OLD_GLIBC_H

#ifndef __ASSEMBLER__
__asm__(".symver hypot, hypot@GLIBC_2.2.5"); /* the newer one leaves errno alone */
#endif

#endif
