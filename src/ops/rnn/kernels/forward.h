/* forward.h: what a unit of a sequence does with its sums at one step. */
#ifndef RMCP_RNN_FORWARD_H
#define RMCP_RNN_FORWARD_H

#include "ops/rnn/kernels/cell.h"

/* The memory of a step. `saved` is the layer's part of the reserve, with Wx x in its gates. */
struct forward {
    __global const float *bias, *hx, *cx;
    __global float *saved, *y, *hy, *cy;
};

/* `sum` are the rows of Wh h, one for each gate; bx and bh lie one behind the other. */
INLINE void forward_unit(const struct rmcp_rnn_step_args *s, const struct forward *f, uint d,
                         uint n, uint j, const float *sum)
{
    const uint hidden = s->hidden, stack = s->directions * s->gates * hidden;
    const struct rmcp_rnn_move move = move_of(s, d);
    const ulong row = (ulong)move.first + n;
    const ulong place = place_at(s, row, d, j), state = state_at(s, d, n, j);
    const bool starts = n >= move.starts;
    __global float *gate = f->saved + (row * s->directions + d) * s->gates * hidden + j;
    __global float *out = f->saved + s->out;
    float x[4], h[4];
    UNROLL for (uint g = 0; g < 4; g++)
    {
        if (g >= s->gates) break;
        const uint unit = (d * s->gates + g) * hidden + j;
        /* Without gates of their own, relu and tanh have Wx x where their output will be. */
        x[g] = s->gates == 1 ? out[place] : gate[g * hidden];
        h[g] = sum[g];
        if (s->bias) {
            x[g] += f->bias[unit];
            h[g] += f->bias[stack + unit];
        }
    }
    float result, cell = 0;
    if (s->mode == LSTM) {
        const float i = sigmoid(x[0] + h[0]), forget = sigmoid(x[1] + h[1]);
        const float o = sigmoid(x[2] + h[2]), g = tanh_of(x[3] + h[3]);
        const float c = !starts ? f->saved[s->cell + place_at(s, (ulong)move.before + n, d, j)]
                        : s->cx ? f->cx[state]
                                : 0;
        cell = forget * c + i * g;
        const float t = tanh_of(cell);
        gate[0] = i;
        gate[hidden] = forget;
        gate[2 * hidden] = o;
        gate[3 * hidden] = g;
        f->saved[s->cell + place] = cell;
        if (s->tanh) f->saved[s->tanh_plane + place] = t;
        result = o * t;
    } else if (s->mode == GRU) {
        const float z = sigmoid(x[0] + h[0]), r = sigmoid(x[1] + h[1]);
        const float m = tanh_of(r * h[2] + x[2]);
        const float before = !starts ? out[place_at(s, (ulong)move.before + n, d, j)]
                             : s->hx ? f->hx[state]
                                     : 0;
        gate[0] = z;
        gate[hidden] = r;
        gate[2 * hidden] = m;
        f->saved[s->cell + place] = h[2];
        result = z * before + (1 - z) * m;
    } else {
        const float a = x[0] + h[0];
        result = s->mode == TANH ? tanh_of(a) : a < 0 ? 0 : a;
    }
    out[place] = result;
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
