/* device.c: a device for tests whose kernels run on the executor. */
#include "sim/device/device.h"

#include "engine/gpu/kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_KERNELS = 1024, MOST_ARGUMENT_BYTES = 4096 };

/* A kernel that was asked for: one code object, loaded. */
struct loaded {
    const char *name, *entry;
    struct sim_runner *runner;
    uint64_t launches;
};

struct sim_device {
    struct sim_device_options options;
    struct sim_device_counts counts;
    struct loaded kernels[MOST_KERNELS];
    size_t n_kernels;
    const char *running; /* the kernel of the table that is being executed */
    double modelled;     /* seconds, of all launches */
};

/* rmcp_memory.base: host memory; each launch copies it to memory of the executor and back. */
struct device_buffer {
    uint64_t bytes;
    unsigned char *data;
};

static struct sim_device *state_of(const rmcp_device *device)
{
    return device->state;
}

/* ---- memory ---- */

static rmcp_status allocate(struct rmcp_device *device, uint64_t bytes, void **base)
{
    (void)device;
    struct device_buffer *b = malloc(sizeof *b);
    if (!b) return rmcp_fail_memory("buffer", sizeof *b);
    *b = (struct device_buffer){ bytes, malloc(bytes) };
    if (!b->data) {
        free(b);
        return rmcp_fail_memory("buffer", bytes);
    }
    *base = b;
    return RMCP_OK;
}

static void release(struct rmcp_device *device, void *base)
{
    (void)device;
    struct device_buffer *b = base;
    free(b->data);
    free(b);
}

static rmcp_status write_memory(struct rmcp_device *device, void *stream, rmcp_memory target,
                                const void *source, uint64_t bytes)
{
    (void)device, (void)stream;
    const struct device_buffer *b = target.base;
    memcpy(b->data + target.offset, source, bytes);
    return RMCP_OK;
}

static rmcp_status read_memory(struct rmcp_device *device, void *stream, void *target,
                               rmcp_memory source, uint64_t bytes)
{
    (void)device, (void)stream;
    const struct device_buffer *b = source.base;
    memcpy(target, b->data + source.offset, bytes);
    return RMCP_OK;
}

static rmcp_status wait_device(struct rmcp_device *device, void *stream)
{
    (void)device, (void)stream;
    return RMCP_OK;
}

/* ---- kernels ---- */

static void on_report(void *context, const struct sim_report *r)
{
    const struct sim_device *s = context;
    if (s->options.quiet) return;
    printf("report: %s %s%s%s at +0x%" PRIx64 " '%s', group %u,%u,%u wave %u lanes %" PRIx64
           ": %s\n",
           s->running, sim_kind_name(r->kind), r->rule >= 0 ? " " : "",
           r->rule >= 0 ? isa_rule_table[r->rule].id : "", r->offset, r->instruction,
           (unsigned)r->workgroup[0], (unsigned)r->workgroup[1], (unsigned)r->workgroup[2], r->wave,
           r->lanes, r->reason);
}

static rmcp_status load_object(struct sim_device *s, struct loaded *k)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.co", s->options.folder, k->name);
    FILE *file = fopen(path, "rb");
    if (!file) return rmcp_fail(RMCP_E_IO, "%.900s cannot be opened", path);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    void *bytes = size > 0 ? malloc((size_t)size) : NULL;
    rmcp_status status = RMCP_OK;
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size)
        status = rmcp_fail(RMCP_E_IO, "%.900s cannot be read", path);
    fclose(file);
    if (!status) status = sim_runner_create(bytes, (size_t)size, &s->options.sim, &k->runner);
    free(bytes);
    return status;
}

static rmcp_status load_kernel(struct rmcp_device *device, const char *kernel, void **handle)
{
    struct sim_device *s = state_of(device);
    for (size_t i = 0; i < s->n_kernels; i++)
        if (!strcmp(s->kernels[i].name, kernel)) {
            *handle = &s->kernels[i];
            return RMCP_OK;
        }
    const struct rmcp_kernel *row = rmcp_kernel_find(kernel);
    if (!row || s->n_kernels == MOST_KERNELS)
        return rmcp_fail(RMCP_E_INTERNAL, "no kernel '%s'", kernel);
    struct loaded *k = &s->kernels[s->n_kernels];
    *k = (struct loaded){ .name = row->name, .entry = row->entry };
    rmcp_status status = load_object(s, k);
    if (status) return status;
    s->n_kernels++;
    *handle = k;
    return RMCP_OK;
}

