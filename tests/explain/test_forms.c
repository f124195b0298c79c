/* test_forms.c: lines are read by their form: the table agrees with itself, names are taken from
 * the right places, things are known, tracebacks end where they end, and hostile lines take no
 * time. */
#include "help/explain/explain.h"
#include "help/explain/form.h"
#include "help/explain/frame.h"
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct explain_result result;

static const char *first(const char *text)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    memset(&result, 0, sizeof result);
    assert_int_equal(explain_read(fileno(file), &result, NULL, NULL), RMCP_OK);
    fclose(file);
    if (result.unknown.about && !result.unknown.behind) return result.unknown.about->id;
    return result.n_matches ? result.matches[0].signature->id : "";
}

static bool is_signature(const char *id)
{
    for (const struct explain_signature *s = explain_signatures; s->id; s++)
        if (!strcmp(s->id, id)) return true;
    return false;
}

/* Every form is of a class that exists, finds its example, and leaves no place in a text empty that
 * its example names. */
static void test_table(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct explain_form *f = explain_forms; f->id; f++, n++) {
        if (!is_signature(f->id)) fail_msg("no signature '%s'", f->id);
        struct explain_form_match m;
        if (!explain_match_form(f->example, strlen(f->example), f->id, &m))
            fail_msg("%s does not find %s", f->id, f->example);
        char text[1024];
        const char *const texts[] = { f->what, f->why, f->remedy };
        for (size_t i = 0; i < 3; i++) {
            explain_fill(&m, texts[i], text, sizeof text);
            if (strchr(text, '{') || strstr(text, "()") == text) fail_msg("%s: '%s'", f->id, text);
        }
    }
    assert_true(n > 60);
}

/* The name that the pattern takes from the line; NULL when it does not fit. */
static const char *taken(const char *pattern, const char *line)
{
    static char names[FORM_NAMES][FORM_NAME];
    memset(names, 0, sizeof names);
    return explain_match_pattern(pattern, strlen(pattern), line, strlen(line), names) ? names[0]
                                                                                      : NULL;
}

static void test_patterns(void **state)
{
    (void)state;
    assert_string_equal(taken("no module named '{w}'", "X: No module named 'torch._C'"),
                        "torch._C");
    assert_string_equal(taken("no module named '{w}'", "No  module named torch."), "torch");
    assert_string_equal(
        taken("no module named '{w}'", "No module named \xe2\x80\x98torch\xe2\x80\x99"), "torch");
    assert_string_equal(taken("open '{q}' failed", "open \"a b\" failed"), "a b");
    assert_string_equal(taken("(can't|cannot) find {t}$", "cant find the way."), "the way");
    assert_string_equal(taken("(can't|cannot) find {t}$", "cannot find the way"), "the way");
    assert_string_equal(taken("error {n}$", "error -110"), "-110");
    assert_string_equal(taken("a{t}(b|) c", "a x c"), "x");
    assert_null(taken("find x$", "find x y"));
    assert_null(taken("^b", "ab"));
    assert_null(taken("end", "bend")); /* whole words */
    assert_null(taken("no module named '{w}'", "no module named ''"));
    assert_null(taken("(open", "open")); /* a broken pattern fits nothing */
}

static void test_things(void **state)
{
    (void)state;
    assert_non_null(explain_find_thing("/opt/rocm/lib/libamdhip64.so.6"));
    assert_non_null(explain_find_thing("C:\\x\\amdhip64_6.dll"));
    assert_string_equal(explain_find_thing("libcudart.so.12")->id, "cuda-library");
    assert_string_equal(explain_find_thing("amdgpu/navi10_mec.bin")->id, "firmware-missing");
    assert_null(explain_find_thing("frobnicate"));
    assert_null(explain_find_thing(""));
}

