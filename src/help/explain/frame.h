/* frame.h: where a Python traceback ends: the package, the file and the function. Internal to
 * src/help/explain. */
#ifndef RMCP_EXPLAIN_FRAME_H
#define RMCP_EXPLAIN_FRAME_H

#include <stddef.h>
#include <stdint.h>

struct explain_frame {
    char package[48]; /* "diffusers", "custom node ComfyUI-X", "the program itself"; "" when unknown
                       */
    char file[64], function[64];
    uint64_t line; /* of the log */
};

/* A line that has a file of a traceback: 'File "…/site-packages/x/y.py", line 3, in f'. Files of
 * Python itself and those through which everything passes leave `*frame` as it is. */
void explain_note_frame(struct explain_frame *frame, uint64_t number, const char *line,
                        size_t length);

#endif
