/* salu_functions.c: what each scalar ALU instruction computes, a short function each.
 *
 * `a` and `b` are the sources, 32-bit ones zero-extended; of SOPK a is the old register and b the
 * sign-extended constant. The low 32 or 64 bits of the result are used. SCC is left alone unless
 * the function sets it. */
#include "sim/exec/exec.h"

#define FN(name) static uint64_t name(uint64_t a, uint64_t b, bool *scc)
#define UNUSED                                                                                     \
    (void)a;                                                                                       \
    (void)b;                                                                                       \
    (void)scc

static inline int32_t s32(uint64_t x)
{
    return (int32_t)(uint32_t)x;
}

static inline uint32_t u32(uint64_t x)
{
    return (uint32_t)x;
}

/* clang-format off */
#define PLAIN(name, expression) FN(name) { UNUSED; return (uint64_t)(expression); }
/* SCC: is the result not 0? */
#define LOGIC32(name, expression) \
    FN(name) { UNUSED; uint32_t r = (uint32_t)(expression); *scc = r; return r; }
#define LOGIC64(name, expression) \
    FN(name) { UNUSED; uint64_t r = (expression); *scc = r; return r; }
#define COMPARE(name, expression) FN(name) { UNUSED; *scc = (expression); return 0; }
/* clang-format on */

/* ---- sums ---- */
FN(add_u32)
{
    uint64_t r = a + b;
    *scc = r >> 32;
    return r;
}
FN(sub_u32)
{
    *scc = b > a;
    return a - b;
}
FN(addc_u32)
{
    uint64_t r = a + b + *scc;
    *scc = r >> 32;
    return r;
}
FN(subb_u32)
{
    uint64_t take = b + *scc;
    *scc = take > a;
    return a - take;
}
FN(add_i32)
{
    int64_t r = (int64_t)s32(a) + s32(b);
    *scc = r != (int32_t)r;
    return (uint64_t)r;
}
FN(sub_i32)
{
    int64_t r = (int64_t)s32(a) - s32(b);
    *scc = r != (int32_t)r;
    return (uint64_t)r;
}
PLAIN(mul_i32, u32(a) * u32(b))
PLAIN(mul_hi_u32, a *b >> 32)
PLAIN(mul_hi_i32, (uint64_t)((int64_t)s32(a) * s32(b)) >> 32)
FN(absdiff_i32)
{
    uint32_t r = u32(a) - u32(b); /* wraps before its absolute value is taken */
    if (r >> 31) r = 0u - r;
    *scc = r;
    return r;
}
FN(abs_i32)
{
    uint32_t r = u32(a) >> 31 ? 0u - u32(a) : u32(a);
    (void)b;
    *scc = r;
    return r;
}
static uint64_t shift_add(unsigned shift, uint64_t a, uint64_t b, bool *scc)
{
    uint64_t r = (a << shift) + b;
    *scc = r >> 32;
    return r;
}
FN(lshl1_add)
{
    return shift_add(1, a, b, scc);
}
FN(lshl2_add)
{
    return shift_add(2, a, b, scc);
}
FN(lshl3_add)
{
    return shift_add(3, a, b, scc);
}
FN(lshl4_add)
{
    return shift_add(4, a, b, scc);
}

/* ---- choice: SCC says that the first source was taken ---- */
FN(min_i32)
{
    *scc = s32(a) < s32(b);
    return *scc ? a : b;
}
FN(min_u32)
{
    *scc = a < b;
    return *scc ? a : b;
}
FN(max_i32)
{
    *scc = s32(a) > s32(b);
    return *scc ? a : b;
}
FN(max_u32)
{
    *scc = a > b;
    return *scc ? a : b;
}
PLAIN(cselect, *scc ? a : b)

