/* backward.h: gradients of a unit of a sequence at one step, from that of its hidden state. */
#ifndef RMCP_RNN_BACKWARD_H
#define RMCP_RNN_BACKWARD_H

#include "engine/ops/rnn/kernels/cell.h"

/* The memory of a step. `output` is the gradient of the layer's output; `carry` has, for each
 * sequence, what goes on to the step before beside the product: LSTM's dc f, GRU's dh z. */
struct backward {
    __global const float *output, *start, *hy, *cy, *saved; /* start: LSTM's cx, GRU's hx */
    __global float *gradients, *carry, *dhx, *dcx;
};

INLINE void backward_lstm(const struct rmcp_rnn_step_args *s, const struct backward *b, ulong place,
                          ulong gate, ulong state, float dh, float dc, float c)
{
    const uint hidden = s->hidden;
    __global const float *a = b->saved + gate;
    __global float *da = b->gradients + gate;
    const float i = a[0], f = a[hidden], o = a[2 * hidden], g = a[3 * hidden];
    const float t = b->saved[s->tanh_plane + place];
    dc += dh * o * (1 - t * t);
    da[0] = dc * g * (i * (1 - i));
    da[hidden] = dc * c * (f * (1 - f));
    da[2 * hidden] = dh * t * (o * (1 - o));
    da[3 * hidden] = dc * i * (1 - g * g);
    b->carry[state] = dc * f;
}

INLINE void backward_gru(const struct rmcp_rnn_step_args *s, const struct backward *b, ulong place,
                         ulong gate, ulong state, float dh, float h)
{
    const uint hidden = s->hidden;
    __global const float *a = b->saved + gate;
    __global float *da = b->gradients + gate;
    const float z = a[0], r = a[hidden], n = a[2 * hidden];
    const float dn = dh * (1 - z) * (1 - n * n);
    da[0] = dh * (h - n) * (z * (1 - z));
    da[hidden] = dn * b->saved[s->cell + place] * (r * (1 - r));
    da[2 * hidden] = dn;
    b->gradients[s->apart + place] = dn * r;
    b->carry[state] = dh * z;
}

/* `sum` is the gradient that comes from the step behind by Wh, where there is one. */
INLINE void backward_unit(const struct rmcp_rnn_step_args *s, const struct backward *b, uint d,
                          uint n, uint j, float sum)
{
    const struct rmcp_rnn_move move = move_of(s, d);
    const ulong state = state_at(s, d, n, j);
    if (s->initial) {
        if (s->initial & 1) b->dhx[state] = s->mode == GRU ? sum + b->carry[state] : sum;
        if (s->initial & 2) b->dcx[state] = b->carry[state];
        return;
    }
    const ulong row = (ulong)move.first + n, place = place_at(s, row, d, j);
    const ulong gate = (row * s->directions + d) * s->gates * s->hidden + j;
    const bool ends = n >= move.ends, starts = n >= move.starts;
    float dh = b->output[place];
    if (!ends)
        dh += s->mode == GRU ? sum + b->carry[state] : sum;
    else if (s->hy)
        dh += b->hy[state];
    if (s->mode == LSTM || s->mode == GRU) {
        const ulong plane = s->mode == LSTM ? s->cell : s->out;
        const float before = !starts ? b->saved[plane + place_at(s, (ulong)move.before + n, d, j)]
                             : s->hx ? b->start[state]
                                     : 0;
        const float dc = s->mode == GRU ? 0 : !ends ? b->carry[state] : s->cy ? b->cy[state] : 0;
        if (s->mode == LSTM)
            backward_lstm(s, b, place, gate, state, dh, dc, before);
        else
            backward_gru(s, b, place, gate, state, dh, before);
        return;
    }
    const float h = b->saved[s->out + place];
    b->gradients[gate] = s->mode == TANH ? dh * (1 - h * h) : h > 0 ? dh : 0;
}

#define BACKWARD_MEMORY                                                                            \
    INPUT(output), INPUT(start), INPUT(hy), INPUT(cy), INPUT(saved), OUTPUT(gradients),            \
        OUTPUT(carry), OUTPUT(dhx), OUTPUT(dcx)
#define BACKWARD_OF_MEMORY                                                                         \
    {                                                                                              \
        CONST_FLOATS(output), CONST_FLOATS(start), CONST_FLOATS(hy), CONST_FLOATS(cy),             \
            CONST_FLOATS(saved), FLOATS(gradients), FLOATS(carry), FLOATS(dhx), FLOATS(dcx)        \
    }

#endif
