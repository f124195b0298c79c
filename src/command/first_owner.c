/* first_owner.c: rmcp verify --first-owner: from looking at a card to trusting it, step by step.
 *
 * Each step runs in a process of its own with a time limit. Before it begins the journal says so on
 * the disk; a step in which a run ended is never tried again. */
#include "base/child.h"
#include "base/error.h"
#include "command/cli.h"
#include "help/owner/steps.h"
#include "help/owner/system.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static const char title[] = "rmcp first-owner log, version 1";

struct visit {
    struct cli_first_owner options;
    struct journal *journal;
    enum rmcp_launch_kind kind;
    char program[4096];
    enum { UNASKED, YES, NO } agreed[OWNER_N_STAGES];
    size_t n[JOURNAL_N_STATES];
    bool stop;
};

/* The child's side: one step, its result as the last line of stdout. Naming it is consent. */
static int run_step(const struct visit *v)
{
    const struct cli_first_owner *options = &v->options;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without its journal a step means nothing */
    struct owner_step step;
    if (!owner_step_find(options->step, v->kind, &step))
        return cli_complain("verify", "there is no step '%.90s'", options->step);
    if (v->agreed[step.stage] == NO)
        return cli_complain("verify", "--skip leaves out the stage of --step '%.90s'",
                            options->step);
    rmcp_device *device = NULL;
    char detail[512];
    enum journal_state state = JOURNAL_FAILED;
    if (rmcp_device_open(options->device, NULL, &device))
        snprintf(detail, sizeof detail, "%s", rmcp_last_error());
    else
        state = owner_step_run(device, &step, detail, sizeof detail);
    rmcp_device_close(device);
    printf("%s %s\n", journal_words[state], detail);
    return state == JOURNAL_FAILED ? CLI_FINDINGS : CLI_OK;
}

/* What the process of a step says: the last bytes of each stream. */
struct words {
    char out[4096], err[4096];
};

/* The last line of what the child said. */
static enum journal_state read_answer(struct words *said, char *detail, size_t size)
{
    size_t length = strlen(said->out);
    while (length && said->out[length - 1] == '\n') said->out[--length] = '\0';
    const char *line = strrchr(said->out, '\n');
    line = line ? line + 1 : said->out;
    for (int state = JOURNAL_PASSED; state <= JOURNAL_SKIPPED; state++) {
        size_t word = strlen(journal_words[state]);
        if (!strncmp(line, journal_words[state], word) && line[word] == ' ') {
            snprintf(detail, size, "%s", line + word + 1);
            return (enum journal_state)state;
        }
    }
    const char *last = strrchr(said->err, '\n');
    snprintf(detail, size, "no answer; it said: %.300s", last && last[1] ? last + 1 : said->err);
    return JOURNAL_FAILED;
}

static enum journal_state judge(struct visit *v, const struct rmcp_child *child, struct words *said,
                                double limit, char *detail, size_t size)
{
    switch (child->end) {
    case RMCP_CHILD_EXITED:
    case RMCP_CHILD_UNKNOWN: return read_answer(said, detail, size);
    case RMCP_CHILD_KILLED:
        snprintf(detail, size, "the process was ended by signal %d (%s); it said: %.300s",
                 child->code, strsignal(child->code), said->err);
        return JOURNAL_FAILED;
    case RMCP_CHILD_LATE:
        snprintf(detail, size, "no end after %.0f s; the process was killed", limit);
        return JOURNAL_FAILED;
    default:
        v->stop = true;
        snprintf(detail, size,
                 "no end after %.0f s, and the process cannot be killed: please reboot", limit);
        return JOURNAL_FAILED;
    }
}

/* Drivers may say anything. */
static void make_text(struct rmcp_child_output *output)
{
    for (size_t i = 0; i < output->used; i++)
        if (!output->data[i]) output->data[i] = ' ';
}

/* Consent is --yes, or a whole line at the terminal that begins with y and came after the question.
 */
