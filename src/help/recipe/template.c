/* template.c: a script from a template: values, conditions, steps and their marks. */
#include "help/recipe/recipe.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "help/doctor/steps.h"

enum { MOST_DEPTH = 8, LINE = 8192 };

struct step {
    char words[RECIPE_TITLE + 64]; /* "NAME MINUTES GB TEXT" */
    uint64_t mark;
};

struct work {
    const struct recipe_values *values;
    FILE *out;
    int line;
    bool shown[MOST_DEPTH + 1]; /* by depth of conditions; [0] is the template itself */
    int depth;
    struct step steps[RECIPE_MOST_STEPS];
    size_t n_steps;
    bool counts;   /* between "#: begin" and "#: run": what is done */
    uint64_t mark; /* of that                                        */
};

rmcp_status recipe_set(struct recipe_values *values, const char *name, const char *text)
{
    if (values->n == RECIPE_MOST_VALUES) return rmcp_fail(RMCP_E_INTERNAL, "no room for %s", name);
    values->list[values->n].name = name;
    char *at = values->list[values->n++].text;
    snprintf(at, RECIPE_VALUE, "%s", text);
    for (; *at; at++)
        if ((unsigned char)*at < 32 || *at == 127) *at = '?';
    return RMCP_OK;
}

const char *recipe_get(const struct recipe_values *values, const char *name)
{
    for (size_t i = 0; i < values->n; i++)
        if (!strcmp(values->list[i].name, name)) return values->list[i].text;
    return NULL;
}

/* The value that the word at `name` calls, and how long the word is; fails for others. */
static rmcp_status find(struct work *w, const char *name, size_t *length, const char **value)
{
    char word[64];
    *length = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
    snprintf(word, sizeof word, "%.*s", (int)*length, name);
    *value = recipe_get(w->values, word);
    if (*value) return RMCP_OK;
    return rmcp_fail(RMCP_E_INTERNAL, "line %d: no value '%s'", w->line, word);
}

static rmcp_status begin_if(struct work *w, const char *text)
{
    const bool is_not = *text == '!';
    size_t length;
    const char *value;
    rmcp_status status = find(w, text + is_not, &length, &value);
    if (status) return status;
    if (w->depth == MOST_DEPTH) return rmcp_fail(RMCP_E_INTERNAL, "line %d: too deep", w->line);
    const bool outer = w->shown[w->depth];
    w->shown[++w->depth] = outer && !*value == is_not;
    return RMCP_OK;
}

static rmcp_status begin_step(struct work *w, const char *text)
{
    char minutes[16], room[16], name[32];
    int end = 0;
    if (w->n_steps == RECIPE_MOST_STEPS)
        return rmcp_fail(RMCP_E_INTERNAL, "line %d: too many steps", w->line);
    if (sscanf(text, "%31[a-z_] %15[0-9c] %15[0-9] %n", name, minutes, room, &end) != 3 ||
        !text[end])
        return rmcp_fail(RMCP_E_INTERNAL, "line %d: not a step: %s", w->line, text);
    struct step *step = &w->steps[w->n_steps++];
    snprintf(step->words, sizeof step->words, "%s", text);
    fprintf(w->out, "# %zu. %s\n", w->n_steps, text + end);
    return RMCP_OK;
}

/* A line for us, without its "#: ". */
static rmcp_status obey(struct work *w, const char *text)
{
    if (!strncmp(text, "if ", 3)) return begin_if(w, text + 3);
    if (!strcmp(text, "else") || !strcmp(text, "end")) {
        if (!w->depth) return rmcp_fail(RMCP_E_INTERNAL, "line %d: %s of nothing", w->line, text);
        if (*text == 'e' && text[1] == 'n')
            w->depth--;
        else
            w->shown[w->depth] = w->shown[w->depth - 1] && !w->shown[w->depth];
        return RMCP_OK;
    }
    if (!strncmp(text, "title ", 6) || !w->shown[w->depth]) return RMCP_OK;
    if (!strcmp(text, "begin") || !strcmp(text, "run")) {
        w->counts = *text == 'b';
        return RMCP_OK;
    }
    if (!strncmp(text, "step ", 5)) return begin_step(w, text + 5);
    return rmcp_fail(RMCP_E_INTERNAL, "line %d: cannot read '#: %s'", w->line, text);
}

static void put_steps(struct work *w)
{
    for (size_t i = 0; i < w->n_steps; i++)
        fprintf(w->out, "%016" PRIx64 " %s%s", w->steps[i].mark, w->steps[i].words,
                i + 1 < w->n_steps ? "\n" : "");
}

/* A line of the script, its values filled in as words of the shell. */
static rmcp_status put_line(struct work *w, const char *text)
{
    char whole[LINE], word[4 * RECIPE_VALUE + 8];
    size_t used = 0;
    while (*text) {
        const char *value = NULL;
        size_t length = 0;
        if (*text == '@' && text[1] >= 'a' && text[1] <= 'z') {
            length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_") + 2;
            if (text[length - 1] != '@') length = 0;
        }
        if (length && !strncmp(text, "@steps@", length)) {
            put_steps(w);
        } else if (length) {
            size_t ignored;
            rmcp_status status = find(w, text + 1, &ignored, &value);
            if (status) return status;
            value = doctor_quote(value, word, sizeof word);
        }
        const size_t n = value ? strlen(value) : length ? 0 : 1;
        if (used + n + 2 > sizeof whole)
            return rmcp_fail(RMCP_E_INTERNAL, "line %d is too long", w->line);
        memcpy(whole + used, value ? value : text, n);
        used += n;
        text += length ? length : 1;
    }
    whole[used++] = '\n';
    fwrite(whole, 1, used, w->out);
    const char *first = whole + strspn(whole, " \t");
    if (w->counts && *first != '#' && *first != '\n') { /* comments change nothing */
        w->mark = rmcp_hash(w->mark, whole, used);
        if (w->n_steps) w->steps[w->n_steps - 1].mark = w->mark;
    }
    return RMCP_OK;
}

static rmcp_status put_all(struct work *w, const char *text)
{
    char line[LINE];
    rmcp_status status = RMCP_OK;
    while (*text && !status) {
        const size_t length = strcspn(text, "\n");
        if (length >= sizeof line)
            return rmcp_fail(RMCP_E_INTERNAL, "line %d is too long", w->line + 1);
        memcpy(line, text, length);
        line[length] = '\0';
        w->line++;
        const char *first = line + strspn(line, " ");
        if (!strncmp(first, "#: ", 3))
            status = obey(w, first + 3);
        else if (w->shown[w->depth])
            status = put_line(w, line);
        text += length + (text[length] == '\n');
    }
    if (!status && w->depth) status = rmcp_fail(RMCP_E_INTERNAL, "a condition has no end");
    return status;
}

rmcp_status recipe_expand(const char *text, const struct recipe_values *values, char **script)
{
    struct work *w = calloc(1, sizeof *w);
    size_t size = 0;
    *script = NULL;
    if (!w) return rmcp_fail_memory("a script", sizeof *w);
    *w = (struct work){ .values = values, .shown = { true }, .mark = RMCP_HASH_START };
    w->out = open_memstream(script, &size);
    rmcp_status status = w->out ? put_all(w, text) : rmcp_fail_memory("a script", strlen(text));
    if (w->out && (ferror(w->out) | fclose(w->out)) && !status)
        status = rmcp_fail_memory("a script", strlen(text));
    if (status) {
        free(*script);
        *script = NULL;
    }
    free(w);
    return status;
}
