/* explain.c: rmcp explain: what a log says, why it happened, and what to do. */
#include "help/explain/explain.h"

#include "command/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 110 }; /* no wider than is easily read */

/* 0: nobody says how wide lines may be. */
static int line_width(void)
{
    const int width = cli_width(STDOUT_FILENO);
    return width < WIDTH ? width : WIDTH;
}

/* A text of several lines after a label, indented alike; in other lines where the terminal asks for
 * it. */
static void print_block(const char *label, const char *text)
{
    printf("   %-7s", label);
    if (line_width()) {
        cli_print_words(line_width(), 10, text);
        return;
    }
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        printf("%s%.*s\n", line == text ? "" : "          ", (int)length, line);
        line += length;
        line += *line == '\n';
    }
}

/* A line, wrapped where the terminal is narrower. */
static void print_line(int indent, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void print_line(int indent, const char *label, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_print_wrapped(line_width() ? line_width() : 10 * WIDTH, indent, label, text);
}

/* Is the override the first suspect for the error that is quoted? */
static bool quote_by_override(const struct explain_result *r)
{
    return r->foreign && r->unknown.thin && r->unknown.about->depends == EXPLAIN_FOREIGN;
}

static void print_card(const struct explain_result *r)
{
    bool explains = false;
    for (size_t i = 0; i < r->n_matches; i++) explains |= explain_by_override(r, &r->matches[i]);
    explains |= quote_by_override(r);
    const struct explain_card *card = &r->card;
    if (r->program) print_line(0, "program: ", "%s", r->program->name);
    if (*card->chip)
        print_line(0, "card: ", "%s (%s%s)%s%s", card->chip, card->chip_from,
                   card->integrated ? "; part of a processor" : "", r->family ? ", " : "",
                   r->family ? r->family->name : "");
    if (*card->pretends)
        print_line(0, "override: ", "it pretends to be %s (%s)%s", card->pretends,
                   card->override_from,
                   *card->chip && !r->foreign ? ": code of the same kind" : "");
    if (explains) {
        const char *why, *remedy;
        explain_foreign(r, &why, &remedy);
        putchar('\n');
        print_line(0, "0. ", "The override is the first suspect for what is marked with (0).");
        print_block("why", why);
        print_block("do", remedy);
    } else if (*card->pretends && !*card->chip)
        print_line(
            0, "",
            "Which card it is the text does not say: --gpu tells me, and may change the answer.");
    for (size_t i = 0; i < r->n_notes; i++) print_line(0, "note: ", "%s", r->notes[i]);
    if (r->program || *card->chip || *card->pretends || r->n_notes) putchar('\n');
}

/* What RMCP can do: only where a convolution failed, and no finding has said it. */
static void print_convolution(const struct explain_result *r)
{
    for (size_t i = 0; i < r->n_matches; i++)
        if (strstr(explain_remedy(r, &r->matches[i]), "rmcp.torch.enable")) return;
    putchar('\n');
    cli_print_wrapped(line_width() ? line_width() : 103, 0, "",
                      "The text has a convolution near it. RMCP replaces PyTorch's: import "
                      "rmcp.torch; rmcp.torch.enable() (docs/pytorch.md), with kernels compiled "
                      "beforehand for the chip.");
}

static void print_seen(uint64_t line, uint64_t count, const char *excerpt)
{
    int column = printf("   seen   line %" PRIu64, line);
    if (count > 1) column += printf(", in %" PRIu64 " lines", count);
    column += printf(": ");
    cli_print_shortened(stdout, excerpt,
                        !line_width()               ? 0
                        : line_width() - column > 8 ? line_width() - column
                                                    : 8);
    putchar('\n');
}

/* An error that is not understood: what it says itself, what it is about, and what to do next. */
static void print_unknown(const struct explain_result *r)
{
    const struct explain_unknown *u = &r->unknown;
    if (u->broken)
        print_line(0, "?. ",
                   "A traceback that breaks off: the line that names the exception is "
                   "not in the text.");
    else if (u->thin)
        print_line(0, "?. ", "An error whose cause is not certain; its line reads like this: %s%s",
                   u->reading ? u->reading->what : u->about->what,
                   quote_by_override(r) ? " (0)" : "");
    else
        print_line(0, "?. ", "%s that I do not know%s%s%s%s%s.",
                   u->exception ? "An exception" : "An error", *u->topic ? "; it speaks of " : "",
                   u->topic,
                   *u->topic && *u->trouble ? ", and of "
                   : *u->trouble            ? "; it speaks of "
                                            : "",
                   u->trouble,
                   u->behind ? ". It stands behind all others: they may be about something else"
                             : "");
    print_seen(u->line, u->count, u->excerpt);
    if (*u->where) print_block("where", u->where);
    char code[256];
    if (explain_code_text(u->excerpt, code, sizeof code)) print_block("code", code);
    if (u->reading && !u->thin) print_block("form", u->reading->what);
    if (u->broken)
        print_block("next", "Give me the lines behind it: the last one says what happened.");
    else
        print_block("next", explain_next(r));
    if (r->program && r->program->next) print_block("try", r->program->next);
    print_block(
        "more",
        "The cause is not known from this text. Search the program's issues for the words of that "
        "line; give me what stands before it, and the kernel log of that minute (sudo dmesg | rmcp "
        "explain -). With a report, attach the output of rmcp doctor.");
}

static void print_text(const struct explain_result *r, const char *name)
{
    if (!r->n_matches && !r->unknown.about) {
        print_line(0, "", "%.600s: %" PRIu64 " lines, and nothing in them that I know.", name,
                   r->lines);
        cli_print_wrapped(
            line_width() ? line_width() : 96, 0, "",
            "That does not mean that all is well: give me the kernel log too (sudo dmesg | "
            "rmcp explain -), and run rmcp doctor for the machine itself.");
        return;
    }
    print_card(r);
    if (r->unknown.about && !r->unknown.behind) {
        print_unknown(r);
        if (r->n_matches) putchar('\n');
    }
    bool advised = false;
    for (size_t i = 0; i < r->n_matches; i++) {
        const struct explain_match *m = &r->matches[i];
        char number[32], follows[64] = "";
        if (i) putchar('\n');
        snprintf(number, sizeof number, "%zu. ", i + 1);
        if (m->follows) snprintf(follows, sizeof follows, " (It follows from %zu.)", m->follows);
        print_line(0, number, "%s%s%s", m->signature->what, explain_by_override(r, m) ? " (0)" : "",
                   follows);
        print_seen(m->line, m->count, m->excerpt);
        if (*m->where) print_block("where", m->where);
        char code[256];
        if (explain_code_text(m->excerpt, code, sizeof code)) print_block("code", code);
        print_block("why", m->signature->why);
        print_block("do", explain_remedy(r, m));
        if (m->signature->depends == EXPLAIN_NO_CODE && r->family && !advised) {
            print_block("card", r->family->advice);
            advised = true;
        }
        if (m->by_facts)
            print_block("sure",
                        "From what the log says of the machine; no error was recognised in it.");
        else if (m->by_form)
            print_block(
                "sure",
                "Likely: read from the form of the line; the very message is not known here.");
        else if (*m->signature->source)
            printf("   source %s\n", m->signature->source);
    }
    if (r->unknown.about && r->unknown.behind) {
        putchar('\n');
        print_unknown(r);
    }
    if (r->card_matters && !advised) {
        putchar('\n');
        print_line(0, "", "From the card alone, since no particular cause was found:");
        print_block("card", r->family->advice);
    }
    if (r->convolution) print_convolution(r);
}

static cJSON *result_json(const struct explain_result *r)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "bytes", (double)r->bytes);
    cJSON_AddNumberToObject(object, "lines", (double)r->lines);
    cJSON_AddStringToObject(object, "program", r->program ? r->program->name : "");
    cJSON_AddStringToObject(object, "chip", r->card.chip);
    cJSON_AddBoolToObject(object, "integrated", r->card.integrated);
    cJSON_AddStringToObject(object, "family", r->family ? r->family->name : "");
    cJSON_AddStringToObject(object, "chip_advice", r->family ? r->family->advice : "");
    cJSON_AddStringToObject(object, "pretends", r->card.pretends);
    cJSON_AddBoolToObject(object, "convolution", r->convolution);
    cJSON_AddBoolToObject(object, "card_matters", r->card_matters);
    cJSON_AddBoolToObject(object, "foreign_code", r->foreign);
    if (r->foreign) {
        const char *why, *remedy;
        explain_foreign(r, &why, &remedy);
        cJSON_AddStringToObject(object, "foreign_why", why);
        cJSON_AddStringToObject(object, "foreign_do", remedy);
    }
    const struct explain_unknown *u = &r->unknown;
    if (u->about) {
        cJSON *unknown = cJSON_AddObjectToObject(object, "unknown");
        cJSON_AddStringToObject(unknown, "about", u->about->id);
        cJSON_AddStringToObject(unknown, "topic", u->topic);
        cJSON_AddStringToObject(unknown, "trouble", u->trouble);
        cJSON_AddNumberToObject(unknown, "line", (double)u->line);
        cJSON_AddNumberToObject(unknown, "count", (double)u->count);
        cJSON_AddStringToObject(unknown, "excerpt", u->excerpt);
        cJSON_AddBoolToObject(unknown, "behind", u->behind);
        cJSON_AddBoolToObject(unknown, "broken", u->broken);
        cJSON_AddStringToObject(unknown, "where", u->where);
        cJSON_AddStringToObject(unknown, "form", u->reading ? u->reading->what : "");
        cJSON_AddBoolToObject(unknown, "likely", u->thin);
        cJSON_AddStringToObject(unknown, "what",
                                u->reading ? u->reading->what
                                : u->thin  ? u->about->what
                                           : "");
        cJSON_AddStringToObject(unknown, "next", explain_next(r));
        if (r->program && r->program->next)
            cJSON_AddStringToObject(unknown, "try", r->program->next);
    }
    cJSON *notes = cJSON_AddArrayToObject(object, "notes");
    for (size_t i = 0; i < r->n_notes; i++)
        cJSON_AddItemToArray(notes, cJSON_CreateString(r->notes[i]));
    cJSON *list = cJSON_AddArrayToObject(object, "findings");
    for (size_t i = 0; i < r->n_matches; i++) {
        const struct explain_match *m = &r->matches[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "id", m->signature->id);
        cJSON_AddNumberToObject(row, "weight", m->signature->weight);
        cJSON_AddNumberToObject(row, "line", (double)m->line);
        cJSON_AddNumberToObject(row, "count", (double)m->count);
        cJSON_AddNumberToObject(row, "follows_from", (double)m->follows);
        cJSON_AddStringToObject(row, "excerpt", m->excerpt);
        cJSON_AddBoolToObject(row, "by_form", m->by_form);
        cJSON_AddBoolToObject(row, "by_facts", m->by_facts);
        cJSON_AddStringToObject(row, "where", m->where);
        cJSON_AddStringToObject(row, "what", m->signature->what);
        char code[256];
        cJSON_AddStringToObject(row, "code",
                                explain_code_text(m->excerpt, code, sizeof code) ? code : "");
        cJSON_AddStringToObject(row, "why", m->signature->why);
        cJSON_AddStringToObject(row, "do", explain_remedy(r, m));
        cJSON_AddBoolToObject(row, "override_suspected", explain_by_override(r, m));
        cJSON_AddStringToObject(row, "source", m->by_form ? "" : m->signature->source);
        cJSON_AddItemToArray(list, row);
    }
    return object;
}

