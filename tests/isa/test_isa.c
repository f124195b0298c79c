/* test_isa.c: the instruction table by itself: no overlap, no overread, registers as expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "code/isa/isa.h"
#include "columns.h"

/* Opcode space of an encoding: 1024 is the largest. */
enum { N_OPCODES = 1024 };

static void take(uint16_t *owner, const struct isa_row *row, unsigned opcode)
{
    assert_true(opcode < N_OPCODES);
    if (owner[opcode]) fail_msg("%s and %s share a slot", row->name, isa_row(owner[opcode])->name);
    owner[opcode] = row->id;
}

/* No word matches two rows of one chip: encodings differ in fixed bits, rows in the opcode. */
static void test_no_overlap(void **state)
{
    (void)state;
    static uint16_t owner[ISA_N_ENCODINGS][N_OPCODES];
    unsigned count[ISA_N_CHIPS];
    for (unsigned chip = 0; chip < ISA_N_CHIPS; chip++) {
        memset(owner, 0, sizeof owner);
        count[chip] = 0;
        for (unsigned id = 1; id < ISA_N_IDS; id++) {
            const struct isa_row *row = isa_row(id);
            assert_int_equal(row->id, id);
            if (!(row->chips >> chip & 1)) continue;
            count[chip]++;
            take(owner[row->encoding], row, row->opcode);
            if (!(row->forms >> ISA_FORM_E64 & 1)) continue;
            unsigned base = row->encoding == ISA_VOP1   ? 0x180
                            : row->encoding == ISA_VOP2 ? 0x100
                                                        : 0;
            take(owner[ISA_VOP3], row, base + row->opcode);
        }
        print_message("%s: %u instructions\n", isa_chip_name(chip), count[chip]);
    }
    assert_true(count[ISA_GFX1011] > count[ISA_GFX1010]); /* the dot products */
    assert_null(isa_row(ISA_ILLEGAL));
    assert_null(isa_row(ISA_N_IDS));
}

static void test_rows_are_sane(void **state)
{
    (void)state;
    const uint64_t memory = ISA_VMEM | ISA_IS_DS | ISA_SCALAR_MEM;
    for (unsigned id = 1; id < ISA_N_IDS; id++) {
        const struct isa_row *row = isa_row(id);
        uint64_t f = row->flags;
        unsigned kinds = !!(f & ISA_SALU) + !!(f & ISA_VALU) + !!(f & ISA_SCALAR_MEM) +
                         !!(f & ISA_VMEM) + !!(f & ISA_IS_DS) + !!(f & ISA_EXPORT);
        if (kinds != 1) fail_msg("%s is of %u kinds", row->name, kinds);
        if (f & (ISA_LOAD | ISA_STORE) && !(f & memory)) fail_msg("%s", row->name);
        if (f & (ISA_LOAD | ISA_STORE) && !row->counters) fail_msg("%s: no counter", row->name);
        if (f & (ISA_VMEM | ISA_IS_DS) && !(row->implicit & ISA_R_EXEC))
            fail_msg("%s does not look at EXEC", row->name);
        if (f & ISA_VALU && !(row->implicit & ISA_R_EXEC) && !(f & ISA_NO_EXEC))
            fail_msg("%s does not look at EXEC", row->name);
        if (!!(f & ISA_CMPX) != !!(f & ISA_VALU && row->implicit & ISA_W_EXEC))
            fail_msg("%s: EXEC", row->name);
        if (f & ISA_BRANCH && row->src[0] != ISA_TARGET) fail_msg("%s: target", row->name);
        for (unsigned other = 1; other < id; other++)
            if (isa_row(other)->encoding == row->encoding &&
                !strcmp(isa_row(other)->name, row->name))
                fail_msg("%s is listed twice", row->name);
    }
}

static uint64_t rng_state = 88172645463325252u;
static uint32_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 16);
}

