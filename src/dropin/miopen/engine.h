/* engine.h: librmcp, found at run time, its devices, and the little that is asked of HIP. */
#ifndef RMCP_MIOPEN_ENGINE_H
#define RMCP_MIOPEN_ENGINE_H

#include "dropin/miopen/api.h"
#include "rmcp.h"

/* Every function of the engine that is used. */
#define MI_ENGINE(F)                                                                               \
    F(rmcp_last_error)                                                                             \
    F(rmcp_on_notice)                                                                              \
    F(rmcp_version)                                                                                \
    F(rmcp_device_open)                                                                            \
    F(rmcp_device_wait)                                                                            \
    F(rmcp_buffer_create)                                                                          \
    F(rmcp_buffer_destroy)                                                                         \
    F(rmcp_plan_destroy)                                                                           \
    F(rmcp_plan_workspace)                                                                         \
    F(rmcp_plan_algorithm)                                                                         \
    F(rmcp_case_plan)                                                                              \
    F(rmcp_plan_slot)                                                                              \
    F(rmcp_plan_scalar)                                                                            \
    F(rmcp_plan_run)                                                                               \
    F(rmcp_plan_run_timed)                                                                         \
    F(rmcp_conv_describe)                                                                          \
    F(rmcp_conv_plan)                                                                              \
    F(rmcp_conv_candidates)                                                                        \
    F(rmcp_conv_execute)                                                                           \
    F(rmcp_conv_execute_timed)                                                                     \
    F(rmcp_batchnorm_plan)                                                                         \
    F(rmcp_batchnorm_execute)                                                                      \
    F(rmcp_batchnorm_execute_timed)                                                                \
    F(rmcp_tensor_plan)                                                                            \
    F(rmcp_tensor_execute)                                                                         \
    F(rmcp_tensor_execute_timed)                                                                   \
    F(rmcp_rnn_describe)                                                                           \
    F(rmcp_rnn_plan)                                                                               \
    F(rmcp_rnn_execute)                                                                            \
    F(rmcp_rnn_execute_timed)                                                                      \
    F(rmcp_copy_to_device)                                                                         \
    F(rmcp_copy_to_host)

struct mi_engine {
#define F(name) __typeof__(&name) name;
    MI_ENGINE(F)
#undef F
};

/* The engine, loaded when it is first asked for: the one that the process has, else RMCP_LIBRARY,
 * else beside this library, else by name. It must be of this library's version: the same MAJOR and
 * MINOR, and no earlier PATCH. NULL when there is none, or one that does not fit: the first that is
 * found is the one. The reason was told. */
const struct mi_engine *mi_engine(void);

/* Tell, once in a process, which engine there is, which is needed and why, and what to do; returns
 * miopenStatusVersionMismatch. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
miopenStatus_t
mi_misfit(const char *why, ...);

/* The device for a new handle: RMCP_DEVICE, else HIP's current device of this thread. Devices stay
 * open and are shared by all handles. Not in a child after fork. */
miopenStatus_t mi_device(rmcp_device **out);

/* Whether `stream` is being captured into a graph; false when HIP cannot say. */
bool mi_is_capturing(void *stream);

/* Whether `pointer` is memory of a GPU that the host must not follow, as HIP has it; false when HIP
 * cannot say. */
bool mi_is_device_memory(const void *pointer);

/* MIOpen's status for the engine's, with the engine's message logged. */
miopenStatus_t mi_status(rmcp_status status, const char *what);

#endif
