/* model.h: a device of the engine whose times are modelled for a card, for benchmarks. */
#ifndef RMCP_BENCH_MODEL_H
#define RMCP_BENCH_MODEL_H

#include "engine/core/plan.h"
#include "sim/device/device.h"

struct model_session {
    rmcp_device *device;
    struct timing_card card;
    struct sim_recorder recorder;
    struct timing_sampler sampler;
    bool launches; /* print a line for each launch */
    /* Of the last execution: what its longest launch says. */
    double spread, fma, dram, seconds;
    char worst[32];
};

/* Open one of data/cards, with the code objects for gfx1010 in `folder`. `mhz` 0: the card's
 * highest clock; `sample` 0: the model's own number of instructions. False: standard error has the
 * reason. The session must not move afterwards; close it in any case. */
bool model_open(struct model_session *session, const char *folder, const char *card, double mhz,
                uint64_t sample);
void model_close(struct model_session *session);

/* The modelled seconds of a plan for `problem`, with zeros in all of its memory. */
rmcp_status model_execute(struct model_session *session, const struct rmcp_operation *operation,
                          const void *problem, const rmcp_plan *plan, double *seconds);

#endif
