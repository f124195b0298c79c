/* test_explain.c: every signature finds its own texts, healthy logs stay healthy, and an override
 * changes the answer where it should. */
#include "explain/explain.h"
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct explain_result result;

/* Read `size` bytes as a log. */
static void explain_bytes(const void *text, size_t size)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    assert_int_equal(explain_read(fileno(file), &result, NULL, NULL), RMCP_OK);
    fclose(file);
}

static void explain_text(const char *text)
{
    memset(&result, 0, sizeof result);
    explain_bytes(text, strlen(text));
}

static const struct explain_match *find(const char *id)
{
    for (size_t i = 0; i < result.n_matches; i++)
        if (!strcmp(result.matches[i].signature->id, id)) return &result.matches[i];
    return NULL;
}

static void test_examples_are_found(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct explain_signature *s = explain_signatures; s->id; s++, n++) {
        explain_text(s->example);
        if (!find(s->id)) fail_msg("%s does not find its example: %s", s->id, s->example);
        assert_true(*s->what && *s->why && *s->remedy);
        for (const struct explain_signature *other = explain_signatures; other != s; other++)
            assert_string_not_equal(s->id, other->id);
    }
    assert_true(n >= 38 && n <= EXPLAIN_MOST);
}

/* Every alternative, with something in the place of each star, in other letters. */
static void test_patterns_are_found(void **state)
{
    (void)state;
    for (const struct explain_signature *s = explain_signatures; s->id; s++)
        for (const char *p = s->patterns; *p;) {
            char line[512] = "Nov 15 12:00:00 host: ";
            size_t n = strlen(line), length = strcspn(p, "\n");
            for (size_t i = 0; i < length; i++)
                if (p[i] == '*')
                    n += (size_t)sprintf(line + n, " 0x12 ");
                else
                    line[n++] = (char)(p[i] >= 'a' && p[i] <= 'z' ? p[i] - 32 : p[i]);
            line[n] = '\0';
            explain_text(line);
            if (!find(s->id)) fail_msg("%s does not find %s", s->id, line);
            /* The parts in two lines are two other texts, unless one part alone is a pattern too.
             */
            char *gap = strstr(line, " 0x12 ");
            if (gap && !strcmp(s->id, "no-bundle-entry")) {
                *gap = '\n';
                explain_text(line);
                assert_null(find(s->id));
            }
            p += length;
            p += *p == '\n';
        }
}

static void test_healthy_logs(void **state)
{
    (void)state;
    DIR *folder = opendir(HEALTHY_LOGS);
    assert_non_null(folder);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", HEALTHY_LOGS, entry->d_name);
        int fd = open(path, O_RDONLY);
        assert_true(fd >= 0);
        memset(&result, 0, sizeof result);
        assert_int_equal(explain_read(fd, &result, NULL, NULL), RMCP_OK);
        close(fd);
        if (result.n_matches)
            fail_msg("%s: %s in '%s'", entry->d_name, result.matches[0].signature->id,
                     result.matches[0].excerpt);
        n++;
    }
    closedir(folder);
    assert_true(n >= 10);
}

#define FAULT                                                                                      \
    "Memory access fault by GPU node-1 on address 0x7f00. Reason: Page not present or supervisor " \
    "privilege.\n"

static void test_override_changes_the_answer(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool foreign;
        const char *chip, *pretends;
    } cases[] = {
        { FAULT, false, "", "" },
        { "export HSA_OVERRIDE_GFX_VERSION=10.3.0\n" FAULT, false, "", "gfx1030" },
        { "AMD Radeon RX 5600 XT, HSA_OVERRIDE_GFX_VERSION=10.3.0\n" FAULT, true, "gfx1010",
          "gfx1030" },
        { "AMD Radeon RX 5600 XT\nHSA_OVERRIDE_GFX_VERSION_0: '10.3.0'\n" FAULT, true, "gfx1010",
          "gfx1030" },
        { "AMD Radeon RX 5500 XT HSA_OVERRIDE_GFX_VERSION=10.1.0\n" FAULT, false, "gfx1012",
          "gfx1010" },
        { "AMD Radeon RX 6700 XT HSA_OVERRIDE_GFX_VERSION=10.3.0\n" FAULT, false, "gfx1031",
          "gfx1030" },
        { "AMD Radeon RX 580 HSA_OVERRIDE_GFX_VERSION=10.3.0\n" FAULT, true, "gfx803", "gfx1030" },
        { "Device 0: AMD Radeon RX 5700 XT, Name: gfx1030\n" FAULT, true, "gfx1010", "gfx1030" },
        { "unset HSA_OVERRIDE_GFX_VERSION\nRX 5700\n" FAULT, false, "gfx1010", "" },
        { "HSA_OVERRIDE_GFX_VERSION=banana RX 5700\n" FAULT, false, "gfx1010", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        explain_text(cases[i].text);
        assert_non_null(find("memory-fault"));
        assert_string_equal(result.card.chip, cases[i].chip);
        assert_string_equal(result.card.pretends, cases[i].pretends);
        assert_int_equal(result.foreign, cases[i].foreign);
        assert_int_equal(explain_by_override(&result, find("memory-fault")), cases[i].foreign);
    }
    /* Options win over the text. */
    memset(&result, 0, sizeof result);
    assert_int_equal(explain_set_chip(&result.card, "rx 6800 xt"), RMCP_OK);
    assert_int_equal(explain_set_override(&result.card, "10.3.0"), RMCP_OK);
    explain_bytes("RX 5600 HSA_OVERRIDE_GFX_VERSION=9.0.0\n" FAULT, 39 + strlen(FAULT));
    assert_string_equal(result.card.chip, "gfx1030");
    assert_false(result.foreign);
    /* What is not a question of chips is not blamed on the override. */
    explain_text("RX 5600 HSA_OVERRIDE_GFX_VERSION=10.3.0\nUnable to open /dev/kfd read-write: "
                 "Permission denied\n");
    assert_true(result.foreign);
    assert_false(explain_by_override(&result, find("kfd-permission")));
}

