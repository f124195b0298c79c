/* flow.c: program control: jumps, barriers, waits, messages, traps. */
#include <sched.h>

#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/state/registers.h"

static bool is_taken(const struct wave *w, unsigned id)
{
    switch (id) {
    case ISA_s_branch_SOPP: return true;
    case ISA_s_cbranch_scc0_SOPP: return !w->scc;
    case ISA_s_cbranch_scc1_SOPP: return w->scc;
    case ISA_s_cbranch_vccz_SOPP: return !mask_read(w, ISA_VCC_LO);
    case ISA_s_cbranch_vccnz_SOPP: return mask_read(w, ISA_VCC_LO);
    case ISA_s_cbranch_execz_SOPP: return !w->exec;
    case ISA_s_cbranch_execnz_SOPP: return w->exec;
    default: return false; /* the debugger's conditions are never true */
    }
}

static void jump(struct wave *w, int32_t words)
{
    w->pc += (uint64_t)((int64_t)words * 4);
}

void run_branch(struct wave *w, const struct op *op)
{
    if (is_taken(w, op->inst.id)) jump(w, op->inst.imm);
}

void run_getpc(struct wave *w, const struct op *op)
{
    scalar_write(w, op, w->pc);
}

void run_setpc(struct wave *w, const struct op *op)
{
    uint64_t to = scalar_read(w, op->in[0]), back = w->pc;
    if (op->inst.id == ISA_s_swappc_b64_SOP1) scalar_write(w, op, back);
    w->pc = to;
}

void run_call(struct wave *w, const struct op *op)
{
    scalar_write(w, op, w->pc);
    jump(w, op->inst.imm);
}

/* Wave64 code may run a loop for each half of EXEC; the register keeps the half that waits. */
void run_subvector(struct wave *w, const struct op *op)
{
    uint32_t lo = w->sgpr[ISA_EXEC_LO], hi = w->sgpr[ISA_EXEC_HI];
    uint32_t *s = &w->sgpr[op->dst];
    if (op->inst.id == ISA_s_subvector_loop_begin_SOPK) {
        if (!lo && !hi) {
            jump(w, op->inst.imm);
        } else if (!lo) {
            *s = lo;
        } else {
            *s = hi;
            w->sgpr[ISA_EXEC_HI] = 0;
        }
    } else if (hi) {
        w->sgpr[ISA_EXEC_LO] = *s;
    } else if (!*s) {
        /* nothing waits: the loop is over */
    } else {
        w->sgpr[ISA_EXEC_HI] = *s;
        *s = lo;
        w->sgpr[ISA_EXEC_LO] = 0;
        jump(w, op->inst.imm);
    }
    exec_changed(w);
}

void run_end(struct wave *w, const struct op *op)
{
    (void)op;
    w->state = WAVE_DONE;
}

void run_barrier(struct wave *w, const struct op *op)
{
    (void)op;
    if (w->core->n_waves > 1) w->state = WAVE_BARRIER;
}

void run_sleep(struct wave *w, const struct op *op)
{
    (void)w;
    (void)op;
    sched_yield();
}

void run_message(struct wave *w, const struct op *op)
{
    const struct sim_options *options = &w->core->sim->options;
    if (options->message)
        options->message(options->context, (unsigned)op->inst.imm & 0xffff, w->sgpr[ISA_M0]);
    if (op->inst.id == ISA_s_sendmsghalt_SOPP) w->state = WAVE_DONE;
}

void run_trap(struct wave *w, const struct op *op)
{
    const struct sim_options *options = &w->core->sim->options;
    struct finding f = { .kind = SIM_TRAP, .rule = -1 };
    unsigned number = (unsigned)op->inst.imm & 0xff;
    if (options->trap) {
        struct sim_report where = { .kind = SIM_TRAP,
                                    .rule = -1,
                                    .kernel = w->core->run->dispatch->kernel,
                                    .address = w->pc - op->bytes,
                                    .wave = w->number,
                                    .lanes = w->exec,
                                    .instruction = "s_trap",
                                    .reason = "" };
        if (options->trap(options->context, number, &where)) {
            w->state = WAVE_DONE;
            return;
        }
    }
    f.lanes = w->exec;
    report(w, op, &f, "trap %u", number);
}

void run_wait(struct wave *w, const struct op *op)
{
    unsigned k = (unsigned)op->inst.imm & 0xffff;
    switch (op->inst.id) {
    case ISA_s_waitcnt_SOPP:
        wave_wait(w, &w->vm, (k & 15) | (k >> 14 & 3) << 4);
        wave_wait(w, &w->lgkm, k >> 8 & 63);
        break;
    case ISA_s_waitcnt_vmcnt_SOPK:
        wave_wait(w, &w->vm, (unsigned)(scalar_read(w, op->out) + k) & 63);
        break;
    case ISA_s_waitcnt_lgkmcnt_SOPK:
        wave_wait(w, &w->lgkm, (unsigned)(scalar_read(w, op->out) + k) & 63);
        break;
    case ISA_s_waitcnt_vscnt_SOPK:
        wave_wait(w, &w->vs, (unsigned)(scalar_read(w, op->out) + k) & 63);
        break;
    case ISA_s_wait_idle_SOPP:
        wave_wait(w, &w->vm, 0);
        wave_wait(w, &w->lgkm, 0);
        wave_wait(w, &w->vs, 0);
        break;
    default: break; /* expcnt: exports and GDS only; depctr: see patterns.c */
    }
}
