/* adam.cl: one step of Adam, AdamW or their variants for each element of a parameter. */
#include "engine/kernels/lanes.h"

#define TENSORS 6 /* the parameter, its gradient, first and second moment, the largest second, the copy in f16 */
#include "engine/kernels/functions.h"
#include "engine/kernels/stream.h"
#include "engine/elements/kernels/args.h"

/* Elements of f32, whatever TYPE is. */
INLINE void give_floats(const float *v, const struct spot *p, uint t, const struct rmcp_stream *s,
                        __global char *base)
{
    __global float *to = (__global float *)base + p->at[t];
    if (p->whole && s->step[t] == 1 && (uint)(ulong)to % 16 == 0) {
        UNROLL for (uint i = 0; i < LANES; i += 4) *(__global float4 *)(to + i) =
            (float4)(v[i], v[i + 1], v[i + 2], v[i + 3]);
        return;
    }
    UNROLL for (int i = 0; i < LANES; i++)
        if (i >= p->begin && i < p->end)
            ((__global float *)base)[p->at[t] + (uint)i * s->step[t]] = v[i];
}

INLINE void give_state(const float *v, const struct spot *p, uint t, const struct rmcp_stream *s,
                       __global char *base, uint type)
{
    if (type == TYPE)
        give(v, p, t, s, base);
    else
        give_floats(v, p, t, s, base);
}

INLINE void give_halves(const float *v, const struct spot *p, uint t, const struct rmcp_stream *s,
                        __global char *base)
{
    UNROLL for (int i = 0; i < LANES; i++)
        if (i >= p->begin && i < p->end) {
            const uint at = p->at[t] + (uint)i * s->step[t];
#if defined(BARE)
            ((__global half_float *)base)[at] = (half_float)v[i];
#else
            vstore_half_rte(v[i], at, (__global half *)base);
#endif
        }
}

/* lr with its corrections, and the factor of the second moment's root. */
INLINE void corrections(const struct rmcp_adam_math *m, __global const int *step, float *size,
                        float *root)
{
    *size = m->step_size;
    *root = m->root;
    if (!m->counted || m->given) return;
    const float n = (float)(step[0] + 1);
    const float first = -expm1_of(n * m->log1), second = -expm1_of(n * m->log2);
    if (m->kind == RMCP_ADAM_UNCORRECTED) return;
    if (m->kind == RMCP_ADAM_TRANSFORMERS) {
        *size = m->lr * sqrt_of(second) / first;
    } else {
        *size = m->lr / first;
        *root = 1.0f / sqrt_of(second);
    }
}

__kernel WORKGROUP(THREADS) void adam(RESULT(param), TENSOR(grad), RESULT(mean), RESULT(square),
                                      RESULT(most), RESULT(halves), TENSOR(scale), TENSOR(inf),
                                      TENSOR(step), struct rmcp_stream s, struct rmcp_adam_math m)
{
    const bool stays = m.guarded && *(__global const uchar *)ADDRESS(inf) != 0;
    const float scale = m.scaled ? (float)*(__global const int *)ADDRESS(scale) : 1.0f;
    float size, root;
    corrections(&m, (__global const int *)ADDRESS(step), &size, &root);
    const uint chunk = GROUP_ID_X * THREADS + LOCAL_ID;
    const struct spot p = find_spot(&s, chunk, ADDRESS(param), sizeof(element));
    struct flow in[5];
    take(&in[0], &p, 0, &s, ADDRESS(param), TYPE);
    if (!stays) {
        take(&in[1], &p, 1, &s, ADDRESS(grad), m.grad_type);
        take(&in[2], &p, 2, &s, ADDRESS(mean), m.state_type);
        take(&in[3], &p, 3, &s, ADDRESS(square), m.state_type);
        if (m.amsgrad) take(&in[4], &p, 4, &s, ADDRESS(most), m.state_type);
    }
    float param[LANES], grad[LANES], mean[LANES], square[LANES], most[LANES];
    values(param, &in[0], TYPE);
    if (!stays) {
        values(grad, &in[1], m.grad_type);
        values(mean, &in[2], m.state_type);
        values(square, &in[3], m.state_type);
        if (m.amsgrad) values(most, &in[4], m.state_type);
        UNROLL for (uint k = 0; k < LANES; k++) {
            float g = m.scaled ? grad[k] / scale : grad[k], x = param[k];
            if (m.maximize) g = -g;
            if (m.kind == RMCP_ADAM_ADAM) g += m.decay * x;
            if (m.kind == RMCP_ADAM_ADAMW) x -= m.lr * m.decay * x;
            const float first = m.beta1 * mean[k] + m.rest1 * g;
            const float second = m.beta2 * square[k] + m.rest2 * (g * g);
            /* a NaN in either stays */
            const bool held = m.amsgrad && (most[k] > second || most[k] != most[k]);
            const float top = held ? most[k] : second;
            const float below = sqrt_of(top) * root + m.eps;
            x -= size * first / below;
            if (m.kind >= RMCP_ADAM_TRANSFORMERS) x -= m.lr * m.decay * x;
            param[k] = x;
            mean[k] = first;
            square[k] = second;
            most[k] = top;
        }
        give(param, &p, 0, &s, ADDRESS(param));
        give_state(mean, &p, 2, &s, ADDRESS(mean), m.state_type);
        give_state(square, &p, 3, &s, ADDRESS(square), m.state_type);
        if (m.amsgrad) give_state(most, &p, 4, &s, ADDRESS(most), m.state_type);
    }
    if (m.copied) give_halves(param, &p, 5, &s, ADDRESS(halves));
}
