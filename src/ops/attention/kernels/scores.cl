/* scores.cl: rows of scores to weights of a softmax, and gradients of weights to those of scores; one
 * workgroup for each query. */
#include "ops/attention/kernels/args.h"
#include "ops/rnn/kernels/cell.h"

#define THREADS 256

/* e^x; 0 where f32 has next to nothing, Inf above its end. */
INLINE float exponential_of(float x)
{
    return x < -87.0f ? 0 : x > 88.0f ? as_float(0x7f800000u) : exponential(x);
}

INLINE float whole(float mine, const bool largest, __local float *room)
{
    room[LOCAL_ID] = mine;
    BARRIER();
    for (uint step = THREADS / 2; step > 0; step /= 2) {
        if (LOCAL_ID < step) {
            const float other = room[LOCAL_ID + step], own = room[LOCAL_ID];
            room[LOCAL_ID] = !largest ? own + other : other > own || other != other ? other : own;
        }
        BARRIER();
    }
    const float all = room[0];
    BARRIER();
    return all;
}

INLINE float score(const struct rmcp_att_args *a, __global const float *w,
                   __global const float *bias, uint j)
{
    return a->bias ? w[j] + bias[j] : w[j];
}

__kernel WORKGROUP(THREADS) void attention_weights(OUTPUT(scores), INPUT(bias), OUTPUT(m),
                                                   OUTPUT(zinv), struct rmcp_att_args a)
{
    __local float room[THREADS];
    const ulong row = a.first + (ulong)GROUP_ID_X, local_row = GROUP_ID_X;
    const uint query = (uint)(row % a.queries), n = a.causal ? smaller(query + 1, a.keys) : a.keys;
    __global float *const w = FLOATS(scores) + local_row * a.keys;
    __global const float *const b = CONST_FLOATS(bias) + (a.bias ? row * a.keys : 0);
    float most = -as_float(0x7f800000u), sum = 0;
    for (uint j = LOCAL_ID; j < n; j += THREADS) {
        const float s = score(&a, w, b, j);
        most = s > most || s != s ? s : most;
    }
    most = whole(most, true, room);
    for (uint j = LOCAL_ID; j < n; j += THREADS) sum += exponential_of(score(&a, w, b, j) - most);
    const float inverse = 1.0f / whole(sum, false, room);
    for (uint j = LOCAL_ID; j < a.keys; j += THREADS)
        w[j] = j < n ? exponential_of(score(&a, w, b, j) - most) * inverse : 0;
    if (a.saved && LOCAL_ID == 0) {
        FLOATS(m)[row] = most;
        FLOATS(zinv)[row] = inverse;
    }
}

/* Scores become weights p, and gradients g of weights become p * (g - sum of p * g). */
__kernel WORKGROUP(THREADS) void attention_gradients(OUTPUT(scores), OUTPUT(gradients), INPUT(bias),
                                                     INPUT(m), INPUT(zinv), struct rmcp_att_args a)
{
    __local float room[THREADS];
    const ulong row = a.first + (ulong)GROUP_ID_X, local_row = GROUP_ID_X;
    const uint query = (uint)(row % a.queries), n = a.causal ? smaller(query + 1, a.keys) : a.keys;
    __global float *const w = FLOATS(scores) + local_row * a.keys;
    __global float *const g = FLOATS(gradients) + local_row * a.keys;
    __global const float *const b = CONST_FLOATS(bias) + (a.bias ? row * a.keys : 0);
    const float most = CONST_FLOATS(m)[row], inverse = CONST_FLOATS(zinv)[row];
    float sum = 0;
    for (uint j = LOCAL_ID; j < a.keys; j += THREADS) {
        const float p = j < n ? exponential_of(score(&a, w, b, j) - most) * inverse : 0;
        w[j] = p;
        sum += j < n ? p * g[j] : 0;
    }
    sum = whole(sum, false, room);
    for (uint j = LOCAL_ID; j < a.keys; j += THREADS) g[j] = j < n ? w[j] * (g[j] - sum) : 0;
}
