/* program.h: a lifted text from the inside; not for other folders. */
#ifndef RMCP_REWRITE_PROGRAM_H
#define RMCP_REWRITE_PROGRAM_H

#include "code/rewrite/rewrite.h"

#define NONE REWRITE_NONE

#define WORD_S_NOP UINT32_C(0xbf800000)
#define WORD_S_BRANCH UINT32_C(0xbf820000)
#define WORD_S_TRAP UINT32_C(0xbf920000)
#define WORD_S_CODE_END UINT32_C(0xbf9f0000)

/* ELF: codeobj_section.flags */
enum { SECTION_IS_LOADED = 2, SECTION_EXECUTES = 4 };

/* item.flags */
enum {
    IS_REACHED = 1,  /* a path leads to it */
    ENDS = 2,        /* nothing falls through: s_endpgm, s_branch, s_setpc; edge of a function */
    BRANCHES = 4,    /* holds an offset of 16 bits to a label: branches and s_call */
    CALLS = 8,       /* s_call, s_swappc: goes on behind it */
    JUMPS = 16,      /* s_setpc, s_swappc */
    CLAUSED = 32,    /* stands under an s_clause */
    IS_CLAUSE = 64,  /* the s_clause itself */
    HOLDS_SUM = 128, /* its constant is a part of a pc-relative sum, or the s_getpc of one */
};

struct item {
    uint32_t prev, next;
    uint32_t old;     /* byte offset in the old text; NONE: inserted */
    uint32_t words;   /* index in rewrite.pool */
    uint32_t n_words; /* 0 for a label */
    uint32_t target;  /* of BRANCHES: an instruction at first, its label once there are labels */
    uint32_t label;   /* of this instruction, NONE: nobody refers to it */
    uint32_t at;      /* byte offset in the new text */
    uint8_t kind;     /* enum rewrite_kind */
    uint8_t flags;
    uint8_t align; /* of a label: 1 << align bytes; 0: as it comes */
    uint8_t is_gone;
};

/* A sum on the program counter: its value is that of `base` (or the address behind `anchor`) plus
 * or minus a number of 64 bits, and is the address of something. */
struct sum {
    uint32_t anchor; /* item: s_getpc, s_swappc or s_call */
    uint32_t base;   /* another sum, NONE: the pc itself */
    uint32_t low;    /* item whose literal is in the lower half: sign * literal + offset */
    uint32_t high;   /* item whose second constant is the upper half */
    uint32_t offset;
    int8_t sign;
    bool subtracts;
    bool keeps_sign;  /* code asks for the sign of the constant: it has to stay */
    bool is_fixed;    /* points at nothing by itself: keeps its distance to the anchor */
    uint32_t target;  /* item; NONE: `address`, outside of .text */
    uint64_t address; /* the old one */
    uint64_t value;   /* the new one, while laying out */
};

enum leaf { LEAF_UNKNOWN, LEAF_NO, LEAF_YES };

struct function {
    struct rewrite_function face;
    uint32_t first, last;    /* items, last one excluded, before there are labels */
    uint32_t calls, n_calls; /* in rewrite.calls */
    uint64_t address;        /* offset of the first word in the old text */
    bool has_pc;             /* s_getpc, s_setpc, s_swappc or s_call */
    bool has_strange;        /* words that are no instruction */
    bool is_dropped;         /* by a layout */
    bool is_resolved;        /* its paths and callees were looked at */
    enum leaf leaf;          /* whether all that it may write is known: then that is `writes` */
    uint64_t writes[2];      /* scalar registers */
};

struct rewrite {
    const struct codeobj *object;
    unsigned chip;
    uint64_t address; /* of the old text */
    size_t size;
    uint32_t *pool; /* words: the old text, then what was added */
    size_t n_pool, pool_room;
    struct item *items;
    size_t n_items, items_room;
    uint32_t *item_of; /* by word of the old text; NONE inside of an instruction */
    struct function *functions;
    size_t n_functions;
    struct rewrite_function *faces; /* what callers see; filled last */
    uint32_t *calls; /* pairs would repeat the caller: callees of one function in a row */
    size_t n_calls, calls_room;
    struct sum *sums;
    size_t n_sums, sums_room;
    uint32_t first_item;
    /* of the last layout */
    uint64_t new_address;
    uint32_t *out;
    size_t n_out, out_room;
    uint32_t *item_at; /* by word of the new text */
    size_t item_at_room;
    bool is_laid_out;
    size_t n_islands, n_nops;
    char **reasons; /* of refusals that name something */
    size_t n_reasons, reasons_room;
};

/* Make room for one more element of `size` bytes; false when there is no memory. */
bool rewrite_grow(void *list, size_t *room, size_t n, size_t size);

/* A new item, not yet in the list; NONE when there is no memory. */
uint32_t rewrite_new_item(struct rewrite *r, enum rewrite_kind kind, const uint32_t *words,
                          unsigned n_words);
void rewrite_link_before(struct rewrite *r, uint32_t before, uint32_t item);

/* Refuse a function; the first reason stays. */
void rewrite_refuse(struct function *function, const char *reason, uint64_t at);

/* lift.c's parts */
rmcp_status rewrite_sweep(struct rewrite *r);   /* words to items */
rmcp_status rewrite_resolve(struct rewrite *r); /* what is reached, what the sums are */

/* Who calls what is refused is refused as well; once there are faces, they show it. */
void rewrite_spread(struct rewrite *r);

#endif
