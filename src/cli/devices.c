/* devices.c: rmcp devices: the devices that convolutions can run on. */
#include "cli/cli.h"

#include <stdlib.h>

static cJSON *device_json(const rmcp_device_info *info)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "device", info->spec);
    cJSON_AddBoolToObject(row, "usable", (int)info->usable);
    cJSON_AddStringToObject(row, "name", info->name);
    cJSON_AddStringToObject(row, "chip", info->chip);
    cJSON_AddStringToObject(row, "driver", info->driver);
    cJSON_AddNumberToObject(row, "memory_bytes", (double)info->memory_bytes);
    cJSON_AddNumberToObject(row, "compute_units", info->compute_units);
    cJSON_AddBoolToObject(row, "is_cpu", (int)info->is_cpu);
    cJSON_AddStringToObject(row, "remark", info->why);
    return row;
}

static void print_device(const rmcp_device_info *info)
{
    char memory[32];
    if (!info->usable) {
        printf("%-10s not usable: %s\n", info->spec, info->why);
        return;
    }
    printf("%-10s %s\n", info->spec, info->name);
    printf("%-10s %s%s%s, %u %s, %s\n", "", info->driver, *info->chip ? ", " : "", info->chip,
           info->compute_units, info->is_cpu ? "threads" : "compute units",
           cli_bytes(info->memory_bytes, memory));
    if (*info->why) printf("%-10s %s\n", "", info->why);
}

/* What "auto" would take, and why not the others. */
static void print_choice(void)
{
    rmcp_device *device = NULL;
    rmcp_device_info info = { .struct_size = sizeof info };
    if (rmcp_device_open("auto", NULL, &device)) {
        printf("\nauto: %s\n", rmcp_last_error());
        return;
    }
    rmcp_device_describe(device, &info);
    printf("\nauto takes %s\n", info.spec);
    rmcp_device_close(device);
}

int cli_devices(int argc, char **argv)
{
    bool json = false;
    const struct cli_option options[] = {
        { "json", CLI_FLAG, &json, NULL, "print JSON", NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "devices",
        .arguments = "",
        .about = "Lists every device of every driver, and why a driver has none.",
        .example = "  rmcp devices",
        .options = options,
    };
    int n_arguments, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_arguments, &exit_status)) return exit_status;

    size_t n = 0;
    rmcp_status status = rmcp_device_list(NULL, &n);
    if (status) return cli_failed("devices", status);
    rmcp_device_info *list = calloc(n + 1, sizeof *list);
    if (!list) return cli_failed("devices", rmcp_fail_memory("list of devices", n * sizeof *list));
    list[0].struct_size = sizeof *list;
    const size_t room = n;
    status = rmcp_device_list(list, &n);
    if (status) {
        free(list);
        return cli_failed("devices", status);
    }
    if (n > room) n = room; /* one appeared in between */

    exit_status = CLI_OK;
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON *rows = cJSON_AddArrayToObject(object, "devices");
        for (size_t i = 0; i < n; i++) cJSON_AddItemToArray(rows, device_json(&list[i]));
        exit_status = cli_print_json(object, "rmcp.devices/1");
    } else {
        for (size_t i = 0; i < n; i++) print_device(&list[i]);
        print_choice();
    }
    free(list);
    return exit_status;
}
