/* test_encode.c: the encoder by itself: there and back, known words, reasons, hostile input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "code/isa/internal.h"
#include "samples.h"

/* What the chips are tried as: all of them, two also in wave64. */
static const unsigned chips[] = { ISA_GFX1010,
                                  ISA_GFX1011,
                                  ISA_GFX1012,
                                  ISA_GFX1013,
                                  ISA_GFX1030,
                                  ISA_GFX1010 | ISA_WAVE64,
                                  ISA_GFX1030 | ISA_WAVE64 };
enum { N_CHIPS = sizeof chips / sizeof *chips };

static void there_and_back(unsigned chip, const uint32_t *words, size_t n)
{
    const char *fault = roundtrip_fault(chip, words, n);
    if (fault)
        fail_msg("%s: %08x %08x %08x %08x %08x: %s", isa_chip_name(chip), words[0], words[1],
                 words[2], words[3], words[4], fault);
}

/* Words of every kind: their first bits choose the encoding, so draw those evenly. */
static void test_random_words(void **state)
{
    (void)state;
    static const uint8_t prefixes[] = { 0x00, 0x10, 0x20, 0x30, 0x3f, 0x3e, 0x40, 0x48, 0x4f,
                                        0x58, 0x5e, 0x5f, 0x5c, 0x64, 0x66, 0x6a, 0x6b, 0x6c,
                                        0x6d, 0x6e, 0x6f, 0x70, 0x74, 0x78, 0x79, 0x7a, 0x7c };
    static const uint16_t announce[] = { 249, 250, 233, 234, 255 };
    uint64_t random = 7;
    for (unsigned i = 0; i < 1500000; i++) {
        uint32_t words[ISA_MAX_WORDS];
        for (unsigned k = 0; k < ISA_MAX_WORDS; k++) {
            words[k] = (uint32_t)sample_number(&random);
            if (i & 1) words[k] &= (uint32_t)sample_number(&random); /* sparse */
        }
        words[0] = (words[0] & 0x1ffffff) |
                   (uint32_t)prefixes[sample_number(&random) % sizeof prefixes] << 25;
        if (!(words[0] >> 31) && i & 2)
            words[0] = (words[0] & ~0x1ffu) | announce[sample_number(&random) % 5];
        /* DS and FLAT need fields at rest. */
        if (i & 4) words[1] &= 0xff7dffff;
        if (i & 8) words[1] = (words[1] & 0xff00ffff) | ISA_NULL << 16;
        if (i & 16) words[1] &= 0xff;
        there_and_back(chips[i % N_CHIPS], words, ISA_MAX_WORDS);
    }
}

/* Every row in every form of every chip, built from nothing. */
static void test_every_row(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (unsigned c = 0; c < N_CHIPS; c++) {
        for (unsigned id = 1; id < ISA_N_IDS; id++) {
            const struct isa_row *row = isa_row(id);
            for (unsigned form = 0; form <= ISA_FORM_DPP8; form++) {
                struct isa_inst inst;
                uint32_t words[ISA_MAX_WORDS];
                size_t n;
                bool has = row->chips >> (chips[c] & 15) & 1 && row->forms >> form & 1;
                bool made = sample_draw(&random, chips[c], id, form, &inst, words, &n);
                if (made != has)
                    fail_msg("%s %s in form %u", isa_chip_name(chips[c]), row->name, form);
                if (!made) continue;
                assert_int_equal(inst.id, id);
                assert_int_equal(inst.form, form);
                there_and_back(chips[c], words, n);
            }
        }
    }
}

static void encodes(const struct isa_inst *inst, size_t n, uint32_t first, uint32_t second)
{
    uint32_t words[ISA_MAX_WORDS];
    char why[160];
    if (isa_encode(ISA_GFX1010, inst, words, why, sizeof why) != n)
        fail_msg("%s: %s", isa_row(inst->id)->name, why);
    assert_int_equal(words[0], first);
    if (n > 1) assert_int_equal(words[1], second);
    assert_string_equal(why, "");
}

