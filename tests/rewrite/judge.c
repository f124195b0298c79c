/* judge.c: random insertions, and whether a rewritten text does what the old one did. */
#include "judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/write.h"

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

rmcp_status judge_insert(struct rewrite *r, unsigned percent, uint64_t seed, size_t *n)
{
    size_t n_functions;
    const struct rewrite_function *functions = rewrite_functions(r, &n_functions);
    for (size_t f = 0; f < n_functions && percent; f++) {
        if (functions[f].refused) continue;
        uint32_t item = functions[f].entry;
        for (; item != functions[f].end && item != REWRITE_NONE; item = rewrite_next(r, item)) {
            if (rewrite_kind(r, item) != REWRITE_INSTRUCTION) continue;
            unsigned times = percent / 100 + (next_random(&seed) % 100 < percent % 100);
            for (; times; times--) {
                const uint64_t draw = next_random(&seed);
                const uint32_t nop = 0xbf800000u | (draw >> 8 & 3); /* up to 4 cycles */
                rmcp_status status =
                    rewrite_insert(r, item, (enum rewrite_where)(draw % 3), &nop, 1, NULL);
                if (status) return status;
                ++*n;
            }
        }
    }
    return RMCP_OK;
}

/* ---- sums on s_getpc, in the order of addresses ---- */

static void wrong(struct judge *j, size_t *n, uint64_t at, const char *what)
{
    if (!(*n)++) snprintf(j->first, sizeof j->first, "0x%" PRIx64 ": %s", at, what);
}

/* A plain machine for s_getpc, s_add, s_addc, s_sub, s_subb, s_abs on constants: registers hold
 * numbers, and the carry is real. `pc` is made up so that sums can be told apart from constants. */
struct machine {
    bool known[129];
    uint32_t reg[129]; /* 128 is SCC */
};

static bool source(const struct machine *m, const struct isa_operand *op, uint32_t *out)
{
    if (op->kind == ISA_KIND_INLINE || op->kind == ISA_KIND_LITERAL) {
        *out = op->value;
        return true;
    }
    if (op->kind != ISA_KIND_REG || op->reg >= 128 || !m->known[op->reg]) return false;
    *out = m->reg[op->reg];
    return true;
}

static void put(struct machine *m, unsigned reg, bool known, uint32_t value)
{
    m->known[reg] = known;
    m->reg[reg] = value;
}

/* One instruction at an address. */
static void run(struct machine *m, const struct isa_inst *in, uint64_t address)
{
    uint32_t a = 0, b = 0;
    uint64_t pc = address + 4 * (uint64_t)in->n_words;
    bool both = in->n_operands > 2 && source(m, &in->op[1], &a) && source(m, &in->op[2], &b);
    unsigned to = in->n_operands ? in->op[0].reg : 128;
    switch (in->id) {
    case ISA_s_getpc_b64_SOP1:
        put(m, to, true, (uint32_t)pc);
        put(m, to + 1, true, (uint32_t)(pc >> 32));
        return;
    case ISA_s_mov_b32_SOP1: {
        bool known = source(m, &in->op[1], &a);
        put(m, to, known, a);
        return;
    }
    case ISA_s_add_u32_SOP2:
        put(m, to, both, a + b);
        put(m, 128, both, a + b < a);
        return;
    case ISA_s_sub_u32_SOP2:
        put(m, to, both, a - b);
        put(m, 128, both, a < b);
        return;
    case ISA_s_add_i32_SOP2:
        put(m, to, both, a + b);
        put(m, 128, false, 0);
        return;
    case ISA_s_addc_u32_SOP2:
        put(m, to, both && m->known[128], a + b + m->reg[128]);
        put(m, 128, false, 0);
        return;
    case ISA_s_subb_u32_SOP2:
        put(m, to, both && m->known[128], a - b - m->reg[128]);
        put(m, 128, false, 0);
        return;
    default: break;
    }
    struct isa_uses uses;
    isa_uses(in, &uses);
    for (unsigned w = 0; w < 2; w++)
        for (uint64_t rest = uses.sgpr_write[w]; rest; rest &= rest - 1)
            m->known[64 * w + (unsigned)__builtin_ctzll(rest)] = false;
    if (uses.special & ISA_W_SCC) m->known[128] = false;
}

/* ---- side by side ---- */

static bool is_free(const struct isa_inst *in)
{
    return in->id == ISA_s_nop_SOPP || in->id == ISA_s_clause_SOPP;
}

static bool is_branch(const struct isa_inst *in)
{
    return in->row->flags & ISA_BRANCH || in->id == ISA_s_call_b64_SOPK;
}

