/* norm.h: what the kernels of batch normalisation share: statistics to the mean and inverse of a
 * channel, activations and their gradients, what an element becomes. */
#ifndef RMCP_OPS_BATCHNORM_KERNELS_NORM_H
#define RMCP_OPS_BATCHNORM_KERNELS_NORM_H

#include "engine/kernels/moments.h"
#include "engine/ops/batchnorm/kernels/args.h"

/* Statistics of a whole channel to its mean and inverse; one work-item also stores them. */
INLINE struct normal normal_of(const struct rmcp_norm_figures *f, struct moments m)
{
    const struct normal result = { m.shift + m.rest, inverse_root(m.m2 * f->share + f->epsilon) };
    return result;
}

INLINE void keep_running(const struct rmcp_norm_figures *f, struct moments m, __global float *mean,
                         __global float *variance)
{
    *mean = f->keep * *mean + f->momentum * (m.shift + m.rest);
    *variance = f->keep * *variance + f->momentum * (m.m2 * f->share * f->unbias);
}

/* Activations without a branch: the host sets low and high to infinities where nothing is cut off.
 * NaN fails every comparison and so stays NaN. */
INLINE float bend(const struct rmcp_epilogue *e, float z)
{
    const float under = e->kind == 2 ? z * e->slope : e->low;
    return z < e->low ? under : z > e->high ? e->high : z;
}

/* dy behind the activation of z; at a bend it is that of the side which is cut off. */
INLINE float gradient(const struct rmcp_epilogue *e, float z, float dy)
{
    const float under = e->kind == 2 ? dy * e->slope : 0, all = e->kind == 0 ? dy : under;
    return z <= e->low ? all : z >= e->high && e->kind == 3 ? 0 : dy;
}

/* What dx is made of: (g - even - (x - mean) * slant) * factor. */
struct slope {
    float mean, factor, bias, even, slant;
};

INLINE struct slope slope_of(const struct rmcp_norm_figures *f, struct normal n, float scale,
                             float bias, float sum, float product)
{
    const struct slope s = { n.mean, n.inverse * scale, bias, sum * f->share,
                             n.inverse * n.inverse * product * f->share };
    return s;
}

INLINE float forward(const struct rmcp_epilogue *e, const struct slope *s, float x)
{
    return bend(e, (x - s->mean) * s->factor + s->bias);
}

INLINE float behind(const struct rmcp_epilogue *e, const struct slope *s, float x, float dy)
{
    return gradient(e, (x - s->mean) * s->factor + s->bias, dy);
}

INLINE float backward(const struct rmcp_epilogue *e, const struct slope *s, float x, float dy)
{
    return (behind(e, s, x, dy) - s->even - (x - s->mean) * s->slant) * s->factor;
}

#endif
