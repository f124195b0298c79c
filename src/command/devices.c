/* devices.c: rmcp devices: the devices that operations can run on. */
#include "command/cli.h"
#include "command/probe.h"
#include "engine/core/guard.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is known of first use (engine/core/guard.h) ---- */

static const char *const state_names[] = {
    [RMCP_GUARD_UNTRIED] = "untried", [RMCP_GUARD_TRYING] = "being tried",
    [RMCP_GUARD_GOOD] = "good",       [RMCP_GUARD_BAD] = "bad",
    [RMCP_GUARD_CRASHED] = "bad",
};
enum { N_TYPES = 3 };

/* The driver of a device spec when it is one whose first use is guarded, else NULL. */
static const struct rmcp_driver *guarded_driver(const rmcp_device_info *info)
{
    const size_t length = strcspn(info->spec, ":");
    for (size_t i = 0; rmcp_drivers[i]; i++)
        if (strlen(rmcp_drivers[i]->name) == length &&
            !strncmp(rmcp_drivers[i]->name, info->spec, length))
            return rmcp_drivers[i]->guarded && info->usable ? rmcp_drivers[i] : NULL;
    return NULL;
}

static void add_finding(cJSON *list, const rmcp_device_info *info,
                        const struct rmcp_operation *operation, const struct rmcp_algo *algo,
                        rmcp_type type)
{
    const struct rmcp_guard_finding finding = rmcp_guard_look(info, operation, algo, type);
    char name[64];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "algorithm", cli_algorithm(operation, algo, name));
    cJSON_AddStringToObject(item, "type", rmcp_type_names[type]);
    cJSON_AddStringToObject(item, "state", state_names[finding.state]);
    cJSON_AddStringToObject(item, "reason", finding.reason);
    cJSON_AddItemToArray(list, item);
}

static void add_first_use(cJSON *row, const rmcp_device_info *info)
{
    if (!guarded_driver(info)) return;
    cJSON *list = cJSON_AddArrayToObject(row, "first_use");
    for (size_t o = 0; rmcp_operations[o]; o++)
        for (const struct rmcp_algo *const *algo = rmcp_operations[o]->algos; *algo; algo++)
            for (int type = 0; type < N_TYPES && (*algo)->kind == RMCP_LAUNCH_KERNEL; type++)
                add_finding(list, info, rmcp_operations[o], *algo, (rmcp_type)type);
}

/* The types of one algorithm that are in this state, as " f32 f16"; with the reason when bad. */
static void print_state(const rmcp_device_info *info, const struct rmcp_operation *operation,
                        const struct rmcp_algo *algo, enum rmcp_guard_state state, size_t *n_algos)
{
    char name[64];
    size_t n_types = 0;
    cli_algorithm(operation, algo, name);
    for (int type = 0; type < N_TYPES; type++) {
        const struct rmcp_guard_finding finding =
            rmcp_guard_look(info, operation, algo, (rmcp_type)type);
        if (finding.state != state) continue;
        if (state == RMCP_GUARD_BAD || state == RMCP_GUARD_CRASHED) {
            printf("%-10s bad: %s %s: %s\n", "", name, rmcp_type_names[type], finding.reason);
            continue;
        }
        if (!n_types++) {
            if (!(*n_algos)++)
                printf("%-10s %s: %s", "", state_names[state], name);
            else
                printf(", %s", name);
        }
        printf(" %s", rmcp_type_names[type]);
    }
}

static void print_first_use(const rmcp_device_info *info)
{
    if (!guarded_driver(info)) return;
    static const enum rmcp_guard_state states[] = { RMCP_GUARD_GOOD, RMCP_GUARD_TRYING,
                                                    RMCP_GUARD_UNTRIED, RMCP_GUARD_BAD,
                                                    RMCP_GUARD_CRASHED };
    for (size_t s = 0; s < sizeof states / sizeof *states; s++) {
        size_t n_algos = 0;
        for (size_t o = 0; rmcp_operations[o]; o++)
            for (const struct rmcp_algo *const *algo = rmcp_operations[o]->algos; *algo; algo++)
                if ((*algo)->kind == RMCP_LAUNCH_KERNEL)
                    print_state(info, rmcp_operations[o], *algo, states[s], &n_algos);
        if (n_algos) printf("\n");
    }
}

/* Forget about one device, or about all without a spec. Returns the exit status. */
static int forget(const rmcp_device_info *list, size_t n, const char *spec)
{
    rmcp_status status = RMCP_E_ARG;
    if (!spec) status = rmcp_guard_forget(NULL);
    for (size_t i = 0; i < n && spec; i++) {
        const size_t length = strlen(list[i].spec);
        /* "hip:0" also names the only one, which is listed as "hip". */
        if (strncmp(spec, list[i].spec, length)) continue;
        if (spec[length] && strcmp(spec + length, ":0")) continue;
        if (!guarded_driver(&list[i]))
            return cli_complain("devices", "--forget %.60s: nothing is remembered of it", spec);
        status = rmcp_guard_forget(&list[i]);
        break;
    }
    if (status == RMCP_E_ARG)
        return cli_complain("devices", "--forget %.60s: there is no such device", spec);
    return status ? cli_failed("devices", status) : CLI_OK;
}

/* ---- the list ---- */

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
    add_first_use(row, info);
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
    print_first_use(info);
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
    bool json = false, forgetting = false;
    const struct cli_option options[] = {
        { "forget", CLI_FLAG, &forgetting, NULL,
          "forget what first use found on device SPEC, or on all, so that it is tried again",
          NULL },
        { "json", CLI_FLAG, &json, NULL, "print JSON", NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "devices",
        .arguments = "[SPEC]",
        .about =
            "Lists every device of every driver, and why a driver has none; for GPUs also which\n"
            "algorithms were tried on them and found good or bad. SPEC is for --forget.",
        .example = "  rmcp devices\n"
                   "  rmcp devices --forget hip:0",
        .options = options,
    };
    int n_arguments, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_arguments, &exit_status)) return exit_status;
    if (n_arguments > 1 || (n_arguments && !forgetting))
        return cli_complain("devices", "'%.60s' is too much; rmcp devices --help", argv[0]);

    struct cli_device_list list = { 0 };
    rmcp_status status = cli_probe_devices(&list);
    if (status) {
        free(list.entries);
        return cli_failed("devices", status);
    }

    exit_status = CLI_OK;
    if (forgetting) {
        exit_status = forget(list.entries, list.n, n_arguments ? argv[0] : NULL);
        if (!exit_status && json) {
            cJSON *object = cJSON_CreateObject();
            cJSON_AddStringToObject(object, "forgotten", n_arguments ? argv[0] : "all");
            exit_status = cli_print_json(object, "rmcp.devices.forget/1");
        }
    } else if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON *rows = cJSON_AddArrayToObject(object, "devices");
        for (size_t i = 0; i < list.n; i++)
            cJSON_AddItemToArray(rows, device_json(&list.entries[i]));
        exit_status = cli_print_json(object, "rmcp.devices/1");
    } else {
        for (size_t i = 0; i < list.n; i++) print_device(&list.entries[i]);
        cli_apart(print_choice);
    }
    free(list.entries);
    return exit_status;
}
