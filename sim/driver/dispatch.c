/* dispatch.c: a dispatch packet becomes a run of the executor; what came of it goes to the runtime.
 */
#include "sim/driver/driver.h"

#include <stdlib.h>
#include <string.h>

/* Codes of the inactive signal: what the trap handler of the runtime would store. */
#define ERROR_CODE 0x8
#define ERROR_APERTURE 0x20000000
#define ERROR_ILLEGAL 0x40000000
#define ERROR_TRAP 0x80000000
#define SCRATCH_WAVE64 0x1
#define SCRATCH_WAVE32 0x400

/* Read what descriptors of all versions have at the same place. */
static bool read_descriptor(struct gpu *gpu, uint64_t address, struct codeobj_descriptor *out)
{
    const uint8_t *bytes = vm_at(gpu, address, 64, SIM_READ);
    if (!bytes) return false;
    memset(out, 0, sizeof *out);
    memcpy(&out->group_bytes, bytes, 4);
    memcpy(&out->private_bytes, bytes + 4, 4);
    memcpy(&out->kernarg_bytes, bytes + 8, 4);
    memcpy(&out->entry_offset, bytes + 16, 8);
    memcpy(&out->rsrc3, bytes + 44, 4);
    memcpy(&out->rsrc1, bytes + 48, 4);
    memcpy(&out->rsrc2, bytes + 52, 4);
    memcpy(&out->properties, bytes + 56, 2);
    return true;
}

/* The queue's ring size register: waves in bits 0-11, bytes of a wave in units of 1 KiB above. */
int64_t dispatch_scratch(struct queue *q, const union aql_packet *p)
{
    struct codeobj_descriptor d;
    if (!p->dispatch.private_bytes || !read_descriptor(q->gpu, p->dispatch.kernel, &d)) return 0;
    const bool wave32 = d.properties & CODEOBJ_PROPERTY_WAVE32;
    const uint32_t ring = q->amd->tmpring_size;
    const uint64_t waves = ring & 0xfff, bytes = (uint64_t)(ring >> 12 & 0x1fff) * 1024;
    if (waves && bytes >= (uint64_t)p->dispatch.private_bytes * (wave32 ? 32 : 64)) return 0;
    return wave32 ? SCRATCH_WAVE32 : SCRATCH_WAVE64;
}

/* What one run tells besides its result. */
struct packet_run {
    struct queue *queue;
    uint64_t fault_address;
    bool wrote, trapped; /* a write to what is mapped for reading only */
};

static void on_report(void *context, const struct sim_report *report)
{
    struct packet_run *run = *(struct packet_run **)context;
    if (report->kind == SIM_FAULT || report->kind == SIM_BAD_FETCH) {
        struct sim_mapping m;
        run->fault_address = report->kind == SIM_FAULT ? report->data_address : report->address;
        run->wrote = vm_find_there(run->queue->gpu, run->fault_address, &m);
    }
    summary_report(run->queue->gpu, report);
}

/* Message 1 is an interrupt; M0 holds the low bits of the event, whose slot the kernel has written.
 */
static void on_message(void *context, unsigned message, uint32_t m0)
{
    (void)context;
    if ((message & 0xf) == 1) events_interrupt(m0 & 0xff);
}

/* Trap 2 is a failed assertion or abort() on the card; 3 is a breakpoint without a debugger. */
static bool on_trap(void *context, unsigned number, const struct sim_report *where)
{
    struct packet_run *run = *(struct packet_run **)context;
    (void)where;
    if (number == 2) run->trapped = true;
    return number == 2 || number == 3;
}

/* A queue that is destroyed takes its kernel with it. */
static bool on_poll(void *context)
{
    const struct packet_run *run = *(struct packet_run **)context;
    return atomic_load(&run->queue->stop);
}

static enum isa_chip chip_of(const struct sim_card *card)
{
    for (unsigned i = 0; i < ISA_N_CHIPS; i++)
        if (!strcmp(isa_chip_name(i), card->chip)) return (enum isa_chip)i;
    return ISA_N_CHIPS;
}

/* The executors of a queue, each made with its first kernel. Their context is a slot for the run.
 */
struct executor {
    struct packet_run *run; /* must be first: callbacks get a pointer to it */
    struct sim *plain, *tracing, *recording;
    struct model *model; /* or NULL: times are the host's */
    unsigned threads;
};

static struct executor *executor_of(struct queue *q)
{
    if (q->executor) return q->executor;
    struct executor *e = calloc(1, sizeof *e);
    if (e) e->threads = (unsigned)driver.options.threads;
    if (e && driver.options.timing) e->model = model_create(q->gpu);
    q->executor = e;
    return e;
}

/* The one for a kernel of this name, or NULL. */
static struct sim *sim_for(struct queue *q, struct executor *e, const char *kernel, bool record)
{
    const bool trace = trace_wanted(kernel) && !record;
    struct sim **sim = trace ? &e->tracing : record ? &e->recording : &e->plain;
    if (*sim) return *sim;
    const struct sim_options options = {
        .chip = chip_of(q->gpu->card),
        .threads = trace ? 1 : e->threads,
        .checks = (uint32_t)driver.options.checks,
        .act_out = (uint32_t)driver.options.act_out,
        .act_out_chance = driver.options.act_chance,
        .act_out_seed = driver.options.act_seed,
        .max_instructions = driver.options.limit,
        .report = on_report,
        .trace = trace ? trace_instruction : NULL,
        .compute_units = q->gpu->card->compute_units,
        .cancelled = on_poll,
        .message = on_message,
        .trap = on_trap,
        .context = e,
        .recorder = record ? model_recorder(e->model) : NULL,
    };
    const struct sim_memory memory = { q->gpu, vm_find_there, vm_describe };
    return sim_create(&options, &memory, sim) ? NULL : *sim;
}

