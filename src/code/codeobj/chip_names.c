/* chip_names.c: host code that reads a card's name letter by letter, made to take one chip for
 * another.
 *
 * A row, as clang -O3 makes it of a loop over a name that it knows (other instructions between):
 *
 *     cmp byte [rdi + 1], 'f'    80 7f 01 66
 *     jne …
 *     cmp byte [rdi + 2], 'x'
 *     jne …
 *
 * The comparison of one letter with two is `test byte [rdi + 5], ~('3' | '1')`, F6 /0, which is as
 * long and sets ZF for letters that have no other bits. All that is looked at must be understood: a
 * name that is used without a row, or a row without a use of the name, and nothing is changed. */
#include "code/codeobj/chip_names.h"

#include <stdlib.h>
#include <string.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/elf.h"

enum {
    ET_DYN = 3,
    EM_X86_64 = 62,
    SHT_RELA = 4,
    SHF_WRITE = 1,
    RELA_BYTES = 24,
    STB_WEAK = 2,
    STB_UNIQUE = 10,
    STV_HIDDEN = 2,
    LONGEST_CHIP = 15,
    FIRST_LETTER = 2,  /* that belongs to a row */
    LETTER_REACH = 64, /* bytes between the comparisons of one letter and the next             */
    NAME_REACH = 8192, /* and between a row and where the code has the name's address          */
    LONGEST_SYMBOL = 1 << 16,
    MOST_NAMES = 64,
    MOST_ROWS = 1024,
    MOST_USES = 4096
};

struct places {
    uint64_t *list; /* addresses */
    size_t n, room;
};

struct search {
    struct elf_view view;
    const char *known, *also;
    size_t length;
    size_t letter;                   /* the first one that differs */
    struct places known_at, also_at; /* where the names stand */
    struct places uses, rows;
    struct codeobj_naming *out;
    uint64_t least, most; /* addresses of the names, their ends included */
    bool is_strange;
};

static rmcp_status add(struct places *places, size_t most, uint64_t address, bool *is_strange)
{
    if (places->n == most) {
        *is_strange = true;
        return RMCP_OK;
    }
    if (places->n == places->room) {
        const size_t room = places->room ? 2 * places->room : 64;
        uint64_t *grown = realloc(places->list, room * sizeof *grown);
        if (!grown) return rmcp_fail_memory("names of chips", room);
        places->list = grown;
        places->room = room;
    }
    places->list[places->n++] = address;
    return RMCP_OK;
}

/* ---- comparisons ---- */

struct comparison { /* cmp byte [register + displacement], letter */
    size_t length;  /* of the instruction, from its opcode; 0: it is none */
    uint8_t base;   /* the register's lower bits */
    int displacement;
    char letter;
};

static struct comparison comparison_at(const uint8_t *at, size_t left)
{
    struct comparison c = { 0 };
    if (left < 5 || at[0] != 0x80 || (at[1] >> 3 & 7) != 7) return c;
    const unsigned mode = at[1] >> 6, base = at[1] & 7;
    size_t n = 2;
    if (mode > 1 || (mode == 0 && base == 5)) return c;
    if (base == 4 && at[n++] != 0x24) return c; /* an index register beside */
    c.displacement = mode ? (int8_t)at[n++] : 0;
    c.base = (uint8_t)base;
    c.letter = (char)at[n++];
    c.length = n;
    return c;
}

/* The comparison of the letter `i` next to the one of a neighbour at `from`; false: it is with
 * another letter, or there is none. */
static bool find_letter(const struct search *s, const struct codeobj_section *code, size_t from,
                        const struct comparison *of, size_t i, int step, size_t *found)
{
    const int displacement = of->displacement + step;
    for (size_t k = 1; k <= LETTER_REACH; k++) {
        if (step < 0 ? k > from : k >= code->size - from) return false;
        const size_t at = step < 0 ? from - k : from + k;
        const struct comparison c = comparison_at(code->bytes + at, (size_t)(code->size - at));
        if (!c.length || c.base != of->base || c.displacement != displacement) continue;
        *found = at;
        return c.letter == s->known[i];
    }
    return false;
}

