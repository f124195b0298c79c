/* draw.c: random recurrent networks for the fuzz suite, and values to compute with. */
#include "base/convert.h"
#include "base/random.h"
#include "engine/ops/rnn/rnn.h"

static bool chance(struct rmcp_random *r, int64_t one_in)
{
    return rmcp_random_below(r, one_in) == 0;
}

/* Small numbers are where the edges are; now and then something larger. */
static int64_t size(struct rmcp_random *r, int64_t most)
{
    return chance(r, 4) ? rmcp_random_between(r, 1, most) : rmcp_random_between(r, 1, 9);
}

enum { MOST_STEPS = 12 };

static rmcp_rnn draw(struct rmcp_random *r, int64_t batches[static MOST_STEPS])
{
    rmcp_rnn p = { .struct_size = sizeof p };
    p.mode = (uint32_t)rmcp_random_below(r, 4);
    p.steps = rmcp_random_between(r, 1, MOST_STEPS);
    p.batch = size(r, chance(r, 4) ? 150 : 40);
    p.input = size(r, 130);
    p.hidden = size(r, 140);
    p.layers = (uint32_t)(chance(r, 2) ? 1 : rmcp_random_between(r, 1, 3));
    p.bidirectional = chance(r, 2);
    p.bias = !chance(r, 3);
    p.skip = chance(r, 6);
    if (p.skip) p.input = p.hidden;
    p.type = (uint32_t)(chance(r, 2) ? RMCP_F32 : rmcp_random_between(r, RMCP_F16, RMCP_BF16));
    p.given = chance(r, 2) ? 63 : (uint32_t)rmcp_random_below(r, 64);
    if (chance(r, 3)) p.dropout = chance(r, 2) ? 0.5 : 0.1;
    if (chance(r, 2)) {
        batches[0] = p.batch;
        for (int64_t t = 1; t < p.steps; t++)
            batches[t] = chance(r, 2) ? batches[t - 1] : rmcp_random_between(r, 1, batches[t - 1]);
        p.batches = batches;
    }
    return p;
}

void rmcp_rec_draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    struct rmcp_recurrence *rec = problem;
    int64_t batches[MOST_STEPS];
    do {
        const rmcp_rnn p = draw(&r, batches);
        rmcp_rec_init(rec, &p, (int)rmcp_random_below(&r, RMCP_RNN_PASSES));
    } while (rmcp_rec_flops(rec) > 2e7);
}

/* Weights are so small that a step makes errors smaller, not larger: the bounds of many steps then
 * stay far below a single term of a sum. */
static float weight(const struct rmcp_recurrence *rec, enum rmcp_data data, struct rmcp_random *r)
{
    const int64_t input = rmcp_rec_columns(rec, 0),
                  others = rec->problem.layers > 1 ? rec->width : 0;
    const int64_t terms = (input > others ? input : others) + rec->problem.hidden;
    if (data == RMCP_DATA_REALS) return rmcp_random_real(r) * 1.5f / (float)terms;
    float step = 1;
    while (step * (float)terms > 1.5f) step /= 2;
    return step * (float)rmcp_random_between(r, -1, 1);
}

void rmcp_rec_fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed,
                   void *host)
{
    const struct rmcp_recurrence *rec = problem;
    const struct rmcp_slot s = rmcp_rec_slot(rec, slot);
    struct rmcp_random r = { seed + 0x1000193u * (uint64_t)(slot + 1) };
    for (int64_t i = 0; i < s.elements; i++) {
        float value;
        if (slot == RMCP_REC_W)
            value = weight(rec, data, &r);
        else if (slot == RMCP_REC_STATE) /* bits, as good as any others */
            value = rmcp_float_of_bits(0x3f800000u + (uint32_t)rmcp_random_below(&r, 1 << 20));
        else
            value = data == RMCP_DATA_INTEGERS ? (float)rmcp_random_between(&r, -2, 2) / 2
                                               : rmcp_random_real(&r);
        rmcp_store(host, s.type, i, value);
    }
}
