/* runner.c: code objects on memory of our own, buffers between gaps. */
#include "sim/runner/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/runner/kernarg.h"
#include "sim/runner/lines.h"

#define CODE_BASE UINT64_C(0x100000000)
#define DATA_BASE UINT64_C(0x400200000) /* a pointer that lost its low half points nowhere */
enum { GAP = 1 << 20, MOST_CODE = 1 << 30, DYNAMIC_STACK = 16384 };
enum { R_ABS64 = 3, R_RELATIVE64 = 13, SHT_RELA = 4, PT_LOAD = 1, SHF_ALLOC = 2, PF_W = 2 };

/* A piece of memory with its GPU address. */
struct piece {
    uint64_t address;
    size_t bytes;
    uint8_t *host;
    unsigned access;
    const char *name;
};

struct sim_runner {
    struct sim_options options;
    struct sim *sim;
    uint8_t *file;
    size_t file_bytes;
    struct codeobj *object;
    struct lines *lines;
    uint8_t *image;
    struct piece *pieces; /* by rising address; the segments first, then services, then buffers */
    size_t n_pieces, room, n_fixed;
    uint64_t next;
    struct piece kernarg, packet, queue;
};

/* ---- memory ---- */

static const struct piece *piece_before(const struct sim_runner *r, uint64_t address)
{
    size_t low = 0, high = r->n_pieces;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->pieces[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &r->pieces[low - 1] : NULL;
}

static bool find(void *context, uint64_t address, struct sim_mapping *out)
{
    const struct piece *p = piece_before(context, address);
    if (!p || address - p->address >= p->bytes) return false;
    *out = (struct sim_mapping){ p->address, p->bytes, p->host, p->access };
    return true;
}

static void describe(void *context, uint64_t address, char *text, size_t bytes)
{
    const struct sim_runner *r = context;
    const struct piece *p = piece_before(r, address), *next = p ? p + 1 : r->pieces;
    if (next == r->pieces + r->n_pieces) next = NULL;
    char name[32] = "", after[32] = "";
    if (p) snprintf(name, sizeof name, p->name, (int)(p - r->pieces - (ptrdiff_t)r->n_fixed));
    if (p && address - p->address < p->bytes) {
        snprintf(text, bytes, "%s may not be %s", name,
                 p->access & SIM_WRITE ? "used so" : "written");
        return;
    }
    if (next)
        snprintf(after, sizeof after, next->name, (int)(next - r->pieces - (ptrdiff_t)r->n_fixed));
    uint64_t past = p ? address - p->address - p->bytes : UINT64_MAX;
    uint64_t before = next ? next->address - address : UINT64_MAX;
    if (address < 65536)
        snprintf(text, bytes, "a null pointer, or near it");
    else if (past <= before && past < UINT64_C(1) << 40)
        snprintf(text, bytes, "%llu bytes past the end of %s (%zu bytes)", (unsigned long long)past,
                 name, p->bytes);
    else if (before < UINT64_C(1) << 40)
        snprintf(text, bytes, "%llu bytes before %s (%zu bytes)", (unsigned long long)before, after,
                 next->bytes);
    else
        snprintf(text, bytes, "nowhere near any buffer");
}

static struct piece *piece_add(struct sim_runner *r, const struct piece *piece)
{
    if (r->n_pieces == r->room) {
        size_t room = r->room ? 2 * r->room : 16;
        struct piece *more = realloc(r->pieces, room * sizeof *more);
        if (!more) return NULL;
        r->pieces = more;
        r->room = room;
    }
    r->pieces[r->n_pieces] = *piece;
    return &r->pieces[r->n_pieces++];
}

static struct piece *allocate(struct sim_runner *r, size_t bytes, unsigned char fill,
                              const char *name)
{
    size_t whole = (bytes + 255) / 256 * 256;
    if (whole < bytes || whole > UINT64_C(1) << 40) return NULL;
    struct piece p = { .address = r->next,
                       .bytes = bytes,
                       .host = aligned_alloc(256, whole ? whole : 256),
                       .access = SIM_READ | SIM_WRITE,
                       .name = name };
    if (!p.host) return NULL;
    memset(p.host, fill, whole ? whole : 256);
    struct piece *added = piece_add(r, &p);
    if (!added) {
        free(p.host);
        return NULL;
    }
    r->next += whole + GAP;
    return added;
}

uint64_t sim_runner_buffer(struct sim_runner *r, size_t bytes, unsigned char fill, void **host)
{
    struct piece *p = allocate(r, bytes, fill, "buffer %d");
    if (host) *host = p ? p->host : NULL;
    return p ? p->address : 0;
}

void sim_runner_clear(struct sim_runner *r)
{
    while (r->n_pieces > r->n_fixed) {
        struct piece *p = &r->pieces[--r->n_pieces];
        r->next = p->address;
        free(p->host);
    }
}

/* ---- loading ---- */

static uint64_t read64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* The segments in one image, so that what lies between them keeps its distance. */
static rmcp_status load_segments(struct sim_runner *r, uint64_t *span)
{
    const struct codeobj *o = r->object;
    *span = 0;
    for (size_t i = 0; i < o->n_segments; i++) {
        const struct codeobj_segment *s = &o->segments[i];
        if (s->type != PT_LOAD) continue;
        if (s->address > MOST_CODE || s->memory_size > MOST_CODE || s->file_size > s->memory_size ||
            s->offset > r->file_bytes || s->file_size > r->file_bytes - s->offset)
            return rmcp_fail(RMCP_E_IO, "segment %zu of the code object is damaged or too big", i);
        if (s->address + s->memory_size > *span) *span = s->address + s->memory_size;
    }
    if (!*span) return rmcp_fail(RMCP_E_UNSUPPORTED, "the code object has nothing to load");
    r->image = aligned_alloc(4096, (*span + 4095) / 4096 * 4096);
    if (!r->image) return rmcp_fail_memory("the code object", *span);
    memset(r->image, 0, *span);
    for (size_t i = 0; i < o->n_segments; i++) {
        const struct codeobj_segment *s = &o->segments[i];
        if (s->type != PT_LOAD || !s->memory_size) continue;
        memcpy(r->image + s->address, r->file + s->offset, s->file_size);
        struct piece p = { .address = CODE_BASE + s->address,
                           .bytes = s->memory_size,
                           .host = r->image + s->address,
                           .access = SIM_READ | SIM_EXECUTE | (s->flags & PF_W ? SIM_WRITE : 0u),
                           .name = "the code object" };
        if (r->n_pieces && p.address < r->pieces[r->n_pieces - 1].address)
            return rmcp_fail(RMCP_E_IO, "segments of the code object are not in order");
        if (!piece_add(r, &p)) return rmcp_fail_memory("the code object", sizeof p);
    }
    return RMCP_OK;
}

static rmcp_status relocate(struct sim_runner *r, uint64_t span)
{
    const struct codeobj *o = r->object;
    for (size_t i = 0; i < o->n_sections; i++) {
        const struct codeobj_section *s = &o->sections[i];
        if (s->type != SHT_RELA || !(s->flags & SHF_ALLOC) || !s->bytes) continue;
        for (uint64_t at = 0; at + 24 <= s->size; at += 24) {
            uint64_t where = read64(s->bytes + at), info = read64(s->bytes + at + 8);
            uint64_t value = read64(s->bytes + at + 16) + CODE_BASE;
            if (where > span || span - where < 8)
                return rmcp_fail(RMCP_E_IO, "relocation at 0x%llx is outside the code object",
                                 (unsigned long long)where);
            if ((uint32_t)info == R_ABS64) {
                const struct codeobj_section *symbols =
                    s->link < o->n_sections ? &o->sections[s->link] : NULL;
                uint64_t entry = (info >> 32) * 24;
                if (!symbols || !symbols->bytes || entry > symbols->size ||
                    symbols->size - entry < 24)
                    return rmcp_fail(RMCP_E_IO,
                                     "a relocation names symbol %llu, which is not there",
                                     (unsigned long long)(info >> 32));
                value += read64(symbols->bytes + entry + 8);
            } else if ((uint32_t)info != R_RELATIVE64) {
                return rmcp_fail(RMCP_E_UNSUPPORTED, "relocation of type %u", (uint32_t)info);
            }
            memcpy(r->image + where, &value, sizeof value);
        }
    }
    return RMCP_OK;
}

/* The queue that kernels may ask for the apertures. */
static rmcp_status add_services(struct sim_runner *r)
{
    struct piece *p;
    r->next = DATA_BASE;
    if (!(p = allocate(r, 4096, 0, "the queue"))) return rmcp_fail_memory("the queue", 4096);
    r->queue = *p;
    uint32_t high[2] = { (uint32_t)(r->options.shared_base >> 32),
                         (uint32_t)(r->options.private_base >> 32) };
    memcpy(p->host + 64, high, sizeof high);
    if (!(p = allocate(r, 64, 0, "the dispatch packet"))) return rmcp_fail_memory("a packet", 64);
    r->packet = *p;
    p->access = SIM_READ;
    if (!(p = allocate(r, 65536, 0, "the kernel arguments")))
        return rmcp_fail_memory("kernel arguments", 65536);
    r->kernarg = *p;
    p->access = SIM_READ;
    r->n_fixed = r->n_pieces;
    return RMCP_OK;
}

rmcp_status sim_runner_create(const void *object, size_t bytes, const struct sim_options *options,
                              struct sim_runner **out)
{
    *out = NULL;
    struct sim_runner *r = calloc(1, sizeof *r);
    if (!r) return rmcp_fail_memory("the runner", sizeof *r);
    r->options = *options;
    if (!r->options.shared_base) r->options.shared_base = UINT64_C(1) << 48;
    if (!r->options.private_base) r->options.private_base = UINT64_C(2) << 48;
    r->file = malloc(bytes ? bytes : 1);
    r->file_bytes = bytes;
    rmcp_status status = r->file ? RMCP_OK : rmcp_fail_memory("the code object", bytes);
    if (!status) {
        memcpy(r->file, object, bytes);
        status = codeobj_open(r->file, bytes, &r->object);
    }
    if (!status && r->object->is_relocatable)
        status = rmcp_fail(RMCP_E_UNSUPPORTED, "the object is not linked; link it with lld");
    uint64_t span;
    if (!status) status = load_segments(r, &span);
    if (!status) status = relocate(r, span);
    if (!status) status = add_services(r);
    const struct sim_memory memory = { r, find, describe };
    if (!status) status = sim_create(&r->options, &memory, &r->sim);
    if (status) {
        sim_runner_destroy(r);
        return status;
    }
    *out = r;
    return RMCP_OK;
}

void sim_runner_destroy(struct sim_runner *r)
{
    if (!r) return;
    sim_runner_clear(r);
    sim_destroy(r->sim);
    lines_close(r->lines);
    codeobj_close(r->object);
    free(r->queue.host);
    free(r->packet.host);
    free(r->kernarg.host);
    free(r->pieces);
    free(r->image);
    free(r->file);
    free(r);
}

const struct codeobj_kernel *sim_runner_kernel(const struct sim_runner *r, const char *name)
{
    return codeobj_find_kernel(r->object, name);
}

const struct codeobj *sim_runner_object(const struct sim_runner *r)
{
    return r->object;
}

/* ---- running ---- */

rmcp_status sim_runner_run(struct sim_runner *r, const char *name, const struct sim_launch *launch,
                           struct sim_result *result)
{
    const struct codeobj_kernel *k = name ? codeobj_find_kernel(r->object, name) : NULL;
    memset(result, 0, sizeof *result);
    if (!k || !k->has_descriptor)
        return rmcp_fail(RMCP_E_ARG, "the code object has no kernel '%.100s'", name ? name : "");
    if (!launch->arguments && launch->n_argument_bytes)
        return rmcp_fail(RMCP_E_ARG, "%zu bytes of arguments at NULL", launch->n_argument_bytes);
    if (launch->n_argument_bytes > r->kernarg.bytes ||
        k->descriptor.kernarg_bytes > r->kernarg.bytes)
        return rmcp_fail(RMCP_E_ARG, "%zu bytes of arguments; at most %zu",
                         launch->n_argument_bytes, r->kernarg.bytes);
    struct sim_dispatch d = { .kernel = name,
                              .descriptor = k->descriptor,
                              .group_bytes = k->descriptor.group_bytes + launch->dynamic_lds,
                              .private_bytes = k->descriptor.private_bytes,
                              .kernarg_address = r->kernarg.address,
                              .packet_address = r->packet.address,
                              .queue_address = r->queue.address };
    d.entry = CODE_BASE + k->descriptor_address + (uint64_t)k->descriptor.entry_offset;
    for (unsigned i = 0; i < 3; i++) {
        d.grid[i] = launch->grid[i] ? launch->grid[i] : 1;
        d.workgroup[i] = launch->block[i] ? launch->block[i] : 1;
    }
    uint64_t items = (uint64_t)d.workgroup[0] * d.workgroup[1] * d.workgroup[2];
    if (k->metadata.max_flat_workgroup_size && items > k->metadata.max_flat_workgroup_size)
        return rmcp_fail(RMCP_E_ARG, "a workgroup of %llu; %s was made for at most %u",
                         (unsigned long long)items, name, k->metadata.max_flat_workgroup_size);
    const uint32_t *required = k->metadata.required_workgroup_size;
    for (unsigned i = 0; i < 3; i++)
        if (required[i] && required[i] != d.workgroup[i])
            return rmcp_fail(RMCP_E_ARG, "a workgroup of %u,%u,%u; %s requires %u,%u,%u",
                             d.workgroup[0], d.workgroup[1], d.workgroup[2], name, required[0],
                             required[1], required[2]);
    /* Recursion and calls through pointers: the compiler cannot know, the runtime gives some. */
    if (k->metadata.uses_dynamic_stack && d.private_bytes < DYNAMIC_STACK)
        d.private_bytes = DYNAMIC_STACK;
    memset(r->kernarg.host, 0, r->kernarg.bytes);
    if (launch->n_argument_bytes)
        memcpy(r->kernarg.host, launch->arguments, launch->n_argument_bytes);
    kernarg_hidden(r->kernarg.host, r->kernarg.bytes, k, &d, &r->options, launch->dynamic_lds);
    kernarg_packet(r->packet.host, &d, CODE_BASE + k->descriptor_address);
    /* Only what the kernel says it has may be read. */
    uint32_t used = k->descriptor.kernarg_bytes;
    if (!used) used = k->metadata.kernarg_bytes;
    for (size_t i = 0; i < r->n_fixed; i++)
        if (r->pieces[i].host == r->kernarg.host)
            r->pieces[i].bytes = used ? (used + 63) / 64 * 64 : r->kernarg.bytes;
    return sim_run(r->sim, &d, result);
}

const char *sim_runner_line(struct sim_runner *r, uint64_t address, char text[static 256])
{
    if (!r->lines) r->lines = lines_open(r->file, r->file_bytes);
    lines_find(r->lines, address - CODE_BASE, text, 256);
    return text;
}
