/* test_prefix.c: lines lose what other programs put before them, however the text is cut. */
#include "help/explain/prefix.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

/* The text in pieces of `piece` bytes. */
static const char *strip(const char *text, size_t piece)
{
    static char out[4096];
    struct explain_prefix prefix;
    memset(&prefix, 0, sizeof prefix);
    size_t n = 0;
    for (size_t at = 0, length = strlen(text); at < length; at += piece)
        n += explain_strip(&prefix, text + at, at + piece < length ? piece : length - at, out + n);
    n += explain_strip(&prefix, "", 0, out + n);
    out[n] = '\0';
    return out;
}

static void test_prefixes(void **state)
{
    (void)state;
    static const char *const taken[] = {
        "> ",
        "> > ",
        "app-1  | ",
        "ollama  | ",
        "2025-03-02T11:22:33.1234567Z ",
        "2025-03-02T11:22:33.123+01:00 ",
        "2025-03-02 11:22:33,123 - ",
        "[2025/03/02 11:22:33] ",
        "[11:22:33] ",
        "Mar 02 11:22:33 host python3[4242]: ",
        "comfyui-1  | 2025-03-02 11:22:33 ",
        "<3>",
        "2025-03-02T11:22:33.123456789Z stderr F ",
        "[pod/vllm-0/vllm] ",
    };
    static const char *const left[] = {
        "[   12.345678] ",
        ">>> ",
        ">> ",
        "error | ",
        "ERROR    | ",
        "Mar 02 11:22:33 host sshd[42]: ",
        "Mar 02 11:22:33 host kernel: ",
        "2025-03-02 ",
        "[1/3] ",
        "12 | ",
        "11:22:33 ",
    };
    for (size_t piece = 1; piece < 200; piece += 33) {
        char text[256];
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
            snprintf(text, sizeof text, "%sRuntimeError: x\n%send", taken[i], taken[i]);
            assert_string_equal(strip(text, piece), "RuntimeError: x\nend");
        }
        for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
            snprintf(text, sizeof text, "%sRuntimeError: x\n", left[i]);
            assert_string_equal(strip(text, piece), text);
        }
    }
}

static void test_indent(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 64; piece += 7) {
        assert_string_equal(strip("\n    a\n      b\n  c\nd\n", piece), "\na\n  b\nc\nd\n");
        assert_string_equal(strip("\ta\n\t\tb\n", piece), "a\n\tb\n");
        assert_string_equal(strip("  a\n    b\n", piece), "  a\n    b\n");
        assert_string_equal(strip("a\n    b\n", piece), "a\n    b\n");
    }
}

static void test_long_lines(void **state)
{
    (void)state;
    char text[2048];
    for (size_t length = EXPLAIN_PREFIX_MOST - 3; length < EXPLAIN_PREFIX_MOST + 4; length++)
        for (size_t piece = 1; piece < 300; piece += 41) {
            memset(text, 'x', length);
            memcpy(text, "> ", 2);
            strcpy(text + length, "\n> b\n");
            assert_string_equal(strip(text, piece) + length - 2, "\nb\n");
        }
    memset(text, ' ', sizeof text - 1); /* nothing but blanks */
    text[sizeof text - 1] = '\0';
    assert_int_equal(strlen(strip(text, 100)), sizeof text - 1);
}

static void test_json(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 90; piece += 8) {
        assert_string_equal(strip("{\"log\":\"RuntimeError: \\\"x\\\"\\n\"}\nC:\\new\n", piece),
                            "RuntimeError: \"x\"\n\"}\nC:\\new\n");
        assert_string_equal(
            strip("{\"e\": \"a\\nC:\\\\new \\u001b[31mb\\u001b[0m\\u0041\"}\n", piece),
            "{\"e\": \"a\nC:\\new bA\"}\n");
        assert_string_equal(strip("{\"e\": \"\\u00\n\\n\n", piece), "{\"e\": \"\n\\n\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_indent),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
