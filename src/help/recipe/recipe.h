/* recipe.h: rmcp recipe: shell scripts for a machine, made from templates.
 *
 * A template (data/recipes) is a shell script. In it @name@ stands for a value, as one word of the
 * shell, and lines that begin with "#:" are for us:
 *
 *     #: title TEXT                    what the list says
 *     #: step NAME MINUTES GB TEXT     the function step_NAME follows; "90c": minutes of one core
 *     #: if NAME, #: if !NAME          lines for machines where a value is not empty, or is
 *     #: else, #: end
 *     #: begin, #: run                 what is between them decides what the steps do
 *
 * @steps@ is the list of the steps, one a line, each with a mark that changes with what it and all
 * before it do: a step whose mark is another than last time is done again. */
#ifndef RMCP_RECIPE_RECIPE_H
#define RMCP_RECIPE_RECIPE_H

#include "help/doctor/doctor.h"

enum { RECIPE_MOST_VALUES = 40, RECIPE_VALUE = 2048, RECIPE_MOST_STEPS = 32 };

struct recipe_values {
    size_t n;
    struct {
        const char *name;
        char text[RECIPE_VALUE];
    } list[RECIPE_MOST_VALUES];
};
/* Bytes that no script may have (control characters) become '?'. RMCP_E_INTERNAL without room. */
rmcp_status recipe_set(struct recipe_values *values, const char *name, const char *text);
/* NULL: no such value. */
const char *recipe_get(const struct recipe_values *values, const char *name);

/* What was asked for; NULL: whatever fits the machine. */
struct recipe_wish {
    const char *name, *folder, *chip, *wheel, *command; /* command: the rmcp that is running */
};
/* The values for a machine (machine.h). RMCP_E_ARG when no chip is known and none was asked for
 * (`needs_chip`), or the one that was asked for is unknown. */
rmcp_status recipe_values_of(const struct doctor_machine *machine, const struct recipe_wish *wish,
                             bool needs_chip, struct recipe_values *values);

/* The script of a template, to be given to free(). RMCP_E_INTERNAL with the line when the template
 * is wrong. */
rmcp_status recipe_expand(const char *text, const struct recipe_values *values, char **script);

/* ---- the templates: list.c ---- */

enum { RECIPE_NAME = 64, RECIPE_TITLE = 128 };
/* The names by number; false past the last one. */
bool recipe_name(size_t index, char name[static RECIPE_NAME]);
const char *recipe_text(const char *name); /* the template; NULL: none of that name */
void recipe_title(const char *text, char title[static RECIPE_TITLE]);
/* The name that is most like a word; false: none is. */
bool recipe_nearest(const char *word, char name[static RECIPE_NAME]);

#endif
