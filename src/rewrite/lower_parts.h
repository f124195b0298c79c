/* lower_parts.h: what the files of lowering share; not for others. */
#ifndef RMCP_REWRITE_LOWER_PARTS_H
#define RMCP_REWRITE_LOWER_PARTS_H

#include "rewrite/lower.h"
#include "rewrite/program.h"

enum { LOWER_MOST_CODE = 32, LOWER_MOST_TEMPS = 5 };

/* The instructions in the place of one. */
struct lowering {
    struct isa_inst code[LOWER_MOST_CODE];
    unsigned n;
    unsigned n_temps;
    uint16_t temps[LOWER_MOST_TEMPS]; /* vector registers that it may use, given beforehand */
    const char *why;                  /* not NULL: it cannot be replaced */
};

/* lower_forms.c: fill in all but `temps`. An empty `why` says no more than the name does. */
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

/* `n` registers that are written before they are read behind an item, in straight code. */
bool lower_find_dead(const struct lower_registers *g, size_t function, uint32_t item, unsigned n,
                     uint16_t *out);

#endif
