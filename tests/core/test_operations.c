/* test_operations.c: what every operation owes to the core, whichever it is. */
#include "engine/core/algo.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 300 };

/* Figures that fit into the core's tables. */
static void fits(void **state)
{
    (void)state;
    size_t n_nameless = 0;
    for (size_t o = 0; rmcp_operations[o]; o++) {
        const struct rmcp_operation *operation = rmcp_operations[o];
        assert_ptr_equal(rmcp_operation_find(operation->name, strlen(operation->name)), operation);
        assert_true(operation->problem_bytes <= RMCP_PROBLEM_BYTES);
        assert_true(operation->problem_bytes % 8 == 0);
        assert_true(operation->n_slots > 0 && operation->n_slots < RMCP_SLOT_WORKSPACE);
        assert_non_null(operation->algos[0]);
        assert_non_null(operation->traits[0].name); /* passes, or what takes their place */
        n_nameless += operation->nameless;
        size_t n_passes = 0, n_judges = 0;
        while (operation->traits[0].words[n_passes]) n_passes++;
        assert_in_range(n_passes, 1, RMCP_MOST_PASSES);
        for (size_t a = 0; operation->algos[a]; a++) {
            const struct rmcp_algo *algo = operation->algos[a];
            assert_true(algo->version > 0 && algo->consider && algo->emit);
            assert_true(strlen(algo->name) < sizeof((rmcp_candidate *)NULL)->algorithm);
            n_judges += algo->judge;
            for (size_t b = 0; b < a; b++)
                assert_string_not_equal(algo->name, operation->algos[b]->name);
        }
        assert_true(n_judges <= 1);
    }
    assert_int_equal(n_nameless, 1);
    assert_null(rmcp_operation_find("nothing", 7));
}

/* Its slots: named, counted, and read or written; traits are words that there are. */
static void check_problem(const struct rmcp_operation *operation, const void *problem)
{
    bool written = false;
    for (unsigned slot = 0; slot < operation->n_slots; slot++) {
        const struct rmcp_slot info = operation->slot(problem, slot);
        assert_true(info.elements >= 0 && info.type <= RMCP_U16);
        if (!info.elements) continue;
        assert_non_null(info.name);
        assert_true(info.read || info.written);
        written = written || info.written;
        if (info.written) assert_true(operation->expect_cost(problem, slot) > 0);
    }
    assert_true(written);
    assert_true(operation->type(problem) <= RMCP_BF16);
    assert_true(operation->flops(problem) >= 0 && operation->bytes(problem) > 0);
    for (unsigned t = 0; operation->traits[t].name; t++) {
        size_t n = 0;
        while (operation->traits[t].words[n]) n++;
        assert_true(operation->trait(problem, t) < n);
    }
}

/* A random problem prints, and its text is that problem again. */
static void draws_print_and_parse(void **state)
{
    (void)state;
    for (size_t o = 0; rmcp_operations[o]; o++)
        for (uint64_t seed = 0; seed < DRAWS; seed++) {
            const struct rmcp_operation *operation = rmcp_operations[o], *found = NULL;
            struct rmcp_any_problem drawn, again[RMCP_MOST_PASSES];
            char text[RMCP_CASE_MAX], twice[RMCP_CASE_MAX];
            size_t count = 0;
            rmcp_operation_draw(operation, seed, drawn.bytes);
            check_problem(operation, drawn.bytes);
            assert_int_equal(rmcp_case_print(operation, drawn.bytes, text, sizeof text), RMCP_OK);
            if (rmcp_case_parse(text, &found, again, &count))
                fail_msg("%s: %s", text, rmcp_last_error());
            assert_ptr_equal(found, operation);
            assert_int_equal(count, 1);
            check_problem(operation, again[0].bytes);
            assert_int_equal(rmcp_case_print(operation, again[0].bytes, twice, sizeof twice),
                             RMCP_OK);
            assert_string_equal(text, twice);
            char cut[4];
            support_assert_failed(rmcp_case_print(operation, drawn.bytes, cut, sizeof cut),
                                  RMCP_E_ARG, "bytes");
        }
}

/* Trials of first use exist in every type, and some algorithm for GPUs takes each. */
static void trials_exist(void **state)
{
    (void)state;
    const struct rmcp_caps caps = { .kinds = RMCP_LAUNCH_KERNEL,
                                    .compute_units = 36,
                                    .max_block = 256,
                                    .local_bytes = 65536,
                                    .max_buffer_bytes = 1u << 30,
                                    .flops_per_second = 7e12,
                                    .bytes_per_second = 3e11,
                                    .launch_seconds = 1e-5 };
    for (size_t o = 0; rmcp_operations[o]; o++) {
        const struct rmcp_operation *operation = rmcp_operations[o];
        size_t taken[64] = { 0 };
        for (const char *const *trial = operation->trials; *trial; trial++)
            for (int type = 0; rmcp_type_names[type]; type++) {
                struct rmcp_any_problem problems[RMCP_MOST_PASSES];
                char pattern[256], text[RMCP_CASE_MAX];
                size_t count = 0;
                const struct rmcp_operation *found = NULL;
                snprintf(pattern, sizeof pattern, "%s%s%s",
                         operation->nameless ? "" : operation->name, operation->nameless ? "" : ":",
                         *trial);
                const char *hole = strstr(pattern, "%s");
                snprintf(text, sizeof text, "%.*s%s%s", (int)(hole ? hole - pattern : 255), pattern,
                         hole ? rmcp_type_names[type] : "", hole ? hole + 2 : "");
                if (rmcp_case_parse(text, &found, problems, &count))
                    fail_msg("%s: %s", text, rmcp_last_error());
                assert_ptr_equal(found, operation);
                for (size_t i = 0; i < count; i++) {
                    const struct rmcp_request request = { .operation = operation,
                                                          .problem = problems[i].bytes,
                                                          .caps = &caps,
                                                          .deterministic = true };
                    for (size_t a = 0; operation->algos[a]; a++) {
                        struct rmcp_way way;
                        if (operation->algos[a]->kind != RMCP_LAUNCH_KERNEL) continue;
                        assert_int_equal(rmcp_algo_consider(operation->algos[a], &request, &way),
                                         RMCP_OK);
                        taken[a] += !way.refusal;
                    }
                }
            }
        for (size_t a = 0; operation->algos[a]; a++)
            if (operation->algos[a]->kind == RMCP_LAUNCH_KERNEL && !taken[a])
                fail_msg("%s: no trial reaches %s", operation->name, operation->algos[a]->name);
    }
}

/* Names in front that no operation has. */
static void refuses_other_names(void **state)
{
    (void)state;
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    const struct rmcp_operation *found = NULL;
    size_t count = 7;
    support_assert_failed(rmcp_case_parse("nothing:n1", &found, problems, &count), RMCP_E_ARG,
                          "no operation 'nothing'; known are");
    assert_int_equal(count, 0);
    support_assert_failed(rmcp_case_parse(NULL, &found, problems, &count), RMCP_E_ARG, "NULL");
    support_assert_failed(rmcp_case_parse("\033[2J:n1", &found, problems, &count), RMCP_E_ARG,
                          "?[2J");
    support_assert_failed(rmcp_case_parse("", &found, problems, &count), RMCP_E_ARG, "empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits),
        cmocka_unit_test(draws_print_and_parse),
        cmocka_unit_test(trials_exist),
        cmocka_unit_test(refuses_other_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
