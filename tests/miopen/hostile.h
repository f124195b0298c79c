/* hostile.h: what the tests of hostile use of the drop-in share. */
#ifndef RMCP_TESTS_MIOPEN_HOSTILE_H
#define RMCP_TESTS_MIOPEN_HOSTILE_H

#include "client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Whether kernels compute here: on the fake HIP library they do nothing. */
extern bool hostile_computes;

/* Begin by the first argument: "cpu", the fake HIP library, or another HIP library, whose device
 * RMCP_DEVICE may name. Exits when that fails. */
void hostile_begin(const char *device);
void hostile_end(void);

/* A convolution with small integers in x, w and y. */
void hostile_conv(struct client_conv *conv, const struct client_shape *shape, unsigned seed);
extern const struct client_shape hostile_shape; /* a small one in f32 */

/* The output of `pass` is right, as far as anything computes here: every element, exactly. */
void hostile_assert_right(const struct client_conv *conv, enum client_pass pass);

/* A convolution of each kind works: after hostile use, the library still does. */
void hostile_assert_well(void);

/* A status that MIOpen has; and one that is no success. */
void hostile_assert_status(int status, const char *what);
void hostile_assert_refused(int status, const char *what);

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define GOOD(call) assert_int_equal(call, miopenStatusSuccess)
#define BAD_PARM(call) assert_int_equal(call, miopenStatusBadParm)
#define REFUSED(call) hostile_assert_refused(call, #call)

#endif
