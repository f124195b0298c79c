/* operation.c: finding operations, case strings of any of them, and what their references share. */
#include "engine/core/operation.h"

#include "engine/core/case_text.h"
#include "engine/core/draw.h"
#include "engine/core/form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const rmcp_type_names[] = { "f32", "f16", "bf16", NULL };

size_t rmcp_type_bytes(rmcp_type type)
{
    static const unsigned char bytes[] = {
        [RMCP_F32] = 4, [RMCP_F16] = 2, [RMCP_BF16] = 2, [RMCP_I32] = 4,
        [RMCP_I64] = 8, [RMCP_U8] = 1,  [RMCP_U16] = 2,
    };
    return bytes[type];
}

double rmcp_rounding_error(rmcp_type type, double value)
{
    static const struct {
        double unit, smallest; /* relative, and half of the smallest number */
    } rounding[] = {
        [RMCP_F32] = { 0x1p-24, 0x1p-149 },
        [RMCP_F16] = { 0x1p-11, 0x1p-24 },
        [RMCP_BF16] = { 0x1p-8, 0x1p-133 },
    };
    if (rmcp_type_is_integer(type)) return 0;
    return rounding[type].unit * fabs(value) + rounding[type].smallest;
}

bool rmcp_sum_overflows(double magnitude)
{
    return isfinite(magnitude) && magnitude > 0x1p127;
}

const struct rmcp_operation *rmcp_operation_find(const char *name, size_t length)
{
    for (size_t i = 0; rmcp_operations[i]; i++)
        if (strlen(rmcp_operations[i]->name) == length &&
            !strncmp(rmcp_operations[i]->name, name, length))
            return rmcp_operations[i];
    return NULL;
}

/* The one whose case strings have no name in front. */
static const struct rmcp_operation *nameless(void)
{
    size_t i = 0;
    while (rmcp_operations[i] && !rmcp_operations[i]->nameless) i++;
    return rmcp_operations[i];
}

/* A word in front that can be no problem, having no number: the name of something else. */
static rmcp_status fail_name(const char *text, size_t length)
{
    char name[64] = "", known[200] = "", buffer[64];
    memcpy(name, text, length < sizeof name ? length : sizeof name - 1);
    for (size_t i = 0, used = 0; rmcp_operations[i] && used < sizeof known; i++)
        if (!rmcp_operations[i]->nameless)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                     rmcp_operations[i]->name);
    return rmcp_fail(RMCP_E_ARG, "no operation '%s'; known are %s", rmcp_quoted(name, buffer),
                     known);
}

rmcp_status rmcp_case_parse(const char *text, const struct rmcp_operation **operation,
                            struct rmcp_any_problem problems[static RMCP_MOST_PASSES],
                            size_t *count)
{
    *count = 0;
    *operation = NULL;
    if (!text) return rmcp_fail(RMCP_E_ARG, "text is NULL");
    const size_t length = strcspn(text, ":");
    const struct rmcp_operation *found = text[length] ? rmcp_operation_find(text, length) : NULL;
    if (!found && text[length] && length && strcspn(text, "0123456789") > length)
        return fail_name(text, length);
    *operation = found ? found : nameless();
    if (!*operation) return rmcp_fail(RMCP_E_ARG, "'%.60s' names no operation", text);
    /* Problems of the operation's own size, then each in a room of its own. */
    _Alignas(16) unsigned char packed[RMCP_MOST_PASSES * RMCP_PROBLEM_BYTES];
    const char *rest = found ? text + length + 1 : text;
    rmcp_status status = (*operation)->parse
                             ? (*operation)->parse(rest, packed, count)
                             : rmcp_form_parse((*operation)->form, rest, packed, count);
    for (size_t i = 0; i < *count && !status; i++)
        memcpy(problems[i].bytes, packed + i * (*operation)->problem_bytes,
               (*operation)->problem_bytes);
    if (status) *count = 0;
    return status;
}

rmcp_status rmcp_case_print(const struct rmcp_operation *operation, const void *problem, char *text,
                            size_t size)
{
    const size_t lead = operation->nameless ? 0 : strlen(operation->name) + 1;
    if (size) *text = '\0';
    if (size <= lead) return rmcp_fail(RMCP_E_ARG, "a case string needs more than %zu bytes", size);
    if (lead) snprintf(text, size, "%s:", operation->name);
    return operation->print(problem, text + lead, size - lead);
}

void rmcp_operation_draw(const struct rmcp_operation *operation, uint64_t seed, void *problem)
{
    if (operation->draw)
        operation->draw(seed, problem);
    else
        rmcp_form_draw_any(operation->form, seed, problem);
}