/* Tell the runtime how a kernel ended that did not end well. */
static void report_end(struct packet_run *run, const char *name, const struct sim_result *result)
{
    struct queue *q = run->queue;
    q->failed = true;
    switch (result->fatal) {
    case SIM_FAULT:
    case SIM_BAD_FETCH:
        atomic_store(&q->gpu->dead, true);
        events_memory_fault(q->gpu, run->fault_address, run->wrote);
        return;
    case SIM_FAULT_SCRATCH: aql_error(q, ERROR_APERTURE); return;
    case SIM_RUNAWAY:
        summary_hang(name);
        atomic_store(&q->gpu->dead, true);
        events_hang(q->gpu);
        return;
    case SIM_TRAP: aql_error(q, ERROR_TRAP); return;
    default: aql_error(q, ERROR_ILLEGAL); return;
    }
}

/* True when the runtime has given the kernel enough scratch, which then is used. */
static void use_scratch(struct queue *q, struct sim_dispatch *d, unsigned threads)
{
    if (!d->private_bytes || q->amd->scratch_bytes < sim_scratch_bytes(d, threads)) return;
    d->scratch_address = q->amd->scratch_address;
    d->scratch_bytes = q->amd->scratch_bytes;
    memcpy(d->scratch_descriptor, q->amd->scratch_descriptor, sizeof d->scratch_descriptor);
}

/* A kernel that is to go wrong, to see what the program makes of it: "hang:NAME", "fault:NAME" or
 * "illegal:NAME". True: that is how it ended. */
static bool planted(const char *name, struct packet_run *run, struct sim_result *result)
{
    static const struct {
        const char *what;
        enum sim_kind kind;
    } kinds[] = { { "hang:", SIM_RUNAWAY }, { "fault:", SIM_FAULT }, { "illegal:", SIM_ILLEGAL } };
    const char *plant = driver.options.plant;
    for (size_t i = 0; plant && i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n = strlen(kinds[i].what);
        if (strncmp(plant, kinds[i].what, n) || strcmp(plant + n, name)) continue;
        memset(result, 0, sizeof *result);
        result->fatal = kinds[i].kind;
        run->fault_address = 0x1000;
        summary_finding("planted on %s: %s", run->queue->gpu->card->card, plant);
        return true;
    }
    return false;
}

/* A dispatch again of which only a sample was executed: nothing of it is. */
static bool skipped(const struct executor *e, bool known, uint64_t key, struct sim_result *result)
{
    if (!known || !model_skips(e->model, key)) return false;
    *result = (struct sim_result){ .completed = true };
    return true;
}

bool dispatch_run(struct queue *q, const union aql_packet *p, uint64_t packet_address,
                  uint64_t number)
{
    struct executor *e = executor_of(q);
    struct packet_run run = { .queue = q };
    struct sim_result result;
    char name[256];
    struct sim_dispatch d = {
        .kernel = name,
        .group_bytes = p->dispatch.group_bytes,
        .private_bytes = p->dispatch.private_bytes,
        .kernarg_address = p->dispatch.kernarg,
        .packet_address = packet_address,
        .queue_address = (uint64_t)(uintptr_t)q->amd,
        .dispatch_id = number,
    };
    if (!e || !read_descriptor(q->gpu, p->dispatch.kernel, &d.descriptor)) {
        summary_finding("queue %u of %s: no kernel at 0x%llx", q->id, q->gpu->card->card,
                        (unsigned long long)p->dispatch.kernel);
        q->failed = true;
        aql_error(q, ERROR_CODE);
        return false;
    }
    kernel_name(q->gpu, p->dispatch.kernel, name);
    d.entry = p->dispatch.kernel + (uint64_t)d.descriptor.entry_offset;
    launches_note(q->gpu, p->dispatch.kernel, d.entry, name);
    for (unsigned i = 0; i < 3; i++) {
        d.grid[i] = p->dispatch.grid[i];
        d.workgroup[i] = p->dispatch.workgroup[i];
    }
    use_scratch(q, &d, e->threads);
    e->run = &run;
    const uint64_t start = driver_now_ns();
    uint64_t key = 0;
    const bool known = e->model && model_knows(e->model, q->gpu, &d, &key);
    struct sim *sim = sim_for(q, e, name, e->model && !known);
    if (e->model) q->began = clock_stop() / 10;
    const rmcp_status status = planted(name, &run, &result) || skipped(e, known, key, &result)
                                   ? RMCP_OK
                               : sim ? sim_run(sim, &d, &result)
                                     : RMCP_E_NOMEM;
    e->run = NULL;
    if (e->model) {
        const bool ran = !status && result.completed;
        q->ended = clock_go_on(ran ? model_time(e->model, q->gpu, name, key, known) : 0) / 10;
    }
    if (status) {
        summary_finding("queue %u of %s: the executor refuses %s (%d)", q->id, q->gpu->card->card,
                        name, (int)status);
        q->failed = true;
        aql_error(q, ERROR_CODE);
        return false;
    }
    summary_dispatch(name, q->gpu, &result, driver_now_ns() - start);
    if (result.cancelled) return false;
    if (result.completed && run.trapped) result.completed = false, result.fatal = SIM_TRAP;
    if (!result.completed) report_end(&run, name, &result);
    return result.completed;
}

void dispatch_end(struct queue *q)
{
    if (!q->executor) return;
    sim_destroy(q->executor->plain);
    sim_destroy(q->executor->tracing);
    sim_destroy(q->executor->recording);
    model_destroy(q->executor->model);
    free(q->executor);
    q->executor = NULL;
}
