/* print_imm.c: constants that have a syntax of their own: messages, counters, swizzles, formats. */
#include "code/isa/internal.h"
#include "code/isa/text.h"

static void print_hwreg(struct isa_output *t, const struct isa_inst *in)
{
    static const char *const names[] = {
        [1] = "MODE",         [2] = "STATUS",         [3] = "TRAPSTS",       [5] = "GPR_ALLOC",
        [6] = "LDS_ALLOC",    [7] = "IB_STS",         [15] = "SH_MEM_BASES", [16] = "TBA_LO",
        [17] = "TBA_HI",      [18] = "TMA_LO",        [19] = "TMA_HI",       [20] = "FLAT_SCR_LO",
        [21] = "FLAT_SCR_HI", [22] = "XNACK_MASK",    [23] = "HW_ID1",       [24] = "HW_ID2",
        [25] = "POPS_PACKER", [29] = "SHADER_CYCLES",
    };
    unsigned imm = in->word[0] & 0xffff;
    unsigned id = imm & 63, offset = imm >> 6 & 31, width = (imm >> 11) + 1;
    const char *name = id < sizeof names / sizeof *names ? names[id] : NULL;
    /* gfx10.3 lost the XNACK mask and gained a cycle counter. */
    if (id == (in->chip == ISA_GFX1030 ? 22 : 29)) name = NULL;
    if (name)
        isa_text(t, "hwreg(HW_REG_%s", name);
    else
        isa_text(t, "hwreg(%u", id);
    if (offset != 0 || width != 32) isa_text(t, ", %u, %u", offset, width);
    isa_text(t, ")");
}

static void print_version(struct isa_output *t, unsigned imm)
{
    unsigned flags = imm >> 13, version = imm & 0xff;
    unsigned n = (flags & 1) + (flags >> 1 & 1) + (flags >> 2 & 1);
    static const char *const flag_names[] = { "W64_BIT", "W32_BIT", "MDP_BIT" };
    if (imm & 0x1f00) {
        isa_text(t, "0x%x", imm);
        return;
    }
    for (unsigned i = 1; i < n; i++) isa_text(t, "(");
    switch (version) {
    case 0: isa_text(t, "UC_VERSION_GFX7"); break;
    case 4: isa_text(t, "UC_VERSION_GFX10"); break;
    case 6: isa_text(t, "UC_VERSION_GFX11"); break;
    case 9: isa_text(t, "UC_VERSION_GFX12"); break;
    default: isa_text(t, "%u", version); break;
    }
    unsigned printed = 0;
    for (unsigned i = 0; i < 3; i++) {
        if (!(flags >> i & 1)) continue;
        printed++;
        isa_text(t, "|UC_VERSION_%s%s", flag_names[i], printed < n ? ")" : "");
    }
}

static void print_waitcnt(struct isa_output *t, unsigned imm)
{
    unsigned vm = (imm & 15) | (imm >> 14 & 3) << 4, exp = imm >> 4 & 7, lgkm = imm >> 8 & 63;
    bool all = vm == 63 && exp == 7 && lgkm == 63;
    const char *gap = "";
    if (vm != 63 || all) {
        isa_text(t, "vmcnt(%u)", vm);
        gap = " ";
    }
    if (exp != 7 || all) {
        isa_text(t, "%sexpcnt(%u)", gap, exp);
        gap = " ";
    }
    if (lgkm != 63 || all) isa_text(t, "%slgkmcnt(%u)", gap, lgkm);
}

/* Fields by name only when no other bit is set; fields at their rest value are left out. */
static void print_depctr(struct isa_output *t, unsigned imm, bool gfx1030)
{
    static const struct {
        const char *name;
        uint8_t shift, max;
    } fields[] = {
        { "hold_cnt", 7, 1 }, { "sa_sdst", 0, 1 }, { "va_vdst", 12, 15 }, { "va_sdst", 9, 7 },
        { "va_ssrc", 8, 1 },  { "va_vcc", 1, 1 },  { "vm_vsrc", 2, 7 },
    };
    unsigned unused = gfx1030 ? 0x60 : 0xe0;
    if (imm & unused) {
        isa_text(t, "0x%x", imm);
        return;
    }
    bool all = (imm | unused) == 0xffff;
    const char *gap = "";
    for (size_t i = gfx1030 ? 0 : 1; i < sizeof fields / sizeof *fields; i++) {
        unsigned value = imm >> fields[i].shift & fields[i].max;
        if (value == fields[i].max && !all) continue;
        isa_text(t, "%sdepctr_%s(%u)", gap, fields[i].name, value);
        gap = " ";
    }
}

