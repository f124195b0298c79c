/* test_words.c: errors that no signature knows are quoted with what their words are about, and
 * messages that a terminal broke into two lines are found. */
#include "help/explain/explain.h"
#include "help/explain/kinds.h"
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct explain_result result;

static void read_text(const char *text, struct explain_result *into)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    assert_int_equal(explain_read(fileno(file), into, NULL, NULL), RMCP_OK);
    fclose(file);
}

/* What the answer starts with: an unknown error's class, or the first finding's; "" when there is
 * none. */
static const char *first(const char *text)
{
    memset(&result, 0, sizeof result);
    read_text(text, &result);
    if (result.unknown.about && !result.unknown.behind) return result.unknown.about->id;
    return result.n_matches ? result.matches[0].signature->id : "";
}

/* Every kind has a signature, and every word a length; the more particular topics come first. */
static void test_tables(void **state)
{
    (void)state;
    const char *id;
    bool needs_amd, last;
    int n = 0;
    for (; (id = explain_kind_id(n, &needs_amd, &last)); n++) {
        if (!*id) continue;
        bool known = false;
        for (const struct explain_signature *s = explain_signatures; s->id; s++)
            known |= !strcmp(s->id, id);
        if (!known) fail_msg("no signature '%s'", id);
    }
    assert_true(n > 40 && n < EXPLAIN_MOST_KINDS);
    assert_null(explain_kind_id(-1, &needs_amd, &last));
    struct explain_word word;
    size_t n_words = 0;
    for (; explain_word_at(n_words, &word); n_words++)
        if (!word.size || strchr(word.text, '~') == word.text) fail_msg("word %zu", n_words);
    assert_true(n_words > 300);
}

static void test_topic_and_trouble(void **state)
{
    (void)state;
    assert_string_equal(first("frobnicate: the Vulkan layer gave up by an error\n"),
                        "vulkan-error");
    assert_int_equal(result.n_matches, 0); /* no cause is named */
    assert_string_equal(result.unknown.topic, "Vulkan");
    assert_string_equal(result.unknown.excerpt, "frobnicate: the Vulkan layer gave up by an error");
    assert_int_equal(result.unknown.line, 1);
    assert_string_equal(first("frob: rocsolver could not do that\n"), "math-library");
    assert_string_equal(first("x\ny: amdgpu 0000:03:00.0: amdgpu: frob timed out\n"),
                        "driver-error");
    assert_int_equal(result.unknown.line, 2);
    assert_string_equal(result.unknown.trouble, "something that did not answer");
    /* Whole words only, and none that a file's or a package's name has. */
    assert_string_equal(first("installed libvulkan-error-tool\n"), "");
    assert_string_equal(first("the vulkanological errorless day\n"), "");
    /* Quiet words take the trouble back. */
    assert_string_equal(first("Vulkan: 0 errors\n"), "");
    assert_string_equal(first("warning: Vulkan could not do that, falling back\n"), "");
    /* A signature says more than words do. */
    assert_string_equal(
        first("frob: the Vulkan layer gave up by an error\nROCk module is NOT loaded\n"),
        "rock-not-loaded");
    assert_int_equal(result.n_matches, 1);
    assert_null(result.unknown.about);
    /* But where one says only that something ended, the unknown error comes first. */
    assert_string_equal(
        first("frob: the Vulkan layer gave up by an error\nAborted (core dumped)\n"),
        "vulkan-error");
    assert_int_equal(result.n_matches, 0);
}