/* Words are copied to the end of an allocation, so that a sanitizer sees every overread. */
static void test_never_reads_past_the_end(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 300000; k++) {
        uint32_t words[ISA_MAX_WORDS];
        for (unsigned i = 0; i < ISA_MAX_WORDS; i++) words[i] = rng();
        if (k & 1) words[1] &= rng() & rng();
        unsigned chip = k % ISA_N_CHIPS | (k & 64 ? ISA_WAVE64 : 0);
        struct isa_inst whole, part;
        size_t n = isa_decode(chip, words, ISA_MAX_WORDS, &whole);
        assert_true(n <= ISA_MAX_WORDS);
        size_t shorter = n ? rng() % n : rng() % ISA_MAX_WORDS;
        uint32_t *copy = malloc((shorter ? shorter : 1) * sizeof *copy);
        assert_non_null(copy);
        memcpy(copy, words, shorter * sizeof *copy);
        size_t m = isa_decode(chip, copy, shorter, &part);
        free(copy);
        /* v_nop swallows a DPP word only when there is one */
        if (m && !(part.id == ISA_v_nop_VOP1 && m == 1))
            fail_msg("%08x %08x: %zu words of %zu were enough", words[0], words[1], m, n);
    }
    struct isa_inst inst;
    uint32_t nop = 0xbf800000;
    assert_int_equal(isa_decode(ISA_GFX1010, &nop, 0, &inst), 0);
    assert_int_equal(isa_decode(ISA_N_CHIPS, &nop, 1, &inst), 0);
    assert_int_equal(isa_decode(ISA_GFX1010, &nop, 1, &inst), 1);
    assert_true(isa_is_legal(&inst));
    uint32_t odd = 0x7e000402; /* v_readfirstlane_b32 of an SGPR */
    assert_int_equal(isa_decode(ISA_GFX1010, &odd, 1, &inst), 1);
    assert_false(isa_is_legal(&inst));
}

static void test_print_stays_in_its_buffer(void **state)
{
    (void)state;
    static const uint32_t words[] = { 0xf0ab2f3e, 0x82600000, 0x80000000, 0x00000040, 0 };
    struct isa_inst inst;
    char whole[256], text[256];
    assert_int_equal(isa_decode(ISA_GFX1030, words, 5, &inst), 5);
    size_t length = isa_print(&inst, whole, sizeof whole);
    assert_int_equal(length, strlen(whole));
    for (size_t bytes = 0; bytes <= length + 1; bytes++) {
        memset(text, '#', sizeof text);
        assert_int_equal(isa_print(&inst, text, bytes), length);
        assert_int_equal(text[bytes], '#');
        if (bytes) {
            assert_int_equal(strlen(text), bytes - 1 < length ? bytes - 1 : length);
            assert_memory_equal(text, whole, strlen(text));
        }
    }
}

static size_t list_set(char *at, size_t room, const uint64_t *set, unsigned n, bool vector)
{
    size_t used = 0;
    for (unsigned i = 0; i < n; i++) {
        bool in = vector ? isa_vgpr_in(set, i) : isa_sgpr_in(set, i);
        if (!in) continue;
        unsigned last = i;
        while (last + 1 < n && (vector ? isa_vgpr_in(set, last + 1) : isa_sgpr_in(set, last + 1)))
            last++;
        char c = vector ? 'v' : 's';
        used +=
            (size_t)snprintf(at + used, room - used, last > i ? " %c%u-%u" : " %c%u", c, i, last);
        i = last;
    }
    return used;
}

/* The whole of isa_uses in a line; 106 is VCC, 124 M0, 126 EXEC. */
static void describe(const struct isa_inst *inst, char *line, size_t room)
{
    struct isa_uses u;
    isa_uses(inst, &u);
    size_t n = (size_t)snprintf(line, room, "r");
    n += list_set(line + n, room - n, u.sgpr_read, 128, false);
    n += list_set(line + n, room - n, u.vgpr_read, 256, true);
    n += (size_t)snprintf(line + n, room - n, " w");
    n += list_set(line + n, room - n, u.sgpr_write, 128, false);
    n += list_set(line + n, room - n, u.vgpr_write, 256, true);
    if (u.special & ISA_R_SCC) n += (size_t)snprintf(line + n, room - n, " r:scc");
    if (u.special & ISA_W_SCC) n += (size_t)snprintf(line + n, room - n, " w:scc");
    if (u.counters & ISA_VMCNT) n += (size_t)snprintf(line + n, room - n, " vm");
    if (u.counters & ISA_VSCNT) n += (size_t)snprintf(line + n, room - n, " vs");
    if (u.counters & ISA_LGKMCNT) n += (size_t)snprintf(line + n, room - n, " lgkm");
    if (u.counters & ISA_EXPCNT) n += (size_t)snprintf(line + n, room - n, " exp");
    if (u.indexed) snprintf(line + n, room - n, " indexed");
}

