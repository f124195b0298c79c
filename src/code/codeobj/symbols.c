/* symbols.c: the symbols of a code object, with section headers or without. */
#include <string.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/parts.h"

struct table {
    uint64_t symbols, n, strings, strings_size; /* offsets in the file */
};

static bool section_table(const struct elf_view *view, uint32_t type, struct table *table)
{
    for (uint32_t i = 0; i < view->n_sections; i++) {
        struct codeobj_section section = elf_section(view, i);
        if (section.type != type || !section.bytes || section.link >= view->n_sections) continue;
        struct codeobj_section strings = elf_section(view, section.link);
        if (!strings.bytes) continue;
        *table = (struct table){ section.offset, section.size / ELF_SYMBOL_BYTES, strings.offset,
                                 strings.size };
        return true;
    }
    return false;
}

/* The number of symbols is the number of chains in DT_HASH. */
static bool count_by_hash(const struct elf_view *view, uint64_t address, uint64_t *n)
{
    uint64_t offset;
    if (!elf_offset(view, address, 8, &offset)) return false;
    *n = load_u32(view->bytes + offset + 4);
    return true;
}

/* DT_GNU_HASH: the last symbol ends the chain that starts at the highest bucket. */
static bool count_by_gnu_hash(const struct elf_view *view, uint64_t address, uint64_t *n)
{
    uint64_t offset;
    if (!elf_offset(view, address, 16, &offset)) return false;
    const uint8_t *head = view->bytes + offset;
    uint64_t n_buckets = load_u32(head), first = load_u32(head + 4);
    uint64_t buckets = address + 16 + 8 * (uint64_t)load_u32(head + 8);
    if (!elf_offset(view, buckets, 4 * n_buckets, &offset)) return false;
    uint64_t last = 0;
    for (uint64_t i = 0; i < n_buckets; i++) {
        uint64_t bucket = load_u32(view->bytes + offset + 4 * i);
        if (last < bucket) last = bucket;
    }
    *n = last < first ? first : last;
    if (last < first) return true; /* only symbols that are not hashed */
    uint64_t chain = buckets + 4 * n_buckets + 4 * (last - first);
    if (!elf_offset(view, chain, 4, &offset)) return false;
    for (; in_range(offset, 4, view->size); offset += 4) {
        ++*n;
        if (load_u32(view->bytes + offset) & 1) return true;
    }
    return false;
}

static bool dynamic_table(const struct elf_view *view, struct table *table)
{
    uint64_t symbols = 0, strings = 0, strings_size = 0, hash = 0, gnu_hash = 0;
    for (uint32_t i = 0; i < view->n_segments; i++) {
        struct codeobj_segment segment = elf_segment(view, i);
        if (segment.type != PT_DYNAMIC || !in_range(segment.offset, segment.file_size, view->size))
            continue;
        const uint8_t *at = view->bytes + segment.offset;
        for (uint64_t left = segment.file_size / 16; left && load_u64(at); left--, at += 16) {
            uint64_t tag = load_u64(at), value = load_u64(at + 8);
            if (tag == 4) hash = value;
            if (tag == 5) strings = value;
            if (tag == 6) symbols = value;
            if (tag == 10) strings_size = value;
            if (tag == 0x6ffffef5) gnu_hash = value;
        }
        break;
    }
    uint64_t n = 0;
    if (!symbols || !strings) return false;
    if (!(hash && count_by_hash(view, hash, &n)) &&
        !(gnu_hash && count_by_gnu_hash(view, gnu_hash, &n)))
        return false;
    table->n = n;
    table->strings_size = strings_size;
    return elf_offset(view, symbols, n * ELF_SYMBOL_BYTES, &table->symbols) &&
           elf_offset(view, strings, strings_size, &table->strings);
}

/* Names may overlap in a crafted table, so that all of them together are longer than the file:
 * `*budget` bounds the bytes that are looked at. */
static rmcp_status read_table(const struct elf_view *view, const struct table *table,
                              uint64_t *budget, struct codeobj *object, struct codeobj_symbol *out)
{
    for (uint64_t i = 1; i < table->n; i++) { /* the first one is empty by definition */
        const uint8_t *at = view->bytes + table->symbols + i * ELF_SYMBOL_BYTES;
        uint64_t name = load_u32(at);
        if (name >= table->strings_size)
            return rmcp_fail(RMCP_E_IO, "symbol %llu: its name is outside of the string table",
                             (unsigned long long)i);
        const char *text = (const char *)view->bytes + table->strings + name;
        uint64_t room = table->strings_size - name;
        const char *end = memchr(text, 0, (size_t)(room < LONGEST_NAME ? room : LONGEST_NAME));
        if (!end || (uint64_t)(end - text) > *budget)
            return rmcp_fail(RMCP_E_IO, "symbol %llu: its name does not end, or names overlap",
                             (unsigned long long)i);
        *budget -= (uint64_t)(end - text);
        struct codeobj_symbol symbol = { .name = text,
                                         .name_length = (uint32_t)(end - text),
                                         .type = at[4] & 0xf,
                                         .bind = at[4] >> 4,
                                         .visibility = at[5] & 3,
                                         .section = load_u16(at + 6),
                                         .address = load_u64(at + 8),
                                         .size = load_u64(at + 16) };
        if (object->is_relocatable && symbol.section < object->n_sections)
            symbol.address += object->sections[symbol.section].offset;
        out[object->n_symbols++] = symbol;
    }
    return RMCP_OK;
}

rmcp_status symbols_read(const struct elf_view *view, struct codeobj *object)
{
    struct table tables[2];
    size_t n_tables = 0, room = 0;
    if (section_table(view, SHT_SYMTAB, &tables[n_tables])) n_tables++;
    if (section_table(view, SHT_DYNSYM, &tables[n_tables])) n_tables++;
    if (!n_tables && dynamic_table(view, &tables[n_tables])) n_tables++;
    for (size_t i = 0; i < n_tables; i++) room += (size_t)tables[i].n;
    struct codeobj_symbol *symbols = arena_alloc(object->arena, room, sizeof *symbols);
    if (!symbols) return rmcp_fail_memory("symbols", room * sizeof *symbols);

    uint64_t budget = 4 * (uint64_t)view->size + LONGEST_NAME;
    object->symbols = symbols;
    for (size_t i = 0; i < n_tables; i++) {
        rmcp_status status = read_table(view, &tables[i], &budget, object, symbols);
        if (status) return status;
    }
    return RMCP_OK;
}