/* Whether what follows asks for no more than equality: je, jne, sete, setne. */
static bool is_asked_for_equality(const uint8_t *at, size_t left)
{
    if (left && (at[0] & 0xfe) == 0x74) return true;
    if (left && (at[0] & 0xf0) == 0x40) at++, left--; /* REX, for sete's register */
    return left >= 2 && at[0] == 0x0f && ((at[1] & 0xfe) == 0x84 || (at[1] & 0xfe) == 0x94);
}

static rmcp_status add_patch(struct search *s, uint64_t offset, const uint8_t *bytes, size_t n)
{
    struct codeobj_naming *out = s->out;
    if (!(out->n_patches & (out->n_patches - 1))) { /* full, or empty */
        struct codeobj_patch *grown =
            realloc(out->patches, (out->n_patches ? 2 * out->n_patches : 1) * sizeof *grown);
        if (!grown) return rmcp_fail_memory("places", out->n_patches);
        out->patches = grown;
    }
    struct codeobj_patch *patch = &out->patches[out->n_patches++];
    *patch = (struct codeobj_patch){ .offset = offset, .n = (uint8_t)n };
    memcpy(patch->bytes, bytes, n);
    return RMCP_OK;
}

/* Bits that no letter has at a place where both names pass. */
static uint8_t bits_of_neither(const char *known, const char *also, size_t letter)
{
    return (uint8_t) ~((unsigned char)known[letter] | (unsigned char)also[letter]);
}

bool codeobj_name_passes(const char *known, const char *also, const char *name)
{
    const size_t length = strlen(known);
    if (strlen(also) != length || strlen(name) != length) return false;
    for (size_t i = 0; i < length; i++)
        if (known[i] == also[i] ? name[i] != known[i] : name[i] & bits_of_neither(known, also, i))
            return false;
    return true;
}

/* The comparison at `at` with the letter of both names. */
static rmcp_status accept_both(struct search *s, const struct codeobj_section *code, size_t at,
                               size_t letter)
{
    const struct comparison c = comparison_at(code->bytes + at, (size_t)(code->size - at));
    uint8_t test[8];
    if (!is_asked_for_equality(code->bytes + at + c.length, (size_t)(code->size - at - c.length))) {
        s->is_strange = true;
        return RMCP_OK;
    }
    memcpy(test, code->bytes + at, c.length);
    test[0] = 0xf6;
    test[1] &= 0xc7;
    test[c.length - 1] = bits_of_neither(s->known, s->also, letter);
    return add_patch(s, code->offset + at, test, c.length);
}

/* The row around the comparison at `at`, if it is one. The first letters, "gf", may stand
 * elsewhere, once for several names. */
static rmcp_status look_at_row(struct search *s, const struct codeobj_section *code, size_t at,
                               const struct comparison *c)
{
    size_t places[LONGEST_CHIP + 1];
    const size_t i = s->letter;
    places[i] = at;
    for (int step = -1; step <= 1; step += 2) {
        struct comparison of = *c;
        for (size_t k = i + (size_t)step; k >= FIRST_LETTER && k < s->length; k += (size_t)step) {
            if (!find_letter(s, code, places[k - (size_t)step], &of, k, step, &places[k]))
                return RMCP_OK;
            of.displacement += step;
        }
    }
    rmcp_status status = add(&s->rows, MOST_ROWS, code->address + at, &s->is_strange);
    for (size_t k = i; !status && k < s->length; k++)
        if (s->known[k] != s->also[k]) status = accept_both(s, code, places[k], k);
    return status;
}

static rmcp_status find_rows(struct search *s, const struct codeobj_section *code)
{
    rmcp_status status = RMCP_OK;
    for (size_t at = 0; !status && at < code->size; at++) {
        const uint8_t *next = memchr(code->bytes + at, 0x80, (size_t)(code->size - at));
        if (!next) break;
        at = (size_t)(next - code->bytes);
        const struct comparison c = comparison_at(next, (size_t)(code->size - at));
        if (c.length && c.letter == s->known[s->letter]) status = look_at_row(s, code, at, &c);
    }
    return status;
}

/* ---- uses of the names ---- */

