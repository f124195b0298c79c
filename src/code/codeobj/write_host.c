/* write_host.c: libraries and programs of the host with new fat binaries.
 *
 * HIP's compiler leaves a wrapper for each fat binary in the section .hipFatBinSegment: magic,
 * version, a pointer, zero. New fat binaries go into a segment of their own behind everything, and
 * the pointers are changed; so does the table of segments, because there is no room to let it grow
 * where it is. Nothing else moves. The old fat binaries become zeros, which take no space on disk.
 *
 * The new segment has the same distance between file and memory as the first one: kernels before
 * Linux 5.18 find a program's table of segments by that. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/round.h"
#include "code/codeobj/bytes.h"
#include "code/codeobj/elf.h"
#include "code/codeobj/write_containers.h"

enum {
    WRAPPER_BYTES = 24,
    WRAPPER_MAGIC = 0x48495046,
    MOST_WRAPPERS = 1 << 16,
    LARGEST_HOLE = 1 << 29, /* zeros in the file, where .bss is in memory */
    RELA_BYTES = 24,
    SHT_RELA = 4,
    PT_PHDR = 6,
    PF_R = 4,
    EM_X86_64 = 62,
    EM_AARCH64 = 183,
    R_X86_64_RELATIVE = 8,
    R_AARCH64_RELATIVE = 1027,
    SHN_LORESERVE = 0xff00
};

struct wrapper {
    uint64_t field;   /* offset of its pointer in the file                 */
    uint64_t addend;  /* offset of the addend of its relocation; 0: none   */
    uint64_t address; /* where its fat binary is                          */
};

struct host {
    struct rewriting *r;
    struct elf_view view;
    struct codeobj_output *output;
    struct wrapper *wrappers; /* by rising address of the fat binary */
    size_t n;
    uint64_t page, bias, start; /* of the new segment in the file   */
    uint32_t fat_section;       /* index of .hip_fatbin, 0: none     */
    struct dead *dead;          /* replaced, by rising offset        */
    size_t n_dead;
    uint8_t *moved; /* a flag for each wrapper */
};

struct dead {
    uint64_t start, end;
};

static rmcp_status refuse(const struct host *h, const char *why)
{
    return rmcp_fail(RMCP_E_UNSUPPORTED, "%.300s: %s", h->r->walk.path, why);
}

static int compare_wrappers(const void *left, const void *right)
{
    const struct wrapper *a = left, *b = right;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    return (a->field > b->field) - (a->field < b->field);
}

/* Relocations of the wrappers' pointers, by the number of the wrapper. */
static void read_relocations(struct host *h, const struct codeobj_section *wrappers)
{
    const uint32_t relative = h->view.machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
    for (uint32_t i = 0; i < h->view.n_sections; i++) {
        const struct codeobj_section s = elf_section(&h->view, i);
        if (s.type != SHT_RELA || !(s.flags & SHF_ALLOC) || !s.bytes) continue;
        for (uint64_t at = 0; in_range(at, RELA_BYTES, s.size); at += RELA_BYTES) {
            const uint64_t place = load_u64(s.bytes + at) - wrappers->address;
            if (place >= wrappers->size || place % WRAPPER_BYTES != 8) continue;
            if (load_u64(s.bytes + at + 8) != relative) continue;
            struct wrapper *w = &h->wrappers[place / WRAPPER_BYTES];
            w->addend = s.offset + at + 16;
            w->address = load_u64(s.bytes + at + 16);
        }
    }
}

static rmcp_status read_wrappers(struct host *h)
{
    struct codeobj_section found = { 0 };
    for (uint32_t i = 1; i < h->view.n_sections; i++) {
        const struct codeobj_section s = elf_section(&h->view, i);
        if (!strcmp(s.name, ".hip_fatbin") && !h->fat_section) h->fat_section = i;
        if (strcmp(s.name, ".hipFatBinSegment") || !s.bytes || !s.size) continue;
        if (found.size) return refuse(h, "two sections .hipFatBinSegment");
        found = s;
    }
    if (!found.size) return refuse(h, "no GPU code that could be replaced: no .hipFatBinSegment");
    if (h->view.machine != EM_X86_64 && h->view.machine != EM_AARCH64)
        return refuse(h, "neither for x86-64 nor for AArch64");
    if (found.size % WRAPPER_BYTES || found.size / WRAPPER_BYTES > MOST_WRAPPERS)
        return refuse(h, "a .hipFatBinSegment of another form");
    h->n = (size_t)(found.size / WRAPPER_BYTES);
    h->wrappers = calloc(h->n, sizeof *h->wrappers);
    h->moved = calloc(h->n, 1);
    h->dead = calloc(h->n, sizeof *h->dead);
    if (!h->wrappers || !h->moved || !h->dead) return rmcp_fail_memory("wrappers", h->n);
    for (size_t i = 0; i < h->n; i++) {
        const uint8_t *at = found.bytes + i * WRAPPER_BYTES;
        if (load_u32(at) != WRAPPER_MAGIC || load_u32(at + 4) != 1)
            return refuse(h, "a wrapper of another form in .hipFatBinSegment");
        h->wrappers[i] =
            (struct wrapper){ found.offset + i * WRAPPER_BYTES + 8, 0, load_u64(at + 8) };
    }
    read_relocations(h, &found);
    qsort(h->wrappers, h->n, sizeof *h->wrappers, compare_wrappers);
    return RMCP_OK;
}

