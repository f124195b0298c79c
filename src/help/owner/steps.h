/* steps.h: what the first owner of a card tries, in order, and one step of it. */
#ifndef RMCP_OWNER_STEPS_H
#define RMCP_OWNER_STEPS_H

#include "base/error.h"
#include "engine/core/plan.h"
#include "help/owner/patterns.h"

/* Stages are agreed to one by one: each is riskier than the one before. Only the first puts no work
 * on the card, so only the first may run without consent. */
enum owner_stage {
    OWNER_LOOK,
    OWNER_COPY,
    OWNER_KERNEL,
    OWNER_SMALL,
    OWNER_LARGE,
    OWNER_TIME,
    OWNER_PATTERN,
    OWNER_N_STAGES
};

struct owner_stage_info {
    const char *id, *name, *about; /* id: for --skip; about: what may happen, in a line or two */
    double limit_seconds;          /* of one step */
};
extern const struct owner_stage_info owner_stages[OWNER_N_STAGES];

struct owner_step {
    enum owner_stage stage;
    char name[96];  /* of letters, digits, '-' and blanks; names it in the journal and for the child
                     */
    uint64_t bytes; /* OWNER_COPY */
    const char *text; /* case string */
    const char *algorithm;
    const struct owner_pattern *pattern;
    const char *target;
};

/* The step of that number on a device of that kind; false past the last one. */
bool owner_step_at(size_t index, enum rmcp_launch_kind kind, struct owner_step *out);
/* The step of that name; false when there is none. */
bool owner_step_find(const char *name, enum rmcp_launch_kind kind, struct owner_step *out);

/* Do it here and now. Called in a process of its own: it may end it. */
enum journal_state owner_step_run(rmcp_device *device, const struct owner_step *step, char *detail,
                                  size_t size);

#endif
