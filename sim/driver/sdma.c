/* sdma.c: the packets of a copy queue. */
#include "sim/driver/driver.h"

#include <string.h>

enum {
    OP_NOP = 0,
    OP_COPY = 1,
    OP_WRITE = 2,
    OP_FENCE = 5,
    OP_TRAP = 6,
    OP_POLL = 8,
    OP_ATOMIC = 10,
    OP_FILL = 11,
    OP_TIMESTAMP = 13,
    OP_GCR = 17,
};
enum { COPY_LINEAR = 0, COPY_RECTANGLE = 4 };

/* What became of a packet: its length in words, or one of these. */
enum { WAIT = 0, STOP = -1 };

static uint64_t address_at(const uint32_t *w)
{
    return w[0] | (uint64_t)w[1] << 32;
}

/* A page fault, reported as the card would. */
static bool no_memory(struct queue *q, uint64_t address, uint64_t bytes)
{
    summary_finding("copy queue %u of %s: no memory for %llu bytes at 0x%llx", q->id,
                    q->gpu->card->card, (unsigned long long)bytes, (unsigned long long)address);
    atomic_store(&q->gpu->dead, true);
    events_memory_fault(q->gpu, address, false);
    return false;
}

/* Host memory for a packet, or NULL after a fault. */
static void *at(struct queue *q, uint64_t address, uint64_t bytes, unsigned access)
{
    void *host = vm_at(q->gpu, address, bytes, access);
    if (!host) (void)no_memory(q, address, bytes);
    return host;
}

/* Ranges may run over several mappings. */
static bool copy(struct queue *q, uint64_t to, uint64_t from, uint64_t bytes)
{
    while (bytes) {
        struct sim_mapping source, target;
        if (!vm_find_there(q->gpu, from, &source)) return no_memory(q, from, bytes);
        if (!vm_find_there(q->gpu, to, &target) || !(target.access & SIM_WRITE))
            return no_memory(q, to, bytes);
        const uint64_t skip_source = from - source.first, skip_target = to - target.first;
        uint64_t n = bytes;
        if (n > source.bytes - skip_source) n = source.bytes - skip_source;
        if (n > target.bytes - skip_target) n = target.bytes - skip_target;
        memmove(target.host + skip_target, source.host + skip_source, n);
        to += n;
        from += n;
        bytes -= n;
    }
    return true;
}

static int copy_linear(struct queue *q, const uint32_t *w)
{
    return copy(q, address_at(w + 5), address_at(w + 3), (uint64_t)(w[1] & 0x3fffffff) + 1) ? 7
                                                                                            : STOP;
}

/* A box of elements: offsets, pitches and sizes in elements, the last two less one. */
struct box {
    uint64_t base, x, y, z, pitch, slice;
};

static struct box box_at(const uint32_t *w)
{
    return (struct box){ address_at(w), w[2] & 0x3fff,       w[2] >> 16 & 0x3fff,
                         w[3] & 0x7ff,  (w[3] >> 13) + 1ull, (w[4] & 0xfffffff) + 1ull };
}

static int copy_rectangle(struct queue *q, const uint32_t *w)
{
    const struct box from = box_at(w + 1), to = box_at(w + 6);
    const uint64_t width = (w[11] & 0x3fff) + 1, height = (w[11] >> 16 & 0x3fff) + 1;
    const uint64_t depth = (w[12] & 0x7ff) + 1, element = UINT64_C(1) << (w[0] >> 29);
    for (uint64_t z = 0; z < depth; z++)
        for (uint64_t y = 0; y < height; y++) {
            const uint64_t source = (from.z + z) * from.slice + (from.y + y) * from.pitch + from.x;
            const uint64_t target = (to.z + z) * to.slice + (to.y + y) * to.pitch + to.x;
            if (!copy(q, to.base + target * element, from.base + source * element, width * element))
                return STOP;
        }
    return 13;
}

static int write_words(struct queue *q, const uint32_t *w, uint64_t left)
{
    const uint64_t n = (w[3] & 0xfffff) + UINT64_C(1);
    uint8_t *to = at(q, address_at(w + 1), n * 4, SIM_WRITE);
    if (!to || 4 + n > left) return STOP;
    memcpy(to, w + 4, n * 4);
    return (int)(4 + n);
}

/* Bytes 0 … w[4] with the word w[3], of which bits 30-31 of w[0] say how much is repeated. */
static int fill(struct queue *q, const uint32_t *w)
{
    const uint64_t bytes = (w[4] & 0x3fffffff) + UINT64_C(1), unit = UINT64_C(1) << (w[0] >> 30);
    uint64_t address = address_at(w + 1), done = 0;
    while (done < bytes) {
        struct sim_mapping m;
        if (!vm_find_there(q->gpu, address + done, &m) || !(m.access & SIM_WRITE)) {
            (void)no_memory(q, address + done, bytes - done);
            return STOP;
        }
        const uint64_t skip = address + done - m.first;
        for (uint64_t i = skip; i < m.bytes && done < bytes; i++, done++)
            m.host[i] = (uint8_t)(w[3] >> (done % unit % 4 * 8));
    }
    return 5;
}

static int fence(struct queue *q, const uint32_t *w)
{
    uint32_t *to = at(q, address_at(w + 1), 4, SIM_WRITE);
    if (!to) return STOP;
    __atomic_store_n(to, w[3], __ATOMIC_SEQ_CST);
    return 4;
}

static bool compare(unsigned function, uint32_t value, uint32_t reference)
{
    switch (function) {
    case 1: return value < reference;
    case 2: return value <= reference;
    case 3: return value == reference;
    case 4: return value != reference;
    case 5: return value >= reference;
    case 6: return value > reference;
    default: return true;
    }
}

