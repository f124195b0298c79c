/* test_calls.c: the silicon-bug rules over functions that call each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allocations.h"
#include "code/isa/rules.h"

struct seen {
    size_t n;
    struct isa_finding finding[8];
};

static void note(const struct isa_finding *finding, void *context)
{
    struct seen *seen = context;
    if (seen->n < 8) seen->finding[seen->n] = *finding;
    seen->n++;
}

/* What the code below is made of. */
#define NOP 0xbf800000u
#define ENDPGM 0xbf810000u
#define RETURN 0xbe80201eu     /* s_setpc_b64 s[30:31]            */
#define GETPC 0xbe8c1f00u      /* s_getpc_b64 s[12:13]            */
#define ADD 0x800cff0cu        /* s_add_u32 s12, s12, literal     */
#define ADDC 0x820dff0du       /* s_addc_u32 s13, s13, literal    */
#define CALL 0xbe9e210cu       /* s_swappc_b64 s[30:31], s[12:13] */
#define JUMP 0xbe80200cu       /* s_setpc_b64 s[12:13]            */
#define LOADED 0xf4040303u     /* s_load_dwordx2 s[12:13], s[6:7], 0x0; the next word ends it */
#define OFFSET 0xfa000000u     /* ... with this one               */
#define WRITE_S4 0xbe840380u   /* s_mov_b32 s4, 0                 */
#define VALU 0x7e000280u       /* v_mov_b32 v0, 0                 */
#define CMPX 0x7da20080u       /* v_cmpx_lt_u32 0, v0             */
#define READ_EXEC 0xbe88037eu  /* s_mov_b32 s8, exec_lo           */
#define WAIT_ALL 0xbf8c0000u   /* s_waitcnt 0                     */
#define WAIT_VSCNT 0xbbfd0000u /* s_waitcnt_vscnt null, 0         */
/* global_store_dword v0, v0, s[4:5]; ds_write_b32 v0, v0 */
#define STORE 0xdc708000, 0x00040000
#define LDS 0xd8340000, 0x00000000
/* To a function so many words behind the next one of s_add. */
#define FAR_CALL(words) GETPC, ADD, 4 * (words) + 16, ADDC, 0, CALL
#define NEGATIVE_CALL(words) GETPC, ADD, (uint32_t)(16 - 4 * (words)), ADDC, UINT32_MAX, CALL

enum { MAX_FUNCTIONS = 4, FUNCTION_WORDS = 32 };

struct program {
    const char *name;
    uint32_t words[MAX_FUNCTIONS][FUNCTION_WORDS]; /* each at 32 words from the other */
    unsigned n_kernels;                            /* the first ones                  */
    unsigned in, at, rule;                         /* the one finding; ISA_N_RULES: none */
    uint32_t cause;
    size_t n_unknown;
};

/* From word 5 behind the start of a call that starts at `at` of a function: n functions further. */
#define TO(n, at) ((n)*FUNCTION_WORDS - (at)-5)

