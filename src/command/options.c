/* options.c: command-line options from a table, --help from the same table, messages. */
#include "base/clock.h"
#include "command/cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const cli_passes[] = { "fwd", "bwd_data", "bwd_weights", NULL };
const char *const cli_layouts[] = { "nchw", "nhwc", NULL };
const char *const cli_efforts[] = { "estimate", "measure", NULL };

int cli_complain(const char *command, const char *format, ...)
{
    char text[RMCP_CASE_MAX + 512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++) /* arguments are quoted as they came */
        if ((unsigned char)*c < 32 || *c == 127) *c = '?';
    fprintf(stderr, "rmcp%s%s: %s\n", command ? " " : "", command ? command : "", text);
    return CLI_USAGE;
}

int cli_failed(const char *command, rmcp_status status)
{
    cli_complain(command, "%s", rmcp_last_error());
    return status == RMCP_E_ARG        ? CLI_USAGE
           : status == RMCP_E_INTERNAL ? CLI_INTERNAL
                                       : CLI_FINDINGS;
}

static void print_help(const struct cli_usage *usage)
{
    printf("usage: rmcp %s [options]%s%s\n\n%s\n\noptions:\n", usage->command,
           *usage->arguments ? " " : "", usage->arguments, usage->about);
    for (const struct cli_option *o = usage->options; o->name; o++) {
        char left[64];
        if (!o->help) continue;
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %-22s %s\n", left, o->help);
    }
    printf("  %-22s %s\n\nexample:\n%s\n", "--help", "this text", usage->example);
}

static bool read_number(const char *text, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno) return false;
    *value = number;
    return true;
}

static int set_choice(const struct cli_usage *usage, const struct cli_option *o, const char *value)
{
    char known[160] = "";
    for (int i = 0; o->choices[i]; i++) {
        if (!strcmp(value, o->choices[i])) {
            *(int *)o->target = i;
            return CLI_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", o->choices[i]);
    }
    return cli_complain(usage->command, "--%s is '%.40s'; known are %s", o->name, value, known);
}

/* Which options of the table were given. One command line is read in a process, or one after the
 * other. */
enum { MOST_OPTIONS = 64 };
static bool given[MOST_OPTIONS];

bool cli_given(const struct cli_usage *usage, const char *name)
{
    for (size_t i = 0; usage->options[i].name && i < MOST_OPTIONS; i++)
        if (!strcmp(usage->options[i].name, name)) return given[i];
    return false;
}

int cli_refuse(const struct cli_usage *usage, const char *names, const char *why)
{
    char name[64];
    for (size_t n; *names; names += n) {
        names += strspn(names, " ");
        n = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, names);
        if (cli_given(usage, name)) return cli_complain(usage->command, "--%s %s", name, why);
    }
    return CLI_OK;
}

int cli_refuse_zero(const struct cli_usage *usage, const char *name, uint64_t value)
{
    if (value || !cli_given(usage, name)) return CLI_OK;
    return cli_complain(usage->command, "--%s is 0; at least 1", name);
}

/* Sets one option from argv[*i]; advances over its value. */
static int set_option(const struct cli_usage *usage, int argc, char **argv, int *i)
{
    const char *text = argv[*i] + 2;
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : strlen(text);
    const struct cli_option *o = usage->options;
    while (o->name && (strlen(o->name) != length || strncmp(o->name, text, length))) o++;
    if (!o->name)
        return cli_complain(usage->command, "no option '%.60s'; rmcp %s --help lists them",
                            argv[*i], usage->command);
    const size_t index = (size_t)(o - usage->options);
    const bool again = index < MOST_OPTIONS && given[index];
    if (index < MOST_OPTIONS) given[index] = true;
    if (o->kind == CLI_FLAG) {
        if (equals) return cli_complain(usage->command, "--%s takes no value", o->name);
        *(bool *)o->target = true;
        return CLI_OK;
    }
    if (o->kind == CLI_OPTIONAL && !equals && (*i + 1 >= argc || argv[*i + 1][0] == '-')) {
        *(const char **)o->target = o->choices[0];
        return CLI_OK;
    }
    const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
    if (!value || !*value)
        return cli_complain(usage->command, "--%s needs a value: --%s %s", o->name, o->name,
                            o->value);
    if (again) /* only one of them could count */
        return cli_complain(usage->command, "--%s is given twice", o->name);
    if (o->kind == CLI_TEXT || o->kind == CLI_OPTIONAL) {
        *(const char **)o->target = value;
        return CLI_OK;
    }
    if (o->kind == CLI_CHOICE) return set_choice(usage, o, value);
    if (!read_number(value, o->target))
        return cli_complain(usage->command, "--%s is '%.40s', not a whole number of 64 bits",
                            o->name, value);
    return CLI_OK;
}

