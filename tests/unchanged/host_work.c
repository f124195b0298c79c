/* host_work.c: planning and executing, for callgrind to count the host's instructions.
 * usage: host_work DEVICE <LIST
 *
 * Counted are opening the device, and each case's first plan, second plan and one execution. Under
 * callgrind each is dumped to a file of its own, with "DEVICE<tab>CASE<tab>WHAT" as its trigger.
 * Convolutions are planned and executed as their callers do it, others by their case strings. */
#include <rmcp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

enum { MOST_SLOTS = 16, WARM = 3 };

static const char *spec;

static void check(rmcp_status status)
{
    if (!status) return;
    fprintf(stderr, "host_work: %s\n", rmcp_last_error());
    exit(1);
}

static void begin(void)
{
    CALLGRIND_ZERO_STATS;
}

static void end(const char *text, const char *what)
{
    char trigger[RMCP_CASE_MAX + 64];
    snprintf(trigger, sizeof trigger, "%s\t%s\t%s", spec, text, what);
    CALLGRIND_DUMP_STATS_AT(trigger);
}

static rmcp_plan *make_plan(rmcp_device *device, const char *text)
{
    rmcp_plan *plan = NULL;
    rmcp_conv problem = { .struct_size = sizeof problem };
    int pass = -1;
    if (!rmcp_conv_parse(text, &problem, &pass))
        check(rmcp_conv_plan(device, &problem, (rmcp_conv_pass)pass, NULL, &plan));
    else
        check(rmcp_case_plan(device, text, NULL, &plan));
    return plan;
}

/* Memory for all tensors of the plan; convolution's tensors, too, when it is one. */
static void allocate(rmcp_device *device, const rmcp_plan *plan, rmcp_memory *memory,
                     rmcp_slots *slots, rmcp_conv_tensors *conv)
{
    *slots = (rmcp_slots){ .struct_size = sizeof *slots, .memory = memory };
    *conv = (rmcp_conv_tensors){ .struct_size = sizeof *conv };
    for (; slots->count < MOST_SLOTS; slots->count++) {
        rmcp_slot_info info = { .struct_size = sizeof info };
        if (rmcp_plan_slot(plan, slots->count, &info)) break;
        rmcp_memory *one = &memory[slots->count];
        if (info.bytes) check(rmcp_buffer_create(device, info.bytes, one));
        if (!strcmp(info.name, "x")) conv->x = *one;
        if (!strcmp(info.name, "w")) conv->w = *one;
        if (!strcmp(info.name, "y")) conv->y = *one;
        if (!strcmp(info.name, "bias")) conv->bias = *one;
    }
    slots->workspace_bytes = conv->workspace_bytes = rmcp_plan_workspace(plan);
    if (slots->workspace_bytes)
        check(rmcp_buffer_create(device, slots->workspace_bytes, &slots->workspace));
    conv->workspace = slots->workspace;
}

static void execute(rmcp_device *device, const rmcp_plan *plan, const char *text)
{
    rmcp_memory memory[MOST_SLOTS] = { { NULL, 0 } };
    rmcp_slots slots;
    rmcp_conv_tensors tensors;
    rmcp_conv problem = { .struct_size = sizeof problem };
    const int is_conv = !rmcp_conv_parse(text, &problem, NULL);
    allocate(device, plan, memory, &slots, &tensors);
    for (int i = 0; i <= WARM; i++) {
        if (i == WARM) begin();
        if (is_conv)
            check(rmcp_conv_execute(plan, NULL, &tensors));
        else
            check(rmcp_plan_run(plan, NULL, &slots));
    }
    end(text, "execute");
    for (unsigned i = 0; i < slots.count; i++) rmcp_buffer_destroy(device, memory[i]);
    rmcp_buffer_destroy(device, slots.workspace);
}

int main(int argc, char **argv)
{
    static char line[RMCP_CASE_MAX];
    rmcp_device *device = NULL;
    spec = argc > 1 ? argv[1] : "cpu";
    begin();
    check(rmcp_device_open(spec, NULL, &device));
    end("-", "open");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!*line || *line == '#') continue;
        begin();
        rmcp_plan *plan = make_plan(device, line);
        end(line, "plan first");
        begin();
        rmcp_plan *again = make_plan(device, line);
        end(line, "plan again");
        execute(device, again, line);
        printf("%s\t%s\t%s\n", spec, line, rmcp_plan_algorithm(plan));
        rmcp_plan_destroy(plan);
        rmcp_plan_destroy(again);
    }
    rmcp_device_close(device);
    return 0;
}
