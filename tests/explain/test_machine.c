/* test_machine.c: what explain reads where no error is named: the stack of a crash, the software
 * beside the card, a program that computes on the processor; and which of two findings is first. */
#include "help/explain/explain.h"
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct explain_result result;

static void explain_text(const char *gpu, const char *text)
{
    int ends[2];
    memset(&result, 0, sizeof result);
    if (gpu) assert_int_equal(explain_set_chip(&result.card, gpu), RMCP_OK);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    assert_int_equal(explain_read(ends[0], &result, NULL, NULL), RMCP_OK);
    close(ends[0]);
}

/* What the answer starts with: the class of a quoted error, or the first finding. */
static const char *first(void)
{
    if (result.unknown.about && !result.unknown.behind) return result.unknown.about->id;
    return result.n_matches ? result.matches[0].signature->id : "";
}

/* The innermost library decides, not one further out, and not the system's. */
static void test_stacks(void **state)
{
    (void)state;
    static const struct {
        const char *text, *id, *where;
    } cases[] = {
        { "#0  0x1 in raise () from /lib/libc.so.6\n"
          "#1  0x2 in hip::init () from /opt/rocm/lib/libamdhip64.so.6\n",
          "rocm-segfault", "libamdhip64.so.6" },
        { "#0 0x00007f1 n/a (libc.so.6 + 0x1)\n#1 0x00007f2 n/a (libvulkan_radeon.so + 0x10)\n",
          "rocm-segfault", "libvulkan_radeon.so" },
        { "/usr/lib/librocblas.so.4(+0x1234) [0x7f]\n", "rocm-segfault", "librocblas.so.4" },
        { "0x7ff C:\\Windows\\System32\\amdhip64_6.dll+0x1234\n", "rocm-segfault",
          "amdhip64_6.dll" },
        { "clFinish - N/A - N/A - C:\\WINDOWS\\B342717\\amdocl.dll - 0x0fedd680 - 0x0fcf0000\n",
          "rocm-segfault", "amdocl.dll" },
        { "#0 0x1 in llvm::f () from /usr/lib/libLLVM-17.so\n", "compiler-crash", "libLLVM-17.so" },
        { "#0 0x00007f1 n/a (libQt6Core.so.6 + 0x1)\n#1 0x00007f2 n/a (libamdhip64.so.6 + 0x10)\n",
          "", NULL },
        { "  loading libamdhip64.so.6 of ROCm 6.2\n", "", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        explain_text(NULL, cases[i].text);
        if (cases[i].where) {
            assert_string_equal(first(), cases[i].id);
            assert_non_null(strstr(result.matches[0].where, cases[i].where));
        } else {
            for (size_t k = 0; k < result.n_matches; k++)
                assert_string_equal(result.matches[k].where, "");
        }
    }
}

/* A PyTorch that cannot use the card is a finding where nothing else is, and a note elsewhere. */
static void test_facts(void **state)
{
    (void)state;
    explain_text("RX 6600", "pytorch version: 2.5.1+cu124\n");
    assert_string_equal(first(), "cuda-wheel");
    assert_true(result.matches[0].by_facts);
    assert_int_equal(result.matches[0].line, 1);
    assert_int_equal(result.n_notes, 0);
    explain_text("RX 5700 XT", "hello\npytorch version: 2.5.1+rocm6.2\n");
    assert_string_equal(first(), "no-kernel-image");
    assert_int_equal(result.matches[0].line, 2);
    explain_text("RX 6600", "pytorch version: 2.5.1+rocm6.2\n");
    assert_int_equal(result.n_matches, 0);
    explain_text(NULL, "pytorch version: 2.5.1+cu124\n");
    assert_int_equal(result.n_matches, 0);
    explain_text("RX 6600", "pytorch version: 2.5.1+cu124\nNVIDIA GeForce RTX 3060\n");
    assert_int_equal(result.n_matches, 0);
    explain_text("RX 6600", "pytorch version: 2.5.1+cu124\nusing ZLUDA\n");
    assert_int_equal(result.n_matches, 0);
    explain_text("RX 6600", "pytorch version: 2.5.1+cu124\nMemory access fault by GPU node-1\n");
    assert_string_equal(first(), "memory-fault");
    assert_int_equal(result.n_notes, 1);
}

/* "Computes on the processor" is said with an AMD card alone, and not against what else is said. */
static void test_processor(void **state)
{
    (void)state;
    explain_text("RX 6600", "Using device: cpu\n");
    assert_string_equal(first(), "no-gpu-used");
    assert_int_equal(result.n_matches, 0); /* quoted */
    explain_text(NULL, "Using device: cpu\n");
    assert_int_equal(result.n_matches, 0);
    explain_text("RX 6600", "python main.py --cpu\nUsing device: cpu\n");
    assert_int_equal(result.n_matches, 0);
    explain_text("RX 6600", "Using device: cpu\nDevice: cuda:0 AMD Radeon RX 6600 : native\n");
    assert_int_equal(result.n_matches, 0);
    explain_text(NULL, ">>> torch.cuda.is_available()\nFalse\n");
    assert_string_equal(first(), "torch-no-gpu");
    explain_text(NULL, ">>> torch.cuda.is_available()\nTrue\n");
    assert_int_equal(result.n_matches, 0);
    explain_text(NULL, "False\n");
    assert_int_equal(result.n_matches, 0);
}

/* A traceback that breaks off is quoted, before what is general or a warning; one whose exception
 * is known is not. */
static void test_broken(void **state)
{
    (void)state;
    static const char trace[] = "Traceback (most recent call last):\n"
                                "  File \"/home/user/prog/main.py\", line 7, in main\n";
    char text[512];
    explain_text(NULL, trace);
    assert_true(result.unknown.broken);
    assert_string_equal(result.unknown.about->id, "python-error");
    snprintf(text, sizeof text, "%sValueError: frobnicator\n", trace);
    explain_text(NULL, text);
    assert_false(result.unknown.broken);
    snprintf(text, sizeof text, "%sRuntimeError: HIP error: invalid device function\n", trace);
    explain_text(NULL, text);
    assert_string_equal(first(), "no-device-function");
    assert_null(result.unknown.about);
    snprintf(text, sizeof text, "init: No module named 'psutil'\n%s", trace);
    explain_text("RX 6600", text);
    assert_true(result.unknown.broken && !result.unknown.behind);
}

/* Frames without a library tell of a crash; a program that ends without a word, beside a card. */
static void test_silence(void **state)
{
    (void)state;
    explain_text(NULL, "worker     @     0x71bb1bfd0700  (unknown)  (unknown)\n");
    assert_string_equal(first(), "uncaught");
    explain_text(NULL, "  File \"/usr/lib/python3/x.py\", line 986 in load\n");
    assert_string_equal(first(), "uncaught");
    explain_text(NULL, "mail to user@host 0x12 of the list and so on\n");
    assert_int_equal(result.n_matches, 0);
    explain_text("RX 6600", "loaded completely\nPress any key to continue . . .\n");
    assert_string_equal(first(), "silent-exit");
    explain_text(NULL, "Press any key to continue . . .\n");
    assert_int_equal(result.n_matches, 0);
    explain_text("RX 6600", "Watchdog: Frobbing interface not found on your system.\n");
    assert_int_equal(result.n_matches, 0);
}

/* Where no particular cause is found, the card's own advice is given; not for a kernel's log. */
static void test_card(void **state)
{
    (void)state;
    explain_text("RX 5700 XT", "ValueError: frobnicator 7 is upside down\n");
    assert_true(result.card_matters);
    explain_text("RX 5700 XT", "RuntimeError: HIP error: invalid device function\n");
    assert_false(result.card_matters);
    explain_text("RX 5700 XT", "all is well\n");
    assert_false(result.card_matters);
    explain_text(NULL, "ValueError: frobnicator 7 is upside down\n");
    assert_false(result.card_matters);
}

/* Of two causes that weigh about the same the first in time is told first. */
static void test_time(void **state)
{
    (void)state;
    static const char fault[] =
        "[  1.0] amdgpu 0000:03:00.0: [drm] *ERROR* ring gfx_0.0.0 timeout\n",
                      start[] = "[  9.0] amdgpu 0000:03:00.0: Fatal error during GPU init\n";
    char text[512];
    snprintf(text, sizeof text, "%s%s", fault, start);
    explain_text(NULL, text);
    assert_string_equal(first(), "gpu-reset");
}

/* What is known by plain words, what starts like a line of what goes well, and what says little,
 * stands behind what is known by a name; an exception behind it is quoted. */
static void test_weak_words(void **state)
{
    (void)state;
    explain_text("gfx1030",
                 "buffer overflow detected\nRuntimeError: HIP error: invalid device function\n");
    assert_string_equal(first(), "no-device-function");
    explain_text("gfx1030", "INFO: hipErrorNoBinaryForGpu was seen before\n"
                            "ModuleNotFoundError: No module named 'torch'\n");
    assert_string_equal(first(), "torch-missing");
    explain_text(
        "gfx1030",
        "Scheduler hit an exception\nPermissionError: [Errno 13] Permission denied: 'x'\n");
    assert_string_equal(first(), "permission");
    explain_text("gfx1030", "ZLUDA device failed to pass basic operation test: index=0\n"
                            "CUDA error: invalid argument\n");
    assert_string_equal(first(), "zluda");
}

/* Under an override the one other chip in the text is the card. */
static void test_beside_override(void **state)
{
    (void)state;
    explain_text(NULL, "HSA_OVERRIDE_GFX_VERSION=10.3.0\nName: gfx1012\nusing gfx1030\n"
                       "RuntimeError: HIP error: unspecified launch failure\n");
    assert_string_equal(result.card.chip, "gfx1012");
    assert_true(result.foreign);
    explain_text(NULL, "HSA_OVERRIDE_GFX_VERSION=10.3.0\ngfx1030 gfx1012 gfx1100 gfx906\n");
    assert_string_equal(result.card.chip, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_processor),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_card),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_weak_words),
        cmocka_unit_test(test_beside_override),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