/* A traceback: the exception's own words, else the module of its last file, else that it is one. */
static void test_tracebacks(void **state)
{
    (void)state;
#define TRACE                                                                                      \
    "Traceback (most recent call last):\n  File \"/home/user/main.py\", line 1, in <module>\n"
    assert_string_equal(first("gfx1100\n" TRACE "KeyError: 'frob'\n"), "python-error");
    assert_string_equal(first(TRACE "KeyError: 'frob'\n"), "python-error"); /* of any program */
    assert_string_equal(first("frob unable to\n"),
                        ""); /* nothing says that it is about an AMD GPU */
    assert_string_equal(first("error: frob\n"), "program-error"); /* but it calls itself one */
    assert_string_equal(first("gfx1100\nerror: frob\n"), "program-error");
    assert_string_equal(first(TRACE "  File \"/env/triton/compiler/frob.py\", line 2, in f\n"
                                    "KeyError: 'frob'\n"),
                        "triton-error");
    assert_string_equal(
        first("gfx1100\n  File \"/env/triton/frob.py\", line 2, in f\n" TRACE "KeyError: 'frob'\n"),
        "python-error"); /* the last file counts */
    /* The last exception is quoted, and before lines that are only about something. */
    assert_string_equal(first("gfx1100\n" TRACE
                              "KeyError: 'frob'\nfrob: the Vulkan layer failed\n" TRACE
                              "ValueError: odd\n"),
                        "python-error");
    assert_string_equal(result.unknown.excerpt, "ValueError: odd");
    assert_int_equal(result.unknown.count, 2);
    assert_true(result.unknown.exception);
    /* Without the traceback's head, too. */
    assert_string_equal(first("gfx1100\nsubmodule.FrobError: odd\n"), "python-error");
    /* Behind a finding it is said as well, since the finding may be about something else. */
    assert_string_equal(first("ROCk module is NOT loaded\n" TRACE "ValueError: odd\n"),
                        "rock-not-loaded");
    assert_true(result.unknown.behind);
    assert_string_equal(result.unknown.excerpt, "ValueError: odd");
    assert_string_equal(first(TRACE "ValueError: odd\nROCk module is NOT loaded\n"),
                        "rock-not-loaded");
    assert_null(result.unknown.about);
#undef TRACE
}

static void test_broken_lines(void **state)
{
    (void)state;
#define HEAD "2025-01-01 10:00:00 a-long-host-name python[4711]: RuntimeError: HIP error: invalid"
    assert_string_equal(first(HEAD " device function\n"), "no-device-function");
    assert_string_equal(first(HEAD "\ndevice function\n"), "no-device-function");
    assert_non_null(strstr(result.matches[0].excerpt, "invalid device function"));
    assert_string_equal(first(HEAD " dev\nice function\n"), "no-device-function");
    assert_string_equal(first(HEAD " dev\n            ice function\n"), "no-device-function");
    assert_string_equal(first(HEAD "\n    device function\n"), "no-device-function");
    assert_int_equal(result.matches[0].count, 1);
    assert_string_equal(first(HEAD " dev\nother text\nice function\n"), "hip-error");
    assert_string_equal(first("invalid\ndevice function\n"), ""); /* no terminal is that narrow */
#undef HEAD
}

static void *read_often(void *into)
{
    struct explain_result *own = into;
    for (int i = 0; i < 20; i++) {
        memset(own, 0, sizeof *own);
        read_text("gfx1010\nRuntimeError: HIP error: invalid device function\n", own);
    }
    return NULL;
}

/* One automaton for all threads. */
static void test_threads(void **state)
{
    (void)state;
    enum { N = 4 };
    static struct explain_result own[N];
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, &own[i]), 0);
    for (int i = 0; i < N; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(own[i].n_matches, 1);
        assert_string_equal(own[i].matches[0].signature->id, "no-device-function");
    }
}

/* A line that a signature understands is not answered by its words as well, unless these say
 * more; words of other lines are asked all the same. */
static void test_line_is_said(void **state)
{
    (void)state;
    assert_string_equal(
        first("python: can't open file '/srv/amd_build/build_amd.py': [Errno 2] No such "
              "file or directory\nGPU: AMD Radeon RX 6700 XT\n"),
        "file-missing");
    assert_int_equal(result.n_matches, 0);
    assert_string_equal(first("AMD Radeon RX 6700 XT\nFailure during GPU discovery\n"),
                        "runner-lost");
    assert_int_equal(result.n_matches, 0);
    assert_string_equal(first("FileNotFoundError: [Errno 2] No such file or directory: "
                              "'.zluda/zluda.exe'\nRX 6700 XT\n"),
                        "zluda");
    assert_string_equal(
        first("RX 6700 XT\nFailure during GPU discovery\nvkCreateDevice failed: -3\n"),
        "vulkan-error");
}