/* ---- bits ---- */
LOGIC32(and32, a &b)
LOGIC64(and64, a &b)
LOGIC32(or32, a | b)
LOGIC64(or64, a | b)
LOGIC32(xor32, a ^ b)
LOGIC64(xor64, a ^ b)
LOGIC32(andn2_32, a & ~b)
LOGIC64(andn2_64, a & ~b)
LOGIC32(orn2_32, a | ~b)
LOGIC64(orn2_64, a | ~b)
LOGIC32(nand32, ~(a &b))
LOGIC64(nand64, ~(a &b))
LOGIC32(nor32, ~(a | b))
LOGIC64(nor64, ~(a | b))
LOGIC32(xnor32, ~(a ^ b))
LOGIC64(xnor64, ~(a ^ b))
LOGIC32(not32, ~a)
LOGIC64(not64, ~a)
LOGIC32(lshl32, a << (b & 31))
LOGIC64(lshl64, a << (b & 63))
LOGIC32(lshr32, u32(a) >> (b & 31))
LOGIC64(lshr64, a >> (b & 63))
LOGIC32(ashr32, s32(a) >> (b & 31))
LOGIC64(ashr64, (uint64_t)((int64_t)a >> (b & 63)))
PLAIN(bfm32, ((UINT64_C(1) << (a & 31)) - 1) << (b & 31))
PLAIN(bfm64, ((UINT64_C(1) << (a & 63)) - 1) << (b & 63))
PLAIN(mov, a)
PLAIN(pack_ll, (a & 0xffff) | (b & 0xffff) << 16)
PLAIN(pack_lh, (a & 0xffff) | (b & 0xffff0000))
PLAIN(pack_hh, (a >> 16 & 0xffff) | (b & 0xffff0000))
PLAIN(sext_i8, (int64_t)(int8_t)(uint8_t)a)
PLAIN(sext_i16, (int64_t)(int16_t)(uint16_t)a)

static uint64_t low_bits(unsigned n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}
FN(bfe_u32)
{
    unsigned offset = b & 31, width = b >> 16 & 127;
    uint64_t r = u32(a) >> offset & low_bits(width);
    *scc = r;
    return r;
}
static int64_t extend(uint64_t value, unsigned width)
{
    if (!width) return 0;
    if (width >= 64) return (int64_t)value;
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)(((value & low_bits(width)) ^ sign) - sign);
}
FN(bfe_i32)
{
    unsigned offset = b & 31, width = b >> 16 & 127;
    if (width > 32 - offset) width = 32 - offset;
    uint32_t r = (uint32_t)extend(u32(a) >> offset, width);
    *scc = r;
    return r;
}
FN(bfe_u64)
{
    unsigned offset = b & 63, width = b >> 16 & 127;
    uint64_t r = a >> offset & low_bits(width);
    *scc = r;
    return r;
}
FN(bfe_i64)
{
    unsigned offset = b & 63, width = b >> 16 & 127;
    if (width > 64 - offset) width = 64 - offset;
    uint64_t r = (uint64_t)extend(a >> offset, width);
    *scc = r;
    return r;
}
static uint64_t reverse(uint64_t x, unsigned n)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < n; i++) r |= (x >> i & 1) << (n - 1 - i);
    return r;
}
PLAIN(brev32, reverse(a, 32))
PLAIN(brev64, reverse(a, 64))
FN(bcnt0_32)
{
    uint64_t r = 32 - (unsigned)__builtin_popcountll(u32(a));
    (void)b;
    *scc = r;
    return r;
}
FN(bcnt0_64)
{
    uint64_t r = 64 - (unsigned)__builtin_popcountll(a);
    (void)b;
    *scc = r;
    return r;
}
FN(bcnt1_32)
{
    uint64_t r = (unsigned)__builtin_popcountll(u32(a));
    (void)b;
    *scc = r;
    return r;
}
FN(bcnt1_64)
{
    uint64_t r = (unsigned)__builtin_popcountll(a);
    (void)b;
    *scc = r;
    return r;
}
/* The lowest 1, or -1. */
static uint64_t first_one(uint64_t x)
{
    return x ? (unsigned)__builtin_ctzll(x) : ~UINT64_C(0);
}
PLAIN(ff0_32, first_one(u32(~a)))
PLAIN(ff0_64, first_one(~a))
PLAIN(ff1_32, first_one(u32(a)))
PLAIN(ff1_64, first_one(a))
/* Zeros above the highest 1, or -1. */
PLAIN(flbit32, u32(a) ? (unsigned)__builtin_clzll(u32(a)) - 32 : ~UINT64_C(0))
PLAIN(flbit64, a ? (unsigned)__builtin_clzll(a) : ~UINT64_C(0))
/* Bits above the highest one that differs from the sign, or -1. */
FN(flbit_i32)
{
    uint32_t x = u32(a) >> 31 ? ~u32(a) : u32(a);
    UNUSED;
    return x ? (unsigned)__builtin_clz(x) : ~UINT64_C(0);
}
FN(flbit_i64)
{
    uint64_t x = a >> 63 ? ~a : a;
    UNUSED;
    return x ? (unsigned)__builtin_clzll(x) : ~UINT64_C(0);
}
/* Every group of four lanes that has one on becomes all on. */
static uint64_t whole_quads(uint64_t x)
{
    uint64_t any = (x | x >> 1 | x >> 2 | x >> 3) & UINT64_C(0x1111111111111111);
    return any * 15;
}
LOGIC32(wqm32, whole_quads(u32(a)))
LOGIC64(wqm64, whole_quads(a))
/* One bit for every group of four. */
static uint64_t quads(uint64_t x)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 16; i++) r |= (uint64_t)((x >> 4 * i & 15) != 0) << i;
    return r;
}
LOGIC32(quadmask32, quads(u32(a)))
LOGIC64(quadmask64, quads(a))
FN(bitreplicate)
{
    uint64_t r = 0;
    UNUSED;
    for (unsigned i = 0; i < 32; i++) r |= (a >> i & 1) * 3 << 2 * i;
    return r;
}