/* A field of the table: a text on one line, tabs and line ends made blanks. */
static void print_field(const char *text, char end)
{
    for (; *text; text++) putchar(*text == '\n' || *text == '\t' ? ' ' : *text);
    putchar(end);
}

/* Every row of the table of signatures. */
static int print_table(void)
{
    for (const struct explain_signature *s = explain_signatures; s->id; s++) {
        print_field(s->id, '\t');
        print_field(s->example, '\t');
        print_field(s->what, '\t');
        print_field(s->why, '\t');
        print_field(s->remedy, '\t');
        print_field(s->source, '\n');
    }
    return CLI_OK;
}

/* Input without end: say now and then how far it is, and answer when told to stop. */
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

struct watch {
    double next; /* seconds of the clock at which to speak again */
    double pause;
    bool terminal;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool watch(void *context, const struct explain_result *so_far)
{
    struct watch *w = context;
    const double time = now();
    if (time < w->next) return !stopped;
    char bytes[32];
    fprintf(stderr,
            "%sread %s, %" PRIu64 " lines, %zu findings so far; Ctrl-C ends it and shows them%s",
            w->terminal ? "\r" : "rmcp explain: ", cli_bytes(so_far->bytes, bytes), so_far->lines,
            so_far->n_matches, w->terminal ? "  " : "\n");
    if (!w->terminal) w->pause *= 2; /* into a file: seldom */
    w->next = time + w->pause;
    return !stopped;
}

static rmcp_status read_log(int fd, struct explain_result *result)
{
    struct watch w = { .terminal = isatty(STDERR_FILENO) };
    w.pause = w.terminal ? 1 : 5;
    w.next = now() + 5;
    struct sigaction action = { .sa_handler = stop }, old[2]; /* no SA_RESTART: read() returns */
    sigemptyset(&action.sa_mask);
    stopped = 0;
    sigaction(SIGINT, &action, &old[0]);
    sigaction(SIGTERM, &action, &old[1]);
    rmcp_status status = explain_read(fd, result, watch, &w);
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    if (stopped)
        fprintf(stderr, "%srmcp explain: stopped; what was read so far:\n", w.terminal ? "\n" : "");
    return status;
}

static int open_log(const char *name)
{
    if (!strcmp(name, "-")) return STDIN_FILENO;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat about;
    if (fd < 0) {
        cli_complain("explain", "cannot open '%.200s': %s", name, strerror(errno));
    } else if (!fstat(fd, &about) && S_ISDIR(about.st_mode)) {
        cli_complain("explain", "'%.200s' is a folder; give it a file", name);
        close(fd);
        fd = -1;
    }
    return fd;
}

int cli_explain(int argc, char **argv)
{
    const char *gpu = NULL, *override = NULL;
    bool json = false, table = false;
    const struct cli_option options[] = {
        { "gpu", CLI_TEXT, &gpu, "CARD",
          "the card: gfx1010, \"RX 5600 XT\" (default: what the text says)", NULL },
        { "override", CLI_TEXT, &override, "V",
          "HSA_OVERRIDE_GFX_VERSION as it was set, e.g. 10.3.0", NULL },
        { "json", CLI_FLAG, &json, NULL, "print JSON", NULL },
        { "table", CLI_FLAG, &table, NULL,
          "no log: all that is known: id, example, what, why, cure, source, tabs between", NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "explain",
        .arguments = "[FILE|-]",
        .about = "Reads a log, a Python traceback or a kernel log of any size and says, the most "
                 "important\n"
                 "first, what happened, why, and what to do. Without FILE, or with -, it reads its "
                 "input.",
        .example = "  sudo dmesg | rmcp explain -\n  rmcp explain --gpu \"RX 5600 XT\" --override "
                   "10.3.0 train.log",
        .options = options,
    };
    int n_arguments, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_arguments, &exit_status)) return exit_status;
    if (table && (n_arguments || gpu || override || json))
        return cli_complain("explain", "--table stands alone");
    if (table) return print_table();
    if (n_arguments > 1)
        return cli_complain("explain", "one file at a time; '%.60s' is too much", argv[1]);

    static struct explain_result result;
    rmcp_status status = gpu ? explain_set_chip(&result.card, gpu) : RMCP_OK;
    if (!status && override) status = explain_set_override(&result.card, override);
    if (status) return cli_failed("explain", status);
    const char *name = n_arguments ? argv[0] : "-";
    if (!strcmp(name, "-") && isatty(STDIN_FILENO))
        fprintf(stderr, "paste the log, then press Ctrl-D\n");
    int fd = open_log(name);
    if (fd < 0) return CLI_USAGE;
    status = read_log(fd, &result);
    if (fd != STDIN_FILENO) close(fd);
    if (status) return cli_failed("explain", status);
    if (json) {
        int written = cli_print_json(result_json(&result), "rmcp.explain/1");
        if (written) return written;
    } else {
        print_text(&result, strcmp(name, "-") ? name : "input");
    }
    return result.n_matches || result.unknown.about ? CLI_FINDINGS : CLI_OK;
}