/* A core dump is the card's affair only where the log speaks of one; a chip in a compiler's
 * example is no card. */
static void test_beside_the_point(void **state)
{
    (void)state;
    static const char dump[] =
        "host systemd-coredump[7]: Process 5 (shell) of user 1000 dumped core.\n";
    char text[256];
    assert_string_equal(first(dump), "");
    snprintf(text, sizeof text, "kernel: amdgpu 0000:04:00.0: amdgpu: SMU is resumed\n%s", dump);
    assert_string_equal(first(text), "uncaught");
    assert_string_equal(
        first("clang: error: invalid target ID 'native'; format is a processor name (e.g., "
              "'gfx908:sramecc+:xnack-')\n"),
        "compiler-skew");
    assert_string_equal(result.card.chip, "");
    first("clang: error: invalid target ID 'gfx908:x'\n");
    assert_string_equal(result.card.chip, "gfx908");
}

/* What calls itself a warning stands behind what does not, unless the error follows from it. */
static void test_warnings(void **state)
{
    (void)state;
    static const char warned[] =
        "WARNING: failed to load libhipfft.so.0: cannot open shared object file\n";
    static const char failed[] =
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (7x8 and 2x3), gfx1030\n";
    static const char error[] =
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB\n";
    char text[512];
    assert_string_equal(first(warned), "library-missing");
    assert_true(result.unknown.thin && !result.n_matches);
    snprintf(text, sizeof text, "%s%s", warned, error);
    assert_string_equal(first(text), "hip-memory");
    assert_false(result.matches[0].warning);
    assert_int_equal(result.n_matches, 2);
    snprintf(text, sizeof text, "libhipfft.so.0: cannot open shared object file\n%s%s", error,
             warned);
    assert_string_equal(first(text), "hip-memory"); /* none of its lines is an error */
    snprintf(text, sizeof text, "ImportError: libhipfft.so.0: cannot open shared object file\n%s%s",
             error, warned);
    assert_string_equal(first(text), "library-missing"); /* one of its lines is no warning */
    snprintf(text, sizeof text, "%s%s", warned, failed);
    assert_string_equal(first(text),
                        "library-missing"); /* a general answer says less than a warning */
    snprintf(text, sizeof text, "%s%s", "WARNING: /dev/kfd: Permission denied\n",
             "RuntimeError: No HIP GPUs are available\n");
    assert_string_equal(first(text), "kfd-permission"); /* the cause of the error */
    assert_int_equal(result.matches[1].follows, 1);
}

/* Plain words of failure are quoted where the text is about AMD's GPUs, but not those of other
 * services in a system's log; an exception is one whatever else its line says. */
static void test_plain_words(void **state)
{
    (void)state;
    static const char plain[] = "frobnicate: unable to start the widget\n";
    char text[256];
    assert_string_equal(first(plain), "");
    snprintf(text, sizeof text, "card: Radeon RX 6800 (gfx1030)\n%s", plain);
    assert_string_equal(first(text), "program-error");
    assert_int_equal(result.n_matches, 0);
    assert_int_equal(result.unknown.line, 2);
    assert_non_null(result.unknown.reading);
    snprintf(text, sizeof text, "card: Radeon RX 6800 (gfx1030)\nNov  3 12:00:01 host %s", plain);
    assert_string_equal(first(text), "");
    snprintf(text, sizeof text, "card: Radeon RX 6800 (gfx1030)\n[   12.345] %s", plain);
    assert_string_equal(first(text), "");
    snprintf(text, sizeof text,
             "card: gfx1030\nfoo.BarError: this requires a quux, or use --frob in this case\n");
    assert_string_equal(first(text), "python-error");
    assert_true(result.unknown.exception);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),           cmocka_unit_test(test_topic_and_trouble),
        cmocka_unit_test(test_tracebacks),       cmocka_unit_test(test_broken_lines),
        cmocka_unit_test(test_threads),          cmocka_unit_test(test_line_is_said),
        cmocka_unit_test(test_beside_the_point), cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_plain_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