/* ---- launches ---- */

/* The kernarg segment of a launch; a memory argument is a pointer and an offset. */
static rmcp_status fill_arguments(const struct codeobj_kernel *kernel,
                                  const struct rmcp_kernel_launch *launch,
                                  const struct rmcp_given *given, const uint64_t *address,
                                  unsigned char *segment, size_t *bytes)
{
    const rmcp_memory *memory = given->memory;
    struct rmcp_made made;
    size_t at = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < launch->n_args; i++) {
        const struct rmcp_arg *arg = &launch->args[i];
        const uint64_t words[2] = { address[arg->slot], memory[arg->slot].offset + arg->offset };
        const bool is_memory = arg->kind == RMCP_ARG_MEMORY;
        for (int part = 0; part < (is_memory ? 2 : 1); part++, at++) {
            const size_t n = is_memory ? 8 : arg->bytes;
            if (at >= kernel->n_arguments || kernel->arguments[at].size != n ||
                kernel->arguments[at].offset + n > MOST_ARGUMENT_BYTES)
                return rmcp_fail(RMCP_E_INTERNAL, "%s: argument %zu does not fit", kernel->name,
                                 at);
            memcpy(segment + kernel->arguments[at].offset,
                   is_memory ? &words[part] : rmcp_arg_bytes(arg, given->scalars, &made), n);
            *bytes = kernel->arguments[at].offset + n;
        }
    }
    return RMCP_OK;
}

static void add_stats(struct sim_stats *sum, const struct sim_stats *one)
{
    for (int i = 0; i < SIM_N_CLASSES; i++) {
        sum->instructions[i] += one->instructions[i];
        sum->lanes[i] += one->lanes[i];
        sum->slots[i] += one->slots[i];
    }
    sum->bytes_loaded += one->bytes_loaded;
    sum->bytes_stored += one->bytes_stored;
    sum->lds_loaded += one->lds_loaded;
    sum->lds_stored += one->lds_stored;
    sum->waves += one->waves;
    sum->workgroups += one->workgroups;
}

static void add_result(struct sim_device *s, const struct sim_result *r)
{
    struct sim_device_counts *c = &s->counts;
    c->launches++;
    c->reports += r->n_reports;
    c->absent += !r->completed && r->fatal == SIM_ILLEGAL;
    for (int i = 0; i < SIM_N_KINDS; i++) c->happened[i] += r->happened[i];
    for (int i = 0; i < ISA_N_RULES; i++) c->patterns[i] += r->patterns[i];
    add_stats(&c->stats, &r->stats);
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static rmcp_status model(struct sim_device *s)
{
    struct timing_result result;
    const rmcp_status status = timing_estimate(s->options.sampler, false, NULL, &result);
    if (status) return status;
    s->modelled += result.seconds;
    if (s->options.modelled) s->options.modelled(s->options.modelled_context, s->running, &result);
    return RMCP_OK;
}

static rmcp_status run(struct sim_device *s, const struct rmcp_kernel_launch *launch,
                       const struct rmcp_given *given)
{
    const rmcp_memory *memory = given->memory;
    struct loaded *k = launch->handle;
    const struct codeobj_kernel *kernel = sim_runner_kernel(k->runner, k->entry);
    if (!kernel) return rmcp_fail(RMCP_E_INTERNAL, "%s: no kernel '%s'", k->name, k->entry);
    const bool blind = s->options.sampler && s->options.sampler->only;
    uint64_t address[RMCP_MOST_SLOTS] = { 0 };
    void *host[RMCP_MOST_SLOTS] = { NULL };
    sim_runner_clear(k->runner);
    for (uint32_t i = 0; i < launch->n_args; i++) {
        const int slot = (int)launch->args[i].slot;
        if (launch->args[i].kind != RMCP_ARG_MEMORY || address[slot]) continue;
        const struct device_buffer *b = memory[slot].base;
        if (!b) return rmcp_fail(RMCP_E_INTERNAL, "%s: slot %d is empty", k->name, slot);
        address[slot] = sim_runner_buffer(k->runner, b->bytes, 0, &host[slot]);
        if (!address[slot]) return rmcp_fail_memory("buffer", b->bytes);
        if (!blind) memcpy(host[slot], b->data, b->bytes);
    }
    unsigned char arguments[MOST_ARGUMENT_BYTES];
    struct sim_launch l = { .arguments = arguments };
    rmcp_status status =
        fill_arguments(kernel, launch, given, address, arguments, &l.n_argument_bytes);
    if (status) return status;
    for (int i = 0; i < 3; i++) {
        l.block[i] = launch->block[i];
        l.grid[i] = launch->grid[i] * launch->block[i];
    }
    struct sim_result result;
    s->running = k->name;
    const double start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    status = sim_runner_run(k->runner, k->entry, &l, &result);
    s->counts.seconds += now(CLOCK_MONOTONIC) - start;
    s->counts.cpu_seconds += now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (status) return status;
    add_result(s, &result);
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
        const struct device_buffer *b = memory[slot].base;
        if (host[slot] && !blind) memcpy(b->data, host[slot], b->bytes);
    }
    if (!result.completed)
        return rmcp_fail(RMCP_E_DEVICE, "%s was stopped: %s", k->name, sim_kind_name(result.fatal));
    k->launches++;
    return s->options.sampler ? model(s) : RMCP_OK;
}

