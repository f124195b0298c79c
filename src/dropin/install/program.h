/* program.h: what kind of program a command is, who is asked about it, and the answers. */
#ifndef RMCP_DROPIN_PROGRAM_H
#define RMCP_DROPIN_PROGRAM_H

#include "rmcp.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum dropin_program_kind {
    DROPIN_PROGRAM_LINKED, /* asks for a dynamic linker                 */
    DROPIN_PROGRAM_PYTHON, /* Python, or a script for it                */
    DROPIN_PROGRAM_SCRIPT, /* for another interpreter                   */
    DROPIN_PROGRAM_STATIC, /* nothing can be preloaded into it          */
    DROPIN_PROGRAM_OTHER   /* of another processor, or no program known */
};

enum { DROPIN_MOST_FLAGS = 8 };

struct dropin_program {
    enum dropin_program_kind kind;
    bool is_setuid;
    char path[PATH_MAX];   /* as it is found in PATH */
    char linker[256];      /* of DROPIN_PROGRAM_LINKED */
    char python[PATH_MAX]; /* of DROPIN_PROGRAM_PYTHON: its interpreter, as the command has it */
    char
        folder[PATH_MAX]; /* … of the script, where it imports from first; "": that where it runs */
    char flags[DROPIN_MOST_FLAGS][4]; /* … that change where it imports from: "-I" */
    size_t n_flags;
};

/* program.c: where a program is found in PATH, as execvp would; false: nowhere. */
bool dropin_program_search(const char *name, char path[static PATH_MAX]);
/* RMCP_E_ARG: there is none, or it cannot be executed. */
rmcp_status dropin_program_read(char *const *command, struct dropin_program *out);
/* The dynamic linker that a program asks for, or "". */
void dropin_program_linker(const char *path, char linker[static 256]);

/* python.c: what a Python says of its PyTorch. "" where there is nothing. */
struct dropin_python {
    char executable[PATH_MAX];
    char torch[PATH_MAX];                /* the folder of the package */
    char sdk[PATH_MAX];                  /* libMIOpen.so.1 of ROCm as Python packages */
    char version[64], hip[48], cuda[32]; /* of torch/version.py */
};
/* RMCP_E_IO when it does not answer within a time limit. */
rmcp_status dropin_python_ask(const struct dropin_program *program, struct dropin_python *out);

/* loader.c: the MIOpen that the dynamic linker finds for a program or library, and the name under
 * which it is needed; false: none. With `preload`, whether it finds that name at all. */
bool dropin_loader_ask(const char *linker, const char *object, const char *preload,
                       char path[static PATH_MAX], char name[static 64]);

#endif
