/* trial_answer.c: writes and reads what the process of a trial says. */
#include "engine/core/trial_answer.h"

#include <string.h>

static const char prefix[] = "rmcp-trial 1 ";
static const char *const words[] = {
    [RMCP_GUARD_UNTRIED] = "untried", [RMCP_GUARD_GOOD] = "good", [RMCP_GUARD_BAD] = "bad"
};

void rmcp_trial_write_begin(FILE *out)
{
    fprintf(out, "%s%s begin\n", prefix, rmcp_version());
    fflush(out);
}

void rmcp_trial_write_end(FILE *out, const struct rmcp_guard_finding *finding)
{
    fprintf(out, "%s%s %.*s\n", prefix, words[finding->state], (int)strcspn(finding->reason, "\n"),
            finding->reason);
    fflush(out);
}

/* What follows `prefix` and `word` at `text`; NULL when they do not stand there. */
static const char *after(const char *text, const char *word)
{
    if (strncmp(text, prefix, strlen(prefix))) return NULL;
    text += strlen(prefix);
    return strncmp(text, word, strlen(word)) ? NULL : text + strlen(word);
}

bool rmcp_trial_read(const char *text, struct rmcp_guard_finding *out)
{
    *out = (struct rmcp_guard_finding){ .state = RMCP_GUARD_TRYING };
    const char *rest = after(text, rmcp_version());
    if (!rest || strncmp(rest, " begin\n", strlen(" begin\n"))) return false;
    const char *line = rest + strlen(" begin\n");
    for (size_t state = 0; state < sizeof words / sizeof *words; state++) {
        rest = words[state] ? after(line, words[state]) : NULL;
        if (!rest || *rest++ != ' ' || !strchr(rest, '\n')) continue;
        const size_t length = strcspn(rest, "\n");
        out->state = (enum rmcp_guard_state)state;
        snprintf(out->reason, sizeof out->reason, "%.*s", (int)(length < 180 ? length : 180), rest);
    }
    return true;
}
