/* fuzz_words.c: random instructions of every row of the instruction table.
 *
 * Random bits rarely decode, and what decodes rarely reaches memory that is there; so the fields of
 * an encoding are filled with registers that the prologue of fuzz.c has set, most of the time.
 */
#include "fuzz_words.h"

#include <stddef.h>
#include <string.h>

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((next(state) >> 32) * n >> 32);
}

static uint32_t bits(uint64_t *r, unsigned n)
{
    return (uint32_t)(next(r) >> (64 - n));
}

static bool rarely(uint64_t *r)
{
    return !random_below(r, 12);
}

/* A field that many rows do not have, which then must be 0. */
static uint32_t or_0(uint64_t *r, uint32_t field)
{
    return bits(r, 1) ? field : 0;
}

static uint32_t vgpr(uint64_t *r)
{
    return rarely(r) ? bits(r, 8) : random_below(r, 16);
}

static uint32_t sgpr(uint64_t *r)
{
    static const uint8_t special[] = { 106, 107, 124, 125, 126, 127, 108 };
    if (rarely(r)) return special[random_below(r, sizeof special)];
    return rarely(r) ? bits(r, 7) : random_below(r, 32);
}

static uint32_t ssrc(uint64_t *r)
{
    static const uint8_t special[] = { 235, 236, 237, 238, 251, 252, 253, 255 };
    switch (random_below(r, 8)) {
    case 0: return 128 + random_below(r, 81);
    case 1: return 240 + random_below(r, 9);
    case 2: return special[random_below(r, sizeof special)];
    default: return sgpr(r);
    }
}

static uint32_t vsrc(uint64_t *r)
{
    static const uint8_t forms[] = { 249, 250, 233, 234 }; /* SDWA, DPP16, DPP8 */
    switch (random_below(r, 8)) {
    case 0: return forms[random_below(r, sizeof forms)];
    case 1:
    case 2: return ssrc(r);
    default: return 256 + vgpr(r);
    }
}

/* A source of VOP3: no SDWA or DPP there. */
static uint32_t vsrc3(uint64_t *r)
{
    return random_below(r, 4) ? 256 + vgpr(r) : ssrc(r);
}

static void scalar_words(const struct isa_row *row, uint64_t *r, uint32_t *w)
{
    const uint32_t op = row->opcode;
    switch (row->encoding) {
    case ISA_SOP1: w[0] = 0xbe800000 | sgpr(r) << 16 | op << 8 | ssrc(r); break;
    case ISA_SOP2: w[0] = 0x80000000 | op << 23 | sgpr(r) << 16 | ssrc(r) << 8 | ssrc(r); break;
    case ISA_SOPC: w[0] = 0xbf000000 | op << 16 | ssrc(r) << 8 | ssrc(r); break;
    case ISA_SOPK:
        w[0] = 0xb0000000 | op << 23 | sgpr(r) << 16 | bits(r, rarely(r) ? 16 : 4);
        break;
    case ISA_SOPP: w[0] = 0xbf800000 | op << 16 | bits(r, rarely(r) ? 16 : 4); break;
    default: /* SMEM: s[4:5] is a pointer, s[8:11] a descriptor */
        w[0] = 0xf4000000 | op << 18 | (rarely(r) ? bits(r, 3) << 14 : 0) | sgpr(r) << 6 |
               (rarely(r)                 ? bits(r, 6)
                : row->src[0] == ISA_B128 ? 4
                                          : 2);
        w[1] = (rarely(r) ? sgpr(r) : 125) << 25 | (rarely(r) ? bits(r, 21) : bits(r, 8));
        break;
    }
}

static void vop3_words(const struct isa_row *row, uint64_t *r, uint32_t opcode, uint32_t *w)
{
    const bool sdst = row->dst == ISA_MASK || row->flags & ISA_LANE;
    w[0] = 0xd4000000 | opcode << 16 | (sdst && !rarely(r) ? sgpr(r) : vgpr(r));
    if (!random_below(r, 4)) w[0] |= bits(r, 8) << 8; /* clamp, op_sel, abs or a second result */
    w[1] = vsrc3(r) | or_0(r, vsrc3(r) << 9) | or_0(r, vsrc3(r) << 18);
    if (!random_below(r, 4)) w[1] |= bits(r, 5) << 27;
}

static void vector_words(const struct isa_row *row, uint64_t *r, uint32_t *w)
{
    const uint32_t op = row->opcode;
    const bool long_form = !random_below(r, 3);
    switch (row->encoding) {
    case ISA_VOP1:
        if (long_form)
            vop3_words(row, r, 0x180 + op, w);
        else
            w[0] = 0x7e000000 | vgpr(r) << 17 | op << 9 | vsrc(r);
        break;
    case ISA_VOP2:
        if (long_form)
            vop3_words(row, r, 0x100 + op, w);
        else
            w[0] = op << 25 | vgpr(r) << 17 | vgpr(r) << 9 | vsrc(r);
        break;
    case ISA_VOPC:
        if (long_form)
            vop3_words(row, r, op, w);
        else
            w[0] = 0x7c000000 | op << 17 | vgpr(r) << 9 | vsrc(r);
        break;
    case ISA_VOP3: vop3_words(row, r, op, w); break;
    default: /* VOP3P */
        w[0] = 0xcc000000 | op << 16 | (random_below(r, 3) ? or_0(r, 1u << 14) : bits(r, 8) << 8) |
               vgpr(r);
        w[1] = vsrc3(r) | vsrc3(r) << 9 | or_0(r, vsrc3(r) << 18) |
               (random_below(r, 3) ? or_0(r, 3u << 27) : bits(r, 5) << 27);
        break;
    }
}

