/* test_command_line.c: lines for MIOpenDriver of calls whose lines are long. */
#define _GNU_SOURCE
#include "dropin/miopen/command_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 65536 };

/* What is logged of a recurrent network with `first` steps of 32 sequences and `second` of 31. */
static char *logged(int32_t first, int32_t second)
{
    struct mi_key *key = calloc(1, sizeof *key);
    char *text = calloc(1, ROOM);
    FILE *file = tmpfile(), *before = stderr;
    assert_non_null(key);
    assert_non_null(text);
    assert_non_null(file);
    key->pass = RMCP_RNN_TRAIN;
    key->problem.rnn.rnn = (rmcp_rnn){ .mode = RMCP_RNN_LSTM,
                                       .steps = first + second,
                                       .batch = 32,
                                       .input = 8,
                                       .hidden = 9,
                                       .layers = 1 };
    key->problem.rnn.n_runs = 2;
    key->problem.rnn.run[0] = (struct mi_rnn_run){ first, 32 };
    key->problem.rnn.run[1] = (struct mi_rnn_run){ second, 31 };
    stderr = file;
    mi_command_rnn(key);
    stderr = before;
    rewind(file);
    assert_true(fread(text, 1, ROOM - 1, file) > 0);
    fclose(file);
    free(key);
    return text;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)); text++) n++;
    return n;
}

static void test_each_step_has_its_number(void **state)
{
    (void)state;
    char *line = logged(300, 200);
    assert_int_equal(count(line, ",32"), 299);
    assert_int_equal(count(line, ",31"), 200);
    assert_non_null(strstr(line, " -k 500 -H 9 -W 8 -l 1 "));
    assert_string_equal(line + strlen(line) - 6, " -t 1\n");
    free(line);
}

/* What is left of it would be another call: MIOpenDriver and rmcp verify refuse its end. */
static void test_a_line_that_was_cut_says_so(void **state)
{
    (void)state;
    char *line = logged(10000, 10000);
    assert_string_equal(line + strlen(line) - 12, " (too long)\n");
    assert_int_equal(count(line, "\n"), 1);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_step_has_its_number),
        cmocka_unit_test(test_a_line_that_was_cut_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
