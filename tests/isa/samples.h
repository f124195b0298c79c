/* samples.h: random instructions of a chip, made from the table, for tests of the encoder. */
#ifndef RMCP_TEST_ISA_SAMPLES_H
#define RMCP_TEST_ISA_SAMPLES_H

#include "code/isa/encode.h"

/* The numbers that a state of 64 bits (not 0) goes through. */
uint64_t sample_number(uint64_t *state);

/* Fill `inst` with a random instruction of a row in a form that it has, its operands' derived
 * fields left open as a caller of isa_encode may. Not every one can be encoded. */
void sample_build(uint64_t *state, unsigned id, unsigned form, struct isa_inst *inst);

/* Draw until isa_encode_any takes one for the chip; its words, their number, and what they decode
 * to. False when a thousand draws gave none. */
bool sample_draw(uint64_t *state, unsigned chip, unsigned id, unsigned form, struct isa_inst *inst,
                 uint32_t words[ISA_MAX_WORDS], size_t *n_words);

/* What is wrong when words are decoded, encoded and decoded again; NULL when nothing is. */
const char *roundtrip_fault(unsigned chip, const uint32_t *words, size_t n_words);

#endif
