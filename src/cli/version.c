/* version.c: rmcp version: what this build is made of. */
#include "cli/cli.h"

int cli_version(int argc, char **argv)
{
    bool json = false;
    const struct cli_option options[] = {
        { "json", CLI_FLAG, &json, NULL, "print JSON", NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "version",
        .arguments = "",
        .about = "Shows the version, the drivers and the algorithms of this build.",
        .example = "  rmcp version",
        .options = options,
    };
    int n_arguments, status;
    if (!cli_parse(&usage, argc, argv, &n_arguments, &status)) return status;

    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "version", rmcp_version());
        cJSON *drivers = cJSON_AddArrayToObject(object, "drivers");
        for (size_t i = 0; rmcp_drivers[i]; i++)
            cJSON_AddItemToArray(drivers, cJSON_CreateString(rmcp_drivers[i]->name));
        cJSON *algorithms = cJSON_AddObjectToObject(object, "algorithms");
        for (size_t i = 0; rmcp_algos[i]; i++)
            cJSON_AddNumberToObject(algorithms, rmcp_algos[i]->name, rmcp_algos[i]->version);
        return cli_print_json(object, "rmcp.version/1");
    }
    printf("rmcp %s\ndrivers:   ", rmcp_version());
    for (size_t i = 0; rmcp_drivers[i]; i++) printf(" %s", rmcp_drivers[i]->name);
    printf("\nalgorithms:");
    for (size_t i = 0; rmcp_algos[i]; i++)
        printf(" %s/%u", rmcp_algos[i]->name, (unsigned)rmcp_algos[i]->version);
    printf("\n");
    return CLI_OK;
}