/* Where the new segment goes. */
static rmcp_status find_room(struct host *h)
{
    const uint64_t limit = (uint64_t)1 << 46;
    bool first = true;
    uint64_t end = h->view.size;
    h->page = h->view.machine == EM_AARCH64 ? 65536 : 4096;
    for (uint32_t i = 0; i < h->view.n_segments; i++) {
        const struct codeobj_segment s = elf_segment(&h->view, i);
        if (s.type != PT_LOAD) continue;
        if (first) h->bias = s.address - s.offset;
        first = false;
        if (s.address > limit || s.memory_size > limit || s.address < h->bias)
            return refuse(h, "segments in no order");
        if (end < s.address + s.memory_size - h->bias) end = s.address + s.memory_size - h->bias;
    }
    if (first || h->bias % h->page) return refuse(h, "no segments that are loaded");
    if (h->view.n_segments + 1 >= ELF_MAX_SEGMENTS || h->view.n_sections + 1 >= SHN_LORESERVE)
        return refuse(h, "too many segments or sections");
    h->start = rmcp_round_up(end, h->page);
    if (h->start - h->view.size > LARGEST_HOLE)
        return refuse(h, "it takes far more memory than its file has bytes");
    return RMCP_OK;
}

static rmcp_status patch_u64(struct host *h, uint64_t offset, uint64_t value)
{
    uint8_t bytes[8];
    store_u64(bytes, value);
    return codeobj_output_patch(h->output, offset, bytes, sizeof bytes);
}

/* The new fat binary of the wrapper `i` and of all that share its old one. */
static rmcp_status replace(struct host *h, size_t i, size_t *next)
{
    const uint64_t address = h->wrappers[i].address;
    uint64_t offset;
    size_t extent = 0, out_size = 0;
    uint8_t *out = NULL;
    for (*next = i + 1; *next < h->n && h->wrappers[*next].address == address;) ++*next;
    if (!elf_offset(&h->view, address, 1, &offset)) return RMCP_OK; /* not in this file */
    /* It ends where the next one begins, at the latest. */
    uint64_t end = h->view.size, behind;
    if (*next < h->n && elf_offset(&h->view, h->wrappers[*next].address, 1, &behind) &&
        behind > offset)
        end = behind;
    const uint8_t *bytes = h->view.bytes + offset;
    if (!rewrite_is_bundle(bytes, (size_t)(end - offset))) return RMCP_OK; /* unknown to us */
    const size_t before = walk_enter(&h->r->walk, "fat binary %zu", i);
    rmcp_status status =
        rewrite_bundle(h->r, bytes, (size_t)(end - offset), &out, &out_size, &extent);
    walk_leave(&h->r->walk, before);
    if (status || !out) return status;
    const uint64_t size = codeobj_output_size(h->output);
    const uint64_t place = (size + 4095) / 4096 * 4096;
    status = codeobj_output_extend(h->output, place);
    if (!status) status = codeobj_output_write(h->output, out, out_size);
    free(out);
    h->dead[h->n_dead++] = (struct dead){ offset, offset + extent };
    for (size_t j = i; j < *next; j++) {
        h->wrappers[j].address = place + h->bias;
        h->moved[j] = 1;
    }
    return status;
}

/* The old file, without what was replaced. Holes stay holes: nothing was written there before. */
static rmcp_status copy_old(struct host *h)
{
    uint64_t at = 0;
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; !status && i < h->n_dead; i++) {
        if (h->dead[i].start > at)
            status = codeobj_output_patch(h->output, at, h->view.bytes + at,
                                          (size_t)(h->dead[i].start - at));
        if (at < h->dead[i].end) at = h->dead[i].end;
    }
    if (!status && at < h->view.size)
        status =
            codeobj_output_patch(h->output, at, h->view.bytes + at, (size_t)(h->view.size - at));
    return status;
}

static rmcp_status repoint(struct host *h)
{
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; !status && i < h->n; i++) {
        const struct wrapper *w = &h->wrappers[i];
        if (!h->moved[i]) continue;
        /* A linker may leave the pointer in its place as well, or zero. */
        if (!w->addend || load_u64(h->view.bytes + w->field))
            status = patch_u64(h, w->field, w->address);
        if (!status && w->addend) status = patch_u64(h, w->addend, w->address);
    }
    return status;
}

/* What else of the file is to be changed, in place. */
static rmcp_status patch_host(struct host *h)
{
    const struct codeobj_destination *to = h->r->to;
    rmcp_status status = RMCP_OK;
    if (to->n_needing && !*to->n_needing) return RMCP_OK;
    for (size_t i = 0; !status && i < to->n_patches; i++) {
        const struct codeobj_patch *patch = &to->patches[i];
        if (patch->n > sizeof patch->bytes || !in_range(patch->offset, patch->n, h->view.size))
            return rmcp_fail(RMCP_E_INTERNAL, "%.300s: bytes behind its end", h->r->walk.path);
        status = codeobj_output_patch(h->output, patch->offset, patch->bytes, patch->n);
    }
    return status;
}

