/* write_symbols.c: everything in a code object that names an address of its code. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/write_parts.h"

enum { RELA_BYTES = 24, R_AMDGPU_RELATIVE64 = 13, DT_INIT = 12, DT_FINI = 13 };

static const char *symbol_name(const struct writing *w, const struct write_section *table,
                               const uint8_t *symbol)
{
    const uint32_t link = table->old.link, name = load_u32(symbol);
    if (link >= w->object->n_sections) return "a symbol";
    const struct codeobj_section *names = &w->object->sections[link];
    if (!names->bytes || name >= names->size) return "a symbol";
    const char *text = (const char *)names->bytes + name;
    return memchr(text, 0, (size_t)(names->size - name)) && *text ? text : "a symbol";
}

static int compare_addresses(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

rmcp_status write_left_out_plan(struct writing *w)
{
    w->left_out = arena_alloc(w->arena, w->change->n_kernels, sizeof *w->left_out);
    if (!w->left_out) return rmcp_fail_memory("kernels", w->change->n_kernels);
    for (size_t i = 0; i < w->change->n_kernels; i++) {
        const struct codeobj_kernel_change *change = &w->change->kernels[i];
        const struct codeobj_kernel *kernel = &w->object->kernels[change->kernel];
        if (change->is_left_out && kernel->has_descriptor)
            w->left_out[w->n_left_out++] =
                kernel->descriptor_address + (uint64_t)kernel->descriptor.entry_offset;
    }
    if (w->n_left_out) qsort(w->left_out, w->n_left_out, sizeof *w->left_out, compare_addresses);
    return RMCP_OK;
}

bool write_is_left_out(const struct writing *w, uint64_t address)
{
    return w->n_left_out &&
           bsearch(&address, w->left_out, w->n_left_out, sizeof *w->left_out, compare_addresses);
}

/* A symbol in place. `*gone`: its section was dropped. */
static rmcp_status patch_symbol(const struct writing *w, const struct write_section *table,
                                uint8_t *symbol, bool *gone)
{
    const uint16_t section = load_u16(symbol + 6);
    *gone = false;
    if (section == SHN_XINDEX)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "the code object has 65,280 sections or more");
    if (!section || section >= SHN_LORESERVE) return RMCP_OK;
    if (section >= w->object->n_sections)
        return rmcp_fail(RMCP_E_IO, "a symbol lies in section %u of %zu", section,
                         w->object->n_sections);
    *gone = !w->sections[section].number;
    store_u16(symbol + 6, (uint16_t)w->sections[section].number);
    if ((symbol[4] & 15) == STT_FUNC && write_is_left_out(w, load_u64(symbol + 8)))
        symbol[4] &= 0xf0; /* STT_NOTYPE */
    if (!w->change->text || section != w->text_section) return RMCP_OK;
    const char *name = symbol_name(w, table, symbol);
    const uint64_t value = load_u64(symbol + 8), size = load_u64(symbol + 16);
    const uint64_t end = w->room.old_address + w->room.old_size;
    uint64_t start = 0, stop = 0;
    if (value < w->room.old_address || value > end)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "%.200s at %#" PRIx64 " lies outside of its section",
                         name, value);
    rmcp_status status = write_moved(w, value, value == end && !size, name, &start);
    if (status || !size) {
        store_u64(symbol + 8, start);
        return status;
    }
    /* Like the reader, not beyond the code. */
    status = write_moved(w, size > end - value ? end : value + size, true, name, &stop);
    if (!status && stop < start)
        return rmcp_fail(RMCP_E_ARG, "%.200s would end before it starts", name);
    store_u64(symbol + 8, start);
    store_u64(symbol + 16, stop - start);
    return status;
}

rmcp_status write_symbols_plan(struct writing *w)
{
    for (size_t i = 1; i < w->object->n_sections; i++) {
        struct write_section *s = &w->sections[i];
        if (s->old.type != SHT_SYMTAB || !s->is_piece || !s->number || !s->bytes) continue;
        if (w->symbols.size) return rmcp_fail(RMCP_E_UNSUPPORTED, "two tables of all symbols");
        if (s->old.size % ELF_SYMBOL_BYTES || s->old.entry_size != ELF_SYMBOL_BYTES)
            return rmcp_fail(RMCP_E_IO, "a table of symbols of %" PRIu64 " bytes", s->old.size);
        w->first_global = s->old.info;
        for (uint64_t at = 0; at < s->old.size; at += ELF_SYMBOL_BYTES) {
            uint8_t symbol[ELF_SYMBOL_BYTES];
            bool gone;
            memcpy(symbol, s->old.bytes + at, sizeof symbol);
            rmcp_status status = patch_symbol(w, s, symbol, &gone);
            if (status) return status;
            if (!gone)
                buffer_add(&w->symbols, symbol, sizeof symbol);
            else if (at / ELF_SYMBOL_BYTES < s->old.info)
                w->first_global--;
        }
        rmcp_status status = buffer_status(&w->symbols);
        if (status) return status;
        s->bytes = w->symbols.bytes;
        s->new_size = w->symbols.size;
    }
    return RMCP_OK;
}