/* ---- comparisons ---- */
COMPARE(eq32, u32(a) == u32(b))
COMPARE(lg32, u32(a) != u32(b))
COMPARE(gt_i32, s32(a) > s32(b))
COMPARE(ge_i32, s32(a) >= s32(b))
COMPARE(lt_i32, s32(a) < s32(b))
COMPARE(le_i32, s32(a) <= s32(b))
COMPARE(gt_u32, u32(a) > u32(b))
COMPARE(ge_u32, u32(a) >= u32(b))
COMPARE(lt_u32, u32(a) < u32(b))
COMPARE(le_u32, u32(a) <= u32(b))
COMPARE(eq64, a == b)
COMPARE(lg64, a != b)
COMPARE(bitcmp0_32, !(u32(a) >> (b & 31) & 1))
COMPARE(bitcmp1_32, u32(a) >> (b & 31) & 1)
COMPARE(bitcmp0_64, !(a >> (b & 63) & 1))
COMPARE(bitcmp1_64, a >> (b & 63) & 1)
/* With a constant of 16 bits that stands for an unsigned number. */
COMPARE(k_eq_u32, u32(a) == (b & 0xffff))
COMPARE(k_lg_u32, u32(a) != (b & 0xffff))
COMPARE(k_gt_u32, u32(a) > (b & 0xffff))
COMPARE(k_ge_u32, u32(a) >= (b & 0xffff))
COMPARE(k_lt_u32, u32(a) < (b & 0xffff))
COMPARE(k_le_u32, u32(a) <= (b & 0xffff))

