/* scalars.h: numbers that an execution brings in place of the problem's own. */
#ifndef RMCP_CORE_SCALARS_H
#define RMCP_CORE_SCALARS_H

#include "engine/core/operation.h"

/* How many the operation has. */
unsigned rmcp_scalars_count(const struct rmcp_operation *operation, const void *problem);

/* Check the first `n` of an execution, and take the problem's own for the others. */
rmcp_status rmcp_scalars_read(const struct rmcp_operation *operation, const void *problem,
                              const double *given, unsigned n,
                              double scalars[static RMCP_MOST_SCALARS]);

/* Random ones: from all that a bounded one may be, up to some hundreds, and of the magnitude of the
 * problem's own where there is no bound. */
void rmcp_scalars_draw(const struct rmcp_operation *operation, const void *problem, uint64_t seed,
                       double scalars[static RMCP_MOST_SCALARS]);

/* Those of a case string that does not say. */
void rmcp_scalars_usual(const struct rmcp_operation *operation, const void *problem,
                        double scalars[static RMCP_MOST_SCALARS]);

/* The problem with these scalars as its own, in `room`; itself when there are none (NULL). */
const void *rmcp_scalars_in(const struct rmcp_operation *operation, const void *problem,
                            const double *scalars, struct rmcp_any_problem *room);

#endif
