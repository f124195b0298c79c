/* lanes.h: work on whole rows of lanes that is hot enough to have functions of its own. */
#ifndef RMCP_SIM_MATH_LANES_H
#define RMCP_SIM_MATH_LANES_H

#include <stdint.h>

/* d = a * b + c, rounded once to nearest, of four vector registers by number. */
struct lanes_fma {
    uint16_t d, a, b, c;
};

/* One instruction of a bundle (bundle.c). */
struct op;
struct step {
    const struct op *op;
    struct lanes_fma fma;
    uint16_t n_fma; /* so many multiply-adds stand here, one behind the other */
};

/* What the addresses of a row have in common. */
struct lanes_span {
    uint32_t least, most; /* all of them, clamped to `top`       */
    uint32_t bits;        /* of any of them, with the offset added */
};

/* Made for the levels of the host's vector instructions, as the functions of valu.h are. All rows
 * have n = 32 or 64 words. */
struct lanes {
    /* step->n_fma multiply-adds; registers are rows of n words from `vgprs` on. */
    void (*fma)(uint32_t *vgprs, unsigned n, const struct step *step);
    /* Values above `top` count as `top`. */
    struct lanes_span (*span)(const uint32_t *row, unsigned n, uint32_t offset, uint32_t top);
    /* Lanes whose address is not from `first` to `first` + `most`. */
    uint64_t (*outside)(const uint64_t *address, unsigned n, uint64_t first, uint64_t most);
    /* `words` (1, 2 or 4) words at `from` + at[lane] of each lane to as many rows, and back.
     * `at` may be one of the rows that are written. */
    void (*gather)(uint32_t *rows, unsigned n, const uint8_t *from, const uint32_t *at,
                   unsigned words);
    void (*scatter)(uint8_t *to, const uint32_t *at, const uint32_t *rows, unsigned n,
                    unsigned words);
};

const struct lanes *lanes_best(void);

#endif