/* All segments, and behind the last that is loaded the new one. */
static rmcp_status write_segments(struct host *h, uint64_t size)
{
    const uint32_t n = h->view.n_segments;
    const uint64_t address = h->start + h->bias,
                   table_bytes = (n + (uint64_t)1) * ELF_SEGMENT_BYTES;
    uint8_t *table = calloc(n + (size_t)1, ELF_SEGMENT_BYTES), *to = table, count[2];
    if (!table) return rmcp_fail_memory("segments", n);
    uint32_t last = 0;
    for (uint32_t i = 0; i < n; i++)
        if (elf_segment(&h->view, i).type == PT_LOAD) last = i;
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *old =
            h->view.bytes + h->view.segments_offset + (size_t)i * ELF_SEGMENT_BYTES;
        memcpy(to, old, ELF_SEGMENT_BYTES);
        if (load_u32(to) == PT_PHDR) {
            store_u64(to + 8, h->start);
            store_u64(to + 16, address);
            store_u64(to + 24, address);
            store_u64(to + 32, table_bytes);
            store_u64(to + 40, table_bytes);
        }
        to += ELF_SEGMENT_BYTES;
        if (i != last) continue;
        store_u32(to, PT_LOAD);
        store_u32(to + 4, PF_R);
        store_u64(to + 8, h->start);
        store_u64(to + 16, address);
        store_u64(to + 24, address);
        store_u64(to + 32, size);
        store_u64(to + 40, size);
        store_u64(to + 48, h->page);
        to += ELF_SEGMENT_BYTES;
    }
    rmcp_status status =
        codeobj_output_patch(h->output, h->start, table, (n + (size_t)1) * ELF_SEGMENT_BYTES);
    free(table);
    if (!status) status = patch_u64(h, 32, h->start);
    store_u16(count, (uint16_t)(n + 1));
    return status ? status : codeobj_output_patch(h->output, 56, count, sizeof count);
}

/* One more .hip_fatbin, for whoever looks for GPU code by the names of sections. */
static rmcp_status write_sections(struct host *h, uint64_t fat_start, uint64_t fat_end)
{
    const size_t n = h->view.n_sections, bytes = n * ELF_SECTION_BYTES;
    uint8_t header[ELF_SECTION_BYTES] = { 0 }, count[2];
    if (!h->fat_section || !load_u16(h->view.bytes + 60)) return RMCP_OK;
    const uint64_t place = (codeobj_output_size(h->output) + 7) / 8 * 8;
    rmcp_status status = codeobj_output_extend(h->output, place);
    if (!status)
        status = codeobj_output_write(h->output, h->view.bytes + h->view.sections_offset, bytes);
    memcpy(header,
           h->view.bytes + h->view.sections_offset + (size_t)h->fat_section * ELF_SECTION_BYTES, 4);
    store_u32(header + 4, SHT_PROGBITS);
    store_u64(header + 8, SHF_ALLOC);
    store_u64(header + 16, fat_start + h->bias);
    store_u64(header + 24, fat_start);
    store_u64(header + 32, fat_end - fat_start);
    store_u64(header + 48, 4096);
    if (!status) status = codeobj_output_write(h->output, header, sizeof header);
    if (!status) status = patch_u64(h, 40, place);
    store_u16(count, (uint16_t)(n + 1));
    return status ? status : codeobj_output_patch(h->output, 60, count, sizeof count);
}

static rmcp_status write_all(struct host *h)
{
    const uint64_t table = (h->view.n_segments + (uint64_t)1) * ELF_SEGMENT_BYTES;
    rmcp_status status = codeobj_output_extend(h->output, h->start + table);
    for (size_t i = 0; !status && i < h->n;) status = replace(h, i, &i);
    if (status || !h->n_dead) return status;
    const uint64_t fat_start = (h->start + table + 4095) / 4096 * 4096,
                   fat_end = codeobj_output_size(h->output);
    status = copy_old(h);
    if (!status) status = patch_host(h);
    if (!status) status = repoint(h);
    if (!status) status = write_segments(h, fat_end - h->start);
    return status ? status : write_sections(h, fat_start, fat_end);
}

rmcp_status rewrite_host(struct rewriting *r, const uint8_t *bytes, size_t size,
                         struct codeobj_output *output)
{
    struct host h = { .r = r, .output = output };
    rmcp_status status = elf_view_init(&h.view, bytes, size);
    if (!status) status = read_wrappers(&h);
    if (!status) status = find_room(&h);
    if (!status) status = write_all(&h);
    /* The caller copies the file when nothing changed. */
    if (!status && !h.n_dead) status = codeobj_output_restart(output);
    free(h.wrappers);
    free(h.moved);
    free(h.dead);
    return status;
}
