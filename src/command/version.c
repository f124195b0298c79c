/* version.c: rmcp version: what this build is made of. */
#include "command/cli.h"
#include "engine/gpu/images.h"

#include <inttypes.h>

static void add_targets(cJSON *object)
{
    struct rmcp_kernel_target target;
    cJSON *kernels = cJSON_AddObjectToObject(object, "kernels");
    cJSON_AddStringToObject(kernels, "compiler", rmcp_kernel_compiler());
    cJSON_AddStringToObject(kernels, "missing", rmcp_kernel_missing());
    cJSON *targets = cJSON_AddArrayToObject(kernels, "targets");
    for (size_t i = 0; rmcp_kernel_target_at(i, &target); i++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "name", target.name);
        cJSON_AddStringToObject(row, "chips", target.chips);
        cJSON_AddNumberToObject(row, "bytes", (double)target.bytes);
        cJSON_AddNumberToObject(row, "packed_bytes", (double)target.packed_bytes);
        cJSON_AddItemToArray(targets, row);
    }
}

static void print_targets(void)
{
    struct rmcp_kernel_target target;
    uint64_t bytes = 0, packed = 0;
    printf("kernels:     %s%s%s\n", rmcp_kernel_compiler(),
           *rmcp_kernel_compiler() && *rmcp_kernel_missing() ? "; " : "", rmcp_kernel_missing());
    for (size_t i = 0; rmcp_kernel_target_at(i, &target); i++) {
        printf("  %-8s %5" PRIu64 " KiB, packed %4" PRIu64 " KiB, for %s\n", target.name,
               target.bytes / 1024, target.packed_bytes / 1024, target.chips);
        bytes += target.bytes;
        packed += target.packed_bytes;
    }
    if (bytes)
        printf("  %-8s %5" PRIu64 " KiB, packed %4" PRIu64 " KiB\n", "all", bytes / 1024,
               packed / 1024);
}

/* What the CPU device computes with: "oneDNN 2.6.3", or plain loops and why. */
static void write_cpu(char *text, size_t size)
{
    rmcp_device *device = NULL;
    rmcp_device_info info = { .struct_size = sizeof info };
    if (rmcp_device_open("cpu", NULL, &device) || rmcp_device_describe(device, &info))
        snprintf(text, size, "%s", rmcp_last_error());
    else
        snprintf(text, size, "%s%s%s", info.driver, *info.why ? "; " : "", info.why);
    rmcp_device_close(device);
}

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
        .about = "Shows the version, the drivers, the operations with their algorithms and the "
                 "compiled kernels of this "
                 "build.",
        .example = "  rmcp version",
        .options = options,
    };
    int n_arguments, status;
    char name[64], cpu[400];
    if (!cli_parse(&usage, argc, argv, &n_arguments, &status)) return status;

    write_cpu(cpu, sizeof cpu);
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "version", rmcp_version());
        cJSON_AddStringToObject(object, "cpu", cpu);
        cJSON *drivers = cJSON_AddArrayToObject(object, "drivers");
        for (size_t i = 0; rmcp_drivers[i]; i++)
            cJSON_AddItemToArray(drivers, cJSON_CreateString(rmcp_drivers[i]->name));
        cJSON *algorithms = cJSON_AddObjectToObject(object, "algorithms");
        for (size_t o = 0; rmcp_operations[o]; o++)
            for (const struct rmcp_algo *const *algo = rmcp_operations[o]->algos; *algo; algo++)
                cJSON_AddNumberToObject(algorithms, cli_algorithm(rmcp_operations[o], *algo, name),
                                        (*algo)->version);
        add_targets(object);
        return cli_print_json(object, "rmcp.version/1");
    }
    printf("rmcp %s\ndrivers:    ", rmcp_version());
    for (size_t i = 0; rmcp_drivers[i]; i++) printf(" %s", rmcp_drivers[i]->name);
    printf("\ncpu:         %s\n", cpu);
    for (size_t o = 0; rmcp_operations[o]; o++) {
        snprintf(name, sizeof name, "%s:", rmcp_operations[o]->name);
        printf("%-12s", name);
        for (const struct rmcp_algo *const *algo = rmcp_operations[o]->algos; *algo; algo++)
            printf(" %s/%u", (*algo)->name, (unsigned)(*algo)->version);
        printf("\n");
    }
    print_targets();
    return CLI_OK;
}