static void print_sendmsg(struct isa_output *t, unsigned imm)
{
    static const char *const names[16] = {
        [1] = "INTERRUPT",       [2] = "GS",
        [3] = "GS_DONE",         [4] = "SAVEWAVE",
        [5] = "STALL_WAVE_GEN",  [6] = "HALT_WAVES",
        [7] = "ORDERED_PS_DONE", [8] = "EARLY_PRIM_DEALLOC",
        [9] = "GS_ALLOC_REQ",    [10] = "GET_DOORBELL",
        [11] = "GET_DDID",       [15] = "SYSMSG",
    };
    static const char *const gs_ops[] = { "NOP", "CUT", "EMIT", "EMIT_CUT" };
    static const char *const sys_ops[] = { NULL, "ECC_ERR_INTERRUPT", "REG_RD", NULL, "TTRACE_PC" };
    unsigned id = imm & 15, op = imm >> 4 & 7, stream = imm >> 8 & 3;
    bool gs = id == 2 || id == 3;
    if (gs && op >= 1 && op <= 3)
        isa_text(t, "sendmsg(MSG_%s, GS_OP_%s, %u)", names[id], gs_ops[op], stream);
    else if (id == 3 && op == 0 && stream == 0)
        isa_text(t, "sendmsg(MSG_GS_DONE, GS_OP_NOP)");
    else if (id == 15 && stream == 0 && op < 5 && sys_ops[op])
        isa_text(t, "sendmsg(MSG_SYSMSG, SYSMSG_OP_%s)", sys_ops[op]);
    else if (names[id] && !gs && id != 15 && op == 0 && stream == 0)
        isa_text(t, "sendmsg(MSG_%s)", names[id]);
    else if (imm == (id | op << 4 | stream << 8))
        isa_text(t, "sendmsg(%u, %u, %u)", id, op, stream);
    else
        isa_text(t, "%u", imm);
}

void isa_print_simm(struct isa_output *t, const struct isa_inst *in)
{
    unsigned imm = in->word[0] & 0xffff;
    switch (in->row->src[0]) {
    case ISA_SIMM_DEC: isa_text(t, imm <= 64 ? "%u" : "0x%x", imm); break;
    case ISA_SIMM_HEX: isa_text(t, "0x%x", imm); break;
    case ISA_SIMM_OPT:
    case ISA_TARGET: isa_text(t, "%u", imm); break;
    case ISA_HWREG: print_hwreg(t, in); break;
    case ISA_WAITCNT: print_waitcnt(t, imm); break;
    case ISA_DEPCTR: print_depctr(t, imm, in->chip == ISA_GFX1030); break;
    case ISA_SENDMSG: print_sendmsg(t, imm); break;
    case ISA_VERSION: print_version(t, imm); break;
    default: break;
    }
}

static bool power_of_two(unsigned n)
{
    return n && !(n & (n - 1));
}

void isa_print_swizzle(struct isa_output *t, unsigned imm)
{
    unsigned and = imm & 31, or = imm >> 5 & 31, xor = imm >> 10 & 31, group = 32 - and;
    if (!imm) return;
    isa_text(t, " offset:");
    if (imm >> 8 == 0x80) {
        isa_text(t, "swizzle(QUAD_PERM,%u,%u,%u,%u)", imm & 3, imm >> 2 & 3, imm >> 4 & 3,
                 imm >> 6 & 3);
    } else if (imm & 0x8000) {
        isa_text(t, "%u", imm);
    } else if (and == 31 && or == 0 && power_of_two(xor)) {
        isa_text(t, "swizzle(SWAP,%u)", xor);
    } else if (and == 31 && or == 0 && xor&&power_of_two(xor+1)) {
        isa_text(t, "swizzle(REVERSE,%u)", xor+1);
    } else if (group > 1 && power_of_two(group) && or < group && xor == 0) {
        isa_text(t, "swizzle(BROADCAST,%u,%u)", group, or);
    } else {
        isa_text(t, "swizzle(BITMASK_PERM,\"");
        for (unsigned bit = 16; bit; bit >>= 1) {
            bool of0 = (or ^xor) & bit, of1 = ((and | or) ^ xor) & bit;
            isa_text(t, "%c", of0 == of1 ? (of0 ? '1' : '0') : of0 ? 'i' : 'p');
        }
        isa_text(t, "\")");
    }
}