/* What a rewriter inserts, with the words of LLVM's assembler. */
static void test_known_words(void **state)
{
    (void)state;
    struct isa_inst in;
    isa_start(&in, ISA_s_nop_SOPP, ISA_FORM_BASE);
    encodes(&in, 1, 0xbf800000, 0);
    isa_start(&in, ISA_s_waitcnt_depctr_SOPP, ISA_FORM_BASE);
    in.imm = (int16_t)0xffe3;
    encodes(&in, 1, 0xbfa3ffe3, 0);
    isa_start(&in, ISA_s_branch_SOPP, ISA_FORM_BASE);
    in.imm = -3;
    encodes(&in, 1, 0xbf82fffd, 0);
    isa_start(&in, ISA_s_waitcnt_vscnt_SOPK, ISA_FORM_BASE);
    isa_add(&in, ISA_OP_DST, ISA_NULL);
    encodes(&in, 1, 0xbbfd0000, 0);
    isa_start(&in, ISA_s_getpc_b64_SOP1, ISA_FORM_BASE);
    isa_add(&in, ISA_OP_DST, 30);
    encodes(&in, 1, 0xbe9e1f00, 0);
    isa_start(&in, ISA_s_add_u32_SOP2, ISA_FORM_BASE);
    isa_add(&in, ISA_OP_DST, 30);
    isa_add(&in, ISA_OP_SRC0, 30);
    isa_add_value(&in, ISA_OP_SRC1, 0x12345678);
    encodes(&in, 2, 0x801eff1e, 0x12345678);
    isa_start(&in, ISA_s_mov_b32_SOP1, ISA_FORM_BASE);
    isa_add(&in, ISA_OP_DST, ISA_NULL);
    isa_add_value(&in, ISA_OP_SRC0, (uint32_t)-16);
    encodes(&in, 1, 0xbefd03d0, 0);
    isa_start(&in, ISA_global_load_dword_GLOBAL, ISA_FORM_BASE);
    isa_add(&in, ISA_OP_DST, ISA_VGPR0 + 1);
    isa_add(&in, ISA_OP_ADDR, ISA_VGPR0 + 2);
    isa_add(&in, ISA_OP_SADDR, ISA_OFF);
    in.imm = -4;
    encodes(&in, 2, 0xdc308ffc, 0x017d0002);
    isa_start(&in, ISA_v_pk_add_f16_VOP3P, ISA_FORM_BASE);
    isa_add(&in, ISA_OP_DST, ISA_VGPR0 + 1);
    isa_add(&in, ISA_OP_SRC0, ISA_VGPR0 + 2);
    isa_add(&in, ISA_OP_SRC1, ISA_VGPR0 + 3);
    encodes(&in, 2, 0xcc0f4001, 0x18020702);
    isa_start(&in, ISA_v_mov_b32_VOP1, ISA_FORM_SDWA);
    isa_add(&in, ISA_OP_DST, ISA_VGPR0 + 1);
    isa_add(&in, ISA_OP_SRC0, ISA_VGPR0 + 2);
    encodes(&in, 2, 0x7e0202f9, 0x00060602);
}

/* AMD's fp16 Winograd kernels: v116 += v116 of lanes 2, 2, 1, 1 of each four times v176. */
static void test_packed_dpp(void **state)
{
    (void)state;
    const uint32_t words[ISA_MAX_WORDS] = { 0x780000fa + (116 << 17) + (176 << 9),
                                            0xff000000 + 116 + (2 << 8) + (2 << 10) + (1 << 12) +
                                                (1 << 14) };
    struct isa_inst in;
    char text[256];
    assert_int_equal(isa_decode(ISA_GFX1030, words, 1, &in), 0);
    for (unsigned chip = 0; chip < ISA_N_CHIPS; chip++) {
        assert_int_equal(isa_decode(chip, words, 2, &in), 2);
        isa_print(&in, text, sizeof text);
        assert_string_equal(text, "v_pk_fmac_f16_dpp v116, v116, v176 quad_perm:[2,2,1,1] "
                                  "row_mask:0xf bank_mask:0xf");
        there_and_back(chip, words, 2);
    }
    encodes(&in, 2, words[0], words[1]);
    isa_start(&in, ISA_v_pk_fmac_f16_VOP2, ISA_FORM_DPP16);
    isa_add(&in, ISA_OP_DST, ISA_VGPR0 + 116);
    isa_add(&in, ISA_OP_SRC0, ISA_VGPR0 + 116);
    isa_add(&in, ISA_OP_SRC1, ISA_VGPR0 + 176);
    in.dpp_ctrl = 2 | 2 << 2 | 1 << 4 | 1 << 6;
    encodes(&in, 2, words[0], words[1]);
    struct isa_uses uses;
    isa_decode(ISA_GFX1010, words, 2, &in);
    isa_uses(&in, &uses);
    assert_true(isa_vgpr_in(uses.vgpr_read, 116) && isa_vgpr_in(uses.vgpr_read, 176));
    assert_true(isa_vgpr_in(uses.vgpr_write, 116) && !isa_vgpr_in(uses.vgpr_write, 176));
}