static bool is_name(const struct search *s, const struct places *names, uint64_t address)
{
    for (size_t i = 0; i < names->n; i++)
        if (address - names->list[i] <= s->length) return true;
    return false;
}

/* Where the names stand, with the zero behind them. */
static rmcp_status find_names(struct search *s, const struct codeobj_section *data)
{
    rmcp_status status = RMCP_OK;
    for (size_t at = 0; !status && in_range(at, s->length + 1, data->size); at++) {
        const uint8_t *next = memchr(data->bytes + at, s->known[0], (size_t)(data->size - at));
        if (!next) break;
        at = (size_t)(next - data->bytes);
        if (!in_range(at, s->length + 1, data->size) || next[s->length]) continue;
        struct places *names = !memcmp(next, s->known, s->length)  ? &s->known_at
                               : !memcmp(next, s->also, s->length) ? &s->also_at
                                                                   : NULL;
        if (names) status = add(names, MOST_NAMES, data->address + at, &s->is_strange);
    }
    return status;
}

/* Instructions that end with an address, as its distance from the next one. */
static rmcp_status find_uses(struct search *s, const struct codeobj_section *code)
{
    rmcp_status status = RMCP_OK;
    for (size_t at = 1; !status && in_range(at, 4, code->size); at++) {
        if ((code->bytes[at - 1] & 0xc7) != 0x05) continue; /* ModRM: [rip + …] */
        const uint64_t target =
            code->address + at + 4 + (uint64_t)(int64_t)(int32_t)load_u32(code->bytes + at);
        if (target < s->least || target > s->most) continue;
        if (is_name(s, &s->also_at, target)) s->is_strange = true; /* it knows that chip, too */
        if (is_name(s, &s->known_at, target))
            status = add(&s->uses, MOST_USES, code->address + at, &s->is_strange);
    }
    return status;
}

static void find_range(struct search *s, const struct places *names)
{
    for (size_t i = 0; i < names->n; i++) {
        const uint64_t address = names->list[i];
        if (address < s->least) s->least = address;
        if (address + s->length > s->most) s->most = address + s->length;
    }
}

static bool is_pointer(const struct search *s, uint64_t value)
{
    return is_name(s, &s->known_at, value) || is_name(s, &s->also_at, value);
}

/* A pointer to a name in a table: no row. */
static void look_for_pointers(struct search *s, const struct codeobj_section *section)
{
    if (section->type == SHT_RELA)
        for (uint64_t at = 0; in_range(at, RELA_BYTES, section->size); at += RELA_BYTES)
            if (is_pointer(s, load_u64(section->bytes + at + 16))) s->is_strange = true;
    if (section->type == SHT_PROGBITS && section->flags & SHF_WRITE)
        for (uint64_t at = 0; in_range(at, 8, section->size); at += 8)
            if (is_pointer(s, load_u64(section->bytes + at))) s->is_strange = true;
}

static bool is_near(const struct places *places, uint64_t address)
{
    for (size_t i = 0; i < places->n; i++)
        if (address - places->list[i] + NAME_REACH <= 2 * (uint64_t)NAME_REACH) return true;
    return false;
}

static bool is_understood(const struct search *s)
{
    if (s->is_strange || !s->rows.n) return false;
    for (size_t i = 0; i < s->uses.n; i++)
        if (!is_near(&s->rows, s->uses.list[i])) return false;
    for (size_t i = 0; i < s->rows.n; i++)
        if (!is_near(&s->uses, s->rows.list[i])) return false;
    return true;
}

/* ---- symbols ---- */

/* Two libraries of a program may have the same function of rocPRIM; the loader takes the first one
 * for both, unless each hides its own. */
