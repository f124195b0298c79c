/* lower_parts.h: what the files of lowering share; not for others. */
#ifndef RMCP_REWRITE_LOWER_PARTS_H
#define RMCP_REWRITE_LOWER_PARTS_H

#include "code/rewrite/lower.h"
#include "code/rewrite/program.h"

enum { LOWER_MOST_CODE = 32, LOWER_MOST_TEMPS = 5 };

/* The instructions in the place of one. */
struct lowering {
    struct isa_inst code[LOWER_MOST_CODE];
    unsigned n;
    unsigned n_temps;
    uint16_t temps[LOWER_MOST_TEMPS]; /* vector registers that it may use, given beforehand */
    bool is_tight;                    /* given beforehand: fewer temporaries, more instructions */
    const char *why;                  /* not NULL: it cannot be replaced */
};

/* lower_forms.c: fill in all but what is given beforehand. An empty `why` says no more than the
 * name does. */
void lower_instruction(const struct isa_inst *inst, struct lowering *out);

/* lower_registers.c: where temporaries come from. */
struct lower_registers {
    struct rewrite *r;
    uint16_t *named;  /* by function: the highest vector register that it names, plus 1 */
    bool *is_indexed; /* by function: M0 chooses registers */
    bool *is_called;  /* by function: another one calls it */
    bool *is_in;      /* by function, while going through calls */
    uint32_t *stack;
    uint32_t *of_kernel; /* by kernel of the object: its function, or NONE */
};

bool lower_registers_init(struct lower_registers *g, struct rewrite *r); /* false: no memory */
void lower_registers_deinit(struct lower_registers *g);

/* The first of `n` registers above all that a function and who belongs to it use, and in `vgprs`
 * what the kernels that get there need then; 256: there are none, or nobody is known to get there,
 * and `vgprs` is as it was. */
unsigned lower_find_above(struct lower_registers *g, size_t function, unsigned n, uint16_t *vgprs);

/* lower_dead.c: registers of one function that nobody reads any more, found before it is changed.
 */
struct lower_set {
    uint64_t bits[4];
};

struct lower_dead {
    struct rewrite *r;
    size_t n; /* items of the function */
    unsigned n_registers;
    uint32_t *order;         /* its items */
    uint32_t *place;         /* by item: where in `order`, or NONE */
    struct lower_set *live;  /* before each: may be read before it is written */
    struct lower_set *later; /* before each: may be read, written or not */
    struct lower_set loaded; /* memory writes it: a value may be on its way there */
};

bool lower_dead_init(struct lower_dead *d, struct rewrite *r, size_t function,
                     unsigned n_registers); /* false: no memory */
void lower_dead_deinit(struct lower_dead *d);

/* `n` registers that are free at an instruction; `*waits` when memory has to be waited for. */
bool lower_dead_find(const struct lower_dead *d, uint32_t item, const struct isa_inst *inst,
                     unsigned n, uint16_t *out, bool *waits);

#endif
