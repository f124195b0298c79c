/* codes.c: the table of error codes, and which of them a line has. */
#include "help/explain/codes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct explain_code explain_codes[] = {
#define CODE(...) { __VA_ARGS__ },
#include "help/explain/codes.inc"
#undef CODE
    { 0, NULL, NULL, NULL, NULL },
};

/* How programs print what the HIP runtime returned: its words, and its number. */
struct form {
    const char *before, *after;
};
static const struct form word_forms[] = {
    { "HIP error: ", "" },        { "ROCm error: ", "" },  { "CUDA error: ", "" },
    { "failed with error ", "" }, { "HIP failure: ", "" },
};
static const struct form number_forms[] = {
    { "hipError_t(", ")" },
    { "hipSuccess (", " vs" },
};
enum {
    N_WORD_FORMS = sizeof word_forms / sizeof *word_forms,
    N_NUMBER_FORMS = sizeof number_forms / sizeof *number_forms
};

bool explain_code_pattern(const struct explain_code *code, size_t index, char *text, size_t size)
{
    if (!*code->id || (index && !*code->words)) return false;
    if (!index) {
        snprintf(text, size, "%s", code->name);
    } else if (index <= N_WORD_FORMS) {
        const struct form *form = &word_forms[index - 1];
        snprintf(text, size, "%s%s%s", form->before, code->words, form->after);
    } else if (index <= N_WORD_FORMS + N_NUMBER_FORMS) {
        const struct form *form = &number_forms[index - 1 - N_WORD_FORMS];
        snprintf(text, size, "%s%d%s", form->before, code->number, form->after);
    } else {
        return false;
    }
    return true;
}

/* The number behind one of the forms, or 0. */
static int printed_number(const char *line)
{
    for (size_t i = 0; i < N_NUMBER_FORMS; i++) {
        const char *at = strstr(line, number_forms[i].before);
        if (!at) continue;
        int number = 0;
        at += strlen(number_forms[i].before);
        for (int n = 0; n < 4 && isdigit((unsigned char)*at); n++)
            number = number * 10 + (*at++ - '0');
        if (number) return number;
    }
    return 0;
}

const struct explain_code *explain_code_in(const char *line)
{
    const struct explain_code *best = NULL;
    size_t longest = 0;
    const int number = printed_number(line);
    char text[160];
    for (const struct explain_code *code = explain_codes; code->name; code++) {
        if (!best && number && *code->words && code->number == number) best = code;
        bool named = strstr(line, code->name);
        for (size_t i = 1; !named && i <= N_WORD_FORMS; i++)
            named = *code->words && explain_code_pattern(code, i, text, sizeof text) &&
                    strstr(line, text);
        if (!named || strlen(code->name) <= longest) continue;
        best = code; /* the longest name: some are the beginnings of others */
        longest = strlen(code->name);
    }
    return best;
}
