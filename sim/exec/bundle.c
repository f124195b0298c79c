/* bundle.c: consecutive vector instructions, checked once and executed together.
 *
 * Most instructions of a hot loop work on vector registers and change no other state but masks.
 * What the executor does around each of them (fetch, checks, counts) costs more than the work, so
 * it is done for as many as follow each other. A bundle begins at every one of them and reaches to
 * the last, since a jump may lead to any. */
#include <stdlib.h>

#include "sim/exec/exec.h"

/* Fused multiply-adds of whole registers need not even a call each. */
static bool is_fma(const struct op *op)
{
    if (op->inst.id != ISA_v_fma_f32_VOP3 && op->inst.id != ISA_v_fmac_f32_VOP2) return false;
    if (op->run != run_valu_plain) return false; /* modifiers */
    return op->src[0].kind == SRC_VGPR && op->src[1].kind == SRC_VGPR &&
           op->src[2].kind == SRC_VGPR;
}

/* Not those that change EXEC: lanes are counted once for all. */
bool bundle_takes(const struct op *op)
{
    if (op->run != run_valu_plain && op->run != run_valu_mask && op->run != run_valu_wide &&
        op->run != run_valu)
        return false;
    if (op->flags & OP_CMPX) return false;
    return !(op->flags & OP_MASK_OUT) || op->sdst < ISA_EXEC_LO;
}

bool bundle_make(struct op *const *ops, unsigned n)
{
    if (n < 2) return true;
    struct valu_bundle *bundles = calloc(n, sizeof *bundles);
    struct step *steps = calloc(n, sizeof *steps);
    if (!bundles || !steps) {
        free(bundles);
        free(steps);
        return false;
    }
    ops[0]->own_bundles = bundles;
    ops[0]->own_steps = steps;
    for (unsigned i = n; i-- > 0;) {
        struct valu_bundle *b = &bundles[i];
        const struct op *op = ops[i];
        if (i + 1 < n) *b = bundles[i + 1];
        for (unsigned k = 0; k < 4; k++) b->vgpr_used[k] |= op->vgpr_used[k];
        for (unsigned k = 0; k < 2; k++) b->sgpr_used[k] |= op->sgpr_used[k];
        b->watch |= op->watch;
        b->n++;
        b->bytes = (uint16_t)(b->bytes + op->bytes);
        b->count[op->klass - SIM_CLASS_VALU]++;
        b->steps = &steps[i];
        steps[i].op = op;
        if (is_fma(op)) {
            steps[i].fma =
                (struct lanes_fma){ op->dst, op->src[0].reg, op->src[1].reg, op->src[2].reg };
            steps[i].n_fma = (uint16_t)(i + 1 < n ? steps[i + 1].n_fma + 1 : 1);
        }
        ops[i]->bundle = b;
    }
    return true;
}

void bundle_run(struct wave *w, const struct valu_bundle *b)
{
    struct sim_stats *stats = &w->core->stats;
    const struct lanes *lanes = w->core->sim->lanes;
    const struct step *step = b->steps, *end = step + b->n;
    const bool whole = w->exec == w->full && valu_is_ordinary(w->mode);
    w->pc += b->bytes;
    w->n_instructions += b->n;
    for (unsigned i = 0; i < N_BUNDLED_CLASSES; i++) {
        stats->instructions[SIM_CLASS_VALU + i] += b->count[i];
        stats->lanes[SIM_CLASS_VALU + i] += (uint64_t)b->count[i] * w->n_active;
    }
    while (step < end) {
        if (whole && step->n_fma) {
            lanes->fma(w->vgpr, w->n_lanes, step);
            step += step->n_fma;
        } else {
            step->op->run(w, step->op);
            step++;
        }
    }
}
