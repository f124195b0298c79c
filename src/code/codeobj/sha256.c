/* sha256.c: SHA-256 (FIPS 180-4), by which wheels and backups name the contents of files. */
#include "code/codeobj/sha256.h"

#include <string.h>

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t roots[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t value, unsigned n)
{
    return value >> n | value << (32 - n);
}

static uint32_t load_big(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* One step: of the eight words only two change, so that the others need not be moved. */
static inline void step(const uint32_t s[3], uint32_t *d, const uint32_t e[3], uint32_t *h,
                        uint32_t key)
{
    const uint32_t first = *h + (turn(e[0], 6) ^ turn(e[0], 11) ^ turn(e[0], 25)) +
                           ((e[0] & e[1]) ^ (~e[0] & e[2])) + key;
    const uint32_t second = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) +
                            ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    *d += first;
    *h = first + second;
}

static void add_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t words[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5],
             g = state[6], h = state[7];
    for (unsigned i = 0; i < 16; i++) words[i] = load_big(block + 4 * i);
    for (unsigned i = 16; i < 64; i++) {
        const uint32_t p = words[i - 15], q = words[i - 2];
        words[i] = words[i - 16] + (turn(p, 7) ^ turn(p, 18) ^ p >> 3) + words[i - 7] +
                   (turn(q, 17) ^ turn(q, 19) ^ q >> 10);
    }
    for (unsigned i = 0; i < 64; i += 8) {
        const uint32_t *w = words + i, *k = roots + i;
        step((uint32_t[]){ a, b, c }, &d, (uint32_t[]){ e, f, g }, &h, w[0] + k[0]);
        step((uint32_t[]){ h, a, b }, &c, (uint32_t[]){ d, e, f }, &g, w[1] + k[1]);
        step((uint32_t[]){ g, h, a }, &b, (uint32_t[]){ c, d, e }, &f, w[2] + k[2]);
        step((uint32_t[]){ f, g, h }, &a, (uint32_t[]){ b, c, d }, &e, w[3] + k[3]);
        step((uint32_t[]){ e, f, g }, &h, (uint32_t[]){ a, b, c }, &d, w[4] + k[4]);
        step((uint32_t[]){ d, e, f }, &g, (uint32_t[]){ h, a, b }, &c, w[5] + k[5]);
        step((uint32_t[]){ c, d, e }, &f, (uint32_t[]){ g, h, a }, &b, w[6] + k[6]);
        step((uint32_t[]){ b, c, d }, &e, (uint32_t[]){ f, g, h }, &a, w[7] + k[7]);
    }
    const uint32_t sums[8] = { a, b, c, d, e, f, g, h };
    for (unsigned i = 0; i < 8; i++) state[i] += sums[i];
}

void sha256(const void *bytes, size_t size, uint8_t out[static SHA256_BYTES])
{
    uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    const uint8_t *at = bytes;
    size_t left = size;
    for (; left >= 64; left -= 64, at += 64) add_block(state, at);
    uint8_t last[128] = { 0 };
    const size_t n = left < 56 ? 64 : 128;
    if (left) memcpy(last, at, left);
    last[left] = 0x80;
    for (unsigned i = 0; i < 8; i++) last[n - 1 - i] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
    add_block(state, last);
    if (n == 128) add_block(state, last + 64);
    for (unsigned i = 0; i < SHA256_BYTES; i++)
        out[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const void *bytes, size_t size, char out[static SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[SHA256_BYTES];
    sha256(bytes, size, digest);
    for (unsigned i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[SHA256_HEX - 1] = 0;
}
