/* scalars.c: numbers that an execution brings in place of the problem's own. */
#include "engine/core/scalars.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

unsigned rmcp_scalars_count(const struct rmcp_operation *operation, const void *problem)
{
    unsigned n = 0;
    while (operation->scalar && n < RMCP_MOST_SCALARS && operation->scalar(problem, n).name) n++;
    return n;
}

static bool is_bounded(const struct rmcp_scalar *s)
{
    return !isinf(s->least) || !isinf(s->most);
}

rmcp_status rmcp_scalars_read(const struct rmcp_operation *operation, const void *problem,
                              const double *given, unsigned n,
                              double scalars[static RMCP_MOST_SCALARS])
{
    const unsigned count = rmcp_scalars_count(operation, problem);
    if (n > count)
        return rmcp_fail(RMCP_E_ARG, "n_scalars is %u; %s has %u", n, operation->name, count);
    if (n && !given) return rmcp_fail(RMCP_E_ARG, "scalars is NULL");
    for (unsigned i = 0; i < count; i++) {
        const struct rmcp_scalar s = operation->scalar(problem, i);
        scalars[i] = i < n ? given[i] : s.value;
        if (i < n && is_bounded(&s) && !(given[i] >= s.least && given[i] <= s.most))
            return rmcp_fail(RMCP_E_ARG, "the scalar %s of %s is %g; it must be from %.9g to %.9g",
                             s.name, operation->name, given[i], s.least, s.most);
    }
    return RMCP_OK;
}

void rmcp_scalars_draw(const struct rmcp_operation *operation, const void *problem, uint64_t seed,
                       double scalars[static RMCP_MOST_SCALARS])
{
    enum { WIDEST = 500 };
    struct rmcp_random r = { seed };
    const unsigned count = rmcp_scalars_count(operation, problem);
    for (unsigned i = 0; i < count; i++) {
        const struct rmcp_scalar s = operation->scalar(problem, i);
        const double part = fabs((double)rmcp_random_real(&r)); /* from 0 to 1 */
        const double width = s.most - s.least < WIDEST ? s.most - s.least : WIDEST;
        scalars[i] = is_bounded(&s) ? s.least + width * part : s.value * (0.5 + part);
        if (s.whole) scalars[i] = floor(scalars[i]);
    }
}

void rmcp_scalars_usual(const struct rmcp_operation *operation, const void *problem,
                        double scalars[static RMCP_MOST_SCALARS])
{
    const unsigned count = rmcp_scalars_count(operation, problem);
    for (unsigned i = 0; i < count; i++) scalars[i] = operation->scalar(problem, i).usual;
}

const void *rmcp_scalars_in(const struct rmcp_operation *operation, const void *problem,
                            const double *scalars, struct rmcp_any_problem *room)
{
    if (!scalars || !operation->set_scalars) return problem;
    memcpy(room->bytes, problem, operation->problem_bytes);
    operation->set_scalars(room->bytes, scalars);
    return room->bytes;
}
