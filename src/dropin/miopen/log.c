/* log.c: what the drop-in says. */
#include "dropin/miopen/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct {
    int level; /* the highest that is said */
    bool notices, commands;
} wanted;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* As the original reads its switches: 1, yes, on, true, enable; and their opposites. */
static bool on(const char *name)
{
    const char *text = getenv(name);
    static const char *const yes[] = { "1", "yes", "on", "true", "enable", "enabled" };
    for (size_t i = 0; text && i < sizeof yes / sizeof *yes; i++)
        if (!strcasecmp(text, yes[i])) return true;
    return false;
}

static void read_wishes(void)
{
    const char *level = getenv("MIOPEN_LOG_LEVEL"), *own = getenv("RMCP_LOG");
    wanted.level = level ? atoi(level) : 0;
    wanted.notices = wanted.level != 1;
    wanted.commands = on("MIOPEN_ENABLE_LOGGING_CMD");
    if (on("MIOPEN_ENABLE_LOGGING") && wanted.level < MI_INFO) wanted.level = MI_INFO;
    if (own && *own && atoi(own) == 0 && !on("RMCP_LOG")) {
        wanted.level = 0;
        wanted.notices = wanted.commands = false;
    } else if (own && *own && wanted.level < MI_WARNING) {
        wanted.level = MI_WARNING;
    }
}

bool mi_log_wants(enum mi_level level)
{
    pthread_once(&once, read_wishes);
    return (int)level <= wanted.level;
}

bool mi_log_wants_commands(void)
{
    pthread_once(&once, read_wishes);
    return wanted.commands;
}

/* One write, so that lines of many threads stay whole. */
static void say(const char *before, const char *format, va_list arguments)
{
    char line[1024], text[1000];
    vsnprintf(text, sizeof text, format, arguments);
    snprintf(line, sizeof line, "%s%s\n", before, text);
    fputs(line, stderr);
}

void mi_log(enum mi_level level, const char *format, ...)
{
    if (!mi_log_wants(level)) return;
    va_list arguments;
    va_start(arguments, format);
    say("rmcp: MIOpen: ", format, arguments);
    va_end(arguments);
}

static void say_plain(const char *before, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(before, format, arguments);
    va_end(arguments);
}

void mi_log_notice(const char *line, void *context)
{
    (void)context;
    pthread_once(&once, read_wishes);
    if (wanted.notices) say_plain("rmcp: ", "%s", line);
}

void mi_log_command(const char *text)
{
    static const char before[] = "MIOpen(HIP): Command [LogCmd] ./bin/MIOpenDriver ";
    const size_t size = sizeof before + strlen(text) + 1;
    char *line = malloc(size);
    if (!line) return;
    snprintf(line, size, "%s%s\n", before, text);
    fputs(line, stderr);
    free(line);
}

miopenStatus_t mi_fail(miopenStatus_t status, const char *format, ...)
{
    if (mi_log_wants(MI_ERROR)) {
        va_list arguments;
        va_start(arguments, format);
        say("rmcp: MIOpen: ", format, arguments);
        va_end(arguments);
    }
    return status;
}
