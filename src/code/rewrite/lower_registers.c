/* lower_registers.c: vector registers for what is lowered, above all that the code names. */
#include <stdlib.h>

#include "code/rewrite/lower_parts.h"

enum { MOST_VGPRS = 256, MOST_WORK_ITEMS = 1024, RSRC1_VGPRS = 63 };
#define RSRC1_WGP_MODE (1u << 29)

/* ---- what functions use ---- */

static void measure(struct lower_registers *g, size_t i)
{
    const struct rewrite_function *f = &g->r->faces[i];
    struct isa_inst inst;
    struct isa_uses uses;
    for (uint32_t item = f->entry; item != f->end; item = g->r->items[item].next) {
        if (!rewrite_decode(g->r, f, item, &inst)) continue;
        isa_uses(&inst, &uses);
        g->is_indexed[i] |= uses.indexed;
        for (unsigned v = MOST_VGPRS; v-- > g->named[i];)
            if (isa_vgpr_in(uses.vgpr_read, v) || isa_vgpr_in(uses.vgpr_write, v))
                g->named[i] = (uint16_t)(v + 1);
    }
}

/* The index of a function, by its address; NONE: there is none. */
static uint32_t function_of(const struct rewrite *r, const struct codeobj_function *symbol)
{
    size_t low = 0, high = r->n_functions;
    while (symbol && low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t address = r->faces[middle].symbol->address;
        if (address == symbol->address) return (uint32_t)middle;
        if (address < symbol->address)
            low = middle + 1;
        else
            high = middle;
    }
    return NONE;
}

bool lower_registers_init(struct lower_registers *g, struct rewrite *r)
{
    size_t n = r->n_functions + 1;
    *g = (struct lower_registers){ .r = r,
                                   .named = calloc(n, sizeof *g->named),
                                   .is_indexed = calloc(n, sizeof *g->is_indexed),
                                   .is_called = calloc(n, sizeof *g->is_called),
                                   .is_in = calloc(n, sizeof *g->is_in),
                                   .stack = calloc(n, sizeof *g->stack),
                                   .of_kernel =
                                       calloc(r->object->n_kernels + 1, sizeof *g->of_kernel) };
    if (!g->named || !g->is_indexed || !g->is_called || !g->is_in || !g->stack || !g->of_kernel) {
        lower_registers_deinit(g);
        return false;
    }
    for (size_t i = 0; i < r->n_functions; i++) measure(g, i);
    for (size_t i = 0; i < r->n_calls; i++) g->is_called[r->calls[i]] = true;
    for (size_t k = 0; k < r->object->n_kernels; k++)
        g->of_kernel[k] = function_of(r, r->object->kernels[k].function);
    return true;
}

void lower_registers_deinit(struct lower_registers *g)
{
    free(g->named);
    free(g->is_indexed);
    free(g->is_called);
    free(g->is_in);
    free(g->stack);
    free(g->of_kernel);
    *g = (struct lower_registers){ .r = g->r };
}

/* ---- kernels ---- */

static unsigned granule(const struct codeobj_kernel *kernel)
{
    return kernel->descriptor.properties & CODEOBJ_PROPERTY_WAVE32 ? 8 : 4;
}

static unsigned allocated(const struct codeobj_kernel *kernel)
{
    return ((kernel->descriptor.rsrc1 & RSRC1_VGPRS) + 1) * granule(kernel);
}

static unsigned count_of(const struct codeobj_kernel *kernel)
{
    unsigned n = kernel->metadata.vgpr_count;
    return n && n < allocated(kernel) ? n : allocated(kernel);
}

/* Whether the largest workgroup of a kernel has room on gfx101x: its waves on the four SIMDs of a
 * workgroup processor, or the two of a compute unit, with 1,024 registers each (wave64: 512). */
static bool fits(const struct codeobj_kernel *kernel, unsigned n)
{
    unsigned size = kernel->metadata.max_flat_workgroup_size, unit = granule(kernel);
    unsigned lanes = unit == 8 ? 32 : 64;
    unsigned n_simds = kernel->descriptor.rsrc1 & RSRC1_WGP_MODE ? 4 : 2;
    if (n <= allocated(kernel)) return true;
    if (!size || size > MOST_WORK_ITEMS) size = MOST_WORK_ITEMS;
    unsigned waves = (size + lanes - 1) / lanes, on_one = (waves + n_simds - 1) / n_simds;
    return on_one * ((n + unit - 1) / unit * unit) <= 128 * unit;
}