/* s[16:23] is an image, s[24:27] a sampler. */
static void image_words(const struct isa_row *row, uint64_t *r, uint32_t *w)
{
    const uint32_t op = row->opcode;
    const bool wild = rarely(r), atomic = row->flags & ISA_ATOMIC;
    const uint32_t dmask = !atomic ? bits(r, 4) : row->dst == ISA_B64 ? 3 : 1;
    w[0] = 0xf0000000 | (op & 127) << 18 | op >> 7 | random_below(r, 8) << 3 | dmask << 8;
    w[0] |= or_0(r, bits(r, 2) << 12);                    /* unorm, glc */
    if (wild) w[0] |= bits(r, 5) << 13 | bits(r, 2) << 1; /* r128, tfe, lwe; words of registers */
    w[1] = (wild ? bits(r, 5) : 4u) << 16 | vgpr(r) << 8 | vgpr(r);
    if (row->flags & ISA_SAMPLER) w[1] |= (wild ? bits(r, 5) : 6u) << 21;
    w[1] |= or_0(r, bits(r, 2) << 30); /* a16, d16 */
    for (unsigned i = 2; i < ISA_MAX_WORDS; i++)
        w[i] = vgpr(r) | vgpr(r) << 8 | vgpr(r) << 16 | vgpr(r) << 24;
}

/* v1 is an offset, v[2:3] an address, s[4:5] a pointer, s[8:11] a descriptor. */
static void memory_words(const struct isa_row *row, uint64_t *r, uint32_t *w)
{
    const uint32_t op = row->opcode, data = or_0(r, vgpr(r) << 8);
    const bool wild = rarely(r), base = random_below(r, 2);
    const uint32_t small = random_below(r, 8) * 4;
    switch (row->encoding) {
    case ISA_DS:
        w[0] =
            0xd8000000 | op << 18 | (wild ? bits(r, 18) : small | or_0(r, random_below(r, 4) << 8));
        w[1] = or_0(r, vgpr(r) << 24) | or_0(r, vgpr(r) << 16) | data | or_0(r, wild ? vgpr(r) : 1);
        break;
    case ISA_MUBUF:
        w[0] = 0xe0000000 | op << 18 | small | (wild ? bits(r, 5) << 12 : bits(r, 2) << 13);
        w[0] |= base ? 1u << 12 : 0;
        w[1] = (wild ? ssrc(r) : 128) << 24 | (wild ? bits(r, 5) << 16 : 2u << 16) | data |
               (wild ? vgpr(r) : 1);
        break;
    case ISA_MTBUF:
        w[0] = 0xe8000000 | bits(r, 7) << 19 | (op & 7) << 16 | bits(r, 4) << 12 | small;
        w[1] = 128u << 24 | 2u << 16 | data | (wild ? vgpr(r) : 1) | (op >> 3) << 21;
        break;
    case ISA_FLAT: w[0] = 0xdc000000; break;
    case ISA_GLOBAL: w[0] = 0xdc008000; break;
    default: w[0] = 0xdc004000; break; /* SCRATCH */
    }
    if (row->encoding != ISA_FLAT && row->encoding != ISA_GLOBAL && row->encoding != ISA_SCRATCH)
        return;
    const bool uses_base = row->encoding == ISA_GLOBAL && base;
    w[0] |= op << 18 | (wild ? bits(r, 6) << 12 : bits(r, 1) << 16) | small;
    if (row->encoding == ISA_FLAT && !wild) w[0] &= ~0xfffu;
    w[1] = or_0(r, vgpr(r) << 24) | (uses_base ? 4u : 125u) << 16 | data |
           (wild        ? vgpr(r)
            : uses_base ? 1
                        : 2);
    if (row->encoding == ISA_SCRATCH && !wild) w[1] = (w[1] & ~0xffu) | 1;
}

static bool encode(const struct isa_row *row, uint64_t *r, uint32_t *w)
{
    for (unsigned i = 2; i < ISA_MAX_WORDS; i++) w[i] = 0;
    w[1] = (uint32_t)next(r); /* a literal, SDWA or DPP */
    switch (row->encoding) {
    case ISA_SOP1:
    case ISA_SOP2:
    case ISA_SOPC:
    case ISA_SOPK:
    case ISA_SOPP:
    case ISA_SMEM: scalar_words(row, r, w); return true;
    case ISA_VOP1:
    case ISA_VOP2:
    case ISA_VOPC:
    case ISA_VOP3:
    case ISA_VOP3P: vector_words(row, r, w); return true;
    case ISA_DS:
    case ISA_MUBUF:
    case ISA_MTBUF:
    case ISA_FLAT:
    case ISA_GLOBAL:
    case ISA_SCRATCH: memory_words(row, r, w); return true;
    case ISA_MIMG: image_words(row, r, w); return true;
    default: return false; /* exports, interpolation: random bytes find those */
    }
}

unsigned random_instruction(uint64_t *r, uint32_t *words)
{
    const struct isa_row *row = NULL;
    for (unsigned attempt = 0; attempt < 64; attempt++) {
        if (attempt % 16 == 0) row = isa_row(1 + random_below(r, ISA_N_IDS - 1));
        unsigned chip = random_below(r, ISA_N_CHIPS);
        struct isa_inst inst;
        if (!(row->chips >> chip & 1) || !encode(row, r, words)) continue;
        size_t n = isa_decode(chip | (bits(r, 1) ? ISA_WAVE64 : 0), words, ISA_MAX_WORDS, &inst);
        if (n && inst.row == row) return (unsigned)n;
    }
    words[0] = 0xbf800000; /* s_nop 0 */
    return 1;
}
