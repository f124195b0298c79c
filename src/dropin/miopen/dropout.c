/* dropout.c: dropout descriptors, as far as recurrent networks need them. The states are ours: a
 * seed and a counter in the first 16 bytes. */
#include "dropin/miopen/chain.h"
#include "dropin/miopen/log.h"
#include "dropin/miopen/rnn.h"

/* As many bytes as the original's generators take. */
enum { STATES = 16384, STATE_BYTES = 48, OURS = 16 };

const struct mi_dropout *mi_dropout(miopenDropoutDescriptor_t name)
{
    const struct mi_dropout *dropout = mi_object(name, MI_DROPOUT);
    if (!dropout) mi_log(MI_ERROR, "%p is no dropout descriptor", (const void *)name);
    return dropout;
}

miopenStatus_t miopenCreateDropoutDescriptor(miopenDropoutDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateDropoutDescriptor: NULL");
    struct mi_dropout *dropout = mi_object_new(MI_DROPOUT, sizeof *dropout);
    if (!dropout) return mi_fail(miopenStatusAllocFailed, "out of memory");
    return mi_chain_descriptor(&dropout->object, MI_DROPOUT, out);
}

miopenStatus_t miopenDestroyDropoutDescriptor(miopenDropoutDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_dropout *dropout = (struct mi_dropout *)mi_dropout(name);
    if (!dropout) return miopenStatusBadParm;
    mi_chain_destroy(&dropout->object, MI_DROPOUT);
    mi_object_delete(dropout);
    return miopenStatusSuccess;
}

miopenStatus_t miopenDropoutGetStatesSize(miopenHandle_t name, size_t *bytes)
{
    struct mi_handle *handle = bytes ? mi_handle_enter(name) : NULL;
    if (!handle) return mi_fail(miopenStatusBadParm, "miopenDropoutGetStatesSize: bad argument");
    *bytes = (size_t)STATES * STATE_BYTES;
    mi_handle_leave(handle);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetDropoutDescriptor(miopenDropoutDescriptor_t name, miopenHandle_t handle,
                                          float *rate, void **states, unsigned long long *seed,
                                          bool *use_mask, bool *state_evo,
                                          miopenRNGType_t *generator)
{
    (void)handle;
    const struct mi_dropout *dropout = mi_dropout(name);
    if (!dropout || !rate || !states || !seed || !use_mask || !state_evo || !generator)
        return miopenStatusBadParm;
    *rate = dropout->rate;
    *states = dropout->states;
    *seed = dropout->seed;
    *use_mask = dropout->use_mask;
    *state_evo = dropout->state_evo;
    *generator = dropout->generator;
    return miopenStatusSuccess;
}

miopenStatus_t miopenRestoreDropoutDescriptor(miopenDropoutDescriptor_t name, miopenHandle_t handle,
                                              float rate, void *states, size_t bytes,
                                              unsigned long long seed, bool use_mask,
                                              bool state_evo, miopenRNGType_t generator)
{
    (void)handle;
    struct mi_dropout *dropout = (struct mi_dropout *)mi_dropout(name);
    if (!dropout) return miopenStatusBadParm;
    if (!(rate >= 0 && rate <= 1))
        return mi_fail(miopenStatusBadParm, "dropout of %g", (double)rate);
    dropout->rate = rate;
    dropout->states = states;
    dropout->states_bytes = bytes;
    dropout->seed = seed;
    dropout->use_mask = use_mask;
    dropout->state_evo = state_evo;
    dropout->generator = generator;
    return miopenStatusSuccess;
}

/* The same, and the states begin anew. */
miopenStatus_t miopenSetDropoutDescriptor(miopenDropoutDescriptor_t name,
                                          miopenHandle_t handle_name, float rate, void *states,
                                          size_t bytes, unsigned long long seed, bool use_mask,
                                          bool state_evo, miopenRNGType_t generator)
{
    if (states && bytes < OURS)
        return mi_fail(miopenStatusBadParm, "dropout states of %zu bytes", bytes);
    miopenStatus_t status = miopenRestoreDropoutDescriptor(name, handle_name, rate, states, bytes,
                                                           seed, use_mask, state_evo, generator);
    if (status != miopenStatusSuccess || !states) return status;
    struct mi_handle *handle = mi_handle_enter(handle_name);
    if (!handle) return miopenStatusBadParm;
    const uint32_t words[4] = { (uint32_t)seed, (uint32_t)(seed >> 32), 0, 0 };
    if (mi_is_capturing(handle->stream))
        status = mi_fail(miopenStatusNotImplemented, "dropout states while a stream is captured");
    else
        status = mi_status(handle->engine->rmcp_copy_to_device(handle->device, handle->stream,
                                                               (rmcp_memory){ states, 0 }, words,
                                                               sizeof words),
                           "dropout states");
    mi_handle_leave(handle);
    return status;
}
