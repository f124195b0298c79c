/* md5.h: MD5 (RFC 1321), which compressed bundles and MIOpen's kernel databases hold as a check. */
#ifndef RMCP_CODEOBJ_MD5_H
#define RMCP_CODEOBJ_MD5_H

#include <stddef.h>
#include <stdint.h>

void md5(const void *bytes, size_t size, uint8_t out[16]);

#endif