static rmcp_status submit(struct rmcp_device *device, void *stream,
                          const struct rmcp_launch_list *list, const struct rmcp_given *given,
                          double *seconds)
{
    (void)stream;
    struct sim_device *s = state_of(device);
    const double start = now(CLOCK_MONOTONIC), modelled = s->modelled;
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < list->n_records && !status; i++)
        status = run(s, &list->records[i].kernel, given);
    if (seconds)
        *seconds = s->options.sampler ? s->modelled - modelled : now(CLOCK_MONOTONIC) - start;
    return status;
}

/* ---- opening ---- */

static void close_device(struct rmcp_device *device)
{
    struct sim_device *s = device->state;
    for (size_t i = 0; i < s->n_kernels; i++) sim_runner_destroy(s->kernels[i].runner);
    free(s);
}

static const struct rmcp_driver driver = {
    .name = "sim",
    .close = close_device,
    .allocate = allocate,
    .release = release,
    .write = write_memory,
    .read = read_memory,
    .wait = wait_device,
    .load_kernel = load_kernel,
    .submit = submit,
};

rmcp_status sim_device_open(const struct sim_device_options *options, rmcp_device **out)
{
    struct rmcp_device *device = calloc(1, sizeof *device);
    struct sim_device *s = calloc(1, sizeof *s);
    if (!device || !s) {
        free(device);
        free(s);
        return rmcp_fail_memory("device", sizeof *s);
    }
    s->options = *options;
    s->options.sim.report = on_report;
    s->options.sim.context = s;
    /* The figures of an RX 5700 XT, or of one with fewer units. */
    const uint32_t units = options->compute_units ? options->compute_units : 40;
    *device = (struct rmcp_device){
        .driver = &driver,
        .state = s,
        .info = { .struct_size = sizeof device->info, .usable = 1, .spec = "sim" },
        .caps = {
            .kinds = RMCP_LAUNCH_KERNEL,
            .compute_units = units,
            .max_block = 1024,
            .local_bytes = 65536,
            .max_buffer_bytes = UINT64_C(1) << 32,
            .flops_per_second = 9.75e12 / 40 * units,
            .bytes_per_second = 448e9,
            .launch_seconds = 5e-6,
        },
    };
    if (options->sampler) {
        const struct timing_card *card = options->sampler->card;
        device->caps.compute_units = 2 * card->wgps;
        device->caps.family = RMCP_FAMILY_RDNA;
        device->caps.flops_per_second = 2 * 64 * 2e6 * card->wgps * card->mhz;
        device->caps.bytes_per_second = card->dram_B_s;
    }
    *out = device;
    return RMCP_OK;
}

const struct sim_device_counts *sim_device_counts(const rmcp_device *device)
{
    return &state_of(device)->counts;
}

uint64_t sim_device_launches(const rmcp_device *device, const char *kernel)
{
    const struct sim_device *s = state_of(device);
    for (size_t i = 0; i < s->n_kernels; i++)
        if (!strcmp(s->kernels[i].name, kernel)) return s->kernels[i].launches;
    return 0;
}

int sim_device_chip(const char *name)
{
    for (unsigned chip = 0; isa_chip_name(chip); chip++)
        if (!strcmp(isa_chip_name(chip), name)) return (int)chip;
    return -1;
}
