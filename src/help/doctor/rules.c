/* rules.c: the table of findings: verdict, what it means, and the command that cures it. */
#include "help/doctor/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool doctor_say(struct doctor_words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words->seen, sizeof words->seen, format, arguments);
    va_end(arguments);
    return true;
}

void doctor_value(struct doctor_words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words->value, sizeof words->value, format, arguments);
    va_end(arguments);
}

const struct doctor_rule doctor_rules[] = {
#define RULE(name, ident, about, grade, ...)                                                       \
    { .id = ident, .topic = about, .verdict = grade, .applies = doctor_if_##name, __VA_ARGS__ },
#include "help/doctor/rules.inc"
#undef RULE
};
const size_t doctor_n_rules = sizeof doctor_rules / sizeof *doctor_rules;

/* Put the value into every "{}". */
static void fill(const char *template, const char *value, char *out, size_t room)
{
    size_t used = 0;
    *out = '\0';
    for (const char *hole; (hole = strstr(template, "{}")) && used < room; template = hole + 2)
        used += (size_t)snprintf(out + used, room - used, "%.*s%s", (int)(hole - template),
                                 template, value);
    if (used < room) snprintf(out + used, room - used, "%s", template);
}

size_t doctor_find(const struct doctor_machine *m, struct doctor_finding *findings, size_t room)
{
    size_t n = 0;
    for (int verdict = DOCTOR_PROBLEM; verdict >= DOCTOR_OK; verdict--)
        for (size_t i = 0; i < doctor_n_rules && n < room; i++) {
            struct doctor_words words = { .seen = "" };
            if (doctor_rules[i].verdict != (enum doctor_verdict)verdict) continue;
            if (!doctor_rules[i].applies(m, &words)) continue;
            findings[n].rule = &doctor_rules[i];
            findings[n].why = words.why ? words.why : doctor_rules[i].why;
            memcpy(findings[n].seen, words.seen, sizeof words.seen);
            fill(doctor_rules[i].fix, words.value, findings[n].fix, sizeof findings[n].fix);
            n++;
        }
    return n;
}

size_t doctor_advise(const struct doctor_machine *m, struct doctor_advice *advice, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < doctor_n_options && n < room; i++) {
        struct doctor_words words = { .seen = "" };
        if (!doctor_options[i].applies(m, &words)) continue;
        advice[n].option = &doctor_options[i];
        fill(doctor_options[i].command, words.value, advice[n].command, sizeof advice[n].command);
        n++;
    }
    return n;
}
