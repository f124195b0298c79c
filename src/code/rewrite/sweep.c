/* sweep.c: words to items: instructions, data between functions, where branches go. */
#include <stdlib.h>
#include <string.h>

#include "code/rewrite/program.h"

bool rewrite_grow(void *list, size_t *room, size_t n, size_t size)
{
    if (n < *room) return true;
    size_t wanted = *room ? *room + *room / 2 : 64;
    if (wanted > SIZE_MAX / 2 / size) return false;
    void *old, *more;
    memcpy(&old, list, sizeof old);
    more = realloc(old, wanted * size);
    if (!more) return false;
    memcpy(list, &more, sizeof more);
    *room = wanted;
    return true;
}

void rewrite_refuse(struct function *function, const char *reason, uint64_t at)
{
    if (function->face.refused) return;
    function->face.refused = reason;
    function->face.refused_at = at;
}

/* The one executable section, or RMCP_E_UNSUPPORTED. */
static rmcp_status find_text(const struct codeobj *object, const struct codeobj_section **out)
{
    const struct codeobj_section *text = NULL;
    for (size_t i = 0; i < object->n_sections; i++) {
        const struct codeobj_section *s = &object->sections[i];
        if (!(s->flags & SECTION_EXECUTES) || !s->size) continue;
        if (text)
            return rmcp_fail(RMCP_E_UNSUPPORTED, "two executable sections, %s and %s", text->name,
                             s->name);
        text = s;
    }
    if (!text || !text->bytes)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "no executable section in this code object");
    if (text->size % 4 || text->address % 4 || text->size >= UINT32_C(1) << 31)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "a .text of %llu bytes at 0x%llx",
                         (unsigned long long)text->size, (unsigned long long)text->address);
    *out = text;
    return RMCP_OK;
}

static bool add_item(struct rewrite *r, enum rewrite_kind kind, size_t word, size_t n_words,
                     unsigned flags)
{
    if (r->n_items >= NONE - 1 ||
        !rewrite_grow(&r->items, &r->items_room, r->n_items, sizeof *r->items))
        return false;
    r->item_of[word] = (uint32_t)r->n_items;
    r->items[r->n_items++] = (struct item){ .old = (uint32_t)(4 * word),
                                            .words = (uint32_t)word,
                                            .n_words = (uint32_t)n_words,
                                            .target = NONE,
                                            .label = NONE,
                                            .kind = (uint8_t)kind,
                                            .flags = (uint8_t)flags };
    return true;
}

/* What lies between functions: dropped when it only fills, else kept word by word, for something
 * may point into it. */
static bool sweep_gap(struct rewrite *r, size_t word, size_t end)
{
    bool fills = true;
    for (size_t i = word; i < end; i++)
        fills = fills && (!r->pool[i] || r->pool[i] == WORD_S_CODE_END || r->pool[i] == WORD_S_NOP);
    for (size_t i = word; i < end && !fills; i++)
        if (!add_item(r, REWRITE_DATA, i, 1, 0)) return false;
    return true;
}

static unsigned flags_of(const struct isa_inst *inst)
{
    uint64_t f = inst->row->flags;
    unsigned flags = 0;
    if (f & ISA_BRANCH || inst->id == ISA_s_call_b64_SOPK) flags |= BRANCHES;
    if (f & ISA_CALL) flags |= CALLS;
    if (inst->id == ISA_s_setpc_b64_SOP1 || inst->id == ISA_s_swappc_b64_SOP1) flags |= JUMPS;
    if (f & ISA_END || inst->id == ISA_s_branch_SOPP || (f & ISA_JUMP && !(f & ISA_CALL)))
        flags |= ENDS;
    if (inst->id == ISA_s_clause_SOPP) flags |= IS_CLAUSE;
    return flags;
}

