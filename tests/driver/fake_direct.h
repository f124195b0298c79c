/* fake_direct.h: the kernel `direct` in f32 as C, from its own source, for drivers without a GPU.
 */
#ifndef RMCP_TESTS_FAKE_DIRECT_H
#define RMCP_TESTS_FAKE_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define RMCP_TARGET_H /* in place of target.h */
#define INLINE static inline
#define WORKGROUP(size)
#define INPUT(name) const char *restrict name##_buffer, ulong name##_begin
#define OUTPUT(name) char *restrict name##_buffer, ulong name##_begin
#define ADDRESS(name) (name##_buffer + name##_begin)
#define __global
#define __kernel static
#define GROUP_ID_X 0
#define LOCAL_ID 0
typedef unsigned uint;
typedef unsigned long ulong;
typedef float element;
static float to_float(const element *p)
{
    return *p;
}
static void from_float(element *p, float value)
{
    *p = value;
}
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include "engine/ops/conv/kernels/direct.cl"

/* Run `groups` workgroups with the parameters of a launch: base and offset of four tensors, and the
 * struct. A call of the kernel's source does the first item of the launch: say which that is. */
static void run_direct(size_t groups, void **p)
{
    struct rmcp_direct d;
    memcpy(&d, p[8], sizeof d);
    const rmcp_long first = d.first, end = d.first + d.count;
    const char *tensor[4];
    ulong begin[4];
    for (int i = 0; i < 4; i++) {
        memcpy(&tensor[i], p[2 * i], sizeof tensor[i]);
        memcpy(&begin[i], p[2 * i + 1], sizeof begin[i]);
    }
    for (d.first = first; d.first < end && d.first < first + 64 * (rmcp_long)groups; d.first++) {
        d.count = 1;
        direct(tensor[0], begin[0], tensor[1], begin[1], (char *)(size_t)tensor[2], begin[2],
               tensor[3], begin[3], d);
    }
}

#endif
