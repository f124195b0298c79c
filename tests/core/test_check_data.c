/* test_check_data.c: RMCP_CHECK says nothing of results that are right, whatever the data: every
 * algorithm of a device on random problems, with NaN, infinities, numbers that overflow and
 * denormals among the inputs. Usage: test_check_data DEVICE ROUNDS [OPERATION] */
#include "base/convert.h"
#include "base/random.h"
#include "check_rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rmcp_device *device;
static int rounds;
static const char *only; /* this operation; NULL: all */

/* What is planted, and how many of an input's elements; -1: all of them. */
static const struct {
    const char *name;
    float values[4];
    int count;
    bool alone; /* all other elements are zeros */
} plants[] = {
    { "nothing", { 0 }, 0, false },
    { "one NaN", { NAN, NAN, NAN, NAN }, 1, false },
    { "some NaN and Inf", { NAN, INFINITY, -INFINITY, NAN }, 4, false },
    { "Inf", { INFINITY, INFINITY, -INFINITY, INFINITY }, 3, false },
    { "the largest of f16", { 65504, -65504, 65504, 60000 }, -1, false },
    { "large", { 1e30f, -1e30f, 3e38f, 1e20f }, 5, false },
    { "all large", { 1e19f, -1e19f, 3e19f, 2e19f }, -1, false },
    { "large and Inf", { 3e38f, -INFINITY, 1e30f, INFINITY }, 6, false },
    { "denormal", { 1e-40f, -1e-41f, 1e-7f, 6e-8f }, -1, false },
    { "tiny", { 1e-30f, -1e-25f, 1e-22f, 1e-20f }, -1, false },
    { "zero", { 0, -0.0f, 0, 0 }, -1, false },
    { "zeros but for a few", { 1000, -1, 0.001f, 30 }, 9, true },
};

static void plant(const struct rig *rig, size_t which, struct rmcp_random *r)
{
    const unsigned n_slots = rig->plan->request.operation->n_slots;
    for (unsigned slot = 0; slot < n_slots; slot++) {
        const struct rmcp_slot info = rig_slot(rig, slot);
        if (!rig->bytes[slot] || !info.read || rmcp_random_below(r, 3) == 0) continue;
        if (rmcp_type_is_integer(info.type)) continue; /* indices and labels must be some */
        const bool all = plants[which].count < 0;
        const int64_t count = all ? info.elements : plants[which].count;
        /* On the host and in one piece: a device may take long for each of so many copies. */
        void *host = malloc(rig->bytes[slot]);
        assert_non_null(host);
        rig_read(rig, slot, host);
        for (int64_t i = 0; i < info.elements && plants[which].alone; i++)
            rmcp_store(host, info.type, i, 0);
        for (int64_t i = 0; i < count; i++) {
            const float value = plants[which].values[rmcp_random_below(r, 4)];
            rmcp_store(host, info.type, all ? i : rmcp_random_below(r, info.elements), value);
        }
        rig_write(rig, slot, host);
        free(host);
    }
}

enum { ANY_PLANT = SUPPORT_LENGTH(plants) };

static void try(const struct rmcp_operation *operation, const struct rmcp_algo *algo,
                const void *problem, size_t which, uint64_t seed, long *runs)
{
    struct rmcp_random r = { seed };
    const rmcp_plan_options options = { .struct_size = sizeof options,
                                        .algorithm = algo->name,
                                        .accuracy = (uint32_t)rmcp_random_below(&r, 2),
                                        .nondeterministic = (uint32_t)rmcp_random_below(&r, 2) };
    if (which == ANY_PLANT) which = (size_t)rmcp_random_below(&r, SUPPORT_LENGTH(plants));
    struct rig rig;
    if (!rig_make(&rig, device, operation, problem, &options, seed)) return;
    plant(&rig, which, &r);
    const rmcp_check_info before = rig_counts();
    if (rig_execute(&rig, NULL)) fail_msg("%s", rmcp_last_error());
    const rmcp_check_info after = rig_counts();
    if (after.wrong > before.wrong) /* the line above says what */
        fprintf(stderr, "  with %s, seed %llu, %s\n", plants[which].name, (unsigned long long)seed,
                options.accuracy ? "strict" : "accurate");
    assert_int_equal(after.checked, before.checked + 1);
    assert_int_equal(after.skipped, before.skipped);
    rig_destroy(&rig);
    (*runs)++;
}

static void says_nothing_of_what_is_right(void **state)
{
    (void)state;
    for (size_t i = 0; rmcp_operations[i]; i++) {
        const struct rmcp_operation *operation = rmcp_operations[i];
        if (only && strcmp(only, operation->name)) continue;
        long runs = 0;
        for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++) {
            struct rmcp_any_problem problem;
            rmcp_operation_draw(operation, seed, problem.bytes);
            for (size_t k = 0; operation->algos[k]; k++)
                try(operation, operation->algos[k], problem.bytes, ANY_PLANT, seed * 100 + k,
                    &runs);
        }
        printf("%s: %ld executions\n", operation->name, runs);
        assert_true(runs >= rounds);
    }
    assert_int_equal(rig_counts().wrong, 0);
}

/* Algorithms that transform tiles have their neighbours' errors, NaN and infinities, too. */
static void knows_what_transforms_do(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "n1c40h14w14k40r3s3p1",
        "n2c33h9w11k36r3s3:f32:nhwc",
        "n1c48h12w12k32r3s3p1:f16",
        "n1c32h15w9k40r3s3p1:bf16:nhwc",
    };
    long runs = 0;
    for (size_t i = 0; i < SUPPORT_LENGTH(cases); i++) {
        const struct rmcp_operation *operation;
        struct rmcp_any_problem passes[RMCP_MOST_PASSES];
        size_t n;
        assert_int_equal(rmcp_case_parse(cases[i], &operation, passes, &n), RMCP_OK);
        for (size_t pass = 0; pass < n; pass++)
            for (size_t k = 0; operation->algos[k]; k++)
                for (size_t which = 0; which < ANY_PLANT; which++)
                    if (operation->algos[k]->error_factor > 1)
                        try(operation, operation->algos[k], passes[pass].bytes, which,
                            i * 1000 + which * 10 + pass, &runs);
    }
    printf("transforms: %ld executions\n", runs);
    const size_t count = rig_counts().wrong;
    assert_int_equal(count, 0);
}

int main(int argc, char **argv)
{
    if (argc < 3) return 99;
    setenv("RMCP_CHECK", "full", 1);
    rounds = atoi(argv[2]);
    only = argc > 3 ? argv[3] : NULL;
    if (rmcp_device_open(argv[1], NULL, &device)) {
        printf("skipped: %s\n", rmcp_last_error());
        return 77;
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(knows_what_transforms_do),
                                        cmocka_unit_test(says_nothing_of_what_is_right) };
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    rmcp_device_close(device);
    return failures;
}