/* The words of a function. Targets of branches stay word numbers until all items are there. */
static bool sweep_function(struct rewrite *r, struct function *f, size_t word, size_t end)
{
    unsigned chip = r->chip | (f->face.wave64 ? ISA_WAVE64 : 0);
    unsigned claused = 0;
    f->first = (uint32_t)r->n_items;
    while (word < end) {
        struct isa_inst inst;
        size_t n = isa_decode(chip, r->pool + word, end - word, &inst);
        unsigned flags = n ? flags_of(&inst) : 0;
        if (claused) {
            claused--;
            flags |= CLAUSED;
        }
        if (flags & IS_CLAUSE) claused = (inst.imm & 63) + 1u;
        bool strange = !n || inst.id == ISA_v_illegal_VOP2;
        f->has_strange |= strange;
        if (!add_item(r, strange ? REWRITE_DATA : REWRITE_INSTRUCTION, word, n ? n : 1, flags))
            return false;
        struct item *item = &r->items[r->n_items - 1];
        if (flags & BRANCHES) {
            int64_t to = (int64_t)word + 1 + inst.imm;
            bool inside = to >= 0 && to < (int64_t)(r->size / 4);
            item->target = inside ? (uint32_t)to : NONE;
        }
        if (flags & (JUMPS | CALLS) || (n && inst.row->implicit & ISA_R_PC)) f->has_pc = true;
        word += n ? n : 1;
    }
    f->last = (uint32_t)r->n_items;
    /* __builtin_trap at the end of a function: compilers let nothing follow. */
    if (f->last > f->first && r->pool[r->items[f->last - 1].words] >> 16 == WORD_S_TRAP >> 16)
        r->items[f->last - 1].flags |= ENDS;
    return true;
}

/* Targets from words to items; inside of an instruction there is none. */
static void find_targets(struct rewrite *r)
{
    for (size_t i = 0; i < r->n_items; i++)
        if (r->items[i].flags & BRANCHES && r->items[i].target != NONE)
            r->items[i].target = r->item_of[r->items[i].target];
}

static void find_modes(struct rewrite *r)
{
    const struct codeobj *o = r->object;
    size_t n32 = 0, n64 = 0;
    for (size_t i = 0; i < o->n_kernels; i++) {
        const struct codeobj_kernel *k = &o->kernels[i];
        if (!k->has_descriptor || !k->function) continue;
        bool wave64 = !(k->descriptor.properties & CODEOBJ_PROPERTY_WAVE32);
        struct rewrite_function *face = &r->functions[k->function - o->functions].face;
        face->is_kernel = true;
        face->wave64 = wave64;
        *(wave64 ? &n64 : &n32) += 1;
    }
    for (size_t i = 0; i < r->n_functions; i++)
        if (!r->functions[i].face.is_kernel) r->functions[i].face.wave64 = n64 > n32;
}

rmcp_status rewrite_sweep(struct rewrite *r)
{
    const struct codeobj_section *text = NULL;
    rmcp_status status = find_text(r->object, &text);
    if (status) return status;
    r->address = text->address;
    r->size = (size_t)text->size;
    size_t n_words = r->size / 4, word = 0;
    r->n_functions = r->object->n_functions;
    r->pool_room = n_words + 64;
    r->pool = malloc(r->pool_room * sizeof *r->pool);
    r->item_of = malloc(n_words * sizeof *r->item_of);
    r->functions = calloc(r->n_functions + 1, sizeof *r->functions);
    if (!r->pool || !r->item_of || !r->functions) return rmcp_fail_memory("text", r->size);
    memcpy(r->pool, text->bytes, r->size);
    memset(r->item_of, 0xff, n_words * sizeof *r->item_of);
    r->n_pool = n_words;
    find_modes(r);
    bool ok = true;
    for (size_t i = 0; ok && i < r->n_functions; i++) {
        const struct codeobj_function *symbol = &r->object->functions[i];
        struct function *f = &r->functions[i];
        f->face.symbol = symbol;
        uint64_t from = symbol->address - r->address;
        if (symbol->address < r->address || from > r->size || symbol->size > r->size - from ||
            from % 4 || from / 4 < word)
            return rmcp_fail(RMCP_E_UNSUPPORTED, "function %.100s at 0x%llx is not in .text",
                             symbol->name, (unsigned long long)symbol->address);
        f->address = from;
        ok = sweep_gap(r, word, (size_t)from / 4);
        word = (size_t)(from + symbol->size) / 4;
        ok = ok && sweep_function(r, f, (size_t)from / 4, word);
        if (symbol->size % 4) rewrite_refuse(f, "its size is not whole words", symbol->address);
    }
    if (!ok || !sweep_gap(r, word, n_words)) return rmcp_fail_memory("items", r->size);
    find_targets(r);
    return RMCP_OK;
}
