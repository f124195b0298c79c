/* memory.c: GPU addresses to host memory, with a few remembered mappings for each thread. */
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/memory/memory.h"

static bool holds(const struct sim_mapping *m, uint64_t address, uint64_t bytes, unsigned access)
{
    uint64_t offset = address - m->first;
    return offset < m->bytes && bytes <= m->bytes - offset && (m->access & access) == access;
}

/* The executor's own scratch is no part of the caller's memory. */
bool memory_find(struct core *core, uint64_t address, struct sim_mapping *out)
{
    const struct sim *sim = core->sim;
    if (address - OWN_SCRATCH < sim->scratch_bytes && sim->scratch) {
        *out = (struct sim_mapping){ OWN_SCRATCH, sim->scratch_bytes, sim->scratch,
                                     SIM_READ | SIM_WRITE };
        return true;
    }
    return sim->memory.find && sim->memory.find(sim->memory.context, address, out) &&
           address - out->first < out->bytes;
}

uint8_t *memory_at(struct core *core, uint64_t address, uint64_t bytes, unsigned access)
{
    struct sim_mapping *m = &core->tlb[core->tlb_last];
    if (holds(m, address, bytes, access)) return m->host + (address - m->first);
    for (unsigned i = 0; i < N_TLB; i++) {
        m = &core->tlb[i];
        if (!holds(m, address, bytes, access)) continue;
        core->tlb_last = i;
        return m->host + (address - m->first);
    }
    struct sim_mapping found;
    if (!memory_find(core, address, &found)) return NULL;
    m = &core->tlb[core->tlb_last = core->tlb_next];
    core->tlb_next = (core->tlb_next + 1) % N_TLB;
    *m = found;
    return holds(m, address, bytes, access) ? m->host + (address - m->first) : NULL;
}

/* Copy in pieces of one mapping each; `write` tells the direction. */
static bool copy(struct core *core, uint64_t address, uint8_t *bytes, uint64_t n, unsigned access,
                 bool write)
{
    while (n) {
        uint8_t *at = memory_at(core, address, 1, access);
        if (!at) return false;
        const struct sim_mapping *m = &core->tlb[core->tlb_last];
        uint64_t part = m->bytes - (address - m->first);
        if (part > n) part = n;
        if (write)
            memcpy(at, bytes, part);
        else
            memcpy(bytes, at, part);
        address += part;
        bytes += part;
        n -= part;
    }
    return true;
}

static bool all_there(struct core *core, uint64_t address, uint64_t n, unsigned access)
{
    while (n) {
        if (!memory_at(core, address, 1, access)) return false;
        const struct sim_mapping *m = &core->tlb[core->tlb_last];
        uint64_t part = m->bytes - (address - m->first);
        if (part >= n) return true;
        address += part;
        n -= part;
    }
    return true;
}

bool memory_read(struct core *core, uint64_t address, void *to, uint64_t bytes, unsigned access)
{
    const uint8_t *at = memory_at(core, address, bytes, access);
    if (at) {
        memcpy(to, at, bytes);
        return true;
    }
    return all_there(core, address, bytes, access) && copy(core, address, to, bytes, access, false);
}

bool memory_write(struct core *core, uint64_t address, const void *from, uint64_t bytes)
{
    uint8_t *at = memory_at(core, address, bytes, SIM_WRITE);
    if (at) {
        memcpy(at, from, bytes);
        return true;
    }
    return all_there(core, address, bytes, SIM_WRITE) &&
           copy(core, address, (uint8_t *)(uintptr_t)from, bytes, SIM_WRITE, true);
}

void memory_fault(struct wave *w, const struct op *op, uint64_t lanes, uint64_t address,
                  unsigned bytes, const char *what)
{
    const struct sim_memory *memory = &w->core->sim->memory;
    char where[128] = "";
    if (memory->describe) memory->describe(memory->context, address, where, sizeof where);
    struct finding f = { .kind = SIM_FAULT, .rule = -1, .lanes = lanes, .data_address = address };
    report(w, op, &f, "%s of %u bytes at 0x%llx%s%s", what, bytes, (unsigned long long)address,
           *where ? ": " : "", where);
}

void misaligned(struct wave *w, const struct op *op, uint64_t lanes, uint64_t address,
                unsigned bytes, const char *what)
{
    if (!(w->core->run->checks & (SIM_CHECK_ALIGNMENT | SIM_CHECK_UNALIGNED))) return;
    struct finding f = {
        .kind = SIM_MISALIGNED, .rule = -1, .lanes = lanes, .data_address = address
    };
    report(w, op, &f, "%s of %u bytes at 0x%llx", what, bytes, (unsigned long long)address);
}