static rmcp_status hide_symbols(struct search *s)
{
    static const char ours[] = "7rocprim";
    rmcp_status status = RMCP_OK;
    for (uint32_t i = 0; i < s->view.n_sections; i++) {
        const struct codeobj_section symbols = elf_section(&s->view, i);
        if (symbols.type != SHT_DYNSYM || !symbols.bytes) continue;
        if (symbols.link >= s->view.n_sections) continue;
        const struct codeobj_section names = elf_section(&s->view, symbols.link);
        for (uint64_t at = 0; !status && in_range(at, ELF_SYMBOL_BYTES, symbols.size);
             at += ELF_SYMBOL_BYTES) {
            const uint8_t *symbol = symbols.bytes + at;
            const uint32_t name = load_u32(symbol);
            const unsigned bind = symbol[4] >> 4;
            if ((bind != STB_WEAK && bind != STB_UNIQUE) || !load_u16(symbol + 6) || symbol[5] & 3)
                continue;
            if (!names.bytes || name >= names.size) continue;
            const char *text = (const char *)names.bytes + name;
            const uint64_t left = names.size - name;
            if (!memchr(text, 0, left < LONGEST_SYMBOL ? (size_t)left : LONGEST_SYMBOL)) {
                s->is_strange = true;
                return RMCP_OK;
            }
            if (!strstr(text, ours)) continue;
            const uint8_t other = (uint8_t)(symbol[5] | STV_HIDDEN);
            status = add_patch(s, symbols.offset + at + 5, &other, 1);
        }
    }
    return status;
}

/* ---- all of it ---- */

static bool is_code(const struct codeobj_section *s)
{
    return s->type == SHT_PROGBITS && s->flags & SHF_ALLOC && s->flags & SHF_EXECINSTR;
}

static bool is_constant(const struct codeobj_section *s)
{
    return s->type == SHT_PROGBITS && s->flags & SHF_ALLOC &&
           !(s->flags & (SHF_WRITE | SHF_EXECINSTR)) && strcmp(s->name, ".hip_fatbin") != 0;
}

static rmcp_status search_sections(struct search *s)
{
    rmcp_status status = RMCP_OK;
    for (unsigned pass = 0; pass < 3; pass++) {
        uint64_t left = s->view.size; /* no byte is of two sections */
        find_range(s, &s->known_at);
        find_range(s, &s->also_at);
        for (uint32_t i = 0; !status && !s->is_strange && i < s->view.n_sections; i++) {
            const struct codeobj_section section = elf_section(&s->view, i);
            if (!section.bytes || !section.size) continue;
            if (section.size > left) s->is_strange = true;
            if (s->is_strange) break;
            left -= section.size;
            if (pass == 0 && is_code(&section)) status = find_rows(s, &section);
            if (pass == 1 && s->rows.n && is_constant(&section)) status = find_names(s, &section);
            if (pass < 2 || !s->known_at.n) continue;
            if (is_code(&section))
                status = find_uses(s, &section);
            else
                look_for_pointers(s, &section);
        }
    }
    return status;
}

static int compare_patches(const void *left, const void *right)
{
    const struct codeobj_patch *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

rmcp_status codeobj_accept_name(const void *bytes, size_t size, const char *known, const char *also,
                                struct codeobj_naming *out)
{
    struct search s = {
        .known = known, .also = also, .length = strlen(known), .out = out, .least = UINT64_MAX
    };
    uint16_t machine = 0;
    *out = (struct codeobj_naming){ 0 };
    while (s.letter < s.length && known[s.letter] == also[s.letter]) s.letter++;
    if (s.length > LONGEST_CHIP || strlen(also) != s.length || s.letter == s.length ||
        s.letter < FIRST_LETTER)
        return rmcp_fail(RMCP_E_ARG, "'%.40s' and '%.40s' are no two names of one length", known,
                         also);
    if (!elf_is(bytes, size, &machine) || machine != EM_X86_64) return RMCP_OK;
    if (elf_view_init(&s.view, bytes, size) || s.view.type != ET_DYN) return RMCP_OK;
    rmcp_status status = search_sections(&s);
    if (!status && is_understood(&s)) status = hide_symbols(&s);
    if (!status && is_understood(&s)) {
        out->n_places = s.rows.n;
        qsort(out->patches, out->n_patches, sizeof *out->patches, compare_patches);
    } else {
        codeobj_naming_deinit(out);
    }
    free(s.known_at.list);
    free(s.also_at.list);
    free(s.uses.list);
    free(s.rows.list);
    return status;
}

void codeobj_naming_deinit(struct codeobj_naming *naming)
{
    free(naming->patches);
    *naming = (struct codeobj_naming){ 0 };
}
