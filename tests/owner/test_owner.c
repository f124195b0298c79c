/* test_owner.c: the first owner's journal and steps. */
#include "help/owner/steps.h"
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];
static const char title[] = "a title";

static int set_up(void **state)
{
    (void)state;
    strcpy(path, "/tmp/rmcp-journal-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static struct journal *open_journal(bool expect_resumed)
{
    bool resumed;
    struct journal *j;
    assert_int_equal(journal_open(path, title, &resumed, &j), RMCP_OK);
    assert_int_equal(resumed, expect_resumed);
    return j;
}

static void test_remembers(void **state)
{
    (void)state;
    struct journal *j = open_journal(false);
    assert_int_equal(journal_state(j, "one"), JOURNAL_UNKNOWN);
    assert_int_equal(journal_step(j, JOURNAL_TRYING, "one", ""), RMCP_OK);
    assert_int_equal(journal_step(j, JOURNAL_PASSED, "one", "0.1 s; all\nwell: yes"), RMCP_OK);
    assert_int_equal(journal_step(j, JOURNAL_TRYING, "two words", ""), RMCP_OK);
    assert_int_equal(journal_note(j, "device", "hip:0"), RMCP_OK);
    assert_int_equal(journal_state(j, "two words"), JOURNAL_TRYING);
    journal_close(j);
    j = open_journal(true);
    assert_int_equal(journal_state(j, "one"), JOURNAL_PASSED);
    assert_string_equal(journal_detail(j, "one"), "0.1 s; all well: yes");
    assert_int_equal(journal_state(j, "two words"), JOURNAL_TRYING);
    assert_string_equal(journal_value(j, "device"), "hip:0");
    assert_null(journal_value(j, "one"));
    assert_int_equal(journal_state(j, "device"), JOURNAL_UNKNOWN);
    journal_close(j);
}

static void test_torn_line(void **state)
{
    (void)state;
    write_file("a title\nstep try one\nstep pass one: fine\nstep try two\nstep pa");
    struct journal *j = open_journal(true);
    assert_int_equal(journal_state(j, "one"), JOURNAL_PASSED);
    assert_int_equal(journal_state(j, "two"), JOURNAL_TRYING);
    assert_int_equal(journal_step(j, JOURNAL_LOST, "two", "gone"), RMCP_OK);
    journal_close(j);
    j = open_journal(true);
    assert_int_equal(journal_state(j, "two"), JOURNAL_LOST);
    journal_close(j);
}

static void test_other_files_are_left_alone(void **state)
{
    (void)state;
    static const char *const texts[] = { "my diary\n", "my diary", "\n", "a titles\n" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_file(texts[i]);
        bool resumed;
        struct journal *j;
        assert_int_equal(journal_open(path, title, &resumed, &j), RMCP_E_ARG);
        assert_null(j);
        support_assert_one_line(rmcp_last_error());
        char back[32] = "";
        FILE *file = fopen(path, "r");
        assert_int_equal(fread(back, 1, sizeof back - 1, file), strlen(texts[i]));
        fclose(file);
        assert_string_equal(back, texts[i]);
    }
    bool resumed;
    struct journal *j;
    assert_int_equal(journal_open("/nonexistent/file", title, &resumed, &j), RMCP_E_IO);
    assert_int_equal(journal_open("/dev/null", title, &resumed, &j), RMCP_E_ARG);
    write_file("");
    struct journal *first = open_journal(false);
    assert_int_equal(journal_open(path, title, &resumed, &j), RMCP_E_IO); /* in use */
    journal_close(first);
}

static void test_steps(void **state)
{
    (void)state;
    struct owner_step step, again;
    enum owner_stage last = OWNER_LOOK;
    size_t n = 0;
    for (; owner_step_at(n, RMCP_LAUNCH_KERNEL, &step); n++) {
        assert_true(step.stage >= last); /* from the harmless to the risky */
        last = step.stage;
        assert_null(strchr(step.name, ':')); /* the journal's separator */
        assert_true(owner_step_find(step.name, RMCP_LAUNCH_KERNEL, &again));
        assert_int_equal(again.stage, step.stage);
        for (size_t i = 0; i < n; i++) {
            owner_step_at(i, RMCP_LAUNCH_KERNEL, &again);
            assert_string_not_equal(again.name, step.name);
        }
    }
    assert_int_equal(last, OWNER_PATTERN);
    assert_true(n > 100);
    assert_false(owner_step_find("format the disk", RMCP_LAUNCH_KERNEL, &step));
}

/* On the CPU device every step but the timed and large ones, here in this process. */
static void test_steps_on_the_cpu(void **state)
{
    (void)state;
    rmcp_device *device = support_open();
    struct owner_step step;
    size_t n_passed = 0;
    for (size_t i = 0; owner_step_at(i, RMCP_LAUNCH_HOST_CALL, &step); i++) {
        if (step.stage >= OWNER_LARGE || step.bytes > 1 << 20) continue;
        char detail[256];
        enum journal_state result = owner_step_run(device, &step, detail, sizeof detail);
        if (result != JOURNAL_PASSED) fail_msg("%s: %s", step.name, detail);
        n_passed++;
    }
    assert_true(n_passed >= 12);
    rmcp_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_remembers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_torn_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_files_are_left_alone, set_up, tear_down),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_steps_on_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
