/* dropin.h: our MIOpen in the place of the one that a program would load: for one run (find.c), or
 * installed into a PyTorch (place.c, install.c).
 *
 * There are two copies of ours, which differ in their SONAME: libMIOpen.so.1 as ROCm has it, and
 * libMIOpen.so as in the wheels of pytorch.org. The dynamic linker looks for a library under the
 * name that is needed; one that is loaded already under that name is taken. */
#ifndef RMCP_DROPIN_DROPIN_H
#define RMCP_DROPIN_DROPIN_H

#include "rmcp.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum dropin_copy { DROPIN_SYSTEM, DROPIN_WHEEL, DROPIN_COPIES };
/* "libMIOpen.so.1", "libMIOpen.so" */
extern const char *const dropin_names[DROPIN_COPIES];

/* ---- ours.c ---- */

struct dropin_ours {
    char copies[DROPIN_COPIES][PATH_MAX];
    char library[PATH_MAX]; /* librmcp.so.0 of the same installation, or "" */
    char command[PATH_MAX]; /* this program */
    char carried[PATH_MAX]; /* folder of what a package brings along for both (libgomp …), or "" */
};

/* Find our files: $RMCP_MIOPEN_LIBRARY (a folder with libMIOpen.so.1 and wheel/libMIOpen.so, or one
 * file for both), else in the build folder or the installation of this program. */
rmcp_status dropin_ours_find(struct dropin_ours *out);

/* Whether a library is a MIOpen of ours, of whatever version. */
bool dropin_is_ours(const void *bytes, size_t size);
bool dropin_file_is_ours(const char *path);

/* RMCP_OK when the file is a MIOpen, ours or another: by its SONAME and its functions. */
rmcp_status dropin_check_miopen(const char *path);

/* ---- find.c: what a command would load ---- */

enum dropin_kind {
    DROPIN_NONE,    /* no MIOpen, as far as can be seen                                       */
    DROPIN_UNSEEN,  /* a program that starts others: what those load cannot be seen           */
    DROPIN_BUNDLED, /* a wheel of pytorch.org: torch/lib/libMIOpen.so                         */
    DROPIN_THEROCK, /* ROCm as Python packages: libMIOpen.so.1 of _rocm_sdk_libraries… */
    DROPIN_LOADER,  /* whatever the dynamic linker finds: distributions, /opt/rocm, conda     */
    DROPIN_SETUID,  /* the dynamic linker ignores LD_PRELOAD                                  */
    DROPIN_KINDS
};
extern const char *const dropin_kind_names[DROPIN_KINDS];

struct dropin_found {
    enum dropin_kind kind;
    enum dropin_copy copy;   /* that takes its place                                          */
    char original[PATH_MAX]; /* the library that would be loaded, or ""                       */
    char program[PATH_MAX];  /* the file of the command                                       */
    char python[PATH_MAX];   /* the Python that was asked, or ""                              */
    char torch[PATH_MAX];    /* its PyTorch's folder, or ""                                   */
    char version[64];        /* of PyTorch                                                    */
    char rocm[16];           /* "6.2": that PyTorch was built with, or ""                     */
    char what[400];          /* in words: "pytorch.org wheel, ROCm 6.2"                       */
};

/* Find out about a command, without running it: Python is asked where torch lies, the dynamic
 * linker what it would load. `python` names the Python that counts, or is NULL. RMCP_E_ARG: there
 * is no such program; RMCP_E_UNSUPPORTED: it cannot be executed. */
rmcp_status dropin_find(char *const *command, const char *python, struct dropin_found *out);

/* ---- place.c, install.c: into a PyTorch's folder, and out again ---- */

struct dropin_place {
    char folder[PATH_MAX]; /* the one with the library in it, without links in it */
    enum dropin_copy copy;
};

/* Which folder is meant: that of the library, torch, site-packages, or a virtual environment. */
rmcp_status dropin_place_find(const char *path, struct dropin_place *out);
/* Whether files there belong to a package of the system. */
bool dropin_place_is_system(const struct dropin_place *place);

enum dropin_change { DROPIN_UNCHANGED, DROPIN_INSTALLED, DROPIN_UPGRADED, DROPIN_RESTORED };

/* Both are complete or have no effect, whenever they end; called again they finish the work. `said`
 * gets what else there is to tell, or "". */
rmcp_status dropin_install(const struct dropin_place *place, const struct dropin_ours *ours,
                           enum dropin_change *change);
rmcp_status dropin_restore(const struct dropin_place *place, enum dropin_change *change,
                           char said[static 400]);

#endif
