/* recipe.c: rmcp recipe: prints or runs the script that brings a machine to a working PyTorch. */
#include "help/recipe/recipe.h"

#include "command/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TEMPLATE = 100000 }; /* a script is one argument of sh, which Linux limits to 128 KiB */

struct request {
    struct recipe_wish wish;
    const char *root, *template;
    bool run, plan, yes, json;
};

static int print_list(void)
{
    char name[RECIPE_NAME], title[RECIPE_TITLE];
    cJSON *object = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(object, "recipes");
    for (size_t i = 0; recipe_name(i, name); i++) {
        cJSON *one = cJSON_CreateObject();
        recipe_title(recipe_text(name), title);
        cJSON_AddStringToObject(one, "name", name);
        cJSON_AddStringToObject(one, "title", title);
        cJSON_AddItemToArray(list, one);
    }
    return cli_print_json(object, "rmcp.recipe.list/1");
}

static int print_script(const char *name, const char *text, const char *script)
{
    char title[RECIPE_TITLE];
    cJSON *object = cJSON_CreateObject();
    recipe_title(text, title);
    cJSON_AddStringToObject(object, "name", name);
    cJSON_AddStringToObject(object, "title", title);
    cJSON_AddStringToObject(object, "script", script);
    return cli_print_json(object, "rmcp.recipe/1");
}

static int list_recipes(void)
{
    char name[RECIPE_NAME], title[RECIPE_TITLE];
    for (size_t i = 0; recipe_name(i, name); i++) {
        recipe_title(recipe_text(name), title);
        printf("%-14s %s\n", name, title);
    }
    printf(
        "\nrmcp recipe NAME prints the script for this machine; --plan says what it takes, --run "
        "runs it.\n");
    return CLI_OK;
}

static int unknown(const char *word)
{
    char name[RECIPE_NAME];
    if (recipe_nearest(word, name))
        return cli_complain("recipe", "no recipe '%.60s'; did you mean %s?", word, name);
    return cli_complain("recipe", "no recipe '%.60s'; rmcp recipe lists them", word);
}

/* The text of a file, for trying a template; NULL: it cannot be read, which was said. */
static char *read_template(const char *file)
{
    char *text = malloc(MOST_TEMPLATE + 1);
    FILE *in = fopen(file, "rb");
    size_t n = text && in ? fread(text, 1, MOST_TEMPLATE + 1, in) : 0;
    const bool failed = !text || !in || ferror(in) || !n || n > MOST_TEMPLATE;
    if (failed) {
        cli_complain("recipe", "cannot read %.200s", file);
        free(text);
        text = NULL;
    } else {
        text[n] = '\0';
    }
    if (in) fclose(in);
    return text;
}

/* Become the shell: status and signals are the script's. */
static int execute(const struct request *r, char *script)
{
    char shell[] = "/bin/sh", option[] = "-c", name[RECIPE_NAME + 8], plan[] = "--plan";
    char *words[] = { shell, option, script, name, r->plan ? plan : NULL, NULL };
    snprintf(name, sizeof name, "%.60s", r->wish.name);
    if (r->yes) setenv("RECIPE_YES", "1", 1);
    fflush(stdout);
    execv(shell, words);
    cli_complain("recipe", "cannot run %s: %s", shell, strerror(errno));
    return CLI_INTERNAL;
}

static rmcp_status examine(const char *root, struct doctor_machine **machine)
{
    struct doctor_view view;
    rmcp_status status = doctor_view_open(&view, root);
    if (status) return status;
    status = doctor_examine(&view, machine);
    doctor_view_close(&view);
    return status;
}

static int make(const struct request *r, const char *text)
{
    struct doctor_machine *machine = NULL;
    struct recipe_values *values = malloc(sizeof *values);
    char *script = NULL;
    const bool needs_chip = (r->run || r->plan) && strstr(text, "@target@");
    rmcp_status status = values ? RMCP_OK : rmcp_fail_memory("values", sizeof *values);
    if (!status) status = examine(r->root, &machine);
    if (!status) status = recipe_values_of(machine, &r->wish, needs_chip, values);
    if (!status) status = recipe_expand(text, values, &script);
    doctor_release(machine);
    free(values);
    int exit_status = CLI_OK;
    if (status)
        exit_status = cli_failed("recipe", status);
    else if (r->run || r->plan)
        exit_status = execute(r, script);
    else if (r->json)
        exit_status = print_script(r->wish.name, text, script);
    else
        fputs(script, stdout);
    free(script);
    return exit_status;
}

