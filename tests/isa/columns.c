/* columns.c: what the columns of the instruction table say is what the mnemonics say.
 *
 * AMD's names are regular, so that a wrong or forgotten column shows as a row that differs. */
#include "columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "code/isa/isa.h"

struct word {
    const char *text;
    unsigned value;
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* The value of the first word of a list that the name has in it. */
static unsigned find(const struct word *words, size_t n, const char *name, unsigned otherwise)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(name, words[i].text)) return words[i].value;
    return otherwise;
}
#define FIND(words, name, otherwise) find(words, sizeof(words) / sizeof *(words), name, otherwise)

static unsigned moves_by_name(const struct isa_row *row)
{
    static const struct word words[] = {
        { "_ubyte", ISA_MOVES_U8 },     { "_sbyte", ISA_MOVES_I8 },   { "_byte", ISA_MOVES_U8 },
        { "_ushort", ISA_MOVES_U16 },   { "_sshort", ISA_MOVES_I16 }, { "_short", ISA_MOVES_U16 },
        { "_dwordx16", ISA_MOVES_W16 }, { "_dwordx8", ISA_MOVES_W8 }, { "_dwordx4", ISA_MOVES_W4 },
        { "_dwordx3", ISA_MOVES_W3 },   { "_dwordx2", ISA_MOVES_W2 }, { "_dword", ISA_MOVES_W1 },
        { "_x2", ISA_MOVES_W2 },        { "_i8", ISA_MOVES_I8 },      { "_u8", ISA_MOVES_U8 },
        { "_b8", ISA_MOVES_U8 },        { "_i16", ISA_MOVES_I16 },    { "_u16", ISA_MOVES_U16 },
        { "_b16", ISA_MOVES_U16 },      { "_b96", ISA_MOVES_W3 },     { "_b128", ISA_MOVES_W4 },
        { "_b64", ISA_MOVES_W2 },       { "_i64", ISA_MOVES_W2 },     { "_u64", ISA_MOVES_W2 },
        { "_f64", ISA_MOVES_W2 },
    };
    if (!(row->flags & (ISA_LOAD | ISA_STORE)) || row->flags & ISA_IMAGE) return ISA_MOVES_NONE;
    if (strstr(row->name, "_format_")) {
        const unsigned n = (unsigned)strlen(strrchr(row->name, '_') + 1); /* "x" to "xyzw" */
        return (strstr(row->name, "_d16") ? ISA_MOVES_HX : ISA_MOVES_X) + n - 1;
    }
    return FIND(words, row->name, ISA_MOVES_W1);
}

static unsigned atomic_by_name(const struct isa_row *row)
{
    static const struct word memory[] = {
        { "atomic_fcmpswap", ISA_DOES_FCMPSWAP }, { "atomic_cmpswap", ISA_DOES_CMPSWAP },
        { "atomic_swap", ISA_DOES_SWAP },         { "atomic_csub", ISA_DOES_CSUB },
        { "atomic_add", ISA_DOES_ADD },           { "atomic_sub", ISA_DOES_SUB },
        { "atomic_smin", ISA_DOES_SMIN },         { "atomic_umin", ISA_DOES_UMIN },
        { "atomic_smax", ISA_DOES_SMAX },         { "atomic_umax", ISA_DOES_UMAX },
        { "atomic_fmin", ISA_DOES_FMIN },         { "atomic_fmax", ISA_DOES_FMAX },
        { "atomic_and", ISA_DOES_AND },           { "atomic_or", ISA_DOES_OR },
        { "atomic_xor", ISA_DOES_XOR },           { "atomic_inc", ISA_DOES_INC },
        { "atomic_dec", ISA_DOES_DEC },
    };
    static const struct word lds[] = {
        { "ds_sub_", ISA_DOES_SUB },
        { "ds_rsub_", ISA_DOES_RSUB },
        { "ds_inc_", ISA_DOES_INC },
        { "ds_dec_", ISA_DOES_DEC },
        { "ds_and_", ISA_DOES_AND },
        { "ds_or_", ISA_DOES_OR },
        { "ds_xor_", ISA_DOES_XOR },
        { "ds_mskor_", ISA_DOES_MSKOR },
        { "ds_wrxchg", ISA_DOES_SWAP },
        { "ds_wrap_", ISA_DOES_WRAP },
        { "ds_condxchg32_", ISA_DOES_CONDXCHG },
    };
    const char *name = row->name, *type = name + strlen(name) - 3; /* "f32" */
    if (!(row->flags & ISA_ATOMIC) || row->flags & ISA_IMAGE) return ISA_DOES_NONE;
    if (!(row->flags & ISA_IS_DS)) return FIND(memory, name, ISA_DOES_NONE);
    if (strstr(name, "ds_add_")) return *type == 'f' ? ISA_DOES_FADD : ISA_DOES_ADD;
    if (strstr(name, "ds_cmpst_")) return *type == 'f' ? ISA_DOES_FCMPSWAP : ISA_DOES_CMPSWAP;
    if (strstr(name, "ds_min_"))
        return *type == 'f' ? ISA_DOES_FMIN : *type == 'i' ? ISA_DOES_SMIN : ISA_DOES_UMIN;
    if (strstr(name, "ds_max_"))
        return *type == 'f' ? ISA_DOES_FMAX : *type == 'i' ? ISA_DOES_SMAX : ISA_DOES_UMAX;
    return FIND(lds, name, ISA_DOES_NONE); /* ds_append and its kin */
}

