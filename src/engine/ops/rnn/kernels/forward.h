/* forward.h: what a unit of a sequence does with its sums at one step. */
#ifndef RMCP_RNN_FORWARD_H
#define RMCP_RNN_FORWARD_H

#include "engine/ops/rnn/kernels/cell.h"

/* The memory of a step. `saved` is the layer's part of the reserve, with Wx x in its gates. */
struct forward {
    __global const float *bias, *hx, *cx;
    __global float *saved, *y, *hy, *cy;
};

/* What a unit needs besides its sums: Wx x + bx and bh of its gates, and LSTM's c or GRU's h
 * before. Loaded early, since the sums take their time. */
struct forward_given {
    float x[4], h[4], before;
};

/* bx and bh lie one behind the other. `gates` is s->gates, a constant where the kernel has one. */
INLINE struct forward_given forward_load(const struct rmcp_rnn_step_args *s,
                                         const struct forward *f, const uint gates, uint d, uint n,
                                         uint j)
{
    const uint hidden = s->hidden, stack = s->directions * gates * hidden;
    const struct rmcp_rnn_move move = move_of(s, d);
    const ulong row = (ulong)move.first + n;
    __global const float *gate = f->saved + (row * s->directions + d) * gates * hidden + j;
    __global const float *out = f->saved + s->out;
    struct forward_given given;
    UNROLL for (uint i = 0; i < 4; i++)
    {
        const uint g = i < gates ? i : gates - 1, unit = (d * gates + g) * hidden + j;
        /* Without gates of their own, relu and tanh have Wx x where their output will be. */
        given.x[i] = gates == 1 ? out[place_at(s, row, d, j)] : gate[g * hidden];
        given.h[i] = 0;
        if (s->bias) {
            given.x[i] += f->bias[unit];
            given.h[i] = f->bias[stack + unit];
        }
    }
    given.before = 0;
    if (gates > 1) {
        const bool lstm = gates == 4;
        const ulong before = place_at(s, (ulong)move.before + n, d, j);
        if (n < move.starts)
            given.before = lstm ? f->saved[s->cell + before] : out[before];
        else if (lstm ? s->cx : s->hx)
            given.before = (lstm ? f->cx : f->hx)[state_at(s, d, n, j)];
    }
    return given;
}

/* `sum` are the rows of Wh h, one for each gate. */
INLINE void forward_unit(const struct rmcp_rnn_step_args *s, const struct forward *f,
                         const uint gates, const struct forward_given *given, uint d, uint n,
                         uint j, const float *sum)
{
    const uint hidden = s->hidden;
    const struct rmcp_rnn_move move = move_of(s, d);
    const ulong row = (ulong)move.first + n;
    const ulong place = place_at(s, row, d, j), state = state_at(s, d, n, j);
    __global float *gate = f->saved + (row * s->directions + d) * gates * hidden + j;
    float h[4], result, cell = 0;
    UNROLL for (uint g = 0; g < 4; g++) h[g] = g < gates ? given->h[g] + sum[g] : 0;
    if (gates == 4) {
        const float i = sigmoid(given->x[0] + h[0]), forget = sigmoid(given->x[1] + h[1]);
        const float o = sigmoid(given->x[2] + h[2]), g = tanh_of(given->x[3] + h[3]);
        cell = forget * given->before + i * g;
        const float t = tanh_of(cell);
        gate[0] = i;
        gate[hidden] = forget;
        gate[2 * hidden] = o;
        gate[3 * hidden] = g;
        f->saved[s->cell + place] = cell;
        if (s->tanh) f->saved[s->tanh_plane + place] = t;
        result = o * t;
    } else if (gates == 3) {
        const float z = sigmoid(given->x[0] + h[0]), r = sigmoid(given->x[1] + h[1]);
        const float m = tanh_of(r * h[2] + given->x[2]);
        gate[0] = z;
        gate[hidden] = r;
        gate[2 * hidden] = m;
        f->saved[s->cell + place] = h[2];
        result = z * given->before + (1 - z) * m;
    } else {
        const float a = given->x[0] + h[0];
        result = s->mode == TANH ? tanh_of(a) : a < 0 ? 0 : a;
    }
    f->saved[s->out + place] = result;
    if (s->y) f->y[place] = result;
    if (n < move.ends) return;
    if (s->hy) f->hy[state] = result;
    if (s->cy) f->cy[state] = cell;
}

#define FORWARD_MEMORY                                                                             \
    INPUT(bias), INPUT(hx), INPUT(cx), OUTPUT(saved), OUTPUT(y), OUTPUT(hy), OUTPUT(cy)
#define FORWARD_OF_MEMORY                                                                          \
    {                                                                                              \
        CONST_FLOATS(bias), CONST_FLOATS(hx), CONST_FLOATS(cx), FLOATS(saved), FLOATS(y),          \
            FLOATS(hy), FLOATS(cy)                                                                 \
    }

#endif
