/* list.c: the templates that there are, and the one that was meant. */
#include "help/recipe/recipe.h"

#include <stdio.h>
#include <string.h>

#include "recipe_files.inc"

enum { LETTERS = 24 }; /* of a name; what is longer is like none */

/* Files are called NAME.sh. */
bool recipe_name(size_t index, char name[static RECIPE_NAME])
{
    if (index >= sizeof sources / sizeof *sources - 1) return false;
    const char *file = sources[index].file;
    snprintf(name, RECIPE_NAME, "%.*s", (int)strlen(file) - 3, file);
    return true;
}

const char *recipe_text(const char *name)
{
    char known[RECIPE_NAME];
    for (size_t i = 0; recipe_name(i, known); i++)
        if (!strcmp(name, known)) return sources[i].text;
    return NULL;
}

void recipe_title(const char *text, char title[static RECIPE_TITLE])
{
    static const char mark[] = "#: title ";
    const char *at = strstr(text, mark);
    if (at) at += sizeof mark - 1;
    snprintf(title, RECIPE_TITLE, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
}

/* Letters to be added, left out or changed to make one word of the other (Levenshtein). */
static size_t distance(const char *left, const char *right)
{
    size_t row[LETTERS + 1];
    const size_t n = strlen(right);
    if (n > LETTERS || strlen(left) > LETTERS) return LETTERS;
    for (size_t i = 0; i <= n; i++) row[i] = i;
    for (; *left; left++) {
        size_t before = row[0]++;
        for (size_t i = 1; i <= n; i++) {
            size_t best = before + (*left != right[i - 1]);
            before = row[i];
            if (row[i] + 1 < best) best = row[i] + 1;
            if (row[i - 1] + 1 < best) best = row[i - 1] + 1;
            row[i] = best;
        }
    }
    return row[n];
}

bool recipe_nearest(const char *word, char name[static RECIPE_NAME])
{
    size_t best = LETTERS;
    char known[RECIPE_NAME];
    for (size_t i = 0; recipe_name(i, known); i++) {
        size_t far = distance(word, known);
        /* A part of the name is meant, too: "therock", "source". */
        if (strlen(word) > 2 && strstr(known, word)) far = 1;
        if (far >= best) continue;
        best = far;
        memcpy(name, known, sizeof known);
    }
    return best <= 4 && best < strlen(word);
}
