/* fuzz_case.c: libFuzzer target for case strings: nothing crashes, and what parses prints and
 * parses again to the same problem. */
#include "engine/core/operation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds, const char *what, const char *text)
{
    if (holds) return;
    fprintf(stderr, "%s: '%s' (%s)\n", what, text, rmcp_last_error());
    abort();
}

/* One line that is safe to print. */
static void check_message(const char *text)
{
    const char *message = rmcp_last_error();
    check(*message != '\0', "no message", text);
    for (const char *c = message; *c; c++) check(*c >= 32 && *c < 127, "a raw message", text);
}

/* A convolution through the public functions. */
static void check_convolution(const char *text)
{
    rmcp_conv problem = { .struct_size = sizeof problem }, again = problem;
    int pass = -1, pass_again = -1;
    if (rmcp_conv_parse(text, &problem, &pass)) {
        check_message(text);
        return;
    }
    char printed[RMCP_CASE_MAX], twice[RMCP_CASE_MAX];
    rmcp_conv_info shape = { .struct_size = sizeof shape };
    check(!rmcp_conv_describe(&problem, &shape), "has no shape", text);
    check(!rmcp_conv_print(&problem, pass, printed, sizeof printed), "does not print", text);
    check(!rmcp_conv_parse(printed, &again, &pass_again), "does not parse again", printed);
    check(pass == pass_again && !memcmp(&problem, &again, sizeof problem), "changes", printed);
    check(!rmcp_conv_print(&again, pass, twice, sizeof twice) && !strcmp(printed, twice),
          "prints differently", twice);
}

/* A problem of any operation, in canonical form; its slots are counted without an overflow. */
static void check_any(const char *text)
{
    struct rmcp_any_problem problems[RMCP_MOST_PASSES], again[RMCP_MOST_PASSES];
    const struct rmcp_operation *operation = NULL, *same = NULL;
    size_t count = 0, one = 0;
    if (rmcp_case_parse(text, &operation, problems, &count)) {
        check_message(text);
        return;
    }
    check(count > 0, "no problem", text);
    for (size_t i = 0; i < count; i++) {
        char printed[RMCP_CASE_MAX], twice[RMCP_CASE_MAX];
        const void *problem = problems[i].bytes;
        check(!rmcp_case_print(operation, problem, printed, sizeof printed), "does not print",
              text);
        check(!rmcp_case_parse(printed, &same, again, &one), "does not parse again", printed);
        check(one == 1 && same == operation, "is another", printed);
        check(!rmcp_case_print(operation, again[0].bytes, twice, sizeof twice), "prints once",
              printed);
        check(!strcmp(printed, twice), "prints differently", twice);
        for (unsigned slot = 0; slot < operation->n_slots; slot++)
            check(operation->slot(problem, slot).elements >= 0, "a negative slot", printed);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* of exactly this size, so that reading beyond is found */
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    check_convolution(text);
    check_any(text);
    free(text);
    return 0;
}