static const struct {
    uint32_t words[ISA_MAX_WORDS];
    unsigned chip;
    const char *text, *uses;
} uses_cases[] = {
#include "test_isa_uses.inc"
};

static void test_uses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof uses_cases / sizeof *uses_cases; i++) {
        struct isa_inst inst;
        char text[256], uses[512];
        if (!isa_decode(uses_cases[i].chip, uses_cases[i].words, ISA_MAX_WORDS, &inst))
            fail_msg("not decoded: %s", uses_cases[i].text);
        isa_print(&inst, text, sizeof text);
        assert_string_equal(text, uses_cases[i].text);
        describe(&inst, uses, sizeof uses);
        if (strcmp(uses, uses_cases[i].uses))
            fail_msg("%s: %s instead of %s", text, uses, uses_cases[i].uses);
    }
}

/* Not a limit, a number to look at: a library has some 100 million words. */
static void test_speed(void **state)
{
    (void)state;
    enum { N_CASES = sizeof uses_cases / sizeof *uses_cases, ROUNDS = 20000 };
    struct isa_inst inst;
    struct isa_uses uses;
    uint64_t sum = 0;
    for (int with_uses = 0; with_uses < 2; with_uses++) {
        clock_t begin = clock();
        for (unsigned k = 0; k < ROUNDS; k++) {
            for (unsigned i = 0; i < N_CASES; i++) {
                isa_decode(uses_cases[i].chip, uses_cases[i].words, ISA_MAX_WORDS, &inst);
                if (with_uses) isa_uses(&inst, &uses);
                sum += inst.id + (with_uses ? uses.special : 0);
            }
        }
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        print_message("%s: %.1f million instructions a second\n",
                      with_uses ? "decode and uses" : "decode", ROUNDS * N_CASES / seconds / 1e6);
    }
    assert_true(sum);
}

static void test_constants(void **state)
{
    (void)state;
    static const struct {
        uint32_t words[2];
        uint64_t value;
    } cases[] = {
        { { 0x7e0002c1, 0 }, 0xffffffff },                   /* v_mov_b32 v0, -1 */
        { { 0x7e0002f2, 0 }, 0x3f800000 },                   /* v_mov_b32 v0, 1.0 */
        { { 0x7e00b6f2, 0 }, 0x3c00 },                       /* v_floor_f16 v0, 1.0 */
        { { 0x7e0034f2, 0 }, UINT64_C(0x3ff0000000000000) }, /* v_floor_f64 v[0:1], 1.0 */
        { { 0x7e0034f8, 0 }, UINT64_C(0x3fc45f306dc9c882) }, /* v_floor_f64 v[0:1], 1/(2 pi) */
        { { 0xbe8004c1, 0 }, UINT64_MAX },                   /* s_mov_b64 s[0:1], -1 */
        { { 0xbe8004ff, 0x80000000 }, 0x80000000 },          /* s_mov_b64 s[0:1], literal */
        { { 0x7e0034ff, 0x40590000 }, UINT64_C(0x4059000000000000) }, /* v_floor_f64, 100.0 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct isa_inst inst;
        assert_true(isa_decode(ISA_GFX1010, cases[i].words, 2, &inst));
        assert_true(isa_constant(&inst.op[1]) == cases[i].value);
    }
}

static void test_chips(void **state)
{
    (void)state;
    assert_string_equal(isa_chip_name(ISA_GFX1013), "gfx1013");
    assert_string_equal(isa_chip_name(ISA_GFX1030 | ISA_WAVE64), "gfx1030");
    assert_null(isa_chip_name(ISA_N_CHIPS));
    assert_int_equal(isa_chip_of_mach(0x33), ISA_GFX1010);
    assert_int_equal(isa_chip_of_mach(0x36), ISA_GFX1030);
    assert_int_equal(isa_chip_of_mach(0x2c), -1); /* gfx900 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_overlap),
        cmocka_unit_test(test_rows_are_sane),
        cmocka_unit_test(test_columns_agree_with_names),
        cmocka_unit_test(test_never_reads_past_the_end),
        cmocka_unit_test(test_print_stays_in_its_buffer),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_speed),
        cmocka_unit_test(test_chips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