/* Words that no table has, in forms that one has; and what is missing decides the class. */
static void test_readings(void **state)
{
    (void)state;
    assert_string_equal(first("x.c:3:1: fatal error: 'frob/quux.h' file not found\n"),
                        "build-header-missing");
    assert_non_null(strstr(result.matches[0].signature->what, "frob/quux.h"));
    assert_string_equal(first("error: frob cannot open '/dev/kfd'\n"), "kfd-no-gpu");
    assert_true(result.unknown.thin && result.unknown.reading && !result.n_matches);
    assert_string_equal(first("ERROR: frob could not find 'TensileLibrary_x.dat'\n"),
                        "tensile-missing");
    assert_string_equal(
        first("Traceback (most recent call last):\n"
              "  File \"/v/lib/python3.12/site-packages/frob/a.py\", line 1, in go\n"
              "AttributeError: module 'quux' has no attribute 'frob'\n"),
        "python-skew");
    assert_non_null(strstr(result.unknown.reading->what, "quux"));
    assert_string_equal(result.unknown.where, "raised in frob (a.py, go)");
    /* Words of a path do not say what an error is about. */
    assert_string_equal(first("error: unable to open '/home/u/zluda-tests/frob'\n"),
                        "file-missing");
    /* Nothing is said of lines that take the trouble back. */
    assert_string_equal(first("warning: cannot open '/dev/kfd', continuing without\n"), "");
}

/* The software around an error. */
static void test_notes(void **state)
{
    (void)state;
    first("torch 2.3.0+rocm6.0\nRX 9070 XT\nSegmentation fault\n");
    assert_int_equal(result.n_notes, 1);
    assert_non_null(strstr(result.notes[0], "gfx1201"));
    first("torch 2.8.0+rocm6.4\nRX 9070 XT\nSegmentation fault\n");
    assert_int_equal(result.n_notes, 0);
    first("torch 2.10.0+rocm7.12.0a20260128\nRX 5700 XT\nSegmentation fault\n");
    assert_int_equal(result.n_notes, 0); /* AMD's own wheels have code for it */
    first("torch 2.3.0+cu121\nRX 6600\nSegmentation fault\n");
    assert_int_equal(result.n_notes, 1);
    first("ZLUDA\ntorch 2.3.0+cu118\nRX 6600\nSegmentation fault\n");
    assert_int_equal(result.n_notes, 0); /* there it is the right one */
}

static void test_frames(void **state)
{
    (void)state;
    struct explain_frame frame = { .line = 0 };
    static const char *const lines[] = {
        "  File \"C:\\ComfyUI\\custom_nodes\\Frob\\n.py\", line 2, in load",
        "  File \"/usr/lib/python3.12/json/decoder.py\", line 2, in decode", /* Python's own */
        "  File \"<string>\", line 1, in <module>",
        "  File \"/v/site-packages/torch/nn/modules/module.py\", line 9, in _call_impl",
        "  File \"",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        explain_note_frame(&frame, i + 1, lines[i], strlen(lines[i]));
    assert_string_equal(frame.package, "the extension Frob");
    assert_string_equal(frame.file, "n.py");
    assert_string_equal(frame.function, "load");
    assert_int_equal(frame.line, 1);
}

/* Lines made of nothing but beginnings of forms: the work is bounded by the table. */
static void test_hostile(void **state)
{
    (void)state;
    static char line[200000];
    static const char *const pieces[] = { "cannot find ", "'", "error: ", "a.c:1:1: error: ", "(" };
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        size_t n = 0;
        while (n + 20 < sizeof line) n += (size_t)sprintf(line + n, "%s", pieces[p]);
        struct explain_form_match m;
        explain_match_form(line, n, NULL, &m);
        for (int i = 0; i < FORM_NAMES && m.form; i++) assert_true(strlen(m.names[i]) < FORM_NAME);
    }
    for (size_t i = 0; i < sizeof line; i++) line[i] = (char)(i * 37 + i / 256);
    struct explain_form_match m;
    explain_match_form(line, sizeof line, NULL, &m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),   cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_things),  cmocka_unit_test(test_readings),
        cmocka_unit_test(test_notes),   cmocka_unit_test(test_frames),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
