/* patterns.c: runs the kernels of patterns.cl and knows what they should give. */
#include "help/owner/patterns.h"

#include "base/error.h"
#include "pattern_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct owner_pattern owner_patterns[] = {
    { "branch_3f", "branch-3f", "a branch may go wrong" },
    { "flat_offset", "flat-offset", "wrong data may be read" },
    { "lds_misaligned", "lds-misaligned", "wrong data may be read" },
    { "absent_dot", "absent instruction", "the card may report an illegal instruction" },
    { "vcmpx_permlane", "vcmpx-permlane", "wrong data may be moved" },
    { "vcmpx_exec_war", "vcmpx-exec-war", "lanes may be lost" },
    { "lds_branch_vmem", "lds-branch-vmem", "stores may be lost" },
    { "vmem_scalar_write", "vmem-scalar-write", "a page fault may end the process" },
    { "smem_vector_write", "smem-vector-write", "a page fault may end the process" },
    { "inst_prefetch", "inst-prefetch", "the card may hang; a reboot may be needed" },
    { NULL, NULL, NULL },
};

enum { N_WORDS = 1024, GROUPS = N_WORDS / 64, ROUNDS = 64 };

const void *owner_pattern_object(const char *target, size_t *size)
{
#if PATTERNS_BUILT
    if (!strcmp(target, "gfx1010")) {
        *size = (size_t)(patterns_gfx1010_end - patterns_gfx1010);
        return patterns_gfx1010;
    }
    if (!strcmp(target, "gfx1030")) {
        *size = (size_t)(patterns_gfx1030_end - patterns_gfx1030);
        return patterns_gfx1030;
    }
#endif
    (void)target;
    *size = 0;
    return NULL;
}

static unsigned ones(uint32_t word)
{
    unsigned n = 0;
    for (; word; word &= word - 1) n++;
    return n;
}

/* What round `i` adds for work-item `id`, or for inst_prefetch the whole sum from `sum` on. */
static uint32_t expected_round(const char *kernel, const uint32_t *in, uint32_t id, uint32_t i,
                               uint32_t sum)
{
    if (!strcmp(kernel, "vcmpx_exec_war")) {
        uint32_t narrow = 0;
        for (uint32_t lane = 0; lane < 32; lane++)
            if (128 + (i & 63) > in[(id & ~31u) + lane]) narrow |= 1u << lane;
        return sum + 32 * 64 + ones(narrow);
    }
    if (!strcmp(kernel, "vcmpx_permlane")) return sum + in[id ^ 1] + i;
    if (!strcmp(kernel, "vmem_scalar_write")) return sum + in[(id + i) & 1023];
    if (!strcmp(kernel, "smem_vector_write")) return sum + in[4] + i;
    if (!strcmp(kernel, "inst_prefetch")) return sum * 3 + (in[id] ^ i);
    if (!strcmp(kernel, "lds_branch_vmem")) return sum + in[(id + i) & 1023] + i;
    if (!strcmp(kernel, "flat_offset")) return sum + in[((id + i) & 1015) + 4];
    if (!strcmp(kernel, "branch_3f")) return sum + in[id] + i;
    if (!strcmp(kernel, "lds_misaligned"))
        return sum + 2 * in[(id * 4 + 1) & 1023] + in[(id * 4 + 2) & 1023] + i;
    return sum + (in[id] & 1) + (in[id] >> 1 & 1); /* absent_dot */
}

static enum journal_state compare(const char *kernel, const uint32_t *in, const uint32_t *out,
                                  char *detail, size_t size)
{
    size_t n_wrong = 0;
    uint32_t first = 0, wanted = 0;
    for (uint32_t id = 0; id < N_WORDS; id++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < ROUNDS; i++) sum = expected_round(kernel, in, id, i, sum);
        if (out[id] == sum) continue;
        if (!n_wrong++) first = id, wanted = sum;
    }
    if (n_wrong)
        snprintf(detail, size,
                 "%zu of %d results are wrong; the first, of work-item %u, is %u, not %u", n_wrong,
                 N_WORDS, first, out[first], wanted);
    else
        snprintf(detail, size, "%d results of %d rounds are right", N_WORDS, ROUNDS);
    return n_wrong ? JOURNAL_FAILED : JOURNAL_PASSED;
}

/* Launch with x as the input and y as the output. */
static rmcp_status launch(rmcp_device *device, const char *kernel, void *handle, rmcp_memory in,
                          rmcp_memory out)
{
    struct rmcp_launch_list list = { 0 };
    struct rmcp_launch *record = rmcp_launch_append(&list, RMCP_LAUNCH_KERNEL);
    if (!record) return RMCP_E_NOMEM;
    struct rmcp_kernel_launch *k = &record->kernel;
    k->kernel = kernel;
    k->handle = handle;
    k->grid[0] = GROUPS;
    k->block[0] = 64;
    k->grid[1] = k->grid[2] = k->block[1] = k->block[2] = 1;
    enum { INPUT, OUTPUT }; /* slots */
    const uint32_t rounds = ROUNDS;
    rmcp_arg_memory(k, OUTPUT, 0);
    rmcp_arg_memory(k, INPUT, 0);
    rmcp_arg_value(k, &rounds, sizeof rounds);
    rmcp_memory memory[RMCP_MOST_SLOTS] = { { NULL, 0 } };
    memory[INPUT] = in;
    memory[OUTPUT] = out;
    double seconds;
    const struct rmcp_given given = { .memory = memory };
    rmcp_status status = device->driver->submit(device, NULL, &list, &given, &seconds);
    rmcp_launch_list_deinit(&list);
    return status;
}

enum journal_state owner_pattern_run(rmcp_device *device, const struct owner_pattern *pattern,
                                     const char *target, char *detail, size_t size)
{
    size_t bytes;
    const void *object = owner_pattern_object(target, &bytes);
    if (!object || !device->driver->load_object) {
        snprintf(detail, size, "%s",
                 object ? "this driver takes no code objects"
                        : "this build has no pattern kernels: it was made without clang");
        return JOURNAL_SKIPPED;
    }
    if (strncmp(device->info.chip, "gfx10", 5)) {
        snprintf(detail, size, "the chip is '%s', not gfx10", device->info.chip);
        return JOURNAL_SKIPPED;
    }
    uint32_t in[N_WORDS], out[N_WORDS];
    for (uint32_t i = 0; i < N_WORDS; i++) {
        in[i] = (i * 2654435761u) >> 24;
        out[i] = 0xdeadbeef;
    }
    rmcp_memory input = { NULL, 0 }, output = { NULL, 0 };
    void *handle = NULL;
    rmcp_status status = rmcp_buffer_create(device, sizeof in, &input);
    if (!status) status = rmcp_buffer_create(device, sizeof out, &output);
    if (!status) status = rmcp_copy_to_device(device, NULL, input, in, sizeof in);
    if (!status) status = rmcp_copy_to_device(device, NULL, output, out, sizeof out);
    if (!status)
        status = device->driver->load_object(device, object, bytes, pattern->kernel, &handle);
    if (!status) status = launch(device, pattern->kernel, handle, input, output);
    if (!status) status = rmcp_copy_to_host(device, NULL, out, output, sizeof out);
    enum journal_state state = JOURNAL_FAILED;
    if (status)
        snprintf(detail, size, "%s", rmcp_last_error());
    else
        state = compare(pattern->kernel, in, out, detail, size);
    rmcp_buffer_destroy(device, output);
    rmcp_buffer_destroy(device, input);
    return state;
}
