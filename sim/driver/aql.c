/* aql.c: the packets of a compute queue: dispatches, barriers, completion signals. */
#include "sim/driver/driver.h"

enum { READ_WRITE = SIM_READ | SIM_WRITE };

/* Codes of the inactive signal by which the command processor talks to the runtime. */
enum { ERROR_DIMENSION = 0x2, ERROR_PACKET = 0x20, SCRATCH_RECLAIM = 0x200 };

/* The packet cannot be executed: an address in it is not mapped. */
static void fault(struct queue *q, uint64_t address)
{
    summary_finding("queue %u of %s: a packet names 0x%llx, where the card has no memory", q->id,
                    q->gpu->card->card, (unsigned long long)address);
    atomic_store(&q->gpu->dead, true);
    events_memory_fault(q->gpu, address, false);
}

/* Wake who sleeps on a signal, by its slot and the number of its event. */
static void ring(struct queue *q, uint64_t address, uint32_t event)
{
    if (!address) return;
    uint64_t *mailbox = vm_at(q->gpu, address, 8, READ_WRITE);
    if (mailbox) __atomic_store_n(mailbox, event, __ATOMIC_SEQ_CST);
    events_interrupt(event);
}

static void complete(struct queue *q, uint64_t address, uint64_t start)
{
    if (!address) return;
    struct amd_signal *signal = vm_at(q->gpu, address, sizeof *signal, READ_WRITE);
    if (!signal) {
        fault(q, address);
        return;
    }
    /* With the new value the program may use the signal for something else at once. */
    const uint64_t mailbox = signal->mailbox;
    const uint32_t event = signal->event_id;
    signal->start = q->ended ? q->began : start;
    signal->end = q->ended ? q->ended : driver_gpu_clock();
    __atomic_fetch_sub(&signal->value, 1, __ATOMIC_SEQ_CST);
    ring(q, mailbox, event);
}

static struct amd_signal *inactive_signal(struct queue *q)
{
    return vm_at(q->gpu, q->amd->inactive_signal, sizeof(struct amd_signal), READ_WRITE);
}

void aql_error(struct queue *q, int64_t code)
{
    struct amd_signal *signal = inactive_signal(q);
    if (!signal) return;
    __atomic_store_n(&signal->value, code, __ATOMIC_SEQ_CST);
    ring(q, signal->mailbox, signal->event_id);
}

/* The value of a signal of a packet; false when it is not there (a fault, reported). */
static bool signal_value(struct queue *q, uint64_t address, int64_t *value)
{
    struct amd_signal *signal = vm_at(q->gpu, address, sizeof *signal, SIM_READ);
    if (!signal) {
        fault(q, address);
        return false;
    }
    *value = __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE);
    return true;
}

/* Whether a barrier lets the queue go on. */
static bool passed(struct queue *q, const union aql_packet *p, bool all)
{
    unsigned named = 0, zero = 0;
    for (unsigned i = 0; i < 5; i++) {
        int64_t value;
        if (!p->barrier.signal[i]) continue;
        if (!signal_value(q, p->barrier.signal[i], &value)) return false;
        named++;
        zero += value == 0;
    }
    return !named || (all ? zero == named : zero > 0);
}

static bool value_reached(struct queue *q, const union aql_packet *p)
{
    int64_t value;
    if (!p->vendor.signal) return true;
    if (!signal_value(q, p->vendor.signal, &value)) return false;
    value &= p->vendor.mask;
    switch (p->vendor.condition) {
    case 0: return value == p->vendor.value;
    case 1: return value != p->vendor.value;
    case 2: return value < p->vendor.value;
    default: return value >= p->vendor.value;
    }
}

/* Scratch that was granted for one dispatch only goes back to the runtime after it. */
static void return_scratch(struct queue *q)
{
    if (!(q->amd->properties & AMD_QUEUE_SCRATCH_ONCE) || !q->amd->scratch_bytes) return;
    aql_error(q, SCRATCH_RECLAIM);
    q->waits_for_scratch = true;
}

/* Ask the runtime for scratch when the kernel needs more; false: not yet there. */
static bool has_scratch(struct queue *q, const union aql_packet *p)
{
    const int64_t code = dispatch_scratch(q, p);
    if (!code) return true;
    driver_log("queue %u asks for scratch, code 0x%llx", q->id, (unsigned long long)code);
    q->waits_for_scratch = true;
    aql_error(q, code);
    return false;
}

static bool dispatch(struct queue *q, const union aql_packet *p, uint64_t address, uint64_t number)
{
    for (unsigned i = 0; i < 3; i++)
        if (!p->dispatch.workgroup[i] || !p->dispatch.grid[i]) {
            q->failed = true;
            aql_error(q, ERROR_DIMENSION);
            return false;
        }
    return has_scratch(q, p) && dispatch_run(q, p, address, number);
}

/* True when the packet is done. */
static bool execute(struct queue *q, const union aql_packet *p, uint64_t address, uint64_t number)
{
    switch ((enum aql_type)(p->dispatch.header & 0xff)) {
    case AQL_DISPATCH: return dispatch(q, p, address, number);
    case AQL_BARRIER_AND: return passed(q, p, true);
    case AQL_BARRIER_OR: return passed(q, p, false);
    case AQL_VENDOR:
        /* PM4 commands of the runtime flush caches, which are not simulated. */
        if (p->vendor.format == AQL_VENDOR_BARRIER_VALUE) return value_reached(q, p);
        if (p->vendor.format == AQL_VENDOR_PM4) return true;
        break;
    default: break;
    }
    summary_finding("queue %u of %s: packet %llu has header 0x%04x", q->id, q->gpu->card->card,
                    (unsigned long long)number, (unsigned)p->dispatch.header);
    q->failed = true;
    aql_error(q, ERROR_PACKET);
    return false;
}

/* The runtime resets the inactive signal when it has dealt with a request. */
static bool still_asking(struct queue *q)
{
    if (!q->waits_for_scratch) return false;
    const struct amd_signal *signal = inactive_signal(q);
    q->waits_for_scratch = signal && __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) != 0;
    return q->waits_for_scratch;
}

bool aql_step(struct queue *q)
{
    const uint64_t write = __atomic_load_n(q->write, __ATOMIC_ACQUIRE), read = *q->read;
    if (read >= write || still_asking(q)) return false;
    const uint64_t address = q->ring + read % (q->ring_size / 64) * 64;
    union aql_packet *p = vm_at(q->gpu, address, sizeof *p, READ_WRITE);
    if (!p) {
        fault(q, address);
        return false;
    }
    const uint16_t header = __atomic_load_n(&p->dispatch.header, __ATOMIC_ACQUIRE);
    if ((header & 0xff) == AQL_INVALID) return false; /* not written yet */
    const uint64_t start = driver_gpu_clock();
    const union aql_packet copy = *p;
    q->began = q->ended = 0;
    if (!execute(q, &copy, address, read)) return false;
    if (atomic_load(&q->stop)) return false;
    __atomic_store_n(&p->dispatch.header, AQL_INVALID, __ATOMIC_RELEASE);
    __atomic_store_n(q->read, read + 1, __ATOMIC_RELEASE);
    complete(q, copy.dispatch.completion, start);
    if ((header & 0xff) == AQL_DISPATCH && copy.dispatch.private_bytes) return_scratch(q);
    return true;
}