/* The same but for an offset, a literal or an inline constant that may hold a distance. */
static bool alike(const struct isa_inst *a, const struct isa_inst *b)
{
    if (a->id != b->id || a->form != b->form || a->n_operands != b->n_operands) return false;
    if (is_branch(a)) return a->word[0] >> 16 == b->word[0] >> 16;
    if (a->n_words == b->n_words && !memcmp(a->word, b->word, 4 * a->n_words)) return true;
    if (a->row->encoding != ISA_SOP2 && a->row->encoding != ISA_SOP1) return false;
    for (unsigned i = 0; i < a->n_operands; i++) {
        bool ka = a->op[i].kind == ISA_KIND_INLINE || a->op[i].kind == ISA_KIND_LITERAL;
        bool kb = b->op[i].kind == ISA_KIND_INLINE || b->op[i].kind == ISA_KIND_LITERAL;
        if (ka != kb || (!ka && a->op[i].reg != b->op[i].reg)) return false;
    }
    return true;
}

/* Where a branch of the new text ends up: through branches that were added. */
static uint64_t arrive(const struct judge *j, uint64_t offset, const uint8_t *is_added)
{
    for (unsigned hops = 0; hops < 1000 && offset / 4 < j->text->n_words; hops++) {
        if (!is_added[offset / 4]) return offset;
        offset += 4 + 4 * (int64_t)(int16_t)(j->text->words[offset / 4] & 0xffff);
    }
    return UINT64_MAX;
}

static void judge_function(struct judge *j, const struct rewrite_function *f, size_t *n_wrong,
                           uint8_t *is_added, bool second)
{
    static const unsigned mode[] = { 0, ISA_WAVE64 };
    const struct codeobj_function *symbol = f->symbol;
    uint64_t address, size;
    if (!rewrite_place(j->rewrite, f, &address, &size)) {
        wrong(j, n_wrong, symbol->address, "the function has no place");
        return;
    }
    if (f->is_kernel && address % 256) wrong(j, n_wrong, symbol->address, "entry is not aligned");
    uint64_t base = j->options->address, b = address - base, b_end = b + size;
    struct isa_inst probe;
    unsigned chip = rewrite_decode(j->rewrite, f, rewrite_next(j->rewrite, f->entry), &probe)
                        ? probe.chip
                        : ISA_GFX1030;
    chip |= mode[f->wave64];
    struct machine old = { { 0 }, { 0 } }, new = { { 0 }, { 0 } };
    size_t n_words = (size_t)symbol->size / 4;
    uint32_t *words = malloc(4 * n_words + 4);
    if (!words) abort();
    memcpy(words, symbol->code, 4 * n_words);
    for (size_t a = 0; a < n_words;) {
        struct isa_inst x, y;
        size_t n = isa_decode(chip, words + a, n_words - a, &x), m = 0;
        uint64_t at = symbol->address + 4 * a;
        if (!n) { /* a word that is no instruction: the very same */
            while (b < b_end && j->text->words[b / 4] != words[a] &&
                   isa_decode(chip, j->text->words + b / 4, 1, &y) && is_free(&y))
                b += 4;
            if (b >= b_end || j->text->words[b / 4] != words[a])
                wrong(j, n_wrong, at, "a word that is no instruction changed");
            a++;
            b += 4;
            continue;
        }
        /* Skip what was added: s_nop, and branches before which nothing like this one stands. */
        while (b < b_end) {
            m = isa_decode(chip, j->text->words + b / 4, (b_end - b) / 4, &y);
            uint64_t mapped;
            if (rewrite_address(j->rewrite, at, &mapped) && mapped - base > b &&
                mapped - base < b_end && !is_free(&x) && m &&
                (is_free(&y) || y.id == ISA_s_branch_SOPP)) {
                is_added[b / 4] = y.id == ISA_s_branch_SOPP;
                b += 4 * m;
                continue;
            }
            if (m && is_free(&y) && !is_free(&x)) {
                b += 4 * m;
                continue;
            }
            if (m && y.id == ISA_s_branch_SOPP && !alike(&x, &y)) {
                is_added[b / 4] = 1;
                b += 4 * m;
                continue;
            }
            break;
        }
        if (is_free(&x)) { /* one s_nop is like another; an s_clause may be gone */
            a += n;
            continue;
        }
        if (b >= b_end || !m || !alike(&x, &y)) {
            wrong(j, n_wrong, at, "another instruction stands in its place");
            break;
        }
        if (second && is_branch(&x)) {
            uint64_t to = at + 4 + 4 * (int64_t)x.imm, there = b + 4 + 4 * (int64_t)y.imm, mapped;
            uint64_t end = arrive(j, there, is_added);
            bool leads = rewrite_address(j->rewrite, to, &mapped) &&
                         arrive(j, mapped - base, is_added) == end;
            /* Code that no path reaches is data, and stays as it was. */
            if (!leads && x.word[0] != y.word[0]) wrong(j, n_wrong, at, "a branch leads elsewhere");
        }
        if (second && !j->no_sums) {
            run(&old, &x, at);
            run(&new, &y, base + b);
            for (unsigned i = 0; i < x.n_operands; i++) {
                if (x.op[i].kind != ISA_KIND_REG || !(x.op[i].access & ISA_READ) ||
                    x.op[i].n_regs != 2 || x.op[i].reg > 126)
                    continue;
                unsigned lo = x.op[i].reg;
                if (!old.known[lo] || !old.known[lo + 1] || !new.known[lo] || !new.known[lo + 1])
                    continue;
                uint64_t p = (uint64_t)old.reg[lo + 1] << 32 | old.reg[lo];
                uint64_t q = (uint64_t) new.reg[lo + 1] << 32 | new.reg[lo], mapped;
                bool moved = rewrite_address(j->rewrite, p, &mapped);
                if (q != (moved ? mapped : p) && !(x.row->flags & ISA_CALL && i == 0))
                    wrong(j, n_wrong, at, "a pc-relative sum gives something else");
            }
        }
        a += n;
        b += 4 * m;
    }
    free(words);
}

