/* code.c: decoded code, kept by page and compared with memory once a dispatch. */
#include <stdlib.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/memory/memory.h"

enum { PAGE_BYTES = 4 * PAGE_WORDS };

void code_init(struct code *code, unsigned chip_mode)
{
    memset(code, 0, sizeof *code);
    code->chip_mode = chip_mode;
    pthread_mutex_init(&code->lock, NULL);
}

static void op_free(const struct op *op)
{
    if (!op) return;
    free(op->rows);
    free(op->own_bundles);
    free(op->own_steps);
    free((void *)(uintptr_t)op);
}

static void page_forget(struct page *page)
{
    for (unsigned i = 0; i < PAGE_WORDS; i++) {
        op_free(atomic_load_explicit(&page->ops[i], memory_order_relaxed));
        atomic_store_explicit(&page->ops[i], NULL, memory_order_relaxed);
    }
}

void code_deinit(struct code *code)
{
    for (unsigned i = 0; i < PAGE_TABLE; i++)
        while (code->pages[i]) {
            struct page *page = code->pages[i];
            code->pages[i] = page->next;
            page_forget(page);
            free(page);
        }
    pthread_mutex_destroy(&code->lock);
}

static unsigned bucket(uint64_t address)
{
    return (unsigned)(address / PAGE_BYTES % PAGE_TABLE);
}

/* Read the words of a page; those behind it are for instructions that cross its end. */
static unsigned read_words(struct core *core, uint64_t address, uint32_t *words)
{
    enum { ALL = PAGE_WORDS + ISA_MAX_WORDS - 1 };
    memset(words, 0, ALL * sizeof *words);
    if (memory_read(core, address, words, ALL * sizeof *words, SIM_READ)) return ALL;
    /* What is mapped may begin and end inside the page, more than once. */
    for (unsigned i = 0; i < ALL;) {
        struct sim_mapping m;
        uint64_t n = 0;
        if (memory_find(core, address + 4 * i, &m) && m.access & SIM_READ)
            n = (m.bytes - (address + 4 * i - m.first)) / 4;
        if (n > ALL - i) n = ALL - i;
        if (n) memcpy(words + i, m.host + (address + 4 * i - m.first), n * sizeof *words);
        i += n ? (unsigned)n : 1;
    }
    return ALL;
}

/* The page of an address, as memory has it in this dispatch. Called with the lock held. */
static struct page *page_find(struct code *code, struct core *core, uint64_t address)
{
    address &= ~(uint64_t)(PAGE_BYTES - 1);
    struct page *page = code->pages[bucket(address)];
    while (page && page->address != address) page = page->next;
    if (page && page->generation == code->generation) return page;
    if (!page) {
        page = calloc(1, sizeof *page);
        if (!page) return NULL;
        page->address = address;
        page->n_words = read_words(core, address, page->words);
        page->next = code->pages[bucket(address)];
        code->pages[bucket(address)] = page;
    } else {
        uint32_t *now = malloc(sizeof page->words);
        if (!now) return NULL;
        page->n_words = read_words(core, address, now);
        if (memcmp(now, page->words, sizeof page->words)) {
            page_forget(page);
            memcpy(page->words, now, sizeof page->words);
        }
        free(now);
    }
    page->generation = code->generation;
    return page;
}

static struct op *op_make(unsigned chip_mode, const uint32_t *words)
{
    struct op *op = aligned_alloc(64, (sizeof *op + 63) / 64 * 64);
    if (!op) return NULL;
    memset(op, 0, sizeof *op);
    if (isa_decode(chip_mode, words, ISA_MAX_WORDS, &op->inst)) {
        op->decoded = true;
        if (predecode(op)) return op;
        op_free(op);
        return NULL;
    }
    memset(&op->inst, 0, sizeof op->inst);
    memcpy(op->inst.word, words, sizeof op->inst.word);
    op->inst.n_words = 1;
    op->bytes = 4;
    op->run = run_illegal;
    op->klass = SIM_CLASS_WAIT;
    return op;
}

static bool is_executable(struct core *core, uint64_t pc)
{
    return memory_at(core, pc, 4, SIM_READ) != NULL;
}

/* The instruction at word i of a page, newly decoded. Those that follow it are decoded, too, as
 * long as they make a bundle with it. NULL: no memory. */
static const struct op *decode(struct code *code, struct page *page, unsigned i)
{
    struct op *ops[MAX_BUNDLE] = { NULL };
    unsigned place[MAX_BUNDLE], n = 0;
    bool ok = true, more = true;
    while (more && n < MAX_BUNDLE && i < PAGE_WORDS) {
        if (atomic_load_explicit(&page->ops[i], memory_order_relaxed)) break;
        struct op *op = op_make(code->chip_mode, page->words + i);
        ok = op;
        if (!ok) break;
        more = bundle_takes(op);
        if (!more && n) {
            op_free(op);
            break;
        }
        ops[n] = op;
        place[n++] = i;
        i += op->bytes / 4u;
    }
    if (ok) ok = bundle_make(ops, n);
    if (!ok) {
        while (n--) op_free(ops[n]);
        return NULL;
    }
    for (unsigned k = 0; k < n; k++)
        atomic_store_explicit(&page->ops[place[k]], ops[k], memory_order_release);
    return ops[0];
}

const struct op *code_fetch_slow(struct wave *w)
{
    struct core *core = w->core;
    struct code *code = &core->sim->code[w->n_lanes == 64];
    if (w->pc & 3 || !is_executable(core, w->pc)) {
        struct finding f = { .kind = SIM_BAD_FETCH, .rule = -1, .address = w->pc };
        report(w, NULL, &f, "the program counter is 0x%llx, where no instructions are",
               (unsigned long long)w->pc);
        return NULL;
    }
    const struct op *op = NULL;
    pthread_mutex_lock(&code->lock);
    struct page *page = page_find(code, core, w->pc);
    if (page) {
        unsigned i = (unsigned)((w->pc - page->address) / 4);
        op = atomic_load_explicit(&page->ops[i], memory_order_relaxed);
        if (!op) op = decode(code, page, i);
        w->page = page;
    }
    pthread_mutex_unlock(&code->lock);
    if (!op) {
        core->run->status = RMCP_E_NOMEM;
        atomic_store(&core->run->stop, true);
    }
    return op;
}
