/* rewrite.h: the machine code of a code object, taken apart so that it can be changed.
 *
 * The whole .text is lifted at once, for kernels share functions. It becomes one list of items:
 * instructions, data, and labels where something refers to. Every reference is symbolic: short
 * branches, calls, and sums on s_getpc, whether they lead to code or to data outside of .text. So
 * instructions may be inserted and taken out anywhere; the layout finds new places for all of them
 * and computes every reference anew. Words that nobody touches are copied as they are.
 *
 * What is not understood is refused, function by function, with the reason; a function is also
 * refused when one that it calls is. What a s_getpc leads to is proven by following constants along
 * every path from it (values.h). Trusted are only: that code addresses which go through memory or
 * the lanes of a vector register come back as they were, and, for telling where an indirect jump
 * goes, that a callee keeps the registers that LLVM's calling convention says it keeps.
 *
 * Thread safety: no global state; one thread at a time for one struct rewrite. */
#ifndef RMCP_REWRITE_REWRITE_H
#define RMCP_REWRITE_REWRITE_H

#include "code/codeobj/codeobj.h"
#include "code/isa/isa.h"

#define REWRITE_NONE UINT32_MAX

struct rewrite;

struct rewrite_function {
    const struct codeobj_function *symbol;
    const char *refused; /* NULL when it is understood; lives as long as the struct rewrite */
    uint64_t refused_at; /* the old address that the reason speaks of */
    uint32_t entry, end; /* items: the labels before its first and behind its last instruction */
    bool is_kernel;
    bool wave64;
    bool calls_unknown; /* calls through a pointer, or through one of its callees */
};

enum rewrite_kind {
    REWRITE_INSTRUCTION,
    REWRITE_DATA,  /* words that no path reaches, and what lies between functions */
    REWRITE_LABEL, /* no words; references lead here */
};

/* Take the .text of a linked code object of gfx10.1 or gfx10.3 apart. The object must outlive
 * `*out`. RMCP_E_UNSUPPORTED: nothing of it can be rewritten. Functions that cannot be are no
 * error. On RMCP_OK `*out` is to be freed with rewrite_destroy; on any error it is NULL. */
rmcp_status rewrite_lift(const struct codeobj *object, struct rewrite **out);
void rewrite_destroy(struct rewrite *rewrite); /* NULL is fine */

/* By rising address. */
const struct rewrite_function *rewrite_functions(const struct rewrite *rewrite, size_t *n);

/* ---- looking ---- */

uint32_t rewrite_next(const struct rewrite *rewrite, uint32_t item); /* REWRITE_NONE at the end */
uint32_t rewrite_previous(const struct rewrite *rewrite, uint32_t item);
enum rewrite_kind rewrite_kind(const struct rewrite *rewrite, uint32_t item);

/* Decode an instruction; false for other items. Fields that hold a reference are as they were. */
bool rewrite_decode(const struct rewrite *rewrite, const struct rewrite_function *function,
                    uint32_t item, struct isa_inst *out);

/* Whether a path leads to an item; else it may be data that look like an instruction. */
bool rewrite_is_reached(const struct rewrite *rewrite, uint32_t item);

/* The label that a branch or s_call leads to, else REWRITE_NONE. */
uint32_t rewrite_target(const struct rewrite *rewrite, uint32_t item);

/* The s_clause that an instruction stands under, else REWRITE_NONE. */
uint32_t rewrite_clause(const struct rewrite *rewrite, uint32_t item);

/* The item whose instruction came to lie at this byte of the laid out text, else REWRITE_NONE. */
uint32_t rewrite_item_at(const struct rewrite *rewrite, uint64_t offset);

/* ---- changing ---- */

enum rewrite_where {
    REWRITE_ON_ALL_PATHS = 0,    /* whoever comes to the instruction passes the new one */
    REWRITE_ON_FALL_THROUGH = 1, /* only who comes from above, not who branches there   */
    /* For waits, which may come earlier: before the s_clause that the instruction stands under,
     * which then stays. Otherwise the clause, a hint, is deleted. */
    REWRITE_BEFORE_CLAUSE = 2
};

/* Put one instruction of n_words before an item of the lifted text or one inserted before; it may
 * hold no reference. `*out` (may be NULL) is the new item. */
rmcp_status rewrite_insert(struct rewrite *rewrite, uint32_t before, enum rewrite_where where,
                           const uint32_t *words, unsigned n_words, uint32_t *out);

/* Other words, which hold no reference, for an instruction, or none at all. Refused
 * (RMCP_E_UNSUPPORTED) for what holds a reference or ends its path (s_endpgm). A change within a
 * clause deletes the clause, a hint, as well. */
rmcp_status rewrite_replace(struct rewrite *rewrite, uint32_t item, const uint32_t *words,
                            unsigned n_words);
rmcp_status rewrite_delete(struct rewrite *rewrite, uint32_t item);

/* Refuse a function (by its number) and who calls it, also after a layout. `reason` must live as
 * long as `rewrite`; the first reason stays. */
void rewrite_refuse_function(struct rewrite *rewrite, size_t function, const char *reason);

/* ---- laying out ---- */

struct rewrite_options {
    uint64_t address;  /* where the new .text will lie, a multiple of 256 */
    uint32_t reach;    /* most words that a branch may go; 0: as many as it can, 32,767 */
    bool avoid_3f;     /* no branch offset of 0x3f: a bug of gfx1010 */
    bool drop_refused; /* leave refused functions out; otherwise there must be none */
    bool trap_refused; /* and put an s_trap in their places, so that everything has an address */
};

struct rewrite_text {
    const uint32_t *words; /* lives until the next layout */
    size_t n_words;
    size_t n_islands; /* branches that lead on others which did not reach */
    size_t n_nops;    /* inserted for avoid_3f */
};

/* Give every item a place and fill in the references. May be called again after more changes;
 * what a layout inserted stays. */
rmcp_status rewrite_layout(struct rewrite *rewrite, const struct rewrite_options *options,
                           struct rewrite_text *out);

/* The new address of an old one: of a function's entry, an instruction, or anything in .text that
 * is referred to. False when nothing starts there any more. */
bool rewrite_address(const struct rewrite *rewrite, uint64_t old, uint64_t *out);

/* The same as a codeobj_moved (code/codeobj/write.h), whose context is the struct rewrite. */
bool rewrite_moved(void *rewrite, uint64_t old, bool is_end, uint64_t *out);

/* The new address and size of a function; false when it was left out. */
bool rewrite_place(const struct rewrite *rewrite, const struct rewrite_function *function,
                   uint64_t *address, uint64_t *size);

#endif