static const struct program programs[] = {
    { "what the caller's store reads is written by the callee",
      { { STORE, FAR_CALL(TO(1, 2)), ENDPGM }, { WRITE_S4, RETURN } },
      1,
      1,
      0,
      ISA_RULE_VMEM_SCALAR_WRITE,
      ISA_NO_CAUSE,
      0 },
    { "the callee waits first",
      { { STORE, FAR_CALL(TO(1, 2)), ENDPGM }, { WAIT_ALL, WRITE_S4, RETURN } },
      1,
      0,
      0,
      ISA_N_RULES,
      0,
      0 },
    { "what the callee's store reads is written by the caller",
      { { FAR_CALL(TO(1, 0)), WRITE_S4, ENDPGM }, { STORE, RETURN } },
      1,
      0,
      24,
      ISA_RULE_VMEM_SCALAR_WRITE,
      20,
      0 },
    { "a vector instruction of the callee ends it",
      { { STORE, FAR_CALL(TO(1, 2)), WRITE_S4, ENDPGM }, { VALU, RETURN } },
      1,
      0,
      0,
      ISA_N_RULES,
      0,
      0 },
    { "the callee does nothing: it comes through",
      { { STORE, FAR_CALL(TO(1, 2)), WRITE_S4, ENDPGM }, { NOP, RETURN } },
      1,
      0,
      32,
      ISA_RULE_VMEM_SCALAR_WRITE,
      0,
      0 },
    { "one path of the callee ends it, another does not: v_nop and s_cbranch_scc0 over it",
      { { STORE, FAR_CALL(TO(1, 2)), WRITE_S4, ENDPGM }, { 0xbf840001, VALU, RETURN } },
      1,
      0,
      32,
      ISA_RULE_VMEM_SCALAR_WRITE,
      0,
      0 },
    { "through two calls",
      { { READ_EXEC, FAR_CALL(TO(1, 1)), ENDPGM },
        { FAR_CALL(TO(1, 0)), RETURN },
        { CMPX, RETURN } },
      1,
      2,
      0,
      ISA_RULE_VCMPX_EXEC_WAR,
      ISA_NO_CAUSE,
      0 },
    { "from two calls deep",
      { { FAR_CALL(TO(1, 0)), CMPX, ENDPGM },
        { FAR_CALL(TO(1, 0)), RETURN },
        { READ_EXEC, RETURN } },
      1,
      0,
      24,
      ISA_RULE_VCMPX_EXEC_WAR,
      20,
      0 },
    { "what one caller left does not reach the other",
      { { STORE, FAR_CALL(TO(2, 2)), ENDPGM },
        { FAR_CALL(TO(1, 0)), WRITE_S4, ENDPGM },
        { NOP, RETURN } },
      2,
      0,
      0,
      ISA_N_RULES,
      0,
      0 },
    { "a return counts as a branch between LDS and VMEM",
      { { FAR_CALL(TO(1, 0)), STORE, ENDPGM }, { LDS, RETURN } },
      1,
      0,
      24,
      ISA_RULE_LDS_BRANCH_VMEM,
      20,
      0 },
    { "a call does",
      { { LDS, FAR_CALL(TO(1, 2)), ENDPGM }, { STORE, RETURN } },
      1,
      1,
      0,
      ISA_RULE_LDS_BRANCH_VMEM,
      ISA_NO_CAUSE,
      0 },
    { "and is waited for",
      { { LDS, FAR_CALL(TO(1, 2)), ENDPGM }, { WAIT_VSCNT, STORE, RETURN } },
      1,
      0,
      0,
      ISA_N_RULES,
      0,
      0 },
    { "a callee that nobody knows may have done anything",
      { { LOADED, OFFSET, CALL, WRITE_S4, ENDPGM } },
      1,
      0,
      12,
      ISA_RULE_VMEM_SCALAR_WRITE,
      8,
      1 },
    { "and may be any function here",
      { { READ_EXEC, LOADED, OFFSET, CALL, ENDPGM }, { CMPX, RETURN } },
      1,
      1,
      0,
      ISA_RULE_VCMPX_EXEC_WAR,
      ISA_NO_CAUSE,
      1 },
    { "a caller that nobody knows may have done anything",
      { { ENDPGM }, { WRITE_S4, RETURN } },
      1,
      1,
      0,
      ISA_RULE_VMEM_SCALAR_WRITE,
      ISA_NO_CAUSE,
      0 },
    { "what is no function's start is unknown",
      { { FAR_CALL(TO(1, 0) + 1), WRITE_S4, ENDPGM }, { WAIT_ALL, NOP, RETURN } },
      1,
      0,
      24,
      ISA_RULE_VMEM_SCALAR_WRITE,
      20,
      1 },
    { "a callee that ends the program leaves nothing",
      { { FAR_CALL(TO(1, 0)), WRITE_S4, ENDPGM }, { STORE, ENDPGM } },
      1,
      0,
      0,
      ISA_N_RULES,
      0,
      0 },
    { "another function in the place of a return",
      { { FAR_CALL(TO(1, 0)), WRITE_S4, ENDPGM },
        { STORE, GETPC, ADD, 4 * TO(1, 2) + 16, ADDC, 0, JUMP },
        { NOP, RETURN } },
      1,
      0,
      24,
      ISA_RULE_VMEM_SCALAR_WRITE,
      20,
      0 },
    { "a function that calls itself",
      { { FAR_CALL(TO(1, 0)), WRITE_S4, ENDPGM }, { 0xbf840006, NEGATIVE_CALL(6), STORE, RETURN } },
      1,
      0,
      24,
      ISA_RULE_VMEM_SCALAR_WRITE,
      20,
      0 },
    { "two that call each other",
      { { FAR_CALL(TO(1, 0)), WRITE_S4, ENDPGM },
        { 0xbf840006, FAR_CALL(TO(1, 1)), RETURN },
        { STORE, NEGATIVE_CALL(FUNCTION_WORDS + 7), RETURN } },
      1,
      0,
      24,
      ISA_RULE_VMEM_SCALAR_WRITE,
      20,
      0 },
    { "a subroutine within the kernel: s_call_b64 s[30:31]",
      { { STORE, 0xbb1e0002, WRITE_S4, ENDPGM, NOP, RETURN } },
      1,
      0,
      12,
      ISA_RULE_VMEM_SCALAR_WRITE,
      0,
      0 },
    { "that ends it",
      { { STORE, 0xbb1e0002, WRITE_S4, ENDPGM, VALU, RETURN } },
      1,
      0,
      0,
      ISA_N_RULES,
      0,
      0 },
    { "a long jump within the kernel",
      { { STORE, GETPC, ADD, 24, ADDC, 0, JUMP, ENDPGM, WRITE_S4, ENDPGM } },
      1,
      0,
      36,
      ISA_RULE_VMEM_SCALAR_WRITE,
      0,
      0 },
};