static salu_fn *const functions[ISA_N_IDS] = {
    [ISA_s_add_u32_SOP2] = add_u32,
    [ISA_s_sub_u32_SOP2] = sub_u32,
    [ISA_s_add_i32_SOP2] = add_i32,
    [ISA_s_sub_i32_SOP2] = sub_i32,
    [ISA_s_addc_u32_SOP2] = addc_u32,
    [ISA_s_subb_u32_SOP2] = subb_u32,
    [ISA_s_min_i32_SOP2] = min_i32,
    [ISA_s_min_u32_SOP2] = min_u32,
    [ISA_s_max_i32_SOP2] = max_i32,
    [ISA_s_max_u32_SOP2] = max_u32,
    [ISA_s_cselect_b32_SOP2] = cselect,
    [ISA_s_cselect_b64_SOP2] = cselect,
    [ISA_s_and_b32_SOP2] = and32,
    [ISA_s_and_b64_SOP2] = and64,
    [ISA_s_or_b32_SOP2] = or32,
    [ISA_s_or_b64_SOP2] = or64,
    [ISA_s_xor_b32_SOP2] = xor32,
    [ISA_s_xor_b64_SOP2] = xor64,
    [ISA_s_andn2_b32_SOP2] = andn2_32,
    [ISA_s_andn2_b64_SOP2] = andn2_64,
    [ISA_s_orn2_b32_SOP2] = orn2_32,
    [ISA_s_orn2_b64_SOP2] = orn2_64,
    [ISA_s_nand_b32_SOP2] = nand32,
    [ISA_s_nand_b64_SOP2] = nand64,
    [ISA_s_nor_b32_SOP2] = nor32,
    [ISA_s_nor_b64_SOP2] = nor64,
    [ISA_s_xnor_b32_SOP2] = xnor32,
    [ISA_s_xnor_b64_SOP2] = xnor64,
    [ISA_s_lshl_b32_SOP2] = lshl32,
    [ISA_s_lshl_b64_SOP2] = lshl64,
    [ISA_s_lshr_b32_SOP2] = lshr32,
    [ISA_s_lshr_b64_SOP2] = lshr64,
    [ISA_s_ashr_i32_SOP2] = ashr32,
    [ISA_s_ashr_i64_SOP2] = ashr64,
    [ISA_s_bfm_b32_SOP2] = bfm32,
    [ISA_s_bfm_b64_SOP2] = bfm64,
    [ISA_s_mul_i32_SOP2] = mul_i32,
    [ISA_s_bfe_u32_SOP2] = bfe_u32,
    [ISA_s_bfe_i32_SOP2] = bfe_i32,
    [ISA_s_bfe_u64_SOP2] = bfe_u64,
    [ISA_s_bfe_i64_SOP2] = bfe_i64,
    [ISA_s_absdiff_i32_SOP2] = absdiff_i32,
    [ISA_s_lshl1_add_u32_SOP2] = lshl1_add,
    [ISA_s_lshl2_add_u32_SOP2] = lshl2_add,
    [ISA_s_lshl3_add_u32_SOP2] = lshl3_add,
    [ISA_s_lshl4_add_u32_SOP2] = lshl4_add,
    [ISA_s_pack_ll_b32_b16_SOP2] = pack_ll,
    [ISA_s_pack_lh_b32_b16_SOP2] = pack_lh,
    [ISA_s_pack_hh_b32_b16_SOP2] = pack_hh,
    [ISA_s_mul_hi_u32_SOP2] = mul_hi_u32,
    [ISA_s_mul_hi_i32_SOP2] = mul_hi_i32,
    [ISA_s_mov_b32_SOP1] = mov,
    [ISA_s_mov_b64_SOP1] = mov,
    [ISA_s_not_b32_SOP1] = not32,
    [ISA_s_not_b64_SOP1] = not64,
    [ISA_s_wqm_b32_SOP1] = wqm32,
    [ISA_s_wqm_b64_SOP1] = wqm64,
    [ISA_s_brev_b32_SOP1] = brev32,
    [ISA_s_brev_b64_SOP1] = brev64,
    [ISA_s_bcnt0_i32_b32_SOP1] = bcnt0_32,
    [ISA_s_bcnt0_i32_b64_SOP1] = bcnt0_64,
    [ISA_s_bcnt1_i32_b32_SOP1] = bcnt1_32,
    [ISA_s_bcnt1_i32_b64_SOP1] = bcnt1_64,
    [ISA_s_ff0_i32_b32_SOP1] = ff0_32,
    [ISA_s_ff0_i32_b64_SOP1] = ff0_64,
    [ISA_s_ff1_i32_b32_SOP1] = ff1_32,
    [ISA_s_ff1_i32_b64_SOP1] = ff1_64,
    [ISA_s_flbit_i32_b32_SOP1] = flbit32,
    [ISA_s_flbit_i32_b64_SOP1] = flbit64,
    [ISA_s_flbit_i32_SOP1] = flbit_i32,
    [ISA_s_flbit_i32_i64_SOP1] = flbit_i64,
    [ISA_s_sext_i32_i8_SOP1] = sext_i8,
    [ISA_s_sext_i32_i16_SOP1] = sext_i16,
    [ISA_s_quadmask_b32_SOP1] = quadmask32,
    [ISA_s_quadmask_b64_SOP1] = quadmask64,
    [ISA_s_abs_i32_SOP1] = abs_i32,
    [ISA_s_bitreplicate_b64_b32_SOP1] = bitreplicate,
    [ISA_s_cmp_eq_i32_SOPC] = eq32,
    [ISA_s_cmp_lg_i32_SOPC] = lg32,
    [ISA_s_cmp_gt_i32_SOPC] = gt_i32,
    [ISA_s_cmp_ge_i32_SOPC] = ge_i32,
    [ISA_s_cmp_lt_i32_SOPC] = lt_i32,
    [ISA_s_cmp_le_i32_SOPC] = le_i32,
    [ISA_s_cmp_eq_u32_SOPC] = eq32,
    [ISA_s_cmp_lg_u32_SOPC] = lg32,
    [ISA_s_cmp_gt_u32_SOPC] = gt_u32,
    [ISA_s_cmp_ge_u32_SOPC] = ge_u32,
    [ISA_s_cmp_lt_u32_SOPC] = lt_u32,
    [ISA_s_cmp_le_u32_SOPC] = le_u32,
    [ISA_s_bitcmp0_b32_SOPC] = bitcmp0_32,
    [ISA_s_bitcmp1_b32_SOPC] = bitcmp1_32,
    [ISA_s_bitcmp0_b64_SOPC] = bitcmp0_64,
    [ISA_s_bitcmp1_b64_SOPC] = bitcmp1_64,
    [ISA_s_cmp_eq_u64_SOPC] = eq64,
    [ISA_s_cmp_lg_u64_SOPC] = lg64,
    [ISA_s_cmpk_eq_i32_SOPK] = eq32,
    [ISA_s_cmpk_lg_i32_SOPK] = lg32,
    [ISA_s_cmpk_gt_i32_SOPK] = gt_i32,
    [ISA_s_cmpk_ge_i32_SOPK] = ge_i32,
    [ISA_s_cmpk_lt_i32_SOPK] = lt_i32,
    [ISA_s_cmpk_le_i32_SOPK] = le_i32,
    [ISA_s_cmpk_eq_u32_SOPK] = k_eq_u32,
    [ISA_s_cmpk_lg_u32_SOPK] = k_lg_u32,
    [ISA_s_cmpk_gt_u32_SOPK] = k_gt_u32,
    [ISA_s_cmpk_ge_u32_SOPK] = k_ge_u32,
    [ISA_s_cmpk_lt_u32_SOPK] = k_lt_u32,
    [ISA_s_cmpk_le_u32_SOPK] = k_le_u32,
    [ISA_s_addk_i32_SOPK] = add_i32,
    [ISA_s_mulk_i32_SOPK] = mul_i32,
};

salu_fn *salu_function(unsigned isa_id)
{
    return isa_id < ISA_N_IDS ? functions[isa_id] : NULL;
}