static rmcp_status patch_dynamic_symbols(const struct writing *w, const struct write_section *s)
{
    for (uint64_t at = 0; in_range(at, ELF_SYMBOL_BYTES, s->old.size); at += ELF_SYMBOL_BYTES) {
        bool gone;
        rmcp_status status = patch_symbol(w, s, w->out + s->new_offset + at, &gone);
        if (status) return status;
        if (gone)
            return rmcp_fail(RMCP_E_UNSUPPORTED,
                             "a dynamic symbol lies in a section for debuggers");
    }
    return RMCP_OK;
}

/* The symbol that a relocation names, as it was; false: none or not in the code. */
static bool symbol_in_text(const struct writing *w, const struct write_section *relocations,
                           uint32_t number, uint64_t *value)
{
    if (!number || relocations->old.link >= w->object->n_sections) return false;
    const struct codeobj_section *symbols = &w->object->sections[relocations->old.link];
    const uint64_t at = (uint64_t)number * ELF_SYMBOL_BYTES;
    if (!symbols->bytes || !in_range(at, ELF_SYMBOL_BYTES, symbols->size)) return false;
    if (load_u16(symbols->bytes + at + 6) != w->text_section) return false;
    *value = load_u64(symbols->bytes + at + 8);
    return true;
}

static rmcp_status patch_relocation(const struct writing *w, const struct write_section *s,
                                    uint8_t *entry)
{
    const uint64_t place = load_u64(entry), info = load_u64(entry + 8);
    const uint64_t addend = load_u64(entry + 16), end = w->room.old_address + w->room.old_size;
    const uint32_t type = (uint32_t)info, symbol = (uint32_t)(info >> 32);
    uint64_t value = 0, moved = 0, base = 0, offset;
    char what[64];
    snprintf(what, sizeof what, "a relocation at %#" PRIx64, place);
    if (write_in_text(w, place)) return rmcp_fail(RMCP_E_UNSUPPORTED, "%s lies in the code", what);
    if (symbol_in_text(w, s, symbol, &value)) {
        if (!addend) return RMCP_OK;
        rmcp_status status = write_moved(w, value, false, what, &base);
        const uint64_t target = value + addend;
        if (!status && !write_in_text(w, target) && target != end)
            return rmcp_fail(RMCP_E_UNSUPPORTED, "%s points outside of its section", what);
        if (!status) status = write_moved(w, target, target == end, what, &moved);
        store_u64(entry + 16, moved - base);
        return status;
    }
    if (symbol || !write_in_text(w, addend)) return RMCP_OK;
    if (type != R_AMDGPU_RELATIVE64)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "%s of type %u points into the code", what,
                         (unsigned)type);
    rmcp_status status = write_moved(w, addend, false, what, &moved);
    if (status) return status;
    store_u64(entry + 16, moved);
    /* Linkers may leave the sum in the place, too. */
    if (write_offset(w, place, 8, &offset) && load_u64(w->out + offset) == addend)
        store_u64(w->out + offset, moved);
    return RMCP_OK;
}

static rmcp_status patch_relocations(const struct writing *w, const struct write_section *s)
{
    rmcp_status status = RMCP_OK;
    if (s->old.type == SHT_REL && s->old.size)
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "relocations of a form that AMD's linker does not use");
    for (uint64_t at = 0; !status && in_range(at, RELA_BYTES, s->old.size); at += RELA_BYTES)
        status = patch_relocation(w, s, w->out + s->new_offset + at);
    return status;
}

static rmcp_status patch_dynamic(const struct writing *w, const struct write_section *s)
{
    rmcp_status status = RMCP_OK;
    for (uint64_t at = 0; !status && in_range(at, 16, s->old.size); at += 16) {
        uint8_t *entry = w->out + s->new_offset + at;
        const uint64_t tag = load_u64(entry), value = load_u64(entry + 8);
        uint64_t moved = 0;
        if (!tag) break;
        if ((tag != DT_INIT && tag != DT_FINI) || !write_in_text(w, value)) continue;
        status = write_moved(w, value, false, "DT_INIT or DT_FINI", &moved);
        store_u64(entry + 8, moved);
    }
    return status;
}

rmcp_status write_symbols_patch(struct writing *w)
{
    rmcp_status status = RMCP_OK;
    for (size_t i = 1; !status && i < w->object->n_sections; i++) {
        const struct write_section *s = &w->sections[i];
        if (!s->number || s->is_piece || !s->old.bytes) continue;
        if (s->old.type == SHT_DYNSYM || s->old.type == SHT_SYMTAB)
            status = patch_dynamic_symbols(w, s);
        else if (w->change->text && (s->old.type == SHT_RELA || s->old.type == SHT_REL))
            status = patch_relocations(w, s);
        else if (w->change->text && s->old.type == SHT_DYNAMIC)
            status = patch_dynamic(w, s);
    }
    const uint64_t entry = load_u64(w->view.bytes + 24);
    uint64_t moved = 0;
    if (status || !entry || !write_in_text(w, entry)) return status;
    status = write_moved(w, entry, false, "the entry point", &moved);
    store_u64(w->out + 24, moved);
    return status;
}
