/* rows.h: the cases of rows.c: their file, the memory they run on, the comparison. */
#ifndef RMCP_TESTS_SIM_ROWS_H
#define RMCP_TESTS_SIM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

/* GPU addresses, and words of the state: 16 VGPRs of 64 lanes, the scalars, LDS; as the prologue
 * finds it at STATE and the epilogue leaves it OUT words further. Then memory for the cases. */
#define CODE UINT64_C(0x200000000)
#define STATE UINT64_C(0x100000000)
enum {
    N_VGPRS = 16,
    N_SGPRS = 32,
    SCALARS = 1024,
    N_SCALARS = 40, /* s0 to s31, vcc, exec, m0, scc, mode, 0 */
    VCC = 32,
    LDS = 1152,
    LDS_SIZE = 1024,
    STATE_WORDS = 2048,
    OUT = 4096,
    DATA = 8192,
    DATA_WORDS = 1024,
};

struct words {
    const uint32_t *at;
    size_t n;
};

/* What is put somewhere before, or expected there afterwards. */
struct item {
    uint32_t what, index;
    struct words data, kinds; /* kinds: of expected VGPRs, how to compare */
};
enum { PUT_VGPR, PUT_SGPR, PUT_LDS, PUT_DATA, WANT_VGPR, WANT_SGPR, WANT_LDS, WANT_DATA };

struct one_case {
    const char *text; /* the instruction */
    unsigned id, chip;
    bool wave64;
    unsigned ends; /* 1: the program ends in the case, nothing is stored; 2: by a trap */
    struct words words;
    const uint32_t *before, *after; /* vcc, exec, m0, scc, mode: 7 words each */
    struct item *items;
    size_t n_items;
};

struct cases {
    uint32_t *file;
    struct words prologue[2], epilogue[2]; /* wave32, wave64 */
    struct one_case *at;
    size_t n;
};

struct machine {
    struct sim *sim[ISA_N_CHIPS];
    bool quiet;
    uint32_t code[2048];
    uint32_t memory[16384];
    uint32_t expected[STATE_WORDS], expected_data[DATA_WORDS];
};

/* False, with a message, when the file cannot be read or is damaged. */
bool cases_read(struct cases *all, const char *path);
void cases_free(struct cases *all);

/* Fill the memory for a case, and what is expected of it. */
void case_begin(struct machine *machine, const struct one_case *c);
/* Compare; false when something differs, with a line of text unless the machine is quiet. */
bool case_end(struct machine *machine, const struct one_case *c);

#endif
