/* split_lds.c: an access of LDS of 8 bytes and more in pieces of 4, which no bug is about.
 *
 * Waits that count accesses then wait for more than before, never for less: LDS answers in order. A
 * piece that is loaded into the register of the address comes last. */
#include "code/isa/encode.h"
#include "code/rewrite/cures.h"
#include "code/rewrite/program.h"

enum { MOST_PIECES = 4, MOST_OFFSET = 0xffff };

static const struct isa_operand *operand(const struct isa_inst *inst, enum isa_role role)
{
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->op[i].role == role) return &inst->op[i];
    return NULL;
}

struct piece {
    unsigned reg; /* that is loaded or stored */
    uint32_t offset;
};

/* The pieces of an access; 0 when it cannot be taken apart. */
static unsigned take_apart(const struct isa_inst *inst, struct piece *pieces)
{
    const uint64_t flags = inst->row->flags;
    const bool loads = flags & ISA_LOAD, two = flags & ISA_TWO_DATA;
    const struct isa_operand *first = operand(inst, loads ? ISA_OP_DST : ISA_OP_DATA),
                             *second = loads ? first : operand(inst, ISA_OP_DATA1);
    const unsigned n = inst->row->moves - ISA_MOVES_W1 + 1u, n_all = two ? 2 * n : n;
    if (!(flags & ISA_IS_DS) || flags & (ISA_ATOMIC | ISA_SRC2) || inst->gds || n < 2 ||
        n_all > MOST_PIECES || !first || first->kind != ISA_KIND_VGPR ||
        (two && (!second || second->kind != ISA_KIND_VGPR)))
        return 0;
    const uint32_t unit = !two ? 1 : 4 * n * (flags & ISA_ST64 ? 64u : 1u);
    for (unsigned i = 0; i < n_all; i++) {
        const bool is_second = i >= n;
        const uint32_t offset = unit * (is_second ? inst->offset1 : (uint32_t)inst->imm);
        pieces[i].offset = offset + 4 * (i % n);
        pieces[i].reg = is_second && !loads ? second->reg + i - n : first->reg + i;
        if (pieces[i].offset > MOST_OFFSET) return 0;
    }
    return n_all;
}

rmcp_status rewrite_split_access(struct rewrite *r, const struct rewrite_function *function,
                                 uint32_t item, bool *done)
{
    struct isa_inst inst, one;
    struct piece pieces[MOST_PIECES];
    uint32_t words[ISA_MAX_WORDS];
    char why[160];
    rmcp_status status = RMCP_OK;
    *done = false;
    if (!rewrite_decode(r, function, item, &inst)) return RMCP_OK;
    const unsigned n = take_apart(&inst, pieces);
    const struct isa_operand *address = operand(&inst, ISA_OP_ADDR);
    const bool loads = inst.row->flags & ISA_LOAD;
    if (!n || !address || address->kind != ISA_KIND_VGPR) return RMCP_OK;
    for (unsigned i = 0; i < n - 1 && loads; i++)
        if (pieces[i].reg == address->reg) {
            const struct piece last = pieces[i];
            pieces[i] = pieces[n - 1];
            pieces[n - 1] = last;
        }
    for (unsigned i = 0; i < n && !status; i++) {
        isa_start(&one, loads ? ISA_ds_read_b32_DS : ISA_ds_write_b32_DS, ISA_FORM_BASE);
        if (loads) isa_add(&one, ISA_OP_DST, pieces[i].reg);
        isa_add(&one, ISA_OP_ADDR, address->reg);
        if (!loads) isa_add(&one, ISA_OP_DATA, pieces[i].reg);
        one.imm = (int32_t)pieces[i].offset;
        const unsigned chip = r->chip | (function->wave64 ? ISA_WAVE64 : 0);
        const size_t n_words = isa_encode(chip, &one, words, why, sizeof why);
        if (!n_words) return rmcp_fail(RMCP_E_INTERNAL, "a piece of an LDS access: %s", why);
        status = i < n - 1
                     ? rewrite_insert(r, item, REWRITE_ON_ALL_PATHS, words, (unsigned)n_words, NULL)
                     : rewrite_replace(r, item, words, (unsigned)n_words);
    }
    *done = !status;
    return status;
}
