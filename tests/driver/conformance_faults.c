/* conformance_faults.c: each call of a driver, and each allocation of the engine, fails in turn. */
#include "allocations.h"
#include "conformance.h"
#include "engine/core/device.h"
#include "life.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Fail each call with `code`, once or from then on, with what is kept on disk or without. */
static void fail_each(int code, bool sticky, bool keep)
{
    const struct faults *f = &subject->faults;
    const bool first_use = !getenv("RMCP_GUARD"); /* a failure is then the algorithm's */
    int n_failures = 0, n_no_memory = 0, n_lost = 0;
    subject->calm();
    conformance_forget_all();
    assert_ok(life_run(&life));
    const long n_calls = *f->calls;
    for (long at = 1;; at++) {
        subject->calm();
        if (!keep) conformance_forget_all();
        *f->fail_at = at;
        *f->code = code;
        *f->sticky = sticky;
        life_mark_message();
        const rmcp_status status = life_run(&life);
        if (*f->live)
            fail_msg("%s fails with %d, and %ld objects leak", *f->failed, code, (long)*f->live);
        if (!*f->failed) break;
        if (f->check) f->check();
        if (status == RMCP_OK) {
            assert_true(life_is_marked()); /* not needed, then not spoken of */
            continue;
        }
        n_failures++;
        n_no_memory += status == RMCP_E_NOMEM;
        n_lost += status == RMCP_E_LOST;
        if (life_is_marked()) fail_msg("%s fails without a word", *f->failed);
        if (f->judge && !first_use) f->judge(code, status);
    }
    assert_true(n_calls > 40 && n_failures > f->least && n_failures <= n_calls + 20);
    assert_true(code != f->no_memory || n_no_memory > 0);
    assert_true(code != f->lost || n_lost > 0);
    subject->calm();
    assert_ok(life_run(&life));
    conformance_nothing_left();
}

void fails_cleanly_wherever_a_call_fails(void **state)
{
    (void)state;
    const struct faults *f = &subject->faults;
    if (!f->codes) skip();
    for (const int *code = f->codes; *code; code++)
        for (int sticky = 0; sticky < 2; sticky++)
            for (int keep = 0; keep <= f->keeps; keep++) fail_each(*code, sticky, keep);
}

/* The same while an algorithm is tried for the first time. */
void fails_cleanly_in_the_first_use(void **state)
{
    (void)state;
    const struct faults *f = &subject->faults;
    if (!f->codes || !driver->guarded) skip();
    unsetenv("RMCP_GUARD");
    fail_each(f->no_memory, false, false);
    fail_each(f->lost, false, false);
}

void fails_cleanly_wherever_memory_runs_out(void **state)
{
    (void)state;
    for (int rest = 0; rest < 2; rest++) {
        int n_failures = 0;
        assert_ok(life_run(&life)); /* what is loaded once and stays */
        for (long first = 1;; first++) {
            const long live = allocations_live();
            life_mark_message();
            allocations_arm(first, rest);
            const rmcp_status status = life_run(&life);
            const long calls = allocations_calls();
            allocations_arm(0, false);
            if (allocations_live() != live)
                fail_msg("allocation %ld fails, and %ld blocks leak", first,
                         allocations_live() - live);
            conformance_nothing_left();
            if (calls < first) {
                assert_ok(status);
                break;
            }
            if (status == RMCP_OK) continue; /* it did without */
            n_failures++;
            if (status != RMCP_E_NOMEM)
                fail_msg("allocation %ld: %s, %s", first, rmcp_status_name(status),
                         rmcp_last_error());
            life_contains(rmcp_last_error(), "memory");
        }
        assert_true(n_failures >= 4); /* device, buffer or kernels, plan, records */
    }
}
