/* rewriting.c: for tests of the writer: code whose functions are moved apart, and comparisons. */
#include "rewriting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/bytes.h"

static const uint32_t filler = 0xbf800000; /* s_nop 0, on every chip */

static void fill(uint8_t *at, size_t size)
{
    for (size_t i = 0; i + 4 <= size; i += 4) store_u32(at + i, filler);
}

static size_t find_piece(const struct spread *s, uint64_t address)
{
    size_t low = 0, high = s->n; /* the last one that does not start behind it */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->starts[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

bool spread_moved(void *spread, uint64_t address, bool is_end, uint64_t *moved)
{
    const struct spread *s = spread;
    if (address < s->starts[0] || address > s->starts[s->n]) return false;
    const size_t i = find_piece(s, is_end && address > s->starts[0] ? address - 1 : address);
    *moved = s->new_starts[i] + (address - s->starts[i]);
    return true;
}

/* s_getpc_b64 s[n:n+1] / s_add_u32 sn, sn, literal / s_addc_u32 sn+1, sn+1, literal */
static void fix_literals(struct spread *s, size_t piece)
{
    const uint64_t start = s->starts[piece], end = s->starts[piece + 1];
    uint8_t *code = s->text + (s->new_starts[piece] - s->room.new_address);
    for (uint64_t at = 0; start + at + 20 <= end; at += 4) {
        const uint32_t getpc = load_u32(code + at), add = load_u32(code + at + 4),
                       addc = load_u32(code + at + 12), n = getpc >> 16 & 0x7f;
        if ((getpc & 0xff80ffffu) != 0xbe801f00u) continue;
        if (add != (0x8000ff00u | n << 16 | n)) continue;
        if (addc != (0x8200ff00u | (n + 1) << 16 | (n + 1))) continue;
        const uint64_t distance = load_u32(code + at + 8) | (uint64_t)load_u32(code + at + 16)
                                                                << 32;
        uint64_t target = start + at + 4 + distance;
        if (target >= s->starts[0] && target < s->starts[s->n])
            spread_moved(s, target, false, &target);
        const uint64_t now = target - (s->new_starts[piece] + at + 4);
        store_u32(code + at + 8, (uint32_t)now);
        store_u32(code + at + 16, (uint32_t)(now >> 32));
        s->n_fixed++;
    }
}

rmcp_status spread_init(struct spread *s, const struct codeobj *object, unsigned gap)
{
    *s = (struct spread){ .object = object };
    rmcp_status status = codeobj_write_room(object, &s->room);
    if (status) return status;
    const uint64_t old = s->room.old_address, end = old + s->room.old_size;
    s->starts = calloc(object->n_functions + 2, sizeof *s->starts);
    s->new_starts = calloc(object->n_functions + 2, sizeof *s->new_starts);
    if (!s->starts || !s->new_starts) return rmcp_fail_memory("functions", object->n_functions);
    s->starts[s->n++] = old;
    for (size_t i = 0; i < object->n_functions; i++)
        if (object->functions[i].address > s->starts[s->n - 1] &&
            object->functions[i].address < end)
            s->starts[s->n++] = object->functions[i].address;
    s->starts[s->n] = end;
    uint64_t at = s->room.new_address;
    for (size_t i = 0; i < s->n; i++) {
        /* Device functions may stand at any word: what they were, modulo 256, they are. */
        at = (at + 255) / 256 * 256 + 256 * (uint64_t)gap + s->starts[i] % 256;
        s->new_starts[i] = at;
        at += s->starts[i + 1] - s->starts[i];
    }
    s->new_starts[s->n] = at;
    s->text_size = (size_t)(at - s->room.new_address + 3) / 4 * 4;
    s->text = malloc(s->text_size);
    if (!s->text) return rmcp_fail_memory("code", s->text_size);
    fill(s->text, s->text_size);
    for (size_t i = 0; i < s->n; i++) {
        memcpy(s->text + (s->new_starts[i] - s->room.new_address),
               s->room.old_bytes + (s->starts[i] - old), (size_t)(s->starts[i + 1] - s->starts[i]));
        fix_literals(s, i);
    }
    return RMCP_OK;
}

void spread_deinit(struct spread *s)
{
    free(s->starts);
    free(s->new_starts);
    free(s->text);
}

static char message[512];

static const char *say(const char *what, const char *name)
{
    snprintf(message, sizeof message, "%s of %.300s", what, name);
    return message;
}

static bool in_code(const struct codeobj *object, const struct codeobj_symbol *symbol)
{
    return symbol->section && symbol->section < object->n_sections &&
           object->sections[symbol->section].flags & 4; /* SHF_EXECINSTR */
}

static bool same_place(struct spread *spread, const struct codeobj_symbol *a,
                       const struct codeobj_symbol *b)
{
    uint64_t start = a->address, end = a->address + a->size;
    if (spread && in_code(spread->object, a)) {
        const uint64_t last = spread->starts[spread->n];
        if (!spread_moved(spread, start, start == last && !a->size, &start)) return false;
        if (!a->size) return b->address == start && !b->size;
        if (!spread_moved(spread, end, true, &end)) return false;
    }
    return b->address == start && b->size == end - start;
}

static const char *kernel_difference(const struct codeobj_kernel *a, const struct codeobj_kernel *b,
                                     struct spread *spread)
{
    const struct codeobj_descriptor *x = &a->descriptor, *y = &b->descriptor;
    if (strcmp(a->name, b->name) || strcmp(a->symbol, b->symbol)) return say("name", a->name);
    if (a->has_descriptor != b->has_descriptor || a->has_metadata != b->has_metadata)
        return say("presence", a->name);
    if (a->descriptor_address != b->descriptor_address || a->symbol_size != b->symbol_size)
        return say("address of descriptor", a->name);
    if (x->group_bytes != y->group_bytes || x->private_bytes != y->private_bytes ||
        x->kernarg_bytes != y->kernarg_bytes || x->rsrc1 != y->rsrc1 || x->rsrc2 != y->rsrc2 ||
        x->rsrc3 != y->rsrc3 || x->properties != y->properties ||
        x->kernarg_preload != y->kernarg_preload)
        return say("descriptor", a->name);
    if (memcmp(&a->metadata, &b->metadata, sizeof a->metadata)) return say("metadata", a->name);
    if (a->n_arguments != b->n_arguments) return say("number of arguments", a->name);
    for (size_t i = 0; i < a->n_arguments; i++) {
        const struct codeobj_argument *p = &a->arguments[i], *q = &b->arguments[i];
        if (strcmp(p->name, q->name) || strcmp(p->kind, q->kind) ||
            strcmp(p->address_space, q->address_space) || p->offset != q->offset ||
            p->size != q->size || p->hidden != q->hidden)
            return say("arguments", a->name);
    }
    if (!a->function != !b->function) return say("code", a->name);
    if (!a->function) return NULL;
    uint64_t entry = a->function->address;
    if (spread && !spread_moved(spread, entry, false, &entry)) return say("entry", a->name);
    if (entry != b->function->address) return say("entry", a->name);
    if (a->function->size_known && a->function->size != b->function->size)
        return say("size", a->name);
    /* Without a map all bytes are the same; with one, all but corrected literals. */
    if (!spread && memcmp(a->function->code, b->function->code, a->function->size))
        return say("code", a->name);
    return NULL;
}

static const char *data_difference(const struct codeobj *a, const struct codeobj *b)
{
    for (size_t i = 0; i < a->n_sections; i++) {
        const struct codeobj_section *s = &a->sections[i];
        const char *name = s->name;
        if (!(s->flags & 2) || s->flags & 4 || !s->bytes || s->type != 1 || !s->size) continue;
        if (!strcmp(name, ".rodata")) continue; /* descriptors are in it */
        const uint8_t *there = codeobj_at(b, s->address, s->size);
        if (!there || memcmp(there, s->bytes, s->size)) return say("bytes", name);
    }
    return NULL;
}

const char *rewriting_difference(const struct codeobj *a, const struct codeobj *b,
                                 struct spread *spread)
{
    if (a->version != b->version || a->e_flags != b->e_flags || a->os_abi != b->os_abi ||
        strcmp(a->note_target, b->note_target))
        return "header";
    if (a->n_kernels != b->n_kernels) return "number of kernels";
    if (a->n_functions != b->n_functions) return "number of functions";
    if (a->n_symbols != b->n_symbols) return "number of symbols";
    for (size_t i = 0; i < a->n_symbols; i++) {
        const struct codeobj_symbol *x = &a->symbols[i], *y = &b->symbols[i];
        if (strcmp(x->name, y->name) || x->type != y->type || x->bind != y->bind ||
            x->visibility != y->visibility)
            return say("kind", x->name);
        if (!same_place(spread, x, y)) return say("place", x->name);
    }
    for (size_t i = 0; i < a->n_kernels; i++) {
        const char *difference = kernel_difference(&a->kernels[i], &b->kernels[i], spread);
        if (difference) return difference;
    }
    return data_difference(a, b);
}