static bool ask(const struct visit *v, const char *question)
{
    if (v->options.yes) return true;
    if (!isatty(STDIN_FILENO)) return false;
    tcflush(STDIN_FILENO, TCIFLUSH); /* typed during the stage before */
    fprintf(stderr, "%s [y/N] ", question);
    const int first = getchar();
    int last = first;
    while (last != '\n' && last != EOF) last = getchar();
    return (first == 'y' || first == 'Y') && last == '\n';
}

/* Mark the stages of --skip as declined. Returns 0 or an exit status. */
static int leave_out(struct visit *v)
{
    for (const char *text = v->options.skip; text && *text;) {
        const size_t length = strcspn(text, ",");
        int stage = 0;
        while (stage < OWNER_N_STAGES && (strlen(owner_stages[stage].id) != length ||
                                          strncmp(owner_stages[stage].id, text, length)))
            stage++;
        if (stage == OWNER_N_STAGES)
            return cli_complain(
                "verify",
                "--skip: no stage '%.*s'; they are copies, kernel, small, large, times and "
                "patterns",
                (int)(length < 40 ? length : 40), text);
        v->agreed[stage] = NO;
        text += length;
        text += *text == ',';
    }
    return CLI_OK;
}

/* Whether the user wants it; all that puts work on the card is asked for. Patterns are asked for
 * one by one. */
static bool wanted(struct visit *v, const struct owner_step *step)
{
    const struct owner_stage_info *stage = &owner_stages[step->stage];
    if (v->agreed[step->stage] == NO) return false;
    if (step->stage == OWNER_LOOK) return true;
    if (v->agreed[step->stage] == UNASKED) {
        fprintf(stderr, "\n%s: %s\n", stage->name, stage->about);
        v->agreed[step->stage] = ask(v, "go on?") ? YES : NO;
    }
    if (v->agreed[step->stage] == NO) return false;
    if (step->stage != OWNER_PATTERN || !strcmp(step->target, "gfx1010")) return true;
    char question[256];
    snprintf(question, sizeof question, "%s as code for gfx1030 has it (%s): try?",
             step->pattern->rule, step->pattern->danger);
    return ask(v, question);
}

static rmcp_status do_step(struct visit *v, const struct owner_step *step)
{
    char detail[700] = "";
    rmcp_status status = journal_step(v->journal, JOURNAL_TRYING, step->name, "");
    if (status) return status;
    char *argv[] = { v->program,
                     "verify",
                     "--first-owner",
                     "--device",
                     (char *)(uintptr_t)v->options.device,
                     "--step",
                     (char *)(uintptr_t)step->name,
                     NULL };
    const double limit = owner_stages[step->stage].limit_seconds;
    const char *environment[] = { "RMCP_GUARD=0", NULL }; /* the journal guards */
    struct words said;
    struct rmcp_child_output out = { .data = said.out, .size = sizeof said.out },
                             err = { .data = said.err, .size = sizeof said.err };
    const struct rmcp_child_request request = {
        .argv = argv, .environment = environment, .out = &out, .err = &err, .limit_seconds = limit
    };
    struct rmcp_child child;
    status = rmcp_child_run(&request, &child);
    if (status) return status;
    make_text(&out);
    make_text(&err);
    enum journal_state state = judge(v, &child, &said, limit, detail, sizeof detail);
    v->n[state]++;
    printf("%-5s %-48s %6.2f s  %s\n", journal_words[state], step->name, child.seconds, detail);
    fflush(stdout);
    char line[800];
    snprintf(line, sizeof line, "%.2f s; %s", child.seconds, detail);
    status = journal_step(v->journal, state, step->name, line);
    if (state == JOURNAL_FAILED && step->stage <= OWNER_KERNEL)
        v->stop = true; /* nothing will work */
    return status;
}

