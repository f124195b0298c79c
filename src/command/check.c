/* check.c: rmcp check: does this machine's PyTorch use RMCP, and rightly? Without PyTorch: does
 * RMCP itself? */
#include "command/check.h"
#include "dropin/install/program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

cJSON *check_report(void)
{
    cJSON *report = cJSON_CreateObject();
    cJSON_AddStringToObject(report, "verdict", "in the way");
    cJSON_AddNumberToObject(report, "convolutions", 0);
    cJSON_AddArrayToObject(report, "notes");
    cJSON_AddArrayToObject(report, "in_the_way");
    cJSON_AddStringToObject(report, "says", "RMCP is not used");
    return report;
}

void check_add(cJSON *report, const char *id, const char *cure, const char *what, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "id", id);
    cJSON_AddStringToObject(row, "what", text);
    cJSON_AddStringToObject(row, "cure", cure);
    cJSON_AddItemToArray(cJSON_GetObjectItem(report, "in_the_way"), row);
}

void check_note(cJSON *report, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cJSON_AddItemToArray(cJSON_GetObjectItem(report, "notes"), cJSON_CreateString(text));
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
    return text ? text : "";
}

static void print_text(const cJSON *report)
{
    const cJSON *one;
    puts(text_of(report, "says"));
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(report, "notes")) if (cJSON_IsString(one))
        puts(one->valuestring);
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(report, "in_the_way"))
        printf("in the way: %s\n  cure: %s\n", text_of(one, "what"), text_of(one, "cure"));
}

/* Print the report and free it; the exit status. */
static int finish(cJSON *report, bool json)
{
    const int status = strcmp(text_of(report, "verdict"), "right") ? CLI_FINDINGS : CLI_OK;
    if (!json) {
        print_text(report);
        cJSON_Delete(report);
        return status;
    }
    cJSON_DeleteItemFromObject(report, "schema");
    const int printed = cli_print_json(report, "rmcp.check/1");
    return printed ? printed : status;
}

static int run(const struct check_request *request)
{
    char python[PATH_MAX];
    cJSON *report = check_report();
    if (!request->engine && check_python_find(request, python, report)) {
        cJSON *notes = cJSON_DetachItemFromObject(report, "notes"), *note;
        cJSON_Delete(report);
        report = check_python_run(request, python);
        while ((note = cJSON_DetachItemFromArray(notes, 0)))
            cJSON_AddItemToArray(cJSON_GetObjectItem(report, "notes"), note);
        cJSON_Delete(notes);
        return finish(report, request->json);
    }
    if (!request->engine && (request->python || request->miopen))
        return finish(report, request->json); /* it was PyTorch that was asked for */
    const int status = check_engine(request, report);
    if (!status) return finish(report, request->json);
    cJSON_Delete(report);
    return status;
}

int cli_check(int argc, char **argv)
{
    struct check_request r = { .limit = 1800 };
    const struct cli_option options[] = {
        { "python", CLI_TEXT, &r.python, "PYTHON",
          "the Python to ask (default: the active environment's, python3 in\n"
          "                         PATH, the system's: the first that has PyTorch)",
          NULL },
        { "device", CLI_TEXT, &r.device, "SPEC",
          "auto (default: the GPU if there is one), cpu, hip:0, offload:opencl …", NULL },
        { "miopen", CLI_FLAG, &r.miopen, NULL,
          "RMCP's MIOpen in the place of AMD's, instead of rmcp.torch", NULL },
        { "engine", CLI_FLAG, &r.engine, NULL, "RMCP itself, without PyTorch", NULL },
        { "limit", CLI_NUMBER, &r.limit, "SECONDS", "give up after this time (default 1800)",
          NULL },
        { "json", CLI_FLAG, &r.json, NULL, "print JSON (schema rmcp.check/1)", NULL },
        { 0 },
    };
    const struct cli_usage usage = {
        "check",
        "",
        "Runs small networks (residual, depthwise, strided, transposed, 1-D, 3-D; forward and\n"
        "backward) in your PyTorch with its convolutions in RMCP, on the GPU if there is one,\n"
        "compares everything with PyTorch's own results on the CPU, and counts that RMCP did it.\n"
        "Or says what is in the way, and what helps. Without any PyTorch, or with --engine, the\n"
        "same convolutions run in RMCP itself and are compared with plain loops.\n"
        "Exit status: 0 right, 1 wrong, not used or something in the way, 2 wrong usage.",
        "  rmcp check\n"
        "  rmcp check --python ~/venv/bin/python --device hip:0\n"
        "  rmcp check --miopen\n"
        "  rmcp check --engine --device hip:0",
        options,
    };
    char path[PATH_MAX];
    int n = 0, status = CLI_OK;
    if (!cli_parse(&usage, argc, argv, &n, &status)) return status;
    if (r.engine && (r.miopen || r.python))
        return cli_complain("check", "--engine is without PyTorch; --%s is not",
                            r.miopen ? "miopen" : "python");
    if (r.limit < 1 || r.limit > 86400)
        return cli_complain("check", "--limit is %" PRIu64 "; from 1 to 86400 seconds", r.limit);
    if (r.python && !dropin_program_search(r.python, path))
        return cli_complain("check", "--python is '%.300s', which is no program", r.python);
    return run(&r);
}