bool cli_parse(const struct cli_usage *usage, int argc, char **argv, int *n_arguments, int *status)
{
    bool options = true;
    *n_arguments = 0;
    *status = CLI_OK;
    memset(given, 0, sizeof given);
    for (int i = 0; i < argc; i++) {
        if (options && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))) {
            print_help(usage);
            return false;
        }
        if (options && !strcmp(argv[i], "--")) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (argv[i][1] != '-')
                *status =
                    cli_complain(usage->command, "no option '%.60s'; rmcp %s --help lists them",
                                 argv[i], usage->command);
            else
                *status = set_option(usage, argc, argv, &i);
            if (*status) return false;
        } else {
            argv[(*n_arguments)++] = argv[i];
        }
    }
    if (*n_arguments && !*usage->arguments) {
        *status =
            cli_complain(usage->command, "'%.60s' is too much: it takes only options", argv[0]);
        return false;
    }
    return true;
}

int cli_check_algorithm(const char *command, const char *name)
{
    if (!name) return CLI_OK;
    for (size_t o = 0; rmcp_operations[o]; o++)
        for (const struct rmcp_algo *const *algo = rmcp_operations[o]->algos; *algo; algo++)
            if (!strcmp((*algo)->name, name)) return CLI_OK;
    return cli_complain(command, "no algorithm '%.60s'; rmcp version lists them", name);
}

const char *cli_algorithm(const struct rmcp_operation *operation, const struct rmcp_algo *algo,
                          char text[static 64])
{
    snprintf(text, 64, "%.30s%s%.30s", operation->nameless ? "" : operation->name,
             operation->nameless ? "" : ".", algo->name);
    return text;
}

int cli_open(const char *command, const char *spec, uint64_t threads, rmcp_device **out)
{
    rmcp_device_options options = {
        .struct_size = sizeof options,
        .threads = threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX,
    };
    rmcp_status status = rmcp_device_open(spec, &options, out);
    if (status) return cli_failed(command, status);
    if (!threads || !strncmp((*out)->info.spec, "cpu", 3)) return CLI_OK;
    cli_complain(command, "--threads is for the device cpu, this is %s", (*out)->info.spec);
    rmcp_device_close(*out);
    *out = NULL;
    return CLI_USAGE;
}

/* Bytes of the UTF-8 character at `text`, 0 when it is none. */
static size_t character(const unsigned char *text)
{
    const size_t length = *text < 0x80   ? 1
                          : *text < 0xc2 ? 0
                          : *text < 0xe0 ? 2
                          : *text < 0xf0 ? 3
                          : *text < 0xf5 ? 4
                                         : 0;
    for (size_t i = 1; i < length; i++)
        if (text[i] >> 6 != 2) return 0;
    const bool overlong = (*text == 0xe0 && text[1] < 0xa0) || (*text == 0xf0 && text[1] < 0x90);
    const bool surrogate = *text == 0xed && text[1] > 0x9f;
    return overlong || surrogate || (*text == 0xf4 && text[1] > 0x8f) ? 0 : length;
}

/* Names and lines come from files in any encoding; JSON has only one. */
static void mend(char *text)
{
    while (*text) {
        const size_t length = character((const unsigned char *)text);
        if (!length) *text = '?';
        text += length ? length : 1;
    }
}

int cli_print_json(cJSON *object, const char *schema)
{
    char *text = NULL;
    if (object && cJSON_AddStringToObject(object, "schema", schema)) text = cJSON_Print(object);
    cJSON_Delete(object);
    if (!text) {
        fprintf(stderr, "rmcp: out of memory while writing JSON\n");
        return CLI_INTERNAL;
    }
    mend(text);
    puts(text);
    free(text);
    return CLI_OK;
}

void cli_progress(size_t done, size_t total, const char *what)
{
    static double last;
    static bool shown;
    if (!cli_takes_motion(STDERR_FILENO)) return;
    if (!total) {
        if (shown) fputs("\r\033[K", stderr);
        shown = false;
        return;
    }
    const double now = rmcp_clock();
    if (shown && now - last < 0.1) return;
    last = now;
    shown = true;
    enum { WIDTH = 24 };
    char bar[WIDTH + 1];
    for (size_t i = 0; i < WIDTH; i++) bar[i] = i * total < done * WIDTH ? '#' : '.';
    bar[WIDTH] = '\0';
    const int width = cli_width(STDERR_FILENO), left = (width ? width : 100) - WIDTH - 26;
    fprintf(stderr, "\r\033[K[%s] %zu/%zu ", bar, done, total);
    if (left > 8) cli_print_shortened(stderr, what, left < 48 ? left : 48);
}

const char *cli_join(const char *const *words, const char *last, char *text, size_t size)
{
    size_t used = 0;
    if (size) *text = '\0';
    for (size_t i = 0; words[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 !i             ? ""
                                 : words[i + 1] ? ", "
                                                : last,
                                 words[i]);
    return text;
}

const char *cli_bytes(uint64_t bytes, char text[static 32])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) value /= 1024, unit++;
    snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

const char *cli_seconds(double seconds, char text[static 32])
{
    if (seconds >= 1)
        snprintf(text, 32, "%.3f s", seconds);
    else if (seconds >= 1e-3)
        snprintf(text, 32, "%.3f ms", seconds * 1e3);
    else
        snprintf(text, 32, "%.1f us", seconds * 1e6);
    return text;
}
