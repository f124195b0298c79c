/* life.h: all that a program does on a device, from opening to closing, with one small convolution.
 */
#ifndef RMCP_TESTS_LIFE_H
#define RMCP_TESTS_LIFE_H

#include "small_case.h"

#include <stdatomic.h>
#include <stdbool.h>

/* The case in one buffer, each tensor at an offset that is only element-aligned. */
enum { AT_X = 4, AT_W = AT_X + 4 * CASE_X + 12, AT_Y = AT_W + 4 * CASE_W + 20 };
enum { GUARD = 64, CASE_BYTES = AT_Y + 4 * CASE_Y + GUARD };

/* The case's tensors in the buffer `base`. */
rmcp_conv_tensors life_tensors(void *base);

/* A plan of the case without workspace, by `algorithm` or, with NULL, the planner's choice. */
rmcp_status life_plan(rmcp_device *device, const char *algorithm, rmcp_plan **out);

/* Fill `base`, execute, read back; with `seconds` also time it. `*right`: the result is, and
 * nothing else was written. */
rmcp_status life_execute(rmcp_device *device, const rmcp_plan *plan, void *stream, void *base,
                         unsigned seed, double *seconds, bool *right);

/* Open, allocate, plan, execute, time, wait, close, until something fails. Results must be right. A
 * device that was lost must say so ever after, without asking the driver: `calls`, when not NULL,
 * counts the driver's calls; `*code` is then the driver's word for it. */
struct life {
    const char *spec, *algorithm;
    const atomic_long *calls;
    const int *code;
};
rmcp_status life_run(const struct life *life);

/* Leave a message that no failure under test writes, so that silence shows. */
void life_mark_message(void);
bool life_is_marked(void);

/* `part` is in `text`. */
void life_contains(const char *text, const char *part);

#endif