static void test_wrong_options(void **state)
{
    (void)state;
    struct explain_card card = { 0 };
    assert_int_equal(explain_set_chip(&card, "gtx 1080"), RMCP_E_ARG);
    assert_int_equal(explain_set_chip(&card, "gfx"), RMCP_E_ARG);
    assert_int_equal(explain_set_override(&card, "10.3"), RMCP_E_ARG);
    assert_int_equal(explain_set_override(&card, "10.3.0.0"), RMCP_E_ARG);
    assert_string_equal(card.chip, "");
    assert_int_equal(explain_set_chip(&card, "RX5600XT"), RMCP_OK);
    assert_string_equal(card.chip, "gfx1010");
    assert_int_equal(explain_set_chip(&card, "gfx90c"), RMCP_OK);
    assert_int_equal(explain_set_override(&card, "9.0.12"), RMCP_OK);
    assert_string_equal(card.pretends, "gfx90c");
}

static void test_order_count_and_place(void **state)
{
    (void)state;
    explain_text("one\nMissing system database file: gfx1030_36.kdb Performance may degrade\n"
                 "amdgpu: GPU reset begin!\nx\namdgpu: GPU reset begin!");
    assert_int_equal(result.n_matches, 2);
    assert_string_equal(result.matches[0].signature->id, "gpu-reset");
    assert_int_equal(result.matches[0].count, 2);
    assert_int_equal(result.matches[0].line, 3);
    assert_string_equal(result.matches[0].excerpt, "amdgpu: GPU reset begin!");
    assert_int_equal(result.matches[1].line, 2);
    assert_int_equal(result.lines, 5);
}

/* A signature anywhere, also across the pieces in which the text is read, and in a line without
 * end. */
static void test_long_lines_and_pieces(void **state)
{
    (void)state;
    enum { SIZE = 3 << 18 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    static const char words[] =
        "Memory access fault by GPU node-1 on address (nil). Reason: Unknown.";
    for (size_t at = (1 << 18) - 5000; at < (1 << 18) + 6000; at += 37) {
        memset(text, 'x', SIZE);
        memcpy(text + at, words, sizeof words - 1);
        memset(&result, 0, sizeof result);
        explain_bytes(text, SIZE);
        assert_non_null(find("fault-address-nil"));
        assert_int_equal(find("fault-address-nil")->count, 1);
        assert_non_null(strstr(find("fault-address-nil")->excerpt, "(nil)"));
    }
    free(text);
}

static void test_colours_and_wide_characters(void **state)
{
    (void)state;
    explain_text("\033[31mHIP error: invalid\033[0m device function\033[1");
    assert_non_null(find("no-device-function"));
    const char *words = "HIP error: invalid device function\r\n";
    char wide[128] = "\xff\xfe";
    size_t n = 2;
    for (const char *c = words; *c; c++) {
        wide[n++] = *c;
        wide[n++] = '\0';
    }
    memset(&result, 0, sizeof result);
    explain_bytes(wide, n);
    assert_non_null(find("no-device-function"));
    explain_text("progress 10%\rprogress 20%\rHIP error: invalid device function\r\n");
    assert_non_null(find("no-device-function"));
    assert_int_equal(find("no-device-function")->line, 3);
}

static void test_unreadable(void **state)
{
    (void)state;
    assert_int_equal(explain_read(-1, &result, NULL, NULL), RMCP_E_IO);
    explain_text("");
    assert_int_equal(result.n_matches, 0);
    assert_int_equal(result.lines, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_are_found),
        cmocka_unit_test(test_patterns_are_found),
        cmocka_unit_test(test_healthy_logs),
        cmocka_unit_test(test_override_changes_the_answer),
        cmocka_unit_test(test_wrong_options),
        cmocka_unit_test(test_order_count_and_place),
        cmocka_unit_test(test_long_lines_and_pieces),
        cmocka_unit_test(test_colours_and_wide_characters),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
