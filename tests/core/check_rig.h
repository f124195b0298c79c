/* check_rig.h: what the tests of RMCP_CHECK share: a plan with its tensors, and what is said of it.
 */
#ifndef RMCP_TESTS_CHECK_RIG_H
#define RMCP_TESTS_CHECK_RIG_H

#include "engine/core/plan.h"
#include "support.h"

/* A plan and a buffer for each slot, inputs filled with reals. */
struct rig {
    rmcp_plan *plan;
    struct rmcp_any_problem problem;
    rmcp_memory memory[RMCP_MOST_SLOTS];
    uint64_t bytes[RMCP_MOST_SLOTS];
};

/* False when the algorithm (NULL: the planner's choice) does not take the problem. */
bool rig_make(struct rig *rig, rmcp_device *device, const struct rmcp_operation *operation,
              const void *problem, const rmcp_plan_options *options, uint64_t seed);
/* The same from a case string, which must be taken. */
void rig_make_case(struct rig *rig, rmcp_device *device, const char *text, const char *algorithm);
void rig_destroy(struct rig *rig);

struct rmcp_slot rig_slot(const struct rig *rig, unsigned slot);
unsigned rig_find(const struct rig *rig, const char *name); /* the slot of a tensor */

float rig_load(const struct rig *rig, unsigned slot, int64_t element);
void rig_store(const struct rig *rig, unsigned slot, int64_t element, float value);
/* The whole tensor. */
void rig_read(const struct rig *rig, unsigned slot, void *host);
void rig_write(const struct rig *rig, unsigned slot, const void *host);

/* Execute and wait; stderr goes to `said`, which may be NULL. */
enum { RIG_SAID = 4096 };
rmcp_status rig_execute(const struct rig *rig, char said[RIG_SAID]);

/* Counters since the start of the process. */
rmcp_check_info rig_counts(void);

#endif
