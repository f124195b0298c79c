/* support.h: what the tests share: a device, cases, and running a plan on host arrays. */
#ifndef RMCP_TESTS_SUPPORT_H
#define RMCP_TESTS_SUPPORT_H

#include "engine/ops/conv/conv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SUPPORT_LENGTH(array) (sizeof(array) / sizeof *(array))

enum { SUPPORT_N_TENSORS = RMCP_CONV_BIAS + 1 };

/* A device by RMCP_TEST_DEVICE, else "cpu"; never NULL. */
rmcp_device *support_open(void);

/* The problem of a case string; `pass` may be NULL. */
rmcp_conv support_case(const char *text, int *pass);

/* The same problem in canonical form. */
struct rmcp_convolution support_conv(const rmcp_conv *problem, rmcp_conv_pass pass);

/* The text holds no control character and is not empty: what every message must be. */
void support_assert_one_line(const char *text);

/* The last call failed with `expected`, and its message has `part` in it. */
void support_assert_failed(rmcp_status status, rmcp_status expected, const char *part);

/* Tensors as floats in the order of memory, one array per slot x, w, y, bias. */
struct support_tensors {
    float *of[SUPPORT_N_TENSORS];
    int64_t n[SUPPORT_N_TENSORS];
};

/* Arrays for every tensor of `conv`, filled with integers from -most to most. Free with
 * support_tensors_deinit. */
void support_tensors_init(struct support_tensors *t, const struct rmcp_convolution *conv,
                          int64_t most, uint64_t seed);
void support_tensors_deinit(struct support_tensors *t);

/* Plan and execute; the output tensor of `pass` is replaced by the result. Every step must
 * succeed. `options` may be NULL. */
void support_run(rmcp_device *device, const rmcp_conv *problem, rmcp_conv_pass pass,
                 const rmcp_plan_options *options, struct support_tensors *t);

/* The same with a plan that is already there. */
void support_execute(rmcp_device *device, const rmcp_plan *plan, struct support_tensors *t);

#endif