/* Mark a kernel and all that it calls; all that are no kernels when it calls through pointers. */
static void mark_called(struct lower_registers *g, size_t kernel)
{
    const struct rewrite *r = g->r;
    size_t n = 0;
    for (size_t i = 0; i < r->n_functions; i++)
        g->is_in[i] = r->faces[kernel].calls_unknown && !r->faces[i].is_kernel;
    g->is_in[kernel] = true;
    g->stack[n++] = (uint32_t)kernel;
    while (n) {
        const struct function *f = &r->functions[g->stack[--n]];
        for (uint32_t c = 0; c < f->n_calls; c++) {
            uint32_t callee = r->calls[f->calls + c];
            if (g->is_in[callee]) continue;
            g->is_in[callee] = true;
            g->stack[n++] = callee;
        }
    }
}

/* Mark a function and all who may get there. */
static void mark_callers(struct lower_registers *g, size_t function)
{
    const struct rewrite *r = g->r;
    for (size_t i = 0; i < r->n_functions; i++) g->is_in[i] = r->faces[i].calls_unknown;
    g->is_in[function] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < r->n_functions; i++) {
            const struct function *f = &r->functions[i];
            for (uint32_t c = 0; c < f->n_calls && !g->is_in[i]; c++)
                changed |= g->is_in[i] = g->is_in[r->calls[f->calls + c]];
        }
    }
}

/* Above what functions name (the marked ones, or all), and above all that kernels have where M0
 * chooses registers: `kernel`, NULL: of any. */
static unsigned first_above(const struct lower_registers *g, bool marked,
                            const struct codeobj_function *kernel)
{
    const struct codeobj *object = g->r->object;
    unsigned first = 0;
    bool is_indexed = false;
    for (size_t i = 0; i < g->r->n_functions; i++) {
        if (marked && !g->is_in[i]) continue;
        if (g->named[i] > first) first = g->named[i];
        is_indexed |= g->is_indexed[i];
    }
    for (size_t k = 0; k < object->n_kernels && is_indexed; k++) {
        const struct codeobj_kernel *one = &object->kernels[k];
        if (kernel && one->function != kernel) continue;
        if (allocated(one) > first) first = allocated(one);
    }
    return first;
}

/* What a kernel needs for registers up to `n`. */
static void raise(const struct codeobj_kernel *kernel, unsigned n, uint16_t *vgprs)
{
    if (n <= count_of(kernel)) return;
    unsigned least = allocated(kernel) - granule(kernel) + 1; /* not fewer than it had */
    if (n < least) n = least;
    if (n > *vgprs) *vgprs = (uint16_t)n;
}

unsigned lower_find_above(struct lower_registers *g, size_t function, unsigned n, uint16_t *vgprs)
{
    const struct rewrite *r = g->r;
    const struct codeobj *object = r->object;
    const struct codeobj_function *symbol = r->faces[function].symbol;
    bool is_kernel = r->faces[function].is_kernel && !g->is_called[function];
    /* A temporary holds nothing over a call; it may lie in what others keep only for those who call
     * the function. */
    if (is_kernel) mark_called(g, function);
    unsigned first = first_above(g, is_kernel, is_kernel ? symbol : NULL);
    if (first + n > MOST_VGPRS) return MOST_VGPRS;
    if (!is_kernel) mark_callers(g, function);
    size_t n_kernels = 0;
    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < object->n_kernels; k++) {
            const struct codeobj_kernel *kernel = &object->kernels[k];
            size_t at = g->of_kernel[k];
            if (is_kernel ? kernel->function != symbol : at == NONE || !g->is_in[at]) continue;
            n_kernels++;
            if (!round && !fits(kernel, first + n)) return MOST_VGPRS;
            if (round) raise(kernel, first + n, &vgprs[k]);
        }
    return n_kernels ? first : MOST_VGPRS;
}