static void refuses(unsigned chip, const struct isa_inst *inst, const char *reason)
{
    uint32_t words[ISA_MAX_WORDS];
    char why[160], shorter[8];
    size_t n = isa_encode(chip, inst, words, why, sizeof why);
    if (n || !strstr(why, reason)) fail_msg("%zu words, \"%s\", not \"%s\"", n, why, reason);
    for (unsigned i = 0; i < ISA_MAX_WORDS; i++) assert_int_equal(words[i], 0);
    assert_int_equal(isa_encode(chip, inst, words, shorter, sizeof shorter), 0);
    assert_int_equal(strlen(shorter), sizeof shorter - 1);
    assert_int_equal(isa_encode(chip, inst, words, NULL, 0), 0);
}

static struct isa_inst vop3(unsigned id, unsigned a, unsigned b, unsigned c)
{
    struct isa_inst in;
    isa_start(&in, id, ISA_FORM_BASE);
    isa_add(&in, ISA_OP_DST, ISA_VGPR0);
    isa_add(&in, ISA_OP_SRC0, a);
    isa_add(&in, ISA_OP_SRC1, b);
    if (isa_row(id)->src[2]) isa_add(&in, ISA_OP_SRC2, c);
    return in;
}

static void test_reasons(void **state)
{
    (void)state;
    const unsigned v1 = ISA_VGPR0 + 1, v2 = ISA_VGPR0 + 2;
    struct isa_inst in = vop3(ISA_v_dot2_f32_f16_VOP3P, v1, v2, v1);
    refuses(ISA_GFX1010, &in, "gfx1010 has no v_dot2_f32_f16");
    refuses(ISA_N_CHIPS, &in, "no such chip");
    in.form = ISA_FORM_SDWA;
    refuses(ISA_GFX1030, &in, "v_dot2_f32_f16 has no SDWA form");
    in.form = 17;
    refuses(ISA_GFX1030, &in, "has no such form");
    in.id = ISA_N_IDS;
    refuses(ISA_GFX1030, &in, "no instruction");

    in = vop3(ISA_v_fma_f32_VOP3, 1, 2, 3);
    refuses(ISA_GFX1010, &in, "too many scalar registers and literals");
    in = vop3(ISA_v_fma_f32_VOP3, 1, 2, 2);
    encodes(&in, 2, 0xd54b0000, 0x00080401);
    in = vop3(ISA_v_lshlrev_b64_VOP3, 1, 2, 0);
    refuses(ISA_GFX1010, &in, "too many scalar registers and literals");
    in = vop3(ISA_v_add3_u32_VOP3, ISA_LITERAL, ISA_LITERAL, v1);
    in.op[1].value = 1000;
    in.op[2].value = 1001;
    refuses(ISA_GFX1010, &in, "two literals");
    in = vop3(ISA_v_add3_u32_VOP3, v1, v2, v1);
    in.omod = 1;
    refuses(ISA_GFX1010, &in, "v_add3_u32");
    in.omod = 0;
    in.glc = 1;
    refuses(ISA_GFX1010, &in, "cannot have glc 1");
    in.glc = 0;
    in.op[1].mods = ISA_NEG;
    refuses(ISA_GFX1010, &in, "v_add3_u32");
    in.op[1].mods = 0;
    in.op[1].reg = ISA_VGPR0 + 256;
    refuses(ISA_GFX1010, &in, "no VGPR");
    in.op[1].reg = ISA_VGPR0 + 1;
    in.op[1].n_regs = 2;
    refuses(ISA_GFX1010, &in, "has 1 registers, not 2");
    in.op[1].n_regs = 0;
    in.n_operands = 3;
    refuses(ISA_GFX1010, &in, "lacks its source 2");
    in.n_operands = 4;
    isa_add(&in, ISA_OP_SADDR, 2);
    refuses(ISA_GFX1010, &in, "has 4 operands here, not 5");

    isa_start(&in, ISA_s_load_dwordx2_SMEM, ISA_FORM_BASE);
    isa_add(&in, ISA_OP_DST, 5);
    isa_add(&in, ISA_OP_SADDR, 2);
    isa_add(&in, ISA_OP_SOFF, ISA_NULL);
    refuses(ISA_GFX1010, &in, "cannot start at register 5");
    in.op[0].reg = 4;
    in.op[1].reg = 3;
    refuses(ISA_GFX1010, &in, "no multiple of 2");
    in.op[1].reg = 2;
    in.imm = 1 << 20;
    refuses(ISA_GFX1010, &in, "offset 1048576 is not within");
    in.imm = 4;
    encodes(&in, 2, 0xf4040101, 0xfa000004);
    in.op[0] = (struct isa_operand){ .kind = ISA_KIND_VGPR, .reg = ISA_VGPR0 };
    refuses(ISA_GFX1010, &in, "the result must be a scalar register");

    isa_start(&in, ISA_flat_load_dword_FLAT, ISA_FORM_BASE);
    isa_add(&in, ISA_OP_DST, v1);
    isa_add(&in, ISA_OP_ADDR, v2);
    in.imm = 2048;
    refuses(ISA_GFX1010, &in, "more than 11 bits");
    in.imm = 4096;
    refuses(ISA_GFX1010, &in, "offset 4096 does not fit into 12 bits");
    in.imm = -1;
    refuses(ISA_GFX1010, &in, "does not fit");
    in.imm = 2047;
    encodes(&in, 2, 0xdc3007ff, 0x017d0002);

    isa_start(&in, ISA_v_mov_b32_VOP1, ISA_FORM_DPP16);
    isa_add(&in, ISA_OP_DST, v1);
    isa_add_value(&in, ISA_OP_SRC0, 1000);
    refuses(ISA_GFX1010, &in, "the source 0 must be one of v0 to v255");
    in.form = ISA_FORM_SDWA;
    refuses(ISA_GFX1010, &in, "no room for a literal");
}