static size_t make_codes(const struct program *p, struct isa_code *codes)
{
    size_t n = 0;
    for (unsigned i = 0; i < MAX_FUNCTIONS; i++) {
        size_t words = FUNCTION_WORDS;
        while (words && !p->words[i][words - 1]) words--;
        if (!words) continue;
        codes[n++] = (struct isa_code){ .words = p->words[i],
                                        .n_words = words,
                                        .address = 0x1000 + 4 * FUNCTION_WORDS * i,
                                        .chip_mode = ISA_GFX1030,
                                        .wgp_mode = true,
                                        .is_kernel = i < p->n_kernels };
    }
    return n;
}

static void test_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        struct isa_code codes[MAX_FUNCTIONS];
        struct isa_calls *calls;
        size_t n = make_codes(p, codes), n_findings = 0, n_unknown = 0;
        assert_true(isa_calls_create(codes, n, &calls));
        for (size_t f = 0; f < n; f++) {
            struct seen seen = { 0 };
            struct isa_rules_count count;
            assert_true(isa_calls_check(calls, f, note, &seen, &count));
            if (count.n_undecodable) fail_msg("%s: not decoded", p->name);
            n_findings += seen.n;
            n_unknown += count.n_unknown_calls;
            /* A caller's or a callee's, told by no cause or by the call; none where the other
             * function only lets it through. */
            bool outside = seen.n && (p->cause == ISA_NO_CAUSE || p->cause >= 8);
            assert_int_equal(count.n_across, outside);
            if (!seen.n) continue;
            const struct isa_finding *found = &seen.finding[0];
            if (found->rule != p->rule || f != p->in || found->at != p->at ||
                found->cause != p->cause)
                fail_msg("%s: %s in %zu at %u because of %x", p->name,
                         isa_rule_table[found->rule].id, f, found->at, found->cause);
        }
        if (n_findings != (p->rule != ISA_N_RULES)) fail_msg("%s: %zu", p->name, n_findings);
        if (n_unknown != p->n_unknown) fail_msg("%s: %zu unknown", p->name, n_unknown);
        isa_calls_destroy(calls);
    }
    isa_calls_destroy(NULL);
}

/* A chain of functions, each the caller of the next, first to last and last to first. */
static void test_long_chains(void **state)
{
    (void)state;
    enum { N = 3000, EACH = 16 };
    static uint32_t words[N][EACH];
    static struct isa_code codes[N];
    for (int back = 0; back < 2; back++) {
        for (int i = 0; i < N; i++) {
            int to = back ? i - 1 : i + 1;
            bool last = to < 0 || to >= N;
            int64_t bytes = 4 * (int64_t)EACH * (to - i) - 4;
            uint32_t call[EACH] = { GETPC, ADD,   (uint32_t)bytes, ADDC, (uint32_t)(bytes >> 32),
                                    CALL,  RETURN };
            uint32_t store[EACH] = { STORE, RETURN };
            memcpy(words[i], last ? store : call, sizeof words[i]);
            if (i == (back ? N - 1 : 0)) words[i][6] = WRITE_S4;
            codes[i] = (struct isa_code){ .words = words[i],
                                          .n_words = 7,
                                          .address = 4 * EACH * (uint64_t)i,
                                          .chip_mode = ISA_GFX1010,
                                          .is_kernel = i == (back ? N - 1 : 0) };
            if (last) codes[i].n_words = 3;
        }
        struct isa_calls *calls;
        struct isa_rules_count count;
        assert_true(isa_calls_create(codes, N, &calls));
        assert_true(isa_calls_check(calls, back ? N - 1 : 0, NULL, NULL, &count));
        assert_int_equal(count.n_findings[ISA_RULE_VMEM_SCALAR_WRITE], 1);
        assert_int_equal(count.n_unknown_calls, 0);
        isa_calls_destroy(calls);
    }
}

/* Words of any kind: no crash, and each allocation that fails is told. */
static void test_calls_noise(void **state)
{
    (void)state;
    static uint32_t words[4][64];
    static const uint32_t parts[] = { GETPC,      ADD,        ADDC,       CALL,      JUMP,
                                      RETURN,     WRITE_S4,   VALU,       NOP,       ENDPGM,
                                      0xdc708000, 0xbb1e0002, 0xbf840001, 0xbf82fffc };
    unsigned random = 1;
    for (unsigned round = 0; round < 960; round++) {
        struct isa_code codes[4];
        struct isa_calls *calls;
        struct isa_rules_count count;
        for (unsigned i = 0; i < 4; i++) {
            for (unsigned w = 0; w < 64; w++) {
                random = random * 1664525 + 1013904223;
                words[i][w] = random >> 28 ? parts[(random >> 8) % 14] : random % 600;
            }
            codes[i] = (struct isa_code){ words[i], 64, 256 * i, ISA_GFX1010, true, !i };
        }
        const long fail_at = round % 8 ? 0 : 1 + round / 8 % 60;
        allocations_arm(fail_at, false);
        bool ok = isa_calls_create(codes, 4, &calls);
        if (!ok) assert_true(fail_at && !calls);
        for (unsigned i = 0; ok && i < 4; i++)
            if (!isa_calls_check(calls, i, NULL, NULL, &count)) assert_true(fail_at);
        allocations_arm(0, false);
        isa_calls_destroy(calls);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_long_chains),
        cmocka_unit_test(test_calls_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
