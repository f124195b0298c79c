/* fuzz_case.c: libFuzzer target for case strings: nothing crashes, and what parses prints and
 * parses again to the same problem. */
#include "rmcp.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* of exactly this size, so that reading beyond is found */
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = '\0';

    rmcp_conv problem = { .struct_size = sizeof problem }, again = problem;
    int pass = -1, pass_again = -1;
    if (rmcp_conv_parse(text, &problem, &pass)) {
        check_message(text);
    } else {
        char printed[RMCP_CASE_MAX], twice[RMCP_CASE_MAX];
        rmcp_conv_info shape = { .struct_size = sizeof shape };
        check(!rmcp_conv_describe(&problem, &shape), "has no shape", text);
        check(!rmcp_conv_print(&problem, pass, printed, sizeof printed), "does not print", text);
        check(!rmcp_conv_parse(printed, &again, &pass_again), "does not parse again", printed);
        check(pass == pass_again && !memcmp(&problem, &again, sizeof problem), "changes", printed);
        check(!rmcp_conv_print(&again, pass, twice, sizeof twice) && !strcmp(printed, twice),
              "prints differently", twice);
    }
    free(text);
    return 0;
}
