/* run.c: the examination: every probe in a child process of its own, with a time limit.
 *
 * A probe that blocks in the kernel (a hung driver, a dead network folder) is left behind, one that
 * crashes is reported; the facts of the others stand. They share the machine's memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "doctor/probe.h"

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
    const struct doctor_search search = { view, m, doctor_now() + milliseconds * 1000000 };
    m->probes[probe] = DOCTOR_RUNNING;
    prober->run(&search);
    m->probes[probe] = DOCTOR_DONE;
}

/* Start a probe; 0 when it ran here because there is no process to be had. */
static pid_t start(const struct doctor_view *view, struct doctor_machine *m,
                   const struct doctor_prober *prober, int probe, uint64_t milliseconds)
{
    pid_t child = fork();
    if (child < 0) {
        run_here(view, m, prober, probe, milliseconds);
        return 0;
    }
    if (child) return child;
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    run_here(view, m, prober, probe, milliseconds);
    _exit(0);
}

static void wait_for(struct doctor_machine *m, pid_t children[DOCTOR_PROBES], uint64_t deadline)
{
    const struct timespec nap = { 0, 1000000 };
    for (bool any = true; any;) {
        const bool late = doctor_now() > deadline;
        any = false;
        for (int i = 0; i < DOCTOR_PROBES; i++) {
            int how;
            if (!children[i]) continue;
            pid_t done = waitpid(children[i], &how, WNOHANG);
            if (!done && !late) {
                any = true;
                continue;
            }
            if (!done) {
                kill(children[i], SIGKILL);
                m->probes[i] = DOCTOR_LATE;
                nanosleep(&nap, NULL);
                waitpid(children[i], &how, WNOHANG); /* one stuck in the kernel stays */
            } else if (m->probes[i] != DOCTOR_DONE) {
                m->probes[i] = DOCTOR_CRASHED;
            }
            children[i] = 0;
        }
        if (any) nanosleep(&nap, NULL);
    }
}

void doctor_run(struct doctor_view *view, struct doctor_machine *m,
                const struct doctor_prober probers[DOCTOR_PROBES],
                const struct doctor_limits *first, const struct doctor_limits *others)
{
    pid_t children[DOCTOR_PROBES] = { 0 };
    children[0] = start(view, m, &probers[0], 0, first->soft);
    wait_for(m, children, doctor_now() + first->hard * 1000000);
    for (int i = 1; i < DOCTOR_PROBES; i++)
        children[i] = start(view, m, &probers[i], i, others->soft);
    wait_for(m, children, doctor_now() + others->hard * 1000000);
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