/* A folder as the script must name it, wherever that is run. */
static int make_absolute(const char *folder, char path[static PATH_MAX])
{
    char here[PATH_MAX];
    if (*folder == '/')
        here[0] = '\0';
    else if (!getcwd(here, sizeof here))
        return cli_complain("recipe", "the current folder has no name: %s", strerror(errno));
    if (snprintf(path, PATH_MAX, "%s%s%s", here, *here ? "/" : "", folder) >= 1024)
        return cli_complain("recipe", "--folder has more than 1023 characters");
    return CLI_OK;
}

int cli_recipe(int argc, char **argv)
{
    struct request r = { .run = false };
    const struct cli_option options[] = {
        { "plan", CLI_FLAG, &r.plan, NULL,
          "only say what it would do, and what disk, memory and time that takes", NULL },
        { "run", CLI_FLAG, &r.run, NULL,
          "run it; what was done before is not done again, so it may be interrupted", NULL },
        { "folder", CLI_TEXT, &r.wish.folder, "FOLDER",
          "where everything goes (default ~/rmcp/NAME)", NULL },
        { "chip", CLI_TEXT, &r.wish.chip, "CHIP",
          "for another chip than this machine's, like gfx1010", NULL },
        { "wheel", CLI_TEXT, &r.wish.wheel, "FILE",
          "RMCP's wheel (default: one that lies here or in ~/Downloads)", NULL },
        { "yes", CLI_FLAG, &r.yes, NULL, "do not ask before it begins", NULL },
        { "root", CLI_TEXT, &r.root, "PATH", "print it for a recorded machine (rmcp doctor)",
          NULL },
        { "json", CLI_FLAG, &r.json, NULL, "print JSON: the list, or a script as text", NULL },
        { "template", CLI_TEXT, &r.template, "FILE", NULL, NULL },
        { 0 },
    };
    const struct cli_usage usage = {
        "recipe",
        "[NAME]",
        "Prints a commented shell script that brings this machine to a working PyTorch: what\n"
        "rmcp doctor finds here (chip, groups, other ROCms, variables) is filled in. Each script\n"
        "says at its top what was tried of it, and what was not. Without NAME it lists them.\n"
        "Exit status of --run: 0 all done, 1 not enough room or a step failed, 130 interrupted.",
        "  rmcp recipe\n"
        "  rmcp recipe torch-therock              # read it\n"
        "  rmcp recipe torch-therock --plan       # what it takes here\n"
        "  rmcp recipe torch-therock --run",
        options,
    };
    int n, status;
    if (!cli_parse(&usage, argc, argv, &n, &status)) return status;
    if (n > 1) return cli_complain("recipe", "'%.60s' is too much: one recipe at a time", argv[1]);
    if (!n) {
        if ((status = cli_refuse(&usage, "plan run folder chip wheel yes root template",
                                 "is for one recipe: rmcp recipe NAME")))
            return status;
        return r.json ? print_list() : list_recipes();
    }
    if (r.json && (r.run || r.plan))
        return cli_complain("recipe", "--json is for the list and for printing a script");
    if (r.run && r.plan) return cli_complain("recipe", "--run and --plan: only one at a time");
    if (r.root && (r.run || r.plan))
        return cli_complain("recipe", "--root is for printing: another machine cannot be run here");
    if (r.yes && !r.run) return cli_complain("recipe", "--yes is for --run");
    char folder[PATH_MAX], self[PATH_MAX];
    if (r.wish.folder) {
        if ((status = make_absolute(r.wish.folder, folder))) return status;
        r.wish.folder = folder;
    }
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) self[length] = '\0', r.wish.command = self;
    r.wish.name = argv[0];
    if (r.template) {
        char *text = read_template(r.template);
        if (!text) return CLI_USAGE;
        status = make(&r, text);
        free(text);
        return status;
    }
    const char *text = recipe_text(argv[0]);
    return text ? make(&r, text) : unknown(argv[0]);
}