size_t judge_text(struct judge *j)
{
    size_t n, n_wrong = 0;
    const struct rewrite_function *functions = rewrite_functions(j->rewrite, &n);
    uint8_t *is_added = calloc(j->text->n_words + 1, 1);
    if (!is_added) abort();
    j->first[0] = 0;
    for (unsigned pass = 0; pass < 2 && !n_wrong; pass++)
        for (size_t i = 0; i < n; i++)
            if (!functions[i].refused) judge_function(j, &functions[i], &n_wrong, is_added, pass);
    free(is_added);
    return n_wrong;
}

static rmcp_status compare_lifted(const struct rewrite *old, const uint8_t *bytes, size_t size)
{
    struct codeobj *object = NULL;
    struct rewrite *r = NULL;
    size_t n_old, n_new;
    rmcp_status status = codeobj_open(bytes, size, &object);
    if (!status) status = rewrite_lift(object, &r);
    if (!status) {
        const struct rewrite_function *a = rewrite_functions(old, &n_old);
        const struct rewrite_function *b = rewrite_functions(r, &n_new);
        if (n_old != n_new)
            status = rmcp_fail(RMCP_E_INTERNAL, "%zu functions became %zu", n_old, n_new);
        for (size_t i = 0; !status && i < n_old; i++) {
            uint64_t address, bytes_new;
            bool placed = rewrite_place(old, &a[i], &address, &bytes_new);
            if (strcmp(a[i].symbol->name, b[i].symbol->name) || a[i].is_kernel != b[i].is_kernel ||
                a[i].wave64 != b[i].wave64 || !placed || b[i].symbol->address != address ||
                (a[i].symbol->size_known && b[i].symbol->size != bytes_new))
                status = rmcp_fail(RMCP_E_INTERNAL, "function %.100s came back as %.100s",
                                   a[i].symbol->name, b[i].symbol->name);
            else if (!a[i].refused && b[i].refused)
                status =
                    rmcp_fail(RMCP_E_INTERNAL, "function %.100s, rewritten: %s at 0x%llx",
                              a[i].symbol->name, b[i].refused, (unsigned long long)b[i].refused_at);
        }
    }
    rewrite_destroy(r);
    codeobj_close(object);
    return status;
}

rmcp_status judge_write(struct rewrite *r, const struct codeobj *object,
                        const struct rewrite_text *text, const uint16_t *vgprs, uint8_t **out,
                        size_t *size)
{
    struct codeobj_kernel_change *kernels = calloc(object->n_kernels + 1, sizeof *kernels);
    struct codeobj_change change = { .text = (const uint8_t *)text->words,
                                     .text_size = 4 * text->n_words,
                                     .moved = rewrite_moved,
                                     .moved_context = r,
                                     .kernels = kernels };
    rmcp_status status = kernels ? RMCP_OK : rmcp_fail_memory("kernels", object->n_kernels);
    for (size_t i = 0; vgprs && !status && i < object->n_kernels; i++) {
        if (!vgprs[i]) continue;
        codeobj_kernel_change_init(&kernels[change.n_kernels], object, i);
        status = codeobj_kernel_set_vgprs(object, &kernels[change.n_kernels++], vgprs[i]);
    }
    if (!status) status = codeobj_write(object, &change, out, size);
    if (!status) status = compare_lifted(r, *out, *size);
    free(kernels);
    return status;
}