void isa_print_dpp16(struct isa_output *t, const struct isa_inst *in)
{
    unsigned ctrl = in->dpp_ctrl, n = ctrl & 15;
    static const char *const by_n[] = {
        [0] = "row_shl", [1] = "row_shr", [2] = "row_ror", [5] = "row_share", [6] = "row_xmask"
    };
    unsigned kind = ctrl >> 4 & 15;
    if (ctrl < 0x100)
        isa_text(t, " quad_perm:[%u,%u,%u,%u]", ctrl & 3, ctrl >> 2 & 3, ctrl >> 4 & 3,
                 ctrl >> 6 & 3);
    else if (kind < 7 && by_n[kind] && (n || kind >= 5))
        isa_text(t, " %s:%u", by_n[kind], n);
    else if (ctrl == 0x130 || ctrl == 0x134 || ctrl == 0x138 || ctrl == 0x13c)
        isa_text(t, " /* wave_%s is not supported starting from GFX10 */",
                 n == 0   ? "shl"
                 : n == 4 ? "rol"
                 : n == 8 ? "shr"
                          : "ror");
    else if (ctrl == 0x140)
        isa_text(t, " row_mirror");
    else if (ctrl == 0x141)
        isa_text(t, " row_half_mirror");
    else if (ctrl == 0x142 || ctrl == 0x143)
        isa_text(t, " /* row_bcast is not supported starting from GFX10 */");
    else
        isa_text(t, " /* Invalid dpp_ctrl value */");
    isa_text(t, " row_mask:0x%x bank_mask:0x%x", in->row_mask, in->bank_mask);
    if (in->bound_ctrl) isa_text(t, " bound_ctrl:1");
    if (in->fi) isa_text(t, " fi:1");
}

static const char *const formats[] = {
    "INVALID",
    "8_UNORM",
    "8_SNORM",
    "8_USCALED",
    "8_SSCALED",
    "8_UINT",
    "8_SINT",
    "16_UNORM",
    "16_SNORM",
    "16_USCALED",
    "16_SSCALED",
    "16_UINT",
    "16_SINT",
    "16_FLOAT",
    "8_8_UNORM",
    "8_8_SNORM",
    "8_8_USCALED",
    "8_8_SSCALED",
    "8_8_UINT",
    "8_8_SINT",
    "32_UINT",
    "32_SINT",
    "32_FLOAT",
    "16_16_UNORM",
    "16_16_SNORM",
    "16_16_USCALED",
    "16_16_SSCALED",
    "16_16_UINT",
    "16_16_SINT",
    "16_16_FLOAT",
    "10_11_11_UNORM",
    "10_11_11_SNORM",
    "10_11_11_USCALED",
    "10_11_11_SSCALED",
    "10_11_11_UINT",
    "10_11_11_SINT",
    "10_11_11_FLOAT",
    "11_11_10_UNORM",
    "11_11_10_SNORM",
    "11_11_10_USCALED",
    "11_11_10_SSCALED",
    "11_11_10_UINT",
    "11_11_10_SINT",
    "11_11_10_FLOAT",
    "10_10_10_2_UNORM",
    "10_10_10_2_SNORM",
    "10_10_10_2_USCALED",
    "10_10_10_2_SSCALED",
    "10_10_10_2_UINT",
    "10_10_10_2_SINT",
    "2_10_10_10_UNORM",
    "2_10_10_10_SNORM",
    "2_10_10_10_USCALED",
    "2_10_10_10_SSCALED",
    "2_10_10_10_UINT",
    "2_10_10_10_SINT",
    "8_8_8_8_UNORM",
    "8_8_8_8_SNORM",
    "8_8_8_8_USCALED",
    "8_8_8_8_SSCALED",
    "8_8_8_8_UINT",
    "8_8_8_8_SINT",
    "32_32_UINT",
    "32_32_SINT",
    "32_32_FLOAT",
    "16_16_16_16_UNORM",
    "16_16_16_16_SNORM",
    "16_16_16_16_USCALED",
    "16_16_16_16_SSCALED",
    "16_16_16_16_UINT",
    "16_16_16_16_SINT",
    "16_16_16_16_FLOAT",
    "32_32_32_UINT",
    "32_32_32_SINT",
    "32_32_32_FLOAT",
    "32_32_32_32_UINT",
    "32_32_32_32_SINT",
    "32_32_32_32_FLOAT",
};

/* Buffer formats of gfx10; 1 is the default and not written. */
void isa_print_format(struct isa_output *t, unsigned format)
{
    if (format == 1) return;
    if (format < sizeof formats / sizeof *formats)
        isa_text(t, " format:[BUF_FMT_%s]", formats[format]);
    else
        isa_text(t, " format:%u", format);
}
