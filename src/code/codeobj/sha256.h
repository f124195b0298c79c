/* sha256.h: SHA-256 (FIPS 180-4), by which wheels and backups name the contents of files. */
#ifndef RMCP_CODEOBJ_SHA256_H
#define RMCP_CODEOBJ_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 65 };

void sha256(const void *bytes, size_t size, uint8_t out[static SHA256_BYTES]);
/* The same in 64 hexadecimal digits. */
void sha256_hex(const void *bytes, size_t size, char out[static SHA256_HEX]);

#endif
