/* text.h: a bounded buffer to print into; keeps counting when it is full, as snprintf does. */
#ifndef RMCP_ISA_TEXT_H
#define RMCP_ISA_TEXT_H

#include "code/isa/isa.h"

struct isa_output {
    char *at;
    size_t bytes, length;
};

__attribute__((format(printf, 2, 3))) void isa_text(struct isa_output *t, const char *format, ...);

/* The 16-bit constant of SOPK and SOPP, in print_imm.c. */
void isa_print_simm(struct isa_output *t, const struct isa_inst *in);
void isa_print_swizzle(struct isa_output *t, unsigned imm);
void isa_print_dpp16(struct isa_output *t, const struct isa_inst *in);
void isa_print_format(struct isa_output *t, unsigned format);

#endif
