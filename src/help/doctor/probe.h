/* probe.h: the probes of rmcp doctor, and what they share. */
#ifndef RMCP_DOCTOR_PROBE_H
#define RMCP_DOCTOR_PROBE_H

#include "help/doctor/machine.h"
#include "help/doctor/view.h"

enum { DOCTOR_TEXT = 1 << 16 }; /* the most that is read of a small file */

struct doctor_search {
    const struct doctor_view *view;
    struct doctor_machine *machine;
    uint64_t deadline; /* by rmcp_clock_ns */
};

bool doctor_late(const struct doctor_search *search);

/* Copy printable text, cut to the room; control characters become '?'. */
void doctor_copy(char *out, size_t room, const char *text, size_t length);
/* The same up to the end of the line, blanks at both ends removed. */
void doctor_copy_line(char *out, size_t room, const char *text);
/* Append with a separator where there is something already. */
void doctor_append(char *out, size_t room, const char *separator, const char *text);
/* The number behind "KEY " at the start of a line. */
bool doctor_number(const char *text, const char *key, uint64_t *value);
/* The number that a small file holds, decimal or 0x…; false: none. */
bool doctor_read_number(const struct doctor_view *view, const char *path, uint64_t *value);
/* Whether a string matches a pattern with '*'. */
bool doctor_like(const char *text, const char *pattern);
/* Read a file without noting it for a recording; then note the lines that begin with one of the
 * keys (blanks separate them), or contain it where it starts with '*'. */
long doctor_read_lines(const struct doctor_view *view, const char *path, char *text, size_t room,
                       const char *keys);
/* The next line of a text: its length, and the start of the one behind it. */
const char *doctor_next_line(const char *line, size_t *length);

/* ---- run.c ---- */

struct doctor_prober {
    const char *name;
    void (*run)(const struct doctor_search *search);
};
struct doctor_limits {
    uint64_t soft, hard; /* milliseconds: a probe stops by itself, and is killed */
};
/* Run probes in child processes: the first by itself, then the others side by side. `m` must be in
 * shared memory. */
void doctor_run(struct doctor_view *view, struct doctor_machine *m,
                const struct doctor_prober probers[DOCTOR_PROBES],
                const struct doctor_limits *first, const struct doctor_limits *others);

/* ---- library.c ---- */

/* Look into a library: SONAME and targets, from headers only. */
void doctor_library_read(const struct doctor_search *search, const char *path,
                         enum doctor_library_kind kind, struct doctor_library *out);

/* ---- rocm.c ---- */

/* The file that ld.so would take for "libamdhip64.so" of any version (`prefix`), by
 * LD_LIBRARY_PATH, ld.so.conf and the usual folders; with the folder alone from `only_variable`. */
bool doctor_loader_find(const struct doctor_search *search, const char *prefix, bool only_variable,
                        char *path, size_t room);

/* ---- the probes ---- */

void doctor_probe_environment(const struct doctor_search *search);
void doctor_probe_system(const struct doctor_search *search);
void doctor_probe_gpu(const struct doctor_search *search);
void doctor_probe_access(const struct doctor_search *search);
void doctor_probe_log(const struct doctor_search *search);
void doctor_probe_rocm(const struct doctor_search *search);
void doctor_probe_python(const struct doctor_search *search);
void doctor_probe_leftovers(const struct doctor_search *search);
void doctor_probe_drivers(const struct doctor_search *search);

#endif
