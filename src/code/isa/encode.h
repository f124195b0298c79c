/* encode.h: instructions to words, the decoder's way back.
 *
 * What isa_decode gave is encoded to the same instruction, also after a change of registers,
 * constants or modifiers; new ones are built with isa_start and isa_add. LLVM 19's assembler is the
 * judge (tests/isa/check_encode_llvm.py): the same words, and nothing taken that it refuses. */
#ifndef RMCP_ISA_ENCODE_H
#define RMCP_ISA_ENCODE_H

#include "code/isa/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Encode `inst` for `chip` (ISA_WAVE64 may be or-ed to it), which may differ from the one that it
 * was decoded for.
 *
 * Returns the number of words, or 0 when the chip has no such instruction, an operand or modifier
 * has no place in its words, or LLVM's assembler would refuse it (too many scalar operands, an
 * offset that the chip ignores): `why` then says so in a line; it is "" else. 160 bytes suffice.
 * One form is ours alone: v_pk_fmac_f16 with DPP, which LLVM does not know and AMD's kernels have.
 * Bits that mean nothing are as LLVM's assembler leaves them.
 *
 * Read are: id, form, all modifiers and numbers, and of each operand role, kind, reg, mods, of a
 * literal its value, and n_regs unless it is 0. Not read, for they follow from these: row, chip,
 * wave64, n_words, word, has_literal, literal, and an operand's type and access. Reentrant. */
size_t isa_encode(unsigned chip, const struct isa_inst *inst, uint32_t words[ISA_MAX_WORDS],
                  char *why, size_t bytes);

/* The same for everything that isa_decode takes, also what no assembler writes: such words are
 * data, or were never executed. */
size_t isa_encode_any(unsigned chip, const struct isa_inst *inst, uint32_t words[ISA_MAX_WORDS],
                      char *why, size_t bytes);

/* Why LLVM's assembler refuses a decoded instruction; NULL when it does not. */
const char *isa_refusal(const struct isa_inst *inst);

/* All fields equal but `word`, whose spare bits may differ. */
bool isa_same(const struct isa_inst *a, const struct isa_inst *b);

/* A new instruction without operands, its modifiers at rest: whole registers in SDWA, each lane its
 * own in DPP, both halves in VOP3P. */
void isa_start(struct isa_inst *inst, unsigned id, unsigned form);

/* Codes for isa_add besides those of isa.h. */
enum { ISA_LITERAL = 255 /* set the operand's value */, ISA_OFF = 512 /* no register */ };

/* Add an operand by its code in the encoding (a scalar register, ISA_VGPR0 + v, a special or an
 * inline constant); operands stand in the order in which isa_decode gives them. NULL when there are
 * ISA_MAX_OPERANDS or the code means nothing. */
struct isa_operand *isa_add(struct isa_inst *inst, enum isa_role role, unsigned code);

/* Add a 32-bit integer as a source: inline where there is such a constant, else a literal. */
struct isa_operand *isa_add_value(struct isa_inst *inst, enum isa_role role, uint32_t value);

#ifdef __cplusplus
}
#endif
#endif