/* Bytes that nobody meant as an instruction: refused with a reason, or what was asked for. */
static void test_hostile(void **state)
{
    (void)state;
    uint64_t random = 5;
    unsigned taken = 0;
    for (unsigned i = 0; i < 400000; i++) {
        struct isa_inst in, back;
        uint32_t words[ISA_MAX_WORDS];
        char why[160];
        unsigned chip = chips[i % N_CHIPS],
                 id = 1 + (unsigned)(sample_number(&random) % (ISA_N_IDS - 1));
        unsigned form = 0;
        size_t n;
        /* A sound one with a few bytes changed; every eighth all noise. */
        while (!(isa_row(id)->forms >> form & 1)) form++;
        sample_build(&random, id, form, &in);
        unsigned n_changes = i % 8 ? 1 + (unsigned)(sample_number(&random) % 3) : 4000;
        for (unsigned k = 0; k < n_changes; k++) {
            /* `row` and the one bool may hold anything but noise: they are not read. */
            size_t first = offsetof(struct isa_inst, imm);
            size_t at = first + sample_number(&random) % (sizeof in - first);
            ((uint8_t *)&in)[at] = (uint8_t)(sample_number(&random) >> 5);
        }
        n = isa_encode_any(chip, &in, words, why, sizeof why);
        if (!n) {
            assert_true(why[0] != 0);
            continue;
        }
        taken++;
        assert_int_equal(isa_decode(chip, words, n, &back), n);
        assert_int_equal(back.id, in.id);
        assert_int_equal(back.imm, in.imm);
        assert_int_equal(back.n_operands, in.n_operands);
        for (unsigned k = 0; k < back.n_operands; k++) {
            assert_int_equal(back.op[k].role, in.op[k].role);
            assert_int_equal(back.op[k].kind, in.op[k].kind);
            if (back.op[k].n_regs) assert_int_equal(back.op[k].reg, in.op[k].reg);
        }
        there_and_back(chip, words, n);
    }
    assert_true(taken > 1000);
}

static void test_building(void **state)
{
    (void)state;
    struct isa_inst in;
    isa_start(&in, ISA_v_add_f32_VOP2, ISA_FORM_BASE);
    assert_null(isa_add(&in, ISA_OP_SRC0, 209)); /* no source has this code */
    assert_null(isa_add(&in, ISA_OP_SRC0, 513));
    for (unsigned i = 0; i < ISA_MAX_OPERANDS; i++) assert_non_null(isa_add(&in, ISA_OP_SRC0, 0));
    assert_null(isa_add(&in, ISA_OP_SRC0, 0));
    assert_null(isa_add_value(&in, ISA_OP_SRC0, 1234));
    assert_int_equal(in.n_operands, ISA_MAX_OPERANDS);
    isa_start(&in, ISA_ILLEGAL, ISA_FORM_BASE);
    assert_null(in.row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_words), cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_known_words),  cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_hostile),      cmocka_unit_test(test_building),
        cmocka_unit_test(test_packed_dpp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