/* Without bit 31 it asks a register (a cache flush that is done at once here). */
static int poll_memory(struct queue *q, const uint32_t *w)
{
    if (!(w[0] >> 31)) return 6;
    const uint32_t *from = at(q, address_at(w + 1), 4, SIM_READ);
    if (!from) return STOP;
    const uint32_t value = __atomic_load_n(from, __ATOMIC_ACQUIRE) & w[4];
    return compare(w[0] >> 28 & 7, value, w[3]) ? 6 : WAIT;
}

static uint64_t combine(unsigned op, uint64_t old, uint64_t operand, uint64_t comparison, bool wide)
{
    const int64_t a = wide ? (int64_t)old : (int32_t)old;
    const int64_t b = wide ? (int64_t)operand : (int32_t)operand;
    switch (op) {
    case 0x07: return operand;
    case 0x08: return old == comparison ? operand : old;
    case 0x0f: return old + operand;
    case 0x10: return old - operand;
    case 0x11: return a < b ? old : operand;
    case 0x12: return old < operand ? old : operand;
    case 0x13: return a > b ? old : operand;
    case 0x14: return old > operand ? old : operand;
    case 0x15: return old & operand;
    case 0x16: return old | operand;
    case 0x17: return old ^ operand;
    case 0x18: return old >= operand ? 0 : old + 1;
    default: return old == 0 || old > operand ? operand : old - 1; /* 0x19 */
    }
}

/* Operations of the memory controller: bit 5 means 64 bits, bit 6 that no result is wanted. */
static int atomic_memory(struct queue *q, const uint32_t *w)
{
    const unsigned op = w[0] >> 25 & 0x1f;
    const bool wide = w[0] >> 25 & 0x20;
    if (op != 0x07 && op != 0x08 && (op < 0x0f || op > 0x19)) {
        summary_finding("copy queue %u of %s: atomic operation %u is not simulated", q->id,
                        q->gpu->card->card, w[0] >> 25);
        return STOP;
    }
    void *to = at(q, address_at(w + 1), wide ? 8 : 4, SIM_READ | SIM_WRITE);
    if (!to) return STOP;
    if (wide) {
        uint64_t *memory = to, old = __atomic_load_n(memory, __ATOMIC_SEQ_CST), new;
        do new = combine(op, old, address_at(w + 3), address_at(w + 5), true);
        while (!__atomic_compare_exchange_n(memory, &old, new, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST));
    } else {
        uint32_t *memory = to, old = __atomic_load_n(memory, __ATOMIC_SEQ_CST), new;
        do new = (uint32_t)combine(op, old, w[3], w[5], false);
        while (!__atomic_compare_exchange_n(memory, &old, new, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST));
    }
    return 8;
}

static int timestamp(struct queue *q, const uint32_t *w)
{
    uint64_t *to = at(q, address_at(w + 1), 8, SIM_WRITE);
    if (!to) return STOP;
    *to = driver_gpu_clock();
    return 3;
}

/* Least number of words of each operation, to see that they lie in the ring. */
static unsigned least_words(unsigned op, unsigned sub)
{
    switch (op) {
    case OP_COPY: return sub == COPY_RECTANGLE ? 13 : 7;
    case OP_WRITE: return 5;
    case OP_FENCE: return 4;
    case OP_TRAP: return 2;
    case OP_POLL: return 6;
    case OP_ATOMIC: return 8;
    case OP_FILL:
    case OP_GCR: return 5;
    case OP_TIMESTAMP: return 3;
    default: return 1;
    }
}

static int execute(struct queue *q, const uint32_t *w, uint64_t left)
{
    const unsigned op = w[0] & 0xff, sub = w[0] >> 8 & 0xff;
    if (least_words(op, sub) > left) return STOP;
    switch (op) {
    case OP_NOP: return 1 + (int)(w[0] >> 16 & 0x3fff);
    case OP_COPY:
        if (sub == COPY_LINEAR) return copy_linear(q, w);
        if (sub == COPY_RECTANGLE) return copy_rectangle(q, w);
        break;
    case OP_WRITE: return write_words(q, w, left);
    case OP_FENCE: return fence(q, w);
    case OP_TRAP: events_interrupt(w[1] & 0xfffffff); return 2;
    case OP_POLL: return poll_memory(q, w);
    case OP_ATOMIC: return atomic_memory(q, w);
    case OP_FILL: return fill(q, w);
    case OP_TIMESTAMP: return timestamp(q, w);
    case OP_GCR: return 5; /* caches are not simulated */
    default: break;
    }
    summary_finding("copy queue %u of %s: packet 0x%08x is not simulated", q->id,
                    q->gpu->card->card, w[0]);
    return STOP;
}

/* Both indices count bytes and never wrap. */
bool sdma_step(struct queue *q)
{
    const uint64_t write = __atomic_load_n(q->write, __ATOMIC_ACQUIRE);
    if (q->position >= write) return false;
    const uint64_t offset = q->position % q->ring_size;
    uint64_t left = q->ring_size - offset;
    if (left > write - q->position) left = write - q->position;
    const uint32_t *words = at(q, q->ring + offset, left, SIM_READ);
    const int n = words && left >= 4 ? execute(q, words, left / 4) : STOP;
    if (n == STOP) q->failed = true;
    if (n <= 0) return false;
    q->position += (uint64_t)n * 4;
    __atomic_store_n(q->read, q->position, __ATOMIC_SEQ_CST);
    return true;
}