static rmcp_status go_through(struct visit *v)
{
    struct owner_step step;
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; !status && !v->stop && owner_step_at(i, v->kind, &step); i++) {
        enum journal_state state = journal_state(v->journal, step.name);
        if (state == JOURNAL_TRYING) {
            state = JOURNAL_LOST;
            status = journal_step(
                v->journal, state, step.name,
                "a run ended in the middle of it, by a crash, a kill or a reboot; not tried again");
            printf("%-5s %-48s a run ended in the middle of it; not tried again\n",
                   journal_words[state], step.name);
        }
        /* What was declined may be wanted now; all else stands as it is. */
        bool declined = state == JOURNAL_SKIPPED &&
                        !strncmp(journal_detail(v->journal, step.name), "declined", 8);
        const bool look_again = step.stage == OWNER_LOOK && state == JOURNAL_FAILED; /* harmless */
        if (state != JOURNAL_UNKNOWN && !declined && !look_again) {
            v->n[state]++;
            v->stop |= step.stage <= OWNER_KERNEL && state == JOURNAL_FAILED;
            continue;
        }
        if (status) break;
        if (wanted(v, &step)) {
            status = do_step(v, &step);
        } else {
            v->n[JOURNAL_SKIPPED]++;
            if (!declined)
                status = journal_step(v->journal, JOURNAL_SKIPPED, step.name, "declined");
        }
    }
    return status;
}

static rmcp_status begin(struct visit *v, bool resumed)
{
    char when[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &utc);
    rmcp_status status = journal_note(v->journal, resumed ? "resumed" : "begun", when);
    const char *before = journal_value(v->journal, "device");
    if (!status && before && strcmp(before, v->options.device))
        return rmcp_fail(RMCP_E_ARG,
                         "the log '%.200s' is of device %.30s; give another --log for %s",
                         v->options.log, before, v->options.device);
    if (!status) status = journal_note(v->journal, "device", v->options.device);
    if (!status) status = journal_note(v->journal, "rmcp", rmcp_version());
    return status ? status : system_note_versions(v->journal);
}

static void print_end(const struct visit *v)
{
    printf("\n%zu passed, %zu failed, %zu ended a run, %zu skipped\n", v->n[JOURNAL_PASSED],
           v->n[JOURNAL_FAILED], v->n[JOURNAL_LOST], v->n[JOURNAL_SKIPPED]);
    if (v->stop)
        printf("Stopped early: what follows needs what failed. rmcp doctor may tell why; the same "
               "command "
               "goes on\nwhen that is mended.\n");
    printf("Everything is in %s: please read it, and send it with docs/first-owner-report.md.\n",
           v->options.log);
}

int cli_first_owner(const struct cli_first_owner *options)
{
    static struct visit v;
    v.options = *options;
    if (!v.options.device) v.options.device = "hip:0";
    if (!v.options.log) v.options.log = "rmcp-first-owner.log";
    v.kind = strncmp(v.options.device, "cpu", 3) ? RMCP_LAUNCH_KERNEL : RMCP_LAUNCH_HOST_CALL;
    int wrong = leave_out(&v);
    if (wrong) return wrong;
    if (options->step) return run_step(&v);
    ssize_t n = readlink("/proc/self/exe", v.program, sizeof v.program - 1);
    if (n <= 0)
        return cli_complain("verify", "cannot find this program itself: %s", strerror(errno));
    v.program[n] = '\0';
    bool resumed;
    rmcp_status status = journal_open(v.options.log, title, &resumed, &v.journal);
    if (!status) {
        if (resumed) printf("going on with %s\n", v.options.log);
        status = begin(&v, resumed);
    }
    if (!status) status = go_through(&v);
    if (!status) status = system_note_cards(v.journal);
    if (!status) print_end(&v);
    journal_close(v.journal);
    if (status) return cli_failed("verify", status);
    return v.n[JOURNAL_FAILED] || v.n[JOURNAL_LOST] || v.stop ? CLI_FINDINGS : CLI_OK;
}
