/* fuzz_words.h: instructions for the fuzzer of the executor, of every row of the table. */
#ifndef RMCP_TESTS_SIM_FUZZ_WORDS_H
#define RMCP_TESTS_SIM_FUZZ_WORDS_H

#include "code/isa/isa.h"

/* Write one instruction that some chip decodes, of any row, with operands that mostly make sense
 * behind the fuzzer's prologue; returns its words, at most ISA_MAX_WORDS. */
unsigned random_instruction(uint64_t *state, uint32_t *words);
uint32_t random_below(uint64_t *state, uint32_t n);

#endif
