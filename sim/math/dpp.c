/* dpp.c: which lane reads which in DPP16 and DPP8. */
#include "sim/math/dpp.h"

/* The lane that a lane reads by a DPP16 control, or -1 when there is none. */
static int dpp16_lane(unsigned control, int lane)
{
    int row = lane & ~15, in = lane & 15, n = (int)(control & 15);
    if (control < 0x100) return (lane & ~3) + (int)(control >> 2 * (lane & 3) & 3);
    switch (control & 0x1f0) {
    case 0x100: return in + n < 16 ? lane + n : -1; /* row_shl */
    case 0x110: return in - n >= 0 ? lane - n : -1; /* row_shr */
    case 0x120: return row + ((in - n) & 15);       /* row_ror */
    case 0x140:
        return n ? (lane & ~7) + (7 - (lane & 7)) /* row_half_mirror */
                 : row + (15 - in);               /* row_mirror */
    case 0x150: return row + n;                   /* row_share */
    case 0x160: return row + (in ^ n);            /* row_xmask */
    default: return -1;
    }
}

uint64_t dpp_move(const struct isa_inst *inst, uint64_t exec, unsigned n, const uint32_t *from,
                  uint32_t *to)
{
    uint64_t enabled = n == 64 ? ~UINT64_C(0) : 0xffffffff;
    for (unsigned lane = 0; lane < n; lane++) {
        uint64_t bit = UINT64_C(1) << lane;
        int source;
        bool zero = true; /* what is not there reads as 0; else the lane is left out */
        if (inst->form == ISA_FORM_DPP8) {
            source = (int)((lane & ~7u) + (inst->dpp8 >> 3 * (lane & 7) & 7));
        } else {
            source = dpp16_lane(inst->dpp_ctrl, (int)lane);
            zero = inst->bound_ctrl;
            /* rows and banks of four lanes; wave64 has four rows, wave32 two */
            if (!(inst->row_mask >> (lane / 16) & 1) || !(inst->bank_mask >> (lane / 4 % 4) & 1))
                enabled &= ~bit;
        }
        bool there = source >= 0 && (inst->fi || exec >> source & 1);
        to[lane] = there ? from[source] : 0;
        if (!there && !zero) enabled &= ~bit;
    }
    return enabled;
}

uint64_t dpp_mask(const struct isa_inst *inst, uint64_t exec, unsigned n, uint64_t mask)
{
    uint32_t from[64] = { 0 }, to[64];
    uint64_t result = 0;
    for (unsigned i = 0; i < n; i++) from[i] = mask >> i & 1 ? 0 : 1;
    uint64_t enabled = dpp_move(inst, exec, n, from, to);
    for (unsigned i = 0; i < n; i++)
        if (!to[i] || !(enabled >> i & 1)) result |= UINT64_C(1) << i;
    return result;
}
