/* values.h: what is known of a scalar register at one place of a function, along every path to it.
 *
 * Followed are constants with the literal they come from, the program counter and sums on it, the
 * registers as a function got them, and the carries in SCC of sums. Whatever is joined with
 * something else keeps its parts, so that a later read of the register is a read of all of them. */
#ifndef RMCP_REWRITE_VALUES_H
#define RMCP_REWRITE_VALUES_H

#include "code/rewrite/program.h"

enum value_kind {
    V_NONE,  /* no path came here yet */
    V_ANY,   /* unknown */
    V_CONST, /* number = sign * literal of `site` + offset */
    V_ENTRY, /* register `number` as the caller left it */
    V_PC,    /* a half of the node `number`, or of those in the list `rest` */
    V_CARRY, /* SCC: the carry of the lower half of the node `number` */
    V_MIX,   /* unknown, and a part of it is the value `number`; more in the list `rest` */
    V_TRUTH, /* SCC: 0 or 1, known from a comparison of constants */
    V_LOST,  /* unknown, joined from too many parts: all of them count as read */
    V_NODE,  /* not of a register: the key of a node */
};

enum { VALUE_NONE = 0, VALUE_ANY = 1, VALUE_LOST = 2 }; /* numbers of the first values */

struct value {
    uint32_t number, rest; /* rest: a value, VALUE_NONE at the end of a list */
    uint32_t site, offset;
    uint8_t kind;
    uint8_t is_high;
    uint8_t is_literal; /* the site holds it as a literal, not as an inline constant */
    int8_t sign;
    uint32_t node; /* of V_NODE; no part of the value */
};

/* The pc behind `anchor` plus `sum`. */
struct node {
    uint32_t anchor;
    uint32_t base, item, constant; /* of a sum: node, the adding item, value; NONE for the pc */
    uint32_t high_item, high_constant;
    uint64_t sum;
    bool subtracts, is_complete, is_torn; /* torn: completed in two ways */
    /* found in the last pass */
    bool is_live, jumps, is_read[2], carry_is_read;
};

enum { N_FOLLOWED = 129, REG_SCC = 128 };

enum { SITE_READ = 1, SITE_SIGN = 2 }; /* how else the constant of an item is used */

struct lane { /* of a vector register, where compilers keep scalar ones */
    uint16_t reg, lane;
    uint32_t value;
};

struct values {
    struct rewrite *r;
    struct function *f;
    struct value *list;
    size_t n, room;
    uint32_t *hash; /* of values, open; size a power of two */
    size_t hash_size;
    struct node *nodes;
    size_t n_nodes, nodes_room;
    struct lane *lanes;
    size_t n_lanes, lanes_room;
    uint32_t *states; /* N_FOLLOWED each */
    size_t n_states, states_room;
    uint32_t *leaders; /* item of each state */
    size_t leaders_room;
    uint32_t *state_of; /* by item of the function */
    size_t state_of_room;
    uint8_t *sites; /* by item of the function */
    size_t sites_room;
    uint32_t *queue;
    size_t n_queue, queue_room;
    uint8_t *queued; /* by state */
    size_t queued_room;
    uint32_t *callees;
    size_t n_callees, callees_room;
    bool is_last; /* the pass that looks, after everything is known */
    bool lanes_moved;
    bool no_memory;
};

bool values_init(struct values *v, struct rewrite *r);
void values_deinit(struct values *v);
bool values_start(struct values *v, struct function *f); /* forgets the function before */

uint32_t value_constant(struct values *v, uint32_t number, uint32_t site, bool is_literal);
uint32_t value_of(struct values *v, struct value value);
uint32_t value_join(struct values *v, uint32_t a, uint32_t b);
void value_read(struct values *v, uint32_t value); /* something else reads it */
void value_pass(struct values *v, uint32_t value); /* the same, but whole addresses do not count */
uint32_t node_of_pc(struct values *v, uint32_t anchor);
uint32_t node_of_sum(struct values *v, uint32_t base, uint32_t item, uint32_t constant,
                     bool subtracts);
uint32_t value_of_node(struct values *v, uint32_t node, bool is_high);

/* follow.c: moves a state over an instruction. */
void follow_step(struct values *v, uint32_t item, const struct isa_inst *inst, uint32_t *state);
/* paths.c: along all paths of the function; then marks what is reached, read and called. */
bool follow_function(struct values *v);

/* leaf.c: whether a call of the function leaves a scalar register as it is; false when that is not
 * known. */
bool leaf_keeps(const struct rewrite *r, uint32_t function, unsigned reg);

/* The old address that a node stands for. */
uint64_t node_address(const struct values *v, uint32_t node);
/* The item at an old address, NONE when none starts there. */
uint32_t item_at_address(const struct rewrite *r, uint64_t address);
/* The function whose entry an item is, NONE when it is none. */
uint32_t function_at(const struct rewrite *r, uint32_t item);

#endif
