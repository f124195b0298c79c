/* scores.cl: rows of scores to weights of a softmax, and gradients of weights to those of scores; one
 * workgroup for each query. */
#include "engine/ops/attention/kernels/rows.h"

#include "engine/kernels/philox.h"

/* Dropout of the weights, from the factors and the state of the generator. */
struct drop {
    bool some, all;
    uint threshold, state[4]; /* a number below it drops its element */
    float kept;               /* what the others are multiplied by   */
};

INLINE struct drop find_drop(const struct rmcp_att_args *a, __global const float *factors,
                             __global const uint *state)
{
    const float share = a->scaled ? factors[RMCP_ATT_DROP] : 0;
    struct drop drop = { share > 0, share >= 1, 0, { 0, 0, 0, 0 }, 1 };
    if (!drop.some || drop.all) return drop;
    drop.threshold = (uint)(share * 4294967296.0f);
    drop.kept = 1.0f / (1.0f - share);
    for (uint i = 0; i < 4; i++) drop.state[i] = state[i];
    return drop;
}

/* What element `index` of all weights is multiplied by. */
INLINE float kept(const struct drop *drop, ulong index)
{
    if (!drop->some) return 1;
    if (drop->all) return 0;
    return rmcp_philox_at(drop->state, index) >= drop->threshold ? drop->kept : 0;
}

INLINE float score(const struct rmcp_att_args *a, float factor, __global const float *w,
                   __global const float *bias, uint j)
{
    const float s = w[j] * factor;
    return a->bias ? s + bias[j] : s;
}

__kernel WORKGROUP(THREADS) void attention_weights(OUTPUT(scores), INPUT(bias), OUTPUT(m),
                                                   OUTPUT(zinv), INPUT(factors), INPUT(state),
                                                   OUTPUT(largest), struct rmcp_att_args a)
{
    __local float room[THREADS];
    const ulong row = a.first + (ulong)GROUP_ID_X, local_row = GROUP_ID_X;
    const uint query = (uint)(row % a.queries), n = a.causal ? smaller(query + 1, a.keys) : a.keys;
    __global float *const w = FLOATS(scores) + local_row * a.keys;
    __global const float *const b = CONST_FLOATS(bias) + (a.bias ? row * a.keys : 0);
    __global const float *const f = CONST_FLOATS(factors);
    const struct drop drop = find_drop(&a, f, (__global const uint *)ADDRESS(state));
    const float factor = a.scaled ? f[RMCP_ATT_FROM_Q] * f[RMCP_ATT_FROM_K] : 1;
    const float last = a.scaled ? f[RMCP_ATT_TO_S] : 1;
    float most = -as_float(0x7f800000u), sum = 0;
    for (uint j = LOCAL_ID; j < n; j += THREADS) most = larger(most, score(&a, factor, w, b, j));
    most = whole(most, true, room);
    for (uint j = LOCAL_ID; j < n; j += THREADS)
        sum += exponential_of(score(&a, factor, w, b, j) - most);
    const float inverse = 1.0f / whole(sum, false, room);
    for (uint j = LOCAL_ID; j < a.keys; j += THREADS)
        w[j] = j < n ? exponential_of(score(&a, factor, w, b, j) - most) * inverse *
                           (kept(&drop, row * a.keys + j) * last)
                     : 0;
    if (LOCAL_ID > 0) return;
    if (a.saved) {
        FLOATS(m)[row] = most;
        FLOATS(zinv)[row] = inverse;
    }
    if (a.scaled) FLOATS(largest)[row] = inverse; /* that of the largest score, e^0 */
}

/* Scores become weights p, as they were multiplied with v, and gradients g of these become
 * p * (g - sum of p * g). */
__kernel WORKGROUP(THREADS) void attention_gradients(OUTPUT(scores), OUTPUT(gradients), INPUT(bias),
                                                     INPUT(m), INPUT(zinv), INPUT(factors),
                                                     INPUT(state), OUTPUT(largest),
                                                     struct rmcp_att_args a)
{
    __local float room[THREADS];
    const ulong row = a.first + (ulong)GROUP_ID_X, local_row = GROUP_ID_X;
    const uint query = (uint)(row % a.queries), n = a.causal ? smaller(query + 1, a.keys) : a.keys;
    __global float *const w = FLOATS(scores) + local_row * a.keys;
    __global float *const g = FLOATS(gradients) + local_row * a.keys;
    __global const float *const b = CONST_FLOATS(bias) + (a.bias ? row * a.keys : 0);
    __global const float *const f = CONST_FLOATS(factors);
    const struct drop drop = find_drop(&a, f, (__global const uint *)ADDRESS(state));
    const float factor = a.scaled ? f[RMCP_ATT_FROM_Q] * f[RMCP_ATT_FROM_K] : 1;
    const float gradient = a.scaled ? f[RMCP_ATT_FROM_DO] * f[RMCP_ATT_FROM_V] : 1;
    const float last = a.scaled ? f[RMCP_ATT_TO_S] : 1, behind = a.scaled ? f[RMCP_ATT_TO_DS] : 1;
    const float most = CONST_FLOATS(m)[row], inverse = CONST_FLOATS(zinv)[row];
    float sum = 0, top = 0;
    for (uint j = LOCAL_ID; j < a.keys; j += THREADS) {
        const float p = j < n ? exponential_of(score(&a, factor, w, b, j) - most) * inverse : 0;
        const float h = j < n ? g[j] * gradient * kept(&drop, row * a.keys + j) : 0;
        w[j] = p;
        g[j] = h;
        sum += p * h;
    }
    sum = whole(sum, false, room);
    for (uint j = LOCAL_ID; j < a.keys; j += THREADS) {
        const float p = w[j], d = j < n ? p * (g[j] - sum) : 0;
        if (a.scaled) w[j] = p * (kept(&drop, row * a.keys + j) * last);
        g[j] = d * behind;
        top = larger(top, magnitude(d * a.scale));
    }
    if (!a.scaled) return;
    top = whole(top, true, room);
    if (LOCAL_ID == 0) FLOATS(largest)[row] = top;
}
