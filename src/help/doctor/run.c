/* run.c: the examination: every probe in a child process of its own, with a time limit.
 *
 * A probe that blocks in the kernel (a hung driver, a dead network folder) is left behind, one that
 * crashes is reported; the facts of the others stand. They share the machine's memory. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "base/child.h"
#include "base/clock.h"
#include "help/doctor/doctor.h"
#include "help/doctor/probe.h"

/* Milliseconds: a probe stops by itself at the first, and is killed at the second. Recorded
 * machines have nothing that blocks and get more, so that a busy computer does not change the
 * answer. */
static const struct doctor_limits first_limits = { 300, 500 }, live_limits = { 1100, 1400 },
                                  recorded_limits = { 20000, 30000 };

static const struct doctor_prober probes[DOCTOR_PROBES] = {
    [DOCTOR_PROBE_ENVIRONMENT] = { "environment", doctor_probe_environment },
    [DOCTOR_PROBE_SYSTEM] = { "system", doctor_probe_system },
    [DOCTOR_PROBE_GPU] = { "gpu", doctor_probe_gpu },
    [DOCTOR_PROBE_ACCESS] = { "access", doctor_probe_access },
    [DOCTOR_PROBE_LOG] = { "kernel log", doctor_probe_log },
    [DOCTOR_PROBE_ROCM] = { "rocm", doctor_probe_rocm },
    [DOCTOR_PROBE_PYTHON] = { "python", doctor_probe_python },
    [DOCTOR_PROBE_LEFTOVERS] = { "leftovers", doctor_probe_leftovers },
    [DOCTOR_PROBE_DRIVERS] = { "drivers", doctor_probe_drivers },
};

const char *doctor_probe_name(enum doctor_probe probe)
{
    return probes[probe].name;
}

static void run_here(const struct doctor_view *view, struct doctor_machine *m,
                     const struct doctor_prober *prober, int probe, uint64_t milliseconds)
{
    const struct doctor_search search = { view, m, rmcp_clock_ns() + milliseconds * 1000000 };
    m->probes[probe] = DOCTOR_RUNNING;
    prober->run(&search);
    m->probes[probe] = DOCTOR_DONE;
}

/* One probe and the process it runs in. */
struct work {
    const struct doctor_view *view;
    struct doctor_machine *machine;
    const struct doctor_prober *prober;
    int probe;
    uint64_t milliseconds;
    struct rmcp_child child;
    bool runs;
};

static void do_work(void *context, int out)
{
    const struct work *w = context;
    (void)out;
    run_here(w->view, w->machine, w->prober, w->probe, w->milliseconds);
}

/* Where there is no process to be had it runs here. */
static void start(struct work *w)
{
    const struct rmcp_child_request request = { .function = do_work, .context = w };
    w->runs = !rmcp_child_start(&request, &w->child);
    if (!w->runs) do_work(w, -1);
}

static void wait_for(struct work *list, int n, uint64_t milliseconds)
{
    const double deadline = rmcp_clock() + 1e-3 * (double)milliseconds, nap = 1e-3;
    for (bool any = true; any; rmcp_clock_nap(any ? nap : 0)) {
        const bool late = rmcp_clock() > deadline;
        any = false;
        for (int i = 0; i < n; i++) {
            struct work *w = &list[i];
            if (!w->runs) continue;
            enum doctor_state *progress = &w->machine->probes[w->probe];
            const bool done = rmcp_child_wait(&w->child, 0);
            w->runs = !done && !late;
            any |= w->runs;
            if (done && *progress != DOCTOR_DONE) *progress = DOCTOR_CRASHED;
            if (done || !late) continue;
            rmcp_child_kill(&w->child);
            *progress = DOCTOR_LATE;
            if (!rmcp_child_wait(&w->child, rmcp_clock() + nap))
                rmcp_child_leave(&w->child); /* one stuck in the kernel stays */
        }
    }
}

void doctor_run(struct doctor_view *view, struct doctor_machine *m,
                const struct doctor_prober probers[DOCTOR_PROBES],
                const struct doctor_limits *first, const struct doctor_limits *others)
{
    struct work work[DOCTOR_PROBES];
    for (int i = 0; i < DOCTOR_PROBES; i++)
        work[i] = (struct work){ .view = view,
                                 .machine = m,
                                 .prober = &probers[i],
                                 .probe = i,
                                 .milliseconds = i ? others->soft : first->soft };
    start(&work[0]);
    wait_for(work, 1, first->hard);
    for (int i = 1; i < DOCTOR_PROBES; i++) start(&work[i]);
    wait_for(work + 1, DOCTOR_PROBES - 1, others->hard);
}

rmcp_status doctor_examine(struct doctor_view *view, struct doctor_machine **out)
{
    *out = NULL;
    struct doctor_machine *m =
        mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) return rmcp_fail_memory("facts", sizeof *m);
    m->is_recorded = !view->is_live;
    doctor_run(view, m, probes, view->is_live ? &first_limits : &recorded_limits,
               view->is_live ? &live_limits : &recorded_limits);
    *out = m;
    return RMCP_OK;
}

void doctor_release(struct doctor_machine *machine)
{
    if (machine) munmap(machine, sizeof *machine);
}

void doctor_examine_here(struct doctor_view *view, struct doctor_machine *machine)
{
    memset(machine, 0, sizeof *machine);
    machine->is_recorded = !view->is_live;
    for (int i = 0; i < DOCTOR_PROBES; i++)
        run_here(view, machine, &probes[i], i, live_limits.soft);
}
