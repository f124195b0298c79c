/* encoder.h: what the parts of the encoder share; not for other folders. */
#ifndef RMCP_ISA_ENCODER_H
#define RMCP_ISA_ENCODER_H

#include "code/isa/encode.h"
#include "code/isa/fields.h"
#include "code/isa/internal.h"

/* An instruction on its way to words. The first failure stays in `why`; what follows it does no
 * harm, so that callers need not look after each step. */
struct isa_encoder {
    const struct isa_inst *in;
    const struct isa_row *row;
    uint64_t words; /* the first two */
    uint32_t more[ISA_MAX_WORDS - 2];
    unsigned n_words; /* before a literal */
    bool has_literal, failed;
    uint32_t literal;
    char *why;
    size_t bytes;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void isa_encode_fail(struct isa_encoder *e, const char *format, ...);

/* A number into a field; refused with its name when it does not fit. */
void isa_put(struct isa_encoder *e, unsigned field, uint32_t value, const char *name);
/* The same for a number in two's complement, of as many bits as the field. */
void isa_put_signed(struct isa_encoder *e, unsigned field, int32_t value, const char *name);

/* The n-th operand of a role, or NULL. */
const struct isa_operand *isa_operand_of(const struct isa_inst *in, unsigned role, unsigned n);

/* An operand into a field, refused when it is missing or of a kind that the field cannot hold: a
 * VGPR, a scalar register by its number over `unit`, anything in 8 or 9 bits. */
void isa_put_vgpr(struct isa_encoder *e, unsigned field, unsigned role);
void isa_put_sgpr(struct isa_encoder *e, unsigned field, unsigned role, unsigned unit);
void isa_put_src(struct isa_encoder *e, unsigned field, unsigned role);
unsigned isa_source_code(struct isa_encoder *e, unsigned role); /* of 9 bits, taken note of */
void isa_put_literal(struct isa_encoder *e, unsigned role);     /* no field: the next word */

/* One for each family of encodings; the opcode and the fixed bits are there already. */
void isa_encode_vop(struct isa_encoder *e);
void isa_encode_vop3(struct isa_encoder *e);
void isa_encode_vop3p(struct isa_encoder *e);
void isa_encode_vintrp(struct isa_encoder *e);
void isa_encode_smem(struct isa_encoder *e);
void isa_encode_ds(struct isa_encoder *e);
void isa_encode_buffer(struct isa_encoder *e);
void isa_encode_flat(struct isa_encoder *e);
void isa_encode_mimg(struct isa_encoder *e);
void isa_encode_exp(struct isa_encoder *e);

/* Refuse when what was decoded is not what was asked for. */
void isa_compare(struct isa_encoder *e, const struct isa_inst *back);

#endif