static unsigned logic_by_name(const struct isa_row *row)
{
    static const struct word words[] = {
        { "s_mov_b", ISA_DOES_COPY },      { "s_not_b", ISA_DOES_NOT },
        { "s_cselect_", ISA_DOES_SELECT }, { "s_and_", ISA_DOES_AND },
        { "s_or_", ISA_DOES_OR },          { "s_xor_", ISA_DOES_XOR },
        { "s_nand_", ISA_DOES_NAND },      { "s_nor_", ISA_DOES_NOR },
        { "s_xnor_", ISA_DOES_XNOR },      { "s_andn1_", ISA_DOES_ANDN1 },
        { "s_orn1_", ISA_DOES_ORN1 },      { "s_andn2_", ISA_DOES_ANDN2 },
        { "s_orn2_", ISA_DOES_ORN2 },
    };
    return FIND(words, row->name, ISA_DOES_NONE);
}

/* Is the result one of 16 bits? Packed ones have two. */
static bool half_by_name(const struct isa_row *row)
{
    static const char *const ends[] = { "_u16", "_i16", "_b16", "_u16_f16", "_i16_f16", "_f16" };
    const char *name = row->name;
    if (row->dst == ISA_NONE || row->dst == ISA_MASK) return false;
    if (row->flags & (ISA_PACKED | ISA_PARTIAL | ISA_INTERP) || strstr(name, "pk")) return false;
    if (strstr(name, "v_cvt_f16_")) return true;
    if (strstr(name, "32_") || strstr(name, "sad") || strstr(name, "pack")) return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i])) return true;
    return false;
}

static void same(const struct isa_row *row, const char *column, unsigned is, unsigned should)
{
    if (is != should) fail_msg("%s: %s is %u; by its name %u", row->name, column, is, should);
}

static bool has(const struct isa_row *row, uint64_t flag)
{
    return row->flags & flag;
}

void test_columns_agree_with_names(void **state)
{
    (void)state;
    for (unsigned id = 1; id < ISA_N_IDS; id++) {
        const struct isa_row *row = isa_row(id);
        const bool memory = row->flags & (ISA_VMEM | ISA_IS_DS | ISA_SCALAR_MEM);
        const bool scalar = row->encoding == ISA_SOP1 || row->encoding == ISA_SOP2;
        same(row, "moves", row->moves, memory ? moves_by_name(row) : ISA_MOVES_NONE);
        same(row, "does", row->does,
             memory   ? atomic_by_name(row)
             : scalar ? logic_by_name(row)
                      : ISA_DOES_NONE);
        same(row, "HALF", has(row, ISA_HALF), has(row, ISA_VALU) && half_by_name(row));
        same(row, "D16_HI", has(row, ISA_D16_HI), memory && strstr(row->name, "_d16_hi") != NULL);
        same(row, "ST64", has(row, ISA_ST64), strstr(row->name, "st64") != NULL);
        same(row, "OLD_EXEC", has(row, ISA_OLD_EXEC), strstr(row->name, "_saveexec_") != NULL);
    }
}
